from pathlib import Path

from pipeline.tables.files import write_table
from pipeline.timing import processor
from reproduction.studies.fit_times import fit_time_rows

ROUNDS = 5  # fits of which the median is taken; of long ones fewer


def measure_fit_times(
    *,
    output: Path,
) -> None:
    """Measure the CPU time of a fit of each recalibration method, by samples and classes.

    output: table to write
    """
    machine = processor()
    rows = ({**row, "processor": machine} for row in fit_time_rows(ROUNDS))
    write_table(output, "fit_times", rows)
