"""Compute how far the paper's printed decimals leave each scenario's TCE open (Tables 2 and 3)."""

from calbias.io.command_line import NORM, OUTPUT, option, script
from calbias.io.tables import read_table, write_table
from calbias.sensitivity.tce_rounding import tce_rounding
from calbias.truth.published_fits import printed_fits


@script(
    option("--beta-fits", "published Table 2"),
    option("--glm-fits", "published Table 3"),
    NORM,
    OUTPUT,
)
def main(options):
    fits = printed_fits(read_table(options.beta_fits), read_table(options.glm_fits))
    write_table(options.output, "tce_rounding", tce_rounding(fits, options.norm))


if __name__ == "__main__":
    main()
