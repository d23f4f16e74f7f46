"""The page of an estimator that a user adds: each question of an author, with its numbers."""

import ast
import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd

from calbias import __version__
from calbias.estimation.registry import estimator_target
from pipeline.figures.labels import estimator_label
from pipeline.report import shown, template
from pipeline.steps import Seed
from pipeline.tables import read_table, read_tables
from pipeline.write_results import write_text
from reproduction.bias import error_of_mean
from reproduction.claims.compared_biases import clear_cells
from reproduction.steps.judge_estimator import (
    NETWORKS,
    PAPER,
    errors_of,
    opponent,
    references,
    shared_cells,
)
from reproduction.steps.select_by_estimator import OTHERS

SIGNIFICANT = 0.05
EXPERIMENTS = {PAPER: "fitted curves", "perfect": "calibrated", "judging": "judging cells",
               NETWORKS: "trained networks"}  # fmt: skip
WORDS = {"bias": ("less biased", "more biased"), "rmse": ("smaller RMSE", "larger RMSE")}
UNCLEAR = "no clear difference"
SIGNS = (
    "fractions; bias above 0: the estimate is too large; better: cells in which this estimator is "
    "better; mean_difference: the other less this one, above 0 where this one is better"
)
JUDGED_TARGETS = ("lp", "lp_power")
"""What a page may hold against the true ℓp error, as the paper does."""


def write_estimator_page(
    *,
    tables: dict[str, Path],
    scenarios: list[Path],
    estimators: dict[str, Path],
    page: str,
    norm: float,
    seed: Seed,
    output_page: Path,
    output_row: Path,
) -> None:
    """Write the page of an estimator, and its row for the league.

    tables: its tables and the other estimators' rows of table bias, as NAME=PATH
    scenarios: scenario tables of the experiments realistic and perfect
    estimators: files of the estimators, as NAME=PATH
    page: name of the page
    norm: p of the ℓp error
    seed: seed of all random streams
    output_page: page to write (HTML)
    output_row: row to write (JSON)
    """
    contents = read_tables(tables)
    groups = pd.concat([read_table(path) for path in scenarios])
    groups = groups.drop_duplicates("scenario").set_index("scenario")["group"]
    path = next(iter(estimators.values()))
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or page
    trained = contents["bias"][contents["bias"]["experiment"] == NETWORKS]
    targets = {name: estimator_target(name, path) for name in estimators}
    write_text(
        output_page,
        template("estimator.html.j2").render(
            page=page,
            summary=text.splitlines()[0],
            norm=norm,
            seed=seed,
            version=__version__,
            other_targets={
                name: target for name, target in targets.items() if target not in JUDGED_TARGETS
            },
            replicates=sorted(set(contents["bias"]["n_replicates"])),
            parts=[_part(name, contents, groups) for name in estimators],
            comparison=_shown("estimator_comparison", contents["comparison"]),
            selection=_shown("estimator_selection", contents["selection"]),
            cost=_shown("estimator_cost", contents["cost"]),
            n_networks=len(network_means(pd.concat([trained, contents["others_bias"]]))),
            network_sizes=sorted(set(trained["n_samples"])),
        ),
    )
    write_text(output_row, _row(text, contents, page, norm, seed))


def _shown(name: str, table: pd.DataFrame) -> SimpleNamespace:
    return shown(name, table, len(table), name.replace("_", " "))


def _part(name: str, tables: dict[str, pd.DataFrame], groups: pd.Series) -> SimpleNamespace:
    """Return what the page says of one estimator."""
    rows, others = tables["bias"], tables["others_bias"]
    lines = {each: [*_judged(name, tables, (each,))] for each in EXPERIMENTS}
    return SimpleNamespace(
        name=name,
        label=estimator_label(name),
        headline=[*headline([line for each in lines.values() for line in each])],
        judged=[*lines[PAPER], *lines["perfect"]],
        opponent=estimator_label(opponent(name)),
        where=[*_where(name, rows, others, groups)],
        judging=lines["judging"],
        networks=[*network_lines(name, tables)],
        judged_networks=lines[NETWORKS],
        selection=[*_selections(name, tables["selection"])],
        growth=_growth(tables["cost"][tables["cost"]["estimator"] == name]),
    )


