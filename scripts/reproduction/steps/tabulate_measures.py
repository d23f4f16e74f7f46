"""What Guo et al. (2017) and Gupta et al. (2021) print: a value by model, method and measure.

The models of Guo et al. are other trainings than the public logits', which Gupta et al.
use. A row of a printed table is named like a model of the models table: architecture and data set.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from pipeline.table_schema import columns_of
from pipeline.tables import read_rows, read_table, write_table
from reproduction.recalibration import ON_HALF, PAPERS_METHODS

Printed = tuple[str, str, str, str, float]  # place, model, method, measure, percent

PAPERS = {"guo2017": "Guo et al. 2017", "gupta2021": "Gupta et al. 2021"}
TABLES = {  # file of resources/published: its measure, or the column that names it
    "guo2017_table1_ece15_percent": "ece",
    "gupta2021_table1_ks_top1_percent": "ks_top1",
    "gupta2021_table2_ks_top2_percent": "ks_top2",
    "gupta2021_table4_ks_within_top2_percent": "ks_within_top2",
    "gupta2021_table5_top1_accuracy_percent": "accuracy",
    "gupta2021_table6_ece25_top1_percent": "ece25",
    "gupta2021_fig5-6_ks_top3_percent": "ks_top3",
    "gupta2021_fig9-10_ks_within_top3_percent": "ks_within_top3",
    "gupta2021_table7_imagenet_other_metrics": "metric",
}
METRICS = {"KDE-ECE": "kde_ece", "MCE": "mce25", "Brier score": "brier_top_label"}
METHODS = {
    "histogram": "histogram_binning",
    "histogram_binning": "histogram_binning",
    "isotonic": "isotonic_regression",
    "temperature": "temperature_scaling",
    "vector": "vector_scaling",
    "matrix": "matrix_scaling",
}
DATA_SETS = {
    **{"CIFAR-10": "c10", "CIFAR-100": "c100", "ImageNet": "imgnet"},
    **{name: name.lower().replace(" ", "") for name in ("Birds", "Cars", "SVHN", "20 News")},
    **{"Reuters": "reuters", "SST Binary": "sst2", "SST Fine Grained": "sst5"},
}
ARCHITECTURES = {
    **{"resnet110sd": "resnet110_SD", "resnet152sd": "resnet152_SD"},
    "wideresnet32": "resnet_wide32",
}
REPLICATED = ("Guo et al.", "Gupta et al.")
CELL = ["model", "method", "measure"]
NO_FILE = "the outputs of this model, as a line of the models table"


def tabulate_measures(
    *,
    measures: list[Path],
    models_table: Path,
    replication: Path | None,
    printed: list[Path],
    output_measures: Path,
    output_printed: Path,
) -> None:
    """Put the measures of all models next to what two papers print, also in the papers' layout.

    measures: rows of the models, from measure_model
    models_table: models table (CSV): model, file
    replication: table replication, of other networks
    printed: the printed tables, in one folder
    output_measures: every measure of every model, to write (CSV)
    output_printed: method × model as printed, to write (CSV)
    """
    models = read_rows(models_table, ("model", "file"))
    files = {row["model"]: row["file"] for _, row in models}
    parts = [read_table(path) for path in measures]
    table = measures_table(parts, printed_values(printed[0].parent), files)
    write_table(output_measures, "measures", table)
    others = read_table(replication) if replication else None
    write_table(output_printed, "printed_tables", printed_tables(table, others))


def printed_values(folder: Path) -> list[Printed]:
    """Return [(place, model, method, measure, percent)] of all printed tables, in their order."""
    return [row for stem in TABLES for row in _values(stem, read_table(folder / f"{stem}.csv"))]


def _values(stem: str, printed: pd.DataFrame) -> Iterator[Printed]:
    paper, table, *_ = stem.split("_")
    number = table.removeprefix("table").removeprefix("fig")
    source = f"{PAPERS[paper]}, {'Figures' if table.startswith('fig') else 'Table'} {number}"
    factor = 1.0 if stem.endswith("percent") else 100.0
    methods = [c for c in printed if c not in ("dataset", "model", "metric", "dataset_model")]
    for row in printed.to_dict("records"):
        measure = METRICS[row["metric"]] if TABLES[stem] == "metric" else TABLES[stem]
        for column in methods:
            if row[column] == row[column]:  # a dash is NaN
                percent = round(factor * row[column], 6)
                yield source, _model(row), METHODS.get(column, column), measure, percent


def _model(row: Any) -> str:
    """Return the name of a printed row's model: ``resnet_wide32_c10``."""
    data_set, architecture = row.get("dataset", "ImageNet"), row.get("model")
    if architecture is None:  # Guo et al. have both in one cell
        cell = row["dataset_model"]
        data_set = next(name for name in DATA_SETS if cell.startswith(f"{name} "))
        architecture = cell.removeprefix(data_set)
    key = re.sub(r"[^a-z0-9]", "", architecture.lower())
    return f"{ARCHITECTURES.get(key, key)}_{DATA_SETS[data_set]}"


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
    for key, rows_of_key in cells.groupby(keys, sort=False):
        for kind, column in (("computed", "value_percent"), ("printed", "published_percent")):
            source = " ".join(rows_of_key["source"].dropna().unique()) if kind == "computed" else ""
            values = dict(zip(rows_of_key["method"] + "_percent", rows_of_key[column], strict=True))
            named = dict(zip(keys, key, strict=True))
            rows.append({**named, "row": kind, "source": source, **values})
    for published_source, measure in cells[keys[:2]].drop_duplicates().itertuples(index=False):
        rows += _replicated(published_source, measure, replication)
    table = pd.DataFrame(rows, columns=list(columns_of("printed_tables")))
    return table.sort_values("published_source", kind="stable").reset_index(drop=True)


def _replicated(
    published_source: str, measure: str, replication: pd.DataFrame | None
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a paper's table of other networks that were recalibrated."""
    if replication is None or replication.empty or not published_source.startswith(REPLICATED):
        return
    values = replication[replication["measure"] == measure]
    for model, model_rows in values.groupby("model", sort=False):
        if len(model_rows) > 1:  # not as it is alone
            cells = dict(
                zip(model_rows["method"] + "_percent", model_rows["value_percent"], strict=True)
            )
            key = {"published_source": published_source, "measure": measure, "model": model}
            yield {**key, "row": "replication", "source": model_rows["source"].iloc[0], **cells}
