"""Gather the models' recalibration selections into Table 1 and its sensitivity."""

import argparse

from calbias.io.command_line import command
from calbias.io.tables import read_table, write_table
from calbias.recalibration.summary import gathered, selection_table, sensitivity_table


@command
def main(argv=None):
    """Write ``recalibration_selection.csv`` and ``recalibration_sensitivity.csv``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--selections",
        nargs="+",
        required=True,
        help="selections of the models, from recalibrate_model.py --selection-output (CSV)",
    )
    parser.add_argument("--published", required=True, help="published Table 1 (CSV)")
    parser.add_argument("--output-selection", required=True, help="output: Table 1 (CSV)")
    parser.add_argument(
        "--output-sensitivity",
        required=True,
        help="output: agreement under each choice that the paper leaves open (CSV)",
    )
    options = parser.parse_args(argv)

    selections = gathered(options.selections)
    published = read_table(options.published)
    table = selection_table(selections, published, options.published)
    write_table(options.output_selection, "recalibration_selection", table)
    write_table(
        options.output_sensitivity, "recalibration_sensitivity", sensitivity_table(selections)
    )


if __name__ == "__main__":
    main()
