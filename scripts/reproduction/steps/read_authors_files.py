from pathlib import Path

from pipeline.tables import write_table
from reproduction.authors_files import recorded_rows


def read_authors_files(
    *,
    beta_fits: Path,
    glm_fits: Path,
    biases: Path,
    ece_bin: Path,
    output: Path,
) -> None:
    """Read the fits and biases that the authors' public code downloads (Tables 2 to 4, Figure 4).

    beta_fits: beta_fit_data.p
    glm_fits: glm_fit_data.p
    biases: calibration_results.json
    ece_bin: eece_sece_data.p
    output: table authors_recorded to write
    """
    write_table(output, "authors_recorded", recorded_rows(beta_fits, glm_fits, biases, ece_bin))
