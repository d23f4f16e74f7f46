"""Compute how far the paper's printed decimals leave each scenario's TCE open (Tables 2 and 3)."""

import argparse

from calbias.io.command_line import command
from calbias.io.tables import read_table, write_table
from calbias.sensitivity.tce_rounding import tce_rounding
from calbias.truth.published_fits import printed_fits


@command
def main(argv=None):
    """Write table ``tce_rounding``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--beta-fits", required=True, help="published Table 2 (CSV)")
    parser.add_argument("--glm-fits", required=True, help="published Table 3 (CSV)")
    parser.add_argument("--norm", type=float, default=2.0, help="p of TCE_p (default: 2)")
    parser.add_argument("--output", required=True, help="table to write (CSV)")
    options = parser.parse_args(argv)
    fits = printed_fits(read_table(options.beta_fits), read_table(options.glm_fits))
    write_table(options.output, "tce_rounding", tce_rounding(fits, options.norm))


if __name__ == "__main__":
    main()
