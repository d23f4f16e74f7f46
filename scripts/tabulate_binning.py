"""Tabulate what the number and kind of bins do to the error of an ECE and of a curve."""

from pathlib import Path

from evidence.studies import binning
from pipeline.script import SEED, option, script
from pipeline.tables.files import write_table


@script(
    option(
        "--replicates", "data sets of a cell; the ECE has five times", int, least=2, default=200
    ),
    SEED,
    option("--output", "folder of the tables", Path, default=Path("resources/binning")),
)
def main(options):
    options.output.mkdir(parents=True, exist_ok=True)
    for name in ("error", "curve", "band"):
        replicates = options.replicates * (5 if name == "error" else 1)
        rows = list(getattr(binning, f"{name}_rows")(replicates, options.seed))
        table = [list(row.values()) for row in rows]
        write_table(options.output / f"{name}.csv", list(rows[0]), table)


if __name__ == "__main__":
    main()