def headline(lines: Sequence[dict[str, str]]) -> Iterator[tuple[str, list[str]]]:
    """Yield each verdict with where it holds, against whom, and the two means, better ones first.

    What differs clearly nowhere is named at the end.
    """
    verdicts = [*WORDS["bias"], *WORDS["rmse"]]
    for verdict in (verdicts[0], verdicts[2], verdicts[1], verdicts[3]):
        where = [
            f"{line['other']}, {line['where']} ({line['mine']} against {line['others']})"
            for line in lines
            if line["verdict"] == verdict
        ]
        if where:
            yield verdict, where
    unclear = [line for line in lines if line["verdict"] not in verdicts]
    if unclear:
        yield UNCLEAR, [f"{each['quantity']}: {each['other']}, {each['where']}" for each in unclear]


def _of(table: pd.DataFrame, experiment: str, name: str) -> pd.DataFrame:
    return table[(table["experiment"] == experiment) & (table["estimator"] == name)]


def _judged(
    name: str, tables: dict[str, pd.DataFrame], experiments: Sequence[str]
) -> Iterator[dict[str, str]]:
    """Yield a line for each experiment, quantity and reference: verdict, means, cells, test."""
    comparison = tables["comparison"].set_index(["estimator", "other", "quantity"])
    for experiment in experiments:
        for quantity, (better, worse) in WORDS.items():
            for other in references(name):
                key = quantity if experiment == PAPER else f"{quantity}_{experiment}"
                if (name, other, key) not in comparison.index:
                    continue
                row = comparison.loc[name, other, key]
                a, b = shared_cells(
                    _of(tables["others_bias"], experiment, other),
                    _of(tables["bias"], experiment, name),
                )
                clear = row["p_value"] < SIGNIFICANT
                yield {
                    "where": EXPERIMENTS[experiment],
                    "quantity": "|bias|" if quantity == "bias" else "RMSE",
                    "other": estimator_label(other),
                    "verdict": (better if row["t_statistic"] > 0 else worse) if clear else UNCLEAR,
                    "mine": _mean(b, quantity, experiment),
                    "others": _mean(a, quantity, experiment),
                    "cells": f"{row['better']:.0f} : {row['worse']:.0f} of {row['cells']:.0f}",
                    "test": f"t = {row['t_statistic']:.2f}, p = {row['p_value']:.1g}",
                }


def _mean(rows: pd.DataFrame, quantity: str, experiment: str = "") -> str:
    """Return a mean in percent with two standard errors, Monte Carlo's or over networks."""
    values, errors = errors_of(rows, quantity)
    if experiment == NETWORKS:
        return _over_networks(pd.Series(values, rows.index).groupby(level="scenario").mean())
    return f"{values.mean():.2f} ± {2 * error_of_mean(errors):.2f}"


def network_lines(name: str, tables: dict[str, pd.DataFrame]) -> Iterator[dict[str, str]]:
    """Yield a line for this estimator and each other on trained networks, least |bias| first."""
    others = tables["others_bias"]
    both = pd.concat([_of(tables["bias"], NETWORKS, name), others[others["estimator"] != name]])
    wide = network_means(both)
    if name not in wide["size"]:
        return
    for each in wide["size"].mean().sort_values().index:
        less = wide["size"][each] - wide["size"][name]
        yield {
            "estimator": estimator_label(each),
            "is_mine": each == name,
            **{key: _over_networks(wide[key][each]) for key in ("size", "signed", "rmse")},
            "less": "" if each == name else _over_networks(less, "+"),
            "networks": "" if each == name else f"{(less > 0).sum()} of {less.count()}",
        }


def network_means(rows: pd.DataFrame) -> pd.DataFrame:
    """Return |bias|, bias and RMSE of the networks, each a mean over the sample sizes.

    Columns are (``size``, ``signed`` or ``rmse``, estimator).
    """
    rows = rows[rows["experiment"] == NETWORKS]
    columns = {"bias_percent": "signed", "rmse_percent": "rmse"}
    rows = rows.assign(size=rows["bias_percent"].abs()).rename(columns=columns)
    wide = rows.pivot_table(["size", *columns.values()], "scenario", "estimator")
    return wide.dropna()  # networks that all have


