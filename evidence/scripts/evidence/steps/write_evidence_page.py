"""The pages of the evidence: the front page, and the league.

The front page says whether calbias's own promises hold and what each study finds; the page of the
league has its standings in words, its figures, ranking, sensitivity and times.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Literal

import pandas as pd

from evidence import names, reading
from evidence.findings import STUDIES
from evidence.steps import rank_league
from evidence.steps.run_league import FORECASTERS, UNIFORM, pays
from pipeline.claims.verdicts import Verdict
from pipeline.report import Paper, badge, papers_with_claims, shown, shown_figures, template
from pipeline.tables import read_tables
from pipeline.write_results import write_text

OWN = Paper("C", "calbias", "claims of this project, by the same rules")


def evidence_page(
    tables: Mapping[str, pd.DataFrame], pictures: Mapping[str, Path], audits: Sequence[str] = ()
) -> str:
    """Return the HTML text of the page; its pictures and links are relative to ``results/``.

    ``tables`` has the tables of STUDIES and ``own_claims``; a study without one of its tables says
    how to make it. ``pictures`` is {figure: path of its PNG}, ``audits`` names pages of
    ``results/audit``.
    """
    claims = tables["own_claims"].fillna("")
    (group,) = papers_with_claims(claims, (OWN,))
    figures = {figure["name"]: figure for figure in shown_figures(pictures)}
    rows = claims.to_dict("records")
    studies = [
        {
            "name": study.name,
            "question": study.question,
            "missing": [name for name in study.tables if name not in tables],
            "findings": [*study.findings(tables)] if {*study.tables} <= {*tables} else [],
            "figures": [figures[name] for name in study.figures if name in figures],
            "tables": [name for name in study.tables if name in tables],
        }
        for study in STUDIES
    ]
    return template("evidence.html.j2").render(
        group=group,
        claims=[{**row, "badge": badge(Verdict(row["verdict"]))} for row in rows],
        studies=studies,
        audits=audits,
    )


def league_page(tables: Mapping[str, pd.DataFrame], pictures: Mapping[str, Path]) -> str:
    """Return the HTML text of the page; its pictures and links are relative to ``results/``.

    ``tables`` are {name: DataFrame} of league, league_ranking, league_sensitivity, test_power,
    test_detection and subsampled; ``pictures`` {figure: path of its PNG}.
    """
    ranks = tables["league_ranking"]
    fewest, most = ranks["n_replicates"].min(), ranks["n_replicates"].max()
    return template("league.html.j2").render(
        rule=rank_league.RULE,
        words=reading.WORDS,
        league=reading.league_reading(ranks),
        power=reading.power_reading(tables["test_power"]),
        detection=reading.detection_reading(tables["test_detection"]),
        standings=standings(ranks),
        honesty=honesty_of(tables["league"]),
        forecasters=list(FORECASTERS),
        tables=[
            _table("league_sensitivity", tables["league_sensitivity"]),
            _table("test_detection", tables["test_detection"]),
            _table("subsampled", reading.subsampled_summary(tables["subsampled"])),
        ],
        figures=shown_figures(pictures),
        is_full="league_full_errors" in pictures,
        n_data_sets=f"{fewest} to {most}" if fewest < most else fewest,
    )


def standings(ranks: pd.DataFrame) -> list[tuple[str, list[SimpleNamespace]]]:
    """Return [(distribution in words, [block, …])]: a target's measures, best at largest n first.

    A block has ``target``, ``sizes``, ``limits`` and ``rows``, each with ``name``, ``code``,
    and a cell for each n: error, ± 2 Monte Carlo standard errors, standing in words.
    """
    blocks_by_distribution = []
    for distribution, words in reading.DISTRIBUTIONS.items():
        rows_of_distribution, blocks = ranks[ranks["distribution"] == distribution], []
        for target in names.targets_in_order(rows_of_distribution["target"]):
            rows = rows_of_distribution[rows_of_distribution["target"] == target]
            blocks.append(_block(target, rows))
        if blocks:
            blocks_by_distribution.append((words, blocks))
    return blocks_by_distribution


def _block(target: str, rows: pd.DataFrame) -> SimpleNamespace:
    sizes = sorted(rows["n_samples"].unique())
    cells, limits = {}, []
    for n, size_rows in rows.groupby("n_samples"):
        first = reading.ranks(size_rows) == 1
        words = "tied" if first.sum() > 1 else "best" if len(size_rows) > 1 else ""
        for row, is_first in zip(size_rows.itertuples(), first, strict=True):
            margin = f"±\u2009{200 * row.error_se:,.0f}\u2009%" if row.error_se >= 0 else ""
            cells[row.estimator, n] = SimpleNamespace(
                error=f"{100 * row.error:,.0f}", margin=margin, standing=words if is_first else ""
            )
        limit = size_rows["information_limit"].iloc[0]
        limits.append(f"{100 * limit:.0f}\u2009%" if limit > 0 else "")
    last = rows.sort_values(["n_samples", "error"], ascending=[False, True], kind="stable")
    return SimpleNamespace(
        target=names.target_name(target),
        sizes=sizes,
        limits=limits if any(limits) else [],
        rows=[
            SimpleNamespace(
                name=names.measure_name(code), code=code,
                cells=[cells.get((code, n)) for n in sizes],
                hides="" if pays.isna().all() else "yes" if pays.any() else "no",
            )
            for code, pays in last.groupby("estimator", sort=False)["hiding_pays"]
        ],
    )  # fmt: skip


def honesty_of(league: pd.DataFrame) -> list[SimpleNamespace]:
    """Return expected values for four forecasters, by n and measure, of table ``league``.

    A row has ``name``, ``target``, and a cell for each forecaster: its text in thousandths, and
    whether it does clearly better than the honest one. ``pays`` are the measures that reward it.
    """
    rows = league[league["scenario"] == UNIFORM.name]
    rows = rows.assign(honest=rows["mean_estimate"], honest_se=rows["bias_se"])
    better = {name: pays(rows, name) for name in FORECASTERS}
    result = []
    for n, size_rows in rows.groupby("n_samples"):
        lines = [
            SimpleNamespace(
                name=names.measure_name(row["estimator"]), target=names.target_name(row["target"]),
                cells=[
                    (f"{1000 * row[x]:.2f} ± {2000 * row[f'{x}_se']:.2f}", better[x][index])
                    for x in FORECASTERS
                ],
            )
            for index, row in size_rows.iterrows()
        ]  # fmt: skip
        hides, sharpens = (
            sum(any(better[x][index] for x in chosen) for index in size_rows.index)
            for chosen in (("two_values", "base_rate"), ("sharpened",))
        )
        result.append(SimpleNamespace(n=n, rows=lines, hides=hides, sharpens=sharpens))
    return result


def _table(name: str, rows: pd.DataFrame) -> SimpleNamespace:
    rows = rows.copy()
    if "test" in rows:
        rows["test"] = rows["test"].map(names.name_of_test)
    if "best" in rows:
        rows["best"] = rows["best"].map(_entry)
    if "estimator" in rows:
        rows["estimator"] = rows["estimator"].map(names.measure_name)
    return shown(name, rows, len(rows))


def _entry(entry: str) -> str:
    estimator, _, target = str(entry).partition(" → ")
    return f"{names.measure_name(estimator)} → {names.target_name(target)}"


def write_evidence_page(
    *,
    tables: dict[str, Path],
    figures: dict[str, Path],
    audits: list[str],
    page: Literal["evidence", "league"],
    output: Path,
) -> None:
    """Write a page of the evidence: its front page, or the standings of the league.

    tables: result tables, as NAME=PATH
    figures: pictures, such as test_power=test_power.png
    audits: names of the audits' pages
    page: which page
    output: page to write (HTML)
    """
    contents = read_tables(tables)
    if page == "league":
        write_text(output, league_page(contents, figures))
    else:
        write_text(output, evidence_page(contents, figures, audits))
