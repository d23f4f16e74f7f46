from pathlib import Path
from typing import Annotated

from evidence.studies.subgroups import subgroup_rows
from pipeline.steps import AtLeast, Seed
from pipeline.tables import write_table


def measure_subgroups(
    *,
    data_sets: Annotated[int, AtLeast(2)],
    seed: Seed,
    output: Path,
) -> None:
    """Measure size, power and coverage of the test over all subgroups on its cells.

    data_sets: data sets of each cell
    seed: seed of all random streams
    output: table to write
    """
    write_table(output, "subgroup_cells", subgroup_rows(data_sets, seed))
