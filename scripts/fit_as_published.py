"""Fit a model's test fold as the paper did: the float32 softmax of 2020, scores equal to 1 dropped.

Where a run uses the exact softmax, this is what Tables 2 and 3 are compared with.
"""

from calbias.logits.top_label import top_label
from pipeline.fits.tables import fit_rows
from pipeline.logits.options import MODEL
from pipeline.logits.store import load_logits
from pipeline.logits.top_label_table import Origin
from pipeline.script import option, script
from pipeline.tables.files import write_table

SOFTMAX = "float32_2020"


@script(
    option("--logits", "the model's logits in the pipeline's own form (NPZ)"),
    MODEL,
    option("--published-beta", "published Table 2, to stand next to the fit"),
    option("--published-glm", "published Table 3, to stand next to the fits"),
    option("--output-beta", "rows of table beta_fits_float32_2020 to write"),
    option("--output-glm", "rows of table glm_fits_float32_2020 to write"),
)
def main(options):
    logits = load_logits(options.logits)
    origin = Origin(options.model, logits.source, SOFTMAX, ())
    published = options.published_beta, options.published_glm
    beta, glms = fit_rows(top_label(*logits.test, SOFTMAX), origin, *published, True)
    write_table(options.output_beta, f"beta_fits_{SOFTMAX}", [beta])
    write_table(options.output_glm, f"glm_fits_{SOFTMAX}", glms)


if __name__ == "__main__":
    main()
