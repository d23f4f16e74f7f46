"""What Guo et al. (2017) and Gupta et al. (2021) print: a value by model, method and measure.

The models of Guo et al. are other trainings than the public logits', which Gupta et al. use.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from pipeline.table_schema import columns_of
from pipeline.tables import read_rows, read_table, write_table
from reproduction.recalibration import ON_HALF, PAPERS_METHODS

CELL = ["model", "method", "measure"]
NO_FILE = "the outputs of this model, as a line of the models table"


def tabulate_measures(
    *,
    measures: list[Path],
    models_table: Path,
    replication: Path | None,
    printed: Path,
    output_measures: Path,
    output_printed: Path,
) -> None:
    """Put the measures of all models next to what two papers print, also in the papers' layout.

    measures: rows of the models, from measure_model
    models_table: models table (CSV): model, file
    replication: table replication, of other networks
    printed: the printed cells (CSV): published_source, model, method, measure, published_percent
    output_measures: every measure of every model, to write (CSV)
    output_printed: method × model as printed, to write (CSV)
    """
    models = read_rows(models_table, ("model", "file"))
    files = {row["model"]: row["file"] for _, row in models}
    parts = [read_table(path) for path in measures]
    table = measures_table(parts, read_table(printed), files)
    write_table(output_measures, "measures", table)
    others = read_table(replication) if replication else None
    write_table(output_printed, "printed_tables", printed_tables(table, others))


def measures_table(
    parts: Sequence[pd.DataFrame], cells: pd.DataFrame, files: Mapping[str, str]
) -> pd.DataFrame:
    """Return table ``measures`` of the models' rows, with a row for each printed cell too."""
    computed = pd.concat(parts) if parts else pd.DataFrame(columns=columns_of("measures"))
    refused = computed[computed["measure"] == ""].set_index(["model", "method"])["needs"]
    computed = computed.drop(columns=["published_source", "published_percent"])
    table = computed[computed["measure"] != ""].merge(cells, on=CELL, how="outer")
    table["needs"] = [
        "" if row.value_percent == row.value_percent else row.needs if isinstance(row.needs, str)
        else refused.get((row.model, row.method)) or _file(files.get(row.model))
        for row in table.itertuples()
    ]  # fmt: skip
    order = {
        "model": [*files, *cells["model"], *computed["model"]],
        "method": [*PAPERS_METHODS, ON_HALF, *cells["method"], *computed["method"]],
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
    for key, cells_of_model in cells.groupby(keys, sort=False):
        rows.append(_row(key, "computed", cells_of_model))
        rows.append(_row(key, "printed", cells_of_model, "published_percent"))
    others = pd.DataFrame(columns=measures.columns) if replication is None else replication
    for source, measure in cells[keys[:2]].drop_duplicates().itertuples(index=False):
        for model, cells_of_model in others[others["measure"] == measure].groupby(
            "model", sort=False
        ):
            if len(cells_of_model) > 1:  # not as it is alone
                rows.append(_row((source, measure, model), "replication", cells_of_model))
    table = pd.DataFrame(rows, columns=list(columns_of("printed_tables")))
    return table.sort_values("published_source", kind="stable").reset_index(drop=True)


def _row(
    key: tuple[str, str, Any], kind: str, cells: pd.DataFrame, column: str = "value_percent"
) -> dict[str, Any]:
    """Return a row of table ``printed_tables``, its cells by method."""
    source = "" if kind == "printed" else " ".join(cells["source"].dropna().unique())
    values = dict(zip(cells["method"] + "_percent", cells[column], strict=True))
    return dict(zip(columns_of("printed_tables"), (*key, kind, source), strict=False)) | values