def _over_networks(values: pd.Series, sign: str = "") -> str:
    """Return a mean in percent with two standard errors over networks."""
    return f"{values.mean():{sign}.2f} ± {2 * values.sem():.2f}".replace("-", "−")


def _where(
    name: str, rows: pd.DataFrame, others: pd.DataFrame, groups: pd.Series
) -> Iterator[dict[str, Any]]:
    """Yield a line for each group of models and each n, fitted and calibrated."""
    for experiment in (PAPER, "perfect"):
        a, b = shared_cells(_of(others, experiment, opponent(name)), _of(rows, experiment, name))
        group, n = a.index.get_level_values(0).map(groups), a.index.get_level_values(1)
        for by in (group, n.map(lambda size: f"n = {size}")):
            for part in dict.fromkeys(by):
                rows_b, rows_a = b[by == part], a[by == part]
                (va, ea), (vb, eb) = errors_of(rows_a, "bias"), errors_of(rows_b, "bias")
                counts = clear_cells(va - vb, ea + eb)
                yield {
                    "where": f"{part}, {EXPERIMENTS[experiment]}",
                    "mine": _mean(rows_b, "bias"),
                    "others": _mean(rows_a, "bias"),
                    "rmse": _mean(rows_b, "rmse"),
                    "other_rmse": _mean(rows_a, "rmse"),
                    "better": counts.agree,
                    "worse": counts.disagree,
                    "cells": counts.total,
                }


def _selections(name: str, table: pd.DataFrame) -> Iterator[dict[str, str]]:
    """Yield a line for this estimator and those of Table 1: how good their choices are."""
    for each in dict.fromkeys((name, *OTHERS)):
        rows = table[table["estimator"] == each]
        loss = rows["selected_tce_percent"] - rows["least_tce_percent"]
        yield {
            "estimator": estimator_label(each),
            "agrees": f"{rows['agrees'].sum()} of {len(rows)}",
            "frequency": f"{rows['agreement_frequency'].mean():.0%}",
            "error": f"{rows['selected_tce_percent'].mean():.2f}",
            "loss": f"{loss.mean():.2f}",
        }


def _growth(cost: pd.DataFrame) -> str:
    """Return how time grows between the last two sample sizes."""
    timed = cost.dropna(subset="milliseconds")
    last = timed.iloc[-1]
    words = f"{last['ratio_to_sort']:.2g} times numpy.sort at n = {last['n_samples']}"
    if len(timed) > 1:
        (n, t), (m, u) = timed[["n_samples", "milliseconds"]].to_numpy()[-2:]
        words += f"; from n = {n:.0f} on time grows as n^{math.log(u / t) / math.log(m / n):.2f}"
    left_out = cost.loc[cost["milliseconds"].isna(), "n_samples"]
    return words + "".join(f"; n = {n} would take more than 10 s" for n in left_out)


def _row(text: str, tables: dict[str, pd.DataFrame], page: str, norm: float, seed: int) -> str:
    """Return the row for ``resources/league``: what others need to compare, and to recompute."""
    bias, comparison = tables["bias"], tables["comparison"]
    cells = bias[["experiment", "estimator", "scenario", "n_samples", "n_replicates"]].astype(str)
    numbers = bias[["bias_percent", "bias_se_percent", "rmse_percent"]]
    first = [row for row in comparison.to_dict("records") if row["other"] in references("")]
    cell_counts = [
        [*names, *(float(f"{x:.8g}") for x in values)]
        for names, values in zip(cells.to_numpy(), numbers.to_numpy(), strict=True)
    ]
    head = {
        "name": page,
        "source": " ".join(text.split()),
        "calbias": __version__,
        "seed": seed,
        "norm": norm,
        "signs": SIGNS,
    }
    columns = [*cells, *numbers]
    lines = [f'  "{key}": {json.dumps(value, ensure_ascii=False)}' for key, value in head.items()]
    lines += [f'  "{key}": {_lines(rows)}' for key, rows in (
        ("comparison", first), ("columns", columns), ("cells", cell_counts)
    )]  # fmt: skip
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _lines(rows: Sequence[Any]) -> str:
    """Return a JSON list with a line for each item."""
    return "[\n    " + ",\n    ".join(json.dumps(row) for row in rows) + "\n  ]"
