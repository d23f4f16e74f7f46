"""Result tables as the ledger's page shows them: cells in words, long tables cut."""

import itertools
from typing import NamedTuple

import pandas as pd

from calbias.claims.measurements import NAN, UNITS, Measurement, number, quantity
from calbias.io.table_schema import column_meanings, tables

MOST_ROWS = 20  # of a table in the page
LONG = 40  # rows from which a table is folded
SURROGATE = "surrogate_logits"
CAUSES = {
    "Table 4": "Where the simulated column differs by more than its Monte Carlo error and than the "
    "printed decimals of the fits allow (tenths of a point, table tce_rounding), it is because the "
    "paper simulated from refits on the validation folds, which it does not print."
}
CAUSES_OF_SURROGATES = {
    "Table 2": "Surrogate scores are drawn above 1/K only, as a top score is: fits to them are "
    "centred above the published parameters, by less than one standard error."
}


class Column(NamedTuple):
    """A column's heading, what it means, and whether its cells are numbers."""

    name: str
    meaning: str
    numeric: bool


class Shown(NamedTuple):
    """A table of the page, cut to its first rows; ``maker`` is its entry in the table schema."""

    name: str
    label: str
    caption: str
    columns: list
    rows: list
    n_rows: int
    maker: dict


def shown(name, table, most=MOST_ROWS, label=""):
    """Return the Shown of a result table, a DataFrame, by the name of its schema."""
    entry, meanings = tables().get(name, {}), column_meanings()
    columns = []
    for column, dtype in table.dtypes.items():
        known = meanings.get(column, {})
        unit = f" ({known['unit']})" if "unit" in known else ""
        numeric = pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_bool_dtype(dtype)
        columns.append(Column(column, f"{known.get('meaning', column)}{unit}", numeric))
    rows = [
        [_cell(value, column.numeric) for value, column in zip(row, columns, strict=True)]
        for row in table.head(most).itertuples(index=False)
    ]
    caption = entry.get("caption", "")
    return Shown(name, label or name, caption, columns, rows, len(table), entry)


def _cell(value, numeric):
    if pd.isna(value):
        return ""
    return number(value) if numeric else str(value)


def measurement_groups(rows):
    """Return [{name, rows: [{case, measured, published}]}] of rows of table ``measurements``."""
    groups = []
    rows = rows.fillna({"unit": "", "case": ""}).to_dict("records")
    for (name, unit), group in itertools.groupby(rows, lambda row: (row["name"], row["unit"])):
        words = UNITS.get(unit, f" {unit}" if unit else "")
        shown_rows = []
        for row in group:
            m = Measurement(*(row[field] for field in Measurement._fields))
            measured, published = f"{quantity(m)}{words}", number(m.published)
            published = published and f"{published}{words}"
            cells = {"case": m.case.rstrip(":"), "measured": measured, "published": published}
            shown_rows.append(cells)
        groups.append({"name": name, "rows": shown_rows})
    return groups


def compared_places(table):
    """Return [{where, table, count, causes, folded}] of table ``comparison``, by place."""
    if table is None:
        return []
    places = []
    for where, rows in table.groupby("where", sort=False):
        rows = rows.drop(columns="where")
        rows = rows.loc[:, [column for column in rows if not rows[column].isna().all()]]
        surrogate = rows["source"].fillna("").str.contains(SURROGATE)
        causes = [(CAUSES, not surrogate.all()), (CAUSES_OF_SURROGATES, surrogate.any())]
        counts = [
            _count(rows[~surrogate], ""),
            _count(rows[surrogate], " from surrogates, not comparable"),
        ]
        places.append(
            {
                "where": where,
                "table": shown("comparison", rows, len(rows), f"published numbers of {where}"),
                "count": "; ".join(filter(None, counts)),
                "causes": [of[where] for of, holds in causes if holds and where in of],
                "folded": len(rows) > LONG,
            }
        )
    return places


def _count(rows, what):
    """Return how many numbers there are, how many have a standard error and are within two."""
    if rows.empty:
        return ""
    words = f"{len(rows)} number{'s' * (len(rows) > 1)}{what}, "
    errors = rows.get("n_standard_errors", pd.Series([NAN])).dropna().abs()
    if errors.empty:
        return words + "none with a standard error"
    return (
        f"{words}{len(errors)} with a standard error, of which {int((errors <= 2).sum())} within "
        f"two and the farthest {errors.max():.1f}"
    )


def papers_tables(measures):
    """Return the tables of two other papers as Shown, method × model: computed / printed."""
    if measures is None:
        return []
    cells = measures[measures["published_source"].notna()]
    found = []
    for (place, measure), mine in cells.groupby(["published_source", "measure"], sort=False):
        text = [
            f"{row.value_percent:.3f} ({row.low_percent:.2f}–{row.high_percent:.2f})"
            if row.value_percent == row.value_percent
            else "–"
            for row in mine.itertuples()
        ]
        text = [f"{cell} / {x:g}" for cell, x in zip(text, mine["published_percent"], strict=True)]
        wide = mine.assign(cell=text).pivot(index="model", columns="method", values="cell")
        wide = wide.reindex(index=mine["model"].unique(), columns=mine["method"].unique())
        table = wide.reset_index().rename_axis(columns=None)
        found.append(shown("printed_tables", table, len(table), f"{place}: {measure}, percent"))
    return sorted(found, key=lambda table: table.label)
