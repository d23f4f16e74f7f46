"""Measure the CPU time of a fit of each recalibration method, by samples and classes."""

from evidence.benchmark.fit_times import fit_time_rows
from evidence.benchmark.timing import processor
from pipeline.script import OUTPUT, script
from pipeline.tables.files import write_table

ROUNDS = 5  # fits of which the median is taken; of long ones fewer


@script(OUTPUT)
def main(options):
    machine = processor()
    rows = ({**row, "processor": machine} for row in fit_time_rows(ROUNDS))
    write_table(options.output, "fit_times", rows)


if __name__ == "__main__":
    main()
