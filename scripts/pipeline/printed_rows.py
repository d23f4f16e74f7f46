"""Which rows of the paper's Tables 2 and 3 a job reads: a changed digit elsewhere reruns nothing.

A rule has the tables as ``ancient`` inputs, whose time does not count, and these rows as a param.
"""

from collections.abc import Collection
from pathlib import Path

from pipeline.tables import read_rows

Rows = list[dict[str, str]]


def rows_of(models: Collection[str], *paths: str) -> dict[str, Rows]:
    """Return {name of a table: its rows of these models}."""
    return {
        Path(path).stem: [row for _, row in read_rows(path) if row["model"] in models]
        for path in paths
    }


def selected_rows(models: Collection[str], *paths: str) -> dict[str, Rows]:
    """Return the ``rows_of`` models, of their curves the one of lowest AIC, without the AIC.

    All rows of a table with a cell that is not a number: the step reports it.
    """
    tables = rows_of(models, *paths)
    for name, rows in tables.items():
        if rows and "aic" in rows[0]:
            try:
                tables[name] = _of_lowest_aic(rows)
            except ValueError:
                continue
    return tables


def _of_lowest_aic(rows: Rows) -> Rows:
    best: dict[str, dict[str, str]] = {}
    for row in rows:
        lowest = best.setdefault(row["model"], row)
        if float(row["aic"]) < float(lowest["aic"]):
            best[row["model"]] = row
    return [{name: cell for name, cell in row.items() if name != "aic"} for row in best.values()]
