"""Run the methods of Guo et al. and Gupta et al. on another network, from a file of its outputs."""

from pathlib import Path

import pandas as pd

from calbias.errors import InputError
from calbias.logits.raw_file import Fold
from calbias.logits.read_logits import read_outputs
from pipeline.logits.options import MODEL, RESOURCES
from pipeline.logits.store import REAL_LOGITS
from pipeline.manifest import verify_shipped
from pipeline.script import SEED, option, script
from pipeline.tables.files import write_table
from pipeline.tables.rows import read_rows
from pipeline.tables.schema import columns_of
from reproduction.measured.noise import NoiseFloors
from reproduction.studies.replication import mukhoti_rows, replication_rows

MUKHOTI = "mukhoti2020_table1"


@script(
    option("--file", "the model's outputs, of all classes", Path),
    option("--manifest", "the shipped files (JSON)", Path, default=RESOURCES / "manifest.json"),
    option("--mukhoti", "printed Table 1 of Mukhoti et al. (CSV)", Path),
    MODEL,
    option("--methods", "those that take seconds, or all", choices=("quick", "all"), default="all"),
    SEED,
    option("--output", "rows of table replication to write"),
    option("--output-mukhoti", f"rows of table {MUKHOTI} to write"),
    option("--output-floors", "rows of table noise_floors, to write", default=None),
    option("--output-differences", "rows of table method_differences, to write", default=None),
)
def main(options):
    verify_shipped(options.file, options.manifest)
    folds = read_outputs(options.file).folds
    if not isinstance(folds["test"], Fold):
        raise InputError(f"{options.file}: scores of the top class; give outputs of all classes")
    floors = NoiseFloors(options.seed)
    rows = pd.DataFrame(replication_rows(folds, options.methods == "all", floors))
    tables = {
        "replication": (options.output, rows),
        "noise_floors": (options.output_floors, pd.DataFrame(floors.rows)),
        "method_differences": (options.output_differences, pd.DataFrame(floors.differences())),
    }
    for name, (path, rows) in tables.items():
        if path is not None:
            rows = rows.assign(model=options.model, source=REAL_LOGITS)
            write_table(path, name, rows.reindex(columns=columns_of(name)))
    printed = {row["model"]: row for _, row in read_rows(options.mukhoti, ("model",))}
    known = options.model in printed
    table_1 = mukhoti_rows(options.model, folds, printed[options.model]) if known else []
    columns = columns_of(MUKHOTI)
    write_table(options.output_mukhoti, MUKHOTI, pd.DataFrame(table_1, columns=columns))


if __name__ == "__main__":
    main()
