from pathlib import Path

from pipeline.tables import write_table
from reproduction.authors_files import best_scenarios, bias_rows, ece_bin_rows, fit_rows


def read_authors_files(
    *,
    beta_fits: Path,
    glm_fits: Path,
    biases: Path,
    ece_bin: Path,
    output_fits: Path,
    output_biases: Path,
    output_ece_bin: Path,
) -> None:
    """Read the fits and biases that the authors' public code downloads (Tables 2 to 4, Figure 4).

    beta_fits: beta_fit_data.p
    glm_fits: glm_fit_data.p
    biases: calibration_results.json
    ece_bin: eece_sece_data.p
    output_fits: table authors_fits to write
    output_biases: table authors_biases to write
    output_ece_bin: table authors_ece_bin to write
    """
    fits = list(fit_rows(beta_fits, glm_fits))
    write_table(output_fits, "authors_fits", fits)
    write_table(output_biases, "authors_biases", bias_rows(biases, best_scenarios(fits)))
    write_table(output_ece_bin, "authors_ece_bin", ece_bin_rows(ece_bin))
