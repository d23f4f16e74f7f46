"""What the pages of a run share: templates, badges, links to figures, and tables in words."""

from collections.abc import Collection, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import jinja2
import pandas as pd

from pipeline.catalogue import figures as figure_catalogue
from pipeline.claims.ledger import DECIDED, THEOREM
from pipeline.claims.verdicts import NAN, NOBODY, Measurement, Verdict, grouped, number, quantity
from pipeline.guests import workflows
from pipeline.table_schema import column_meanings, tables

VERDICT_WORDS = {  # its symbol, what it means
    "reproduced": ("✓", "the rule's strict condition holds"),
    "approximate": ("≈", "it holds in part, or within a looser tolerance"),
    "not_reproduced": (
        "✗", "the sentence is not borne out, also where its number is reproduced; the note names "
        "the cause where it is known",
    ),
    "needs_real_logits": (
        "…", "it rests on the outputs of the paper's models, which this run did not have in full; "
        "snakemake with --configfile config/real_logits.yaml downloads them",
    ),
    "not_judged": ("–", "this run did not compute what the rule compares"),
}  # fmt: skip
MOST_ROWS = 20  # of a table in the page
_ROUNDED = (
    "The paper's scores were rounded to float32; claims R06 and R07 compare fits to such scores, "
    "with any config key softmax, and find them close."
)
CAUSES = {
    "Table 2": _ROUNDED,
    "Table 3": _ROUNDED,
    "Table 4": "Where the simulated column differs by more than its Monte Carlo error and than the "
    "printed decimals of the fits allow (tenths of a point, table tce_rounding), it is because the "
    "paper simulated from refits on the validation folds, which it does not print.",
}


def template(name: str) -> jinja2.Template:
    """Return a page's template; a name that it uses and nobody gives is an error."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([workflow.report for workflow in workflows()]),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    return environment.get_template(name)


def badge(name: str) -> dict[str, str]:
    """Return {name, symbol, words} of a verdict: no page shows it by its colour alone."""
    return {"name": name, "symbol": VERDICT_WORDS[name][0], "words": Verdict(name).words}


def shown_figures(
    pictures: Mapping[str, Path], outdated: Collection[str] = ()
) -> list[dict[str, Any]]:
    """Return [{name, place, title, numbers, outdated}] of the figures, in papers' order.

    ``pictures`` are {figure: path of its PNG}; pages link to ``figures/NAME.png``, and to the CSV
    file of its numbers where one is next to it. ``outdated`` are figures of other tables.
    """
    return [
        {
            "name": name, "place": entry.place, "title": entry.title,
            "numbers": Path(pictures[name]).with_suffix(".csv").is_file(),
            "outdated": name in outdated,
        }
        for name, entry in figure_catalogue().items()
        if name in pictures
    ]  # fmt: skip


class Paper(NamedTuple):
    """A source of claims: the letter of its ids, its name, and its title or its role.

    Claims of another letter that column ``stated_by`` gives to its name are its too.
    """

    letter: str
    name: str
    title: str


PAPERS = (
    Paper("R", "Roelofs et al. 2022", "Mitigating Bias in Calibration Error Estimation"),
    Paper("G", "Guo et al. 2017", "On Calibration of Modern Neural Networks"),
    Paper("S", "Gupta et al. 2021", "Calibration of Neural Networks using Splines"),
    Paper("K", "Kumar et al. 2019", "Verified Uncertainty Calibration, as Roelofs et al. quote it"),
    Paper("none", NOBODY, "a comparison of printed tables that no paper states"),
)


HOLDS = {
    Verdict.REPRODUCED: ("holds", "hold"),
    Verdict.APPROXIMATE: ("holds approximately", "hold approximately"),
    Verdict.NOT_REPRODUCED: ("does not", "do not"),
    Verdict.NEEDS_REAL_LOGITS: ("is open", "are open"),
    Verdict.NOT_JUDGED: ("is not judged", "are not judged"),
}
"""What a verdict says of one claim, and of several."""


def stated_by(claims: pd.DataFrame, paper: Paper) -> pd.DataFrame:
    """Return the rows of table ``claims`` that a paper states itself."""
    cited = claims.get("stated_by", pd.Series("", claims.index)).fillna("")
    own = claims["id"].str.startswith(paper.letter) & (cited == "")
    return claims[own | (cited == paper.name)]


def papers_with_claims(
    claims: pd.DataFrame, papers: Collection[Paper] = PAPERS
) -> list[dict[str, Any]]:
    """Return [{paper, ids, bar, counts, sentence}] of the papers with rows in table ``claims``.

    ``bar`` is [{verdict, models, count}] of the verdicts that occur, theorems left out; ``models``
    is "2 of 10" where the evidence is partial. ``counts`` is [{verdict, words, n_some}]: how many
    claims, and how many of them on some of the models.
    """
    shown = []
    for paper in papers:
        rows = stated_by(claims, paper)
        if rows.empty:
            continue
        bar = [
            {"verdict": badge(name), "models": models, "count": count}
            for (name, models), count in _counts(rows).items()
        ]
        shown.append(
            {
                "paper": paper,
                "ids": list(rows["id"]),
                "bar": bar,
                "counts": _counts_by_verdict(bar),
                "sentence": f"{len(rows)} claim{'s' * (len(rows) > 1)}: {counted(rows)}.",
                "theorems": theorems(rows),
            }
        )
    return shown


def _counts_by_verdict(bar: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return how many claims have each verdict, and how many of them on some of the models."""
    counts: dict[str, dict[str, Any]] = {}
    for part in bar:
        verdict = part["verdict"]
        count = counts.setdefault(verdict["name"], {"verdict": verdict, "n_all": 0, "n_some": 0})
        count["n_all"] += part["count"]
        count["n_some"] += part["count"] * bool(part["models"])
    return [
        {**count, "words": f"{count['n_all']} {HOLDS[Verdict(name)][count['n_all'] > 1]}"}
        for name, count in counts.items()
    ]


