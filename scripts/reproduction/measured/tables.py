"""Tables ``measures`` and ``printed_tables``: what was computed next to what two papers print."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from pipeline.table_schema import columns_of

METHODS = (
    *("uncalibrated", "histogram_binning", "isotonic_regression", "bbq", "temperature_scaling"),
    *("vector_scaling", "matrix_scaling", "ms_odir", "dir_odir", "spline", "spline_as_written"),
)
ON_HALF = "spline_on_half"
REPLICATED = ("Guo et al.", "Gupta et al.")
CELL = ["model", "method", "measure"]
NO_FILE = "the outputs of this model, as a line of the models table"


def measures_table(
    parts: Sequence[pd.DataFrame], printed: pd.DataFrame, files: Mapping[str, str]
) -> pd.DataFrame:
    """Return table ``measures`` of the models' rows, with a row for each printed cell too."""
    computed = pd.concat(parts) if parts else pd.DataFrame(columns=columns_of("measures"))
    refused = computed[computed["measure"] == ""].set_index(["model", "method"])["needs"]
    columns = ["published_source", *CELL, "published_percent"]
    cells = pd.DataFrame(printed, columns=columns)
    computed = computed.drop(columns=["published_source", "published_percent"])
    table = computed[computed["measure"] != ""].merge(cells, on=CELL, how="outer")
    table["needs"] = [
        "" if row.value_percent == row.value_percent else row.needs if isinstance(row.needs, str)
        else refused.get((row.model, row.method)) or _file(files.get(row.model))
        for row in table.itertuples()
    ]  # fmt: skip
    order = {
        "model": [*files, *cells["model"], *computed["model"]],
        "method": [*METHODS, ON_HALF, *cells["method"], *computed["method"]],
    }
    for column, names in order.items():
        table[column] = pd.Categorical(table[column], list(dict.fromkeys(names)))
    return table.sort_values(CELL)[list(columns_of("measures"))].astype(dict.fromkeys(order, str))


def _file(name: str | None) -> str:
    return f"{name} in logits_dir" if name else NO_FILE


def printed_tables(measures: pd.DataFrame, replication: pd.DataFrame | None = None) -> pd.DataFrame:
    """Return the papers' tables, method × model, from table ``measures``: one below the other.

    A table has a computed and a printed row of each model, and a row of each other network in
    table ``replication``.
    """
    cells = measures[measures["published_source"].notna()]
    keys = ["published_source", "measure", "model"]
    rows = []
    for key, mine in cells.groupby(keys, sort=False):
        for kind, column in (("computed", "value_percent"), ("printed", "published_percent")):
            source = " ".join(mine["source"].dropna().unique()) if kind == "computed" else ""
            values = dict(zip(mine["method"] + "_percent", mine[column], strict=True))
            named = dict(zip(keys, key, strict=True))
            rows.append({**named, "row": kind, "source": source, **values})
    for place, measure in cells[keys[:2]].drop_duplicates().itertuples(index=False):
        rows += _replicated(place, measure, replication)
    table = pd.DataFrame(rows, columns=list(columns_of("printed_tables")))
    return table.sort_values("published_source", kind="stable").reset_index(drop=True)


def _replicated(
    place: str, measure: str, replication: pd.DataFrame | None
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a paper's table of other networks that were recalibrated."""
    if replication is None or replication.empty or not place.startswith(REPLICATED):
        return
    values = replication[replication["measure"] == measure]
    for model, mine in values.groupby("model", sort=False):
        if len(mine) > 1:  # not as it is alone
            cells = dict(zip(mine["method"] + "_percent", mine["value_percent"], strict=True))
            key = {"published_source": place, "measure": measure, "model": model}
            yield {**key, "row": "replication", "source": mine["source"].iloc[0], **cells}
