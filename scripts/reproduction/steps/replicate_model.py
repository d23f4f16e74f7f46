"""The methods of Guo et al., Gupta et al. and Mukhoti et al. (2020) on other networks.

Each method is fitted on the validation fold and measured on the test fold. A model without a
validation fold is measured as it is.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

import pandas as pd

from calbias.errors import InputError
from calbias.reading.output_file import Fold
from calbias.reading.read_logits import read_outputs
from pipeline.logits import REAL_LOGITS, Logits
from pipeline.manifest import verify_shipped
from pipeline.steps import Seed
from pipeline.tables import read_table
from reproduction.measured_rows import graph_rows, tables_of, write_rows
from reproduction.outputs import OF_MATRICES, Outputs, outputs_as_is, outputs_of_logits
from reproduction.recalibration import PAPERS_METHODS

CELL = ["method", "measure"]
AS_IS = "uncalibrated"
BY_ECE = "temperature_by_ece"
MANY_CLASSES = 50  # from which the cross-validated matrices take minutes
NO_FOLD = "a validation fold"

Folds = Mapping[str, Fold]


def replicate_model(
    *,
    file: Path,
    manifest: Path,
    printed: Path,
    model: str,
    methods: Literal["quick", "all"],
    seed: Seed,
    output_replication: Path,
    output_graphs: Path,
    output_bins: Path,
    output_floors: Path,
) -> None:
    """Run the methods of Guo et al. and Gupta et al. on the outputs of another network.

    file: the model's outputs, of all classes
    manifest: the shipped files (JSON)
    printed: cells that papers print of these networks (CSV)
    model: the model's name
    methods: those that take seconds, or all
    seed: seed of all random streams
    output_replication: rows of table replication to write
    output_graphs: points of the calibration graphs, to write
    output_bins: rows of table reliability_bins to write, of the network as it is
    output_floors: rows of table noise_floors, to write
    """
    verify_shipped(file, manifest)
    folds = read_outputs(file).folds
    if folds["test"].values.ndim == 1:
        raise InputError(f"{file}: scores of the top class; give outputs of all classes")
    paths = {
        "replication": output_replication,
        "calibration_graphs": output_graphs,
        "reliability_bins": output_bins,
        "noise_floors": output_floors,
    }
    tables = replication_tables(folds, methods == "all", seed)
    cells = read_table(printed).query("model == @model")[[*CELL, "published_percent"]]
    tables["replication"] = tables["replication"].merge(cells, on=CELL, how="left")
    write_rows(tables, paths, model, REAL_LOGITS)


def replication_tables(folds: Folds, complete: bool, seed: int) -> dict[str, pd.DataFrame]:
    """Return {table: rows} of a model; ``reliability_bins`` are of the network as it is.

    ``complete`` fits all methods, those too that take minutes with many classes.
    """
    test, validation = folds["test"], folds.get("validation")
    n_classes = test.logits.shape[1]
    outputs = _outputs(validation, test, complete or n_classes < MANY_CLASSES)
    tables = tables_of(outputs, seed, lambda n: None)
    bins = tables["reliability_bins"]
    return {
        **tables,
        "replication": tables["measures"].assign(
            n_classes=n_classes,
            n_validation=0 if validation is None else len(validation.labels),
            n_test=len(test.labels),
        ),
        "reliability_bins": bins[bins["method"] == AS_IS],
        "calibration_graphs": graph_rows(validation, test),
    }


def _outputs(validation: Fold | None, test: Fold, with_matrices: bool) -> Iterator[Outputs]:
    if validation is None:
        yield outputs_as_is(test)
        yield from (Outputs(name, needs=NO_FOLD) for name in PAPERS_METHODS if name != AS_IS)
        return
    left_out = () if with_matrices else OF_MATRICES
    methods = [name for name in PAPERS_METHODS if name not in left_out]
    logits = Logits(validation, test)
    yield from outputs_of_logits(logits, methods=(*methods, BY_ECE))
    yield from (Outputs(name, needs="snakemake replication") for name in left_out)
