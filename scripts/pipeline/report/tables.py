"""Result tables as the ledger's page shows them: cells in words, long tables cut."""

from types import SimpleNamespace
from typing import Any

import pandas as pd

from pipeline.claims.measurements import NAN, Measurement, grouped, number, quantity
from pipeline.tables.schema import column_meanings, tables

MOST_ROWS = 20  # of a table in the page
LONG = 40  # rows from which a table is folded
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
        known = meanings.get(column, {})
        unit = f" ({known['unit']})" if "unit" in known else ""
        numeric = pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_bool_dtype(dtype)
        meaning = f"{known.get('meaning', column)}{unit}"
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
    found = [Measurement(*(row[field] for field in Measurement._fields)) for row in rows]
    groups = []
    for name, unit, group in grouped(found):
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
    """Return [{where, table, count, causes, folded}] of table ``comparison``, by place."""
    places = []
    for where, rows in () if table is None else table.groupby("where", sort=False):
        rows = rows.drop(columns="where").dropna(axis=1, how="all")
        label = f"published numbers of {where}"
        places.append({
            "where": where,
            "table": shown("comparison", rows, len(rows), label),
            "count": _count(rows),
            "causes": [CAUSES[where]] if where in CAUSES else [],
            "folded": len(rows) > LONG,
        })  # fmt: skip
    return places


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
    for (place, measure), rows in cells.groupby(["published_source", "measure"], sort=False):
        wide = rows.pivot(index="model", columns="method", values="cell")
        wide = wide.reindex(index=rows["model"].unique(), columns=rows["method"].unique())
        table = wide.reset_index().rename_axis(columns=None)
        parts.append(shown("printed_tables", table, len(table), f"{place}: {measure}, percent"))
    return sorted(parts, key=lambda table: table.label)
