"""Interpolate the TCE at which a test's miss rate falls to 10 % and 5 % (§7.2)."""

from calbias.errors import InputError
from calbias.io.command_line import OUTPUT, option, script
from calbias.io.tables import read_table, write_table
from calbias.summaries.detection_limits import TARGETS, detection_limits


@script(
    option("--detection", "table detection: miss rates"),
    option("--targets", "miss rates to reach, in (0, 1)", float, many=True, default=list(TARGETS)),
    OUTPUT,
)
def main(options):
    if not all(0 < target < 1 for target in options.targets):
        raise InputError(f"--targets {options.targets}: give fractions between 0 and 1")
    table = detection_limits(read_table(options.detection), options.targets)
    write_table(options.output, "detection_limits", table)


if __name__ == "__main__":
    main()
