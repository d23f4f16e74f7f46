"""Fit the twelve calibration-curve GLMs to a model's top labels, choose by AIC (paper Eq. 10)."""

from calbias.errors import InputError
from calbias.fits.glm import fit_all
from calbias.fits.tables import glm_rows, read_published
from calbias.io.command_line import OUTPUT, option, script
from calbias.io.tables import write_table
from calbias.logits.options import FOLD, TOP_LABELS
from calbias.logits.top_label_table import read_top_labels


@script(
    TOP_LABELS,
    option("--published", "published Table 3, to stand next to the fits", default=None),
    FOLD,
    option(
        "--scores-equal-to-one",
        "rows whose score is 1, or was before the published reduction by 1e-16: by_softmax drops "
        "them under float32_2020, as published",
        choices=("by_softmax", "keep", "drop"),
        default="by_softmax",
    ),
    OUTPUT,
)
def main(options):
    folds, origin = read_top_labels(options.top_labels)
    top_label = folds[options.fold]
    published = read_published(options.published, ["model", "glm"], ["aic", "b0", "b1"])
    drop = {"by_softmax": origin.softmax == "float32_2020", "keep": False, "drop": True}
    try:
        fits = fit_all(
            top_label.log_score,
            top_label.log1m_score,
            top_label.hit,
            drop_scores_equal_to_one=drop[options.scores_equal_to_one],
        )
    except InputError as error:
        raise InputError(f"{options.top_labels}, fold {options.fold}: {error}") from error
    write_table(options.output, "glm_fits", glm_rows(fits, origin, published))


if __name__ == "__main__":
    main()
