from pathlib import Path
from typing import Annotated

from evidence.studies.interval_coverage import coverage_rows
from pipeline.steps import AtLeast, Seed
from pipeline.tables import write_table


def measure_coverage(
    *,
    cells: str,
    data_sets: Annotated[int, AtLeast(2)],
    seed: Seed,
    output: Path,
) -> None:
    """Measure how often the intervals of an audit hold the truth, for one set of cells.

    cells: the set of cells
    data_sets: data sets of each cell
    seed: seed of all random streams
    output: table to write
    """
    rows = list(coverage_rows(cells, data_sets, seed))
    write_table(output, "interval_coverage", rows)
