from pathlib import Path
from typing import Any, Literal

import pandas as pd

from calbias.errors import InputError
from calbias.logits.output_file import Fold
from calbias.logits.read_logits import read_outputs
from pipeline.logits.store import REAL_LOGITS
from pipeline.manifest import verify_shipped
from pipeline.steps import Seed
from pipeline.tables.files import write_table
from pipeline.tables.rows import read_rows
from pipeline.tables.schema import columns_of
from reproduction.measured.graphs import graph_rows
from reproduction.measured.noise import NoiseFloors
from reproduction.measured.of_model import bin_rows
from reproduction.studies.replication import mukhoti_rows, outputs_as_is, replication_rows

MUKHOTI = "mukhoti2020_table1"


def replicate_model(
    *,
    file: Path,
    manifest: Path,
    mukhoti: Path,
    model: str,
    methods: Literal["quick", "all"],
    seed: Seed,
    output_replication: Path,
    output_mukhoti: Path,
    output_graphs: Path,
    output_bins: Path,
    output_floors: Path,
    output_differences: Path,
) -> None:
    """Run the methods of Guo et al. and Gupta et al. on the outputs of another network.

    file: the model's outputs, of all classes
    manifest: the shipped files (JSON)
    mukhoti: printed Table 1 of Mukhoti et al. (CSV)
    model: the model's name
    methods: those that take seconds, or all
    seed: seed of all random streams
    output_replication: rows of table replication to write
    output_mukhoti: f'rows of table {MUKHOTI} to write'
    output_graphs: points of the calibration graphs, to write
    output_bins: rows of table reliability_bins to write, of the network as it is
    output_floors: rows of table noise_floors, to write
    output_differences: rows of table method_differences, to write
    """
    verify_shipped(file, manifest)
    folds: Any = read_outputs(file).folds
    if not isinstance(folds["test"], Fold):
        raise InputError(f"{file}: scores of the top class; give outputs of all classes")
    floors = NoiseFloors(seed)
    rows = pd.DataFrame(replication_rows(folds, methods == "all", floors))
    tables = {
        "replication": (output_replication, rows),
        "calibration_graphs": (output_graphs, graph_rows(folds.get("validation"), folds["test"])),
        "reliability_bins": (output_bins, bin_rows(outputs_as_is(folds["test"]))),
        "noise_floors": (output_floors, pd.DataFrame(floors.rows)),
        "method_differences": (output_differences, pd.DataFrame(floors.differences())),
    }
    for name, (path, rows) in tables.items():
        rows = rows.assign(model=model, source=REAL_LOGITS)
        write_table(path, name, rows.reindex(columns=columns_of(name)))
    printed = {row["model"]: row for _, row in read_rows(mukhoti, ("model",))}
    known = model in printed
    table_1 = mukhoti_rows(model, folds, printed[model]) if known else []
    columns = columns_of(MUKHOTI)
    write_table(output_mukhoti, MUKHOTI, pd.DataFrame(table_1, columns=columns))
