"""Compute how far the paper's printed decimals leave each scenario's TCE open (Tables 2 and 3)."""

from pipeline.scenarios.fits import printed_fits
from pipeline.script import NORM, OUTPUT, option, script
from pipeline.tables.files import read_table, write_table
from reproduction.studies.tce_rounding import tce_rounding


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
