from pathlib import Path

from calbias.logits.top_label import top_label
from pipeline.fits.tables import fit_rows
from pipeline.logits import REAL_LOGITS, Origin, load_logits
from pipeline.tables import write_table

SOFTMAX = "float32_2020"


def fit_as_published(
    *,
    logits: Path,
    model: str,
    published_beta: Path,
    published_glm: Path,
    output_beta: Path,
    output_glm: Path,
) -> None:
    """Fit a model's test fold as the paper did: softmax of 2020, scores equal to 1 dropped.

    Where a run uses the exact softmax, this is what Tables 2 and 3 are compared with.

    logits: the model's logits in the pipeline's own form (NPZ)
    model: the model's name
    published_beta: published Table 2, to stand next to the fit
    published_glm: published Table 3, to stand next to the fits
    output_beta: rows of table beta_fits_float32_2020 to write
    output_glm: rows of table glm_fits_float32_2020 to write
    """
    genuine = load_logits(logits)
    origin = Origin(model, REAL_LOGITS, SOFTMAX, ())
    published = published_beta, published_glm
    beta, glms = fit_rows(
        top_label(genuine.test.logits, genuine.test.labels, SOFTMAX), origin, *published, True
    )
    write_table(output_beta, f"beta_fits_{SOFTMAX}", [beta])
    write_table(output_glm, f"glm_fits_{SOFTMAX}", glms)
