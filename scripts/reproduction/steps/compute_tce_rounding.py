from pathlib import Path

from pipeline.scenarios.fits import printed_fits
from pipeline.tables.files import read_table, write_table
from reproduction.studies.tce_rounding import tce_rounding


def compute_tce_rounding(
    *,
    beta_fits: Path,
    glm_fits: Path,
    norm: float,
    output: Path,
) -> None:
    """Compute how far the paper's printed decimals leave each scenario's TCE open (Tables 2 and 3).

    beta_fits: published Table 2
    glm_fits: published Table 3
    norm: p of the ℓp error
    output: table to write
    """
    fits = printed_fits(read_table(beta_fits), read_table(glm_fits))
    write_table(output, "tce_rounding", tce_rounding(fits, norm))
