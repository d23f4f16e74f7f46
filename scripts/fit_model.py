"""Fit a model's top-label scores: a Beta distribution, and twelve calibration curves.

Both by maximum likelihood (paper Eqs. 9 and 10); the curves are GLMs, chosen by AIC.
"""

from calbias.errors import InputError
from pipeline.fits.tables import fit_rows
from pipeline.logits.options import FOLD, TOP_LABELS
from pipeline.logits.top_label_table import read_top_labels
from pipeline.script import option, script
from pipeline.tables.files import write_table


@script(
    TOP_LABELS,
    option("--published-beta", "published Table 2, to stand next to the fit", default=None),
    option("--published-glm", "published Table 3, to stand next to the fits", default=None),
    FOLD,
    option(
        "--scores-equal-to-one",
        "rows whose score is 1, or was before the published reduction by 1e-16: by_softmax drops "
        "them from the curves' fits under float32_2020, as published",
        choices=("by_softmax", "keep", "drop"),
        default="by_softmax",
    ),
    option("--output-beta", "rows of table beta_fits to write"),
    option("--output-glm", "rows of table glm_fits to write"),
)
def main(options):
    folds, origin = read_top_labels(options.top_labels)
    drop = {"by_softmax": origin.softmax == "float32_2020", "keep": False, "drop": True}
    published = options.published_beta, options.published_glm
    drops = drop[options.scores_equal_to_one]
    try:
        beta, glms = fit_rows(folds[options.fold], origin, *published, drops)
    except InputError as error:
        raise InputError(f"{options.top_labels}, fold {options.fold}: {error}") from error
    write_table(options.output_beta, "beta_fits", [beta])
    write_table(options.output_glm, "glm_fits", glms)


if __name__ == "__main__":
    main()
