"""Interpolate the TCE at which a test's miss rate falls to 10 % and 5 % (§7.2)."""

from calbias.io.command_line import OUTPUT, option, script
from calbias.io.tables import read_table, write_table
from calbias.summaries.detection_limits import detection_limits


@script(option("--detection", "table detection: miss rates"), OUTPUT)
def main(options):
    table = detection_limits(read_table(options.detection))
    write_table(options.output, "detection_limits", table)


if __name__ == "__main__":
    main()
