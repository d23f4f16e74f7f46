"""Interpolate the TCE at which a test's miss rate falls to 10 % and 5 % (§7.2)."""

import argparse

from calbias.errors import InputError
from calbias.io.command_line import command
from calbias.io.tables import read_table, write_table
from calbias.summaries.detection_limits import TARGETS, detection_limits


@command
def main(argv=None):
    """Write the table ``detection_limits``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--detection", required=True, help="table detection (CSV): miss rates")
    parser.add_argument(
        "--targets",
        type=float,
        nargs="+",
        default=list(TARGETS),
        help="miss rates, fractions in (0, 1), to be reached (default: 0.1 0.05)",
    )
    parser.add_argument("--output", required=True, help="table to write (CSV)")
    options = parser.parse_args(argv)
    if not all(0 < target < 1 for target in options.targets):
        raise InputError(f"--targets {options.targets}: give fractions between 0 and 1")
    table = detection_limits(read_table(options.detection), options.targets)
    write_table(options.output, "detection_limits", table)


if __name__ == "__main__":
    main()
