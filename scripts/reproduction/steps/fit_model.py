from pathlib import Path
from typing import Literal

from calbias.errors import InputError
from pipeline.fits.tables import fit_rows
from pipeline.logits import read_top_labels
from pipeline.tables import write_table


def fit_model(
    *,
    top_labels: Path,
    published_beta: Path | None,
    published_glm: Path | None,
    fold: Literal["validation", "test"] = "test",
    scores_equal_to_one: Literal["by_softmax", "keep", "drop"] = "by_softmax",
    output_beta: Path,
    output_glm: Path,
) -> None:
    """Fit a model's top-label scores: a Beta distribution, and twelve calibration curves.

    Both by maximum likelihood (paper Eqs. 9 and 10); the curves are GLMs, chosen by AIC.

    top_labels: the model's top-label table
    published_beta: published Table 2, to stand next to the fit
    published_glm: published Table 3, to stand next to the fits
    fold: fold of the top labels
    scores_equal_to_one: rows whose score is 1, or was before the published reduction by 1e-16:
        by_softmax drops them from the curves' fits under float32_2020, as published
    output_beta: rows of table beta_fits to write
    output_glm: rows of table glm_fits to write
    """
    folds, origin = read_top_labels(top_labels)
    drop = {"by_softmax": origin.softmax == "float32_2020", "keep": False, "drop": True}
    published = published_beta, published_glm
    drops = drop[scores_equal_to_one]
    try:
        beta, glms = fit_rows(folds[fold], origin, *published, drops)
    except InputError as error:
        raise InputError(f"{top_labels}, fold {fold}: {error}") from error
    write_table(output_beta, "beta_fits", [beta])
    write_table(output_glm, "glm_fits", glms)