def counted(rows: pd.DataFrame) -> str:
    """Return how many claims have each verdict; in brackets those judged on some of the models.

    Theorems are counted apart.
    """
    parts, where = [], " on some of the models"  # said once
    for verdict in Verdict:
        counts = {models: n for (name, models), n in _counts(rows).items() if name == verdict}
        if counts:
            n, some = sum(counts.values()), sum(counts.values()) - counts.get("", 0)
            parts.append(f"{n} {HOLDS[verdict][n > 1]}" + f" ({some}{where})" * bool(some))
            where = "" if some else where
    return ", ".join([*parts, *filter(None, [theorems(rows)])])


def theorems(rows: pd.DataFrame) -> str:
    """Return how many claims are theorems, in words; empty where none is."""
    n = int(_are_theorems(rows).sum())
    return f"{n} {'are theorems' if n > 1 else 'is a theorem'}" if n else ""


def _are_theorems(rows: pd.DataFrame) -> pd.Series:
    return rows.get("where", pd.Series("", rows.index)).fillna("").str.endswith(THEOREM)


def _counts(rows: pd.DataFrame) -> dict[tuple[Verdict, str], int]:
    """Return {(verdict, "2 of 10" where it rests on some of the models): how many claims}.

    Theorems are left out.
    """
    rows = rows[~_are_theorems(rows)]
    models = rows["models"] if "models" in rows else pd.Series("", rows.index)
    models = models.fillna("").astype(str).where(rows["verdict"].isin(DECIDED), "")
    counts = pd.Series(1, rows.index).groupby([rows["verdict"], models]).sum()
    keys = sorted(counts.index, key=lambda key: ([*Verdict].index(key[0]), key[1]))
    return {(Verdict(name), models): int(counts[name, models]) for name, models in keys}


def shown(
    name: str, table: pd.DataFrame, most: int = MOST_ROWS, label: str = ""
) -> SimpleNamespace:
    """Return a result table, a DataFrame, as the page shows it: cut to its first rows.

    A column has its heading, its meaning and whether its cells are numbers; ``maker`` is the
    table's entry in the schema.
    """
    entry, meanings = tables().get(name, {}), column_meanings()
    columns = []
    for column, dtype in table.dtypes.items():
        description = meanings.get(column, {})
        unit = f" ({description['unit']})" if "unit" in description else ""
        numeric = pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_bool_dtype(dtype)
        meaning = f"{description.get('meaning', column)}{unit}"
        columns.append(SimpleNamespace(name=column, meaning=meaning, numeric=numeric))
    rows = [
        [
            "" if pd.isna(value) else number(value) if column.numeric else str(value)
            for value, column in zip(row, columns, strict=True)
        ]
        for row in table.head(most).itertuples(index=False)
    ]
    return SimpleNamespace(
        name=name, label=label or name, caption=entry.get("caption", ""), maker=entry,
        columns=columns, rows=rows, n_rows=len(table),
    )  # fmt: skip


def measurement_groups(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """Return [{name, rows}] of rows of table ``measurements``.

    A row is {case, measured, published, distance}, all texts.
    """
    rows = rows.fillna({"unit": "", "case": ""}).to_dict("records")
    measurements = [Measurement(*(row[field] for field in Measurement._fields)) for row in rows]
    groups = []
    for name, unit, group in grouped(measurements):
        cells = [
            {
                "case": m.case.rstrip(":"),
                "measured": quantity(m) + unit,
                "published": number(m.published) and number(m.published) + unit,
                "distance": number(m.value - m.published) and _signed(m.value - m.published, unit),
            }
            for m in group
        ]
        groups.append({"name": name, "rows": cells})
    return groups


def _signed(value: float, unit: str) -> str:
    return f"{'+' if value > 0 else ''}{number(value)}{unit}"


def compared_places(table: pd.DataFrame | None) -> list[dict[str, Any]]:
    """Return [{where, table, count, causes}] of table ``comparison``, by place."""
    sections = []
    for where, rows in () if table is None else table.groupby("where", sort=False):
        rows = rows.drop(columns="where").dropna(axis=1, how="all")
        label = f"published numbers of {where}"
        sections.append({
            "where": where,
            "table": shown("comparison", rows, len(rows), label),
            "count": _count(rows),
            "causes": [CAUSES[where]] if where in CAUSES else [],
        })  # fmt: skip
    return sections


def _count(rows: pd.DataFrame) -> str:
    """Return how many numbers there are, how many have a standard error and are within two."""
    words = f"{len(rows)} number{'s' * (len(rows) > 1)}, "
    errors = rows.get("n_standard_errors", pd.Series([NAN])).dropna().abs()
    if errors.empty:
        return words + "none with a standard error"
    return (
        f"{words}{len(errors)} with a standard error, of which {int((errors <= 2).sum())} within "
        f"two and the farthest {errors.max():.1f}"
    )


def papers_tables(measures: pd.DataFrame | None) -> list[SimpleNamespace]:
    """Return the tables of two other papers as shown, method × model: computed / printed."""
    if measures is None:
        return []

    def words(row: Any) -> str:
        computed = f"{row.value_percent:.3f} ({row.low_percent:.2f}–{row.high_percent:.2f})"
        computed = "–" if pd.isna(row.value_percent) else computed
        return f"{computed} / {row.published_percent:g}"

    cells = measures[measures["published_source"].notna()]
    cells = cells.assign(cell=[words(row) for row in cells.itertuples()])
    parts = []
    for (source, measure), rows in cells.groupby(["published_source", "measure"], sort=False):
        wide = rows.pivot(index="model", columns="method", values="cell")
        wide = wide.reindex(index=rows["model"].unique(), columns=rows["method"].unique())
        table = wide.reset_index().rename_axis(columns=None)
        parts.append(shown("printed_tables", table, len(table), f"{source}: {measure}, percent"))
    return sorted(parts, key=lambda table: table.label)
