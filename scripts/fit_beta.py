"""Fit a Beta distribution to a model's top-label scores by maximum likelihood (paper Eq. 9)."""

from calbias.errors import InputError
from calbias.fits.beta import fit_beta
from calbias.fits.tables import beta_row, read_published
from calbias.io.command_line import OUTPUT, option, script
from calbias.io.tables import write_table
from calbias.logits.options import FOLD, TOP_LABELS
from calbias.logits.top_label_table import read_top_labels


@script(
    TOP_LABELS,
    option("--published", "published Table 2, to stand next to the fit", default=None),
    FOLD,
    OUTPUT,
)
def main(options):
    folds, origin = read_top_labels(options.top_labels)
    top_label = folds[options.fold]
    published = read_published(options.published, ["model"], ["alpha", "beta"])
    try:
        fit = fit_beta(top_label.log_score, top_label.log1m_score)
    except InputError as error:
        raise InputError(f"{options.top_labels}, fold {options.fold}: {error}") from error
    write_table(options.output, "beta_fits", [beta_row(fit, origin, published)])


if __name__ == "__main__":
    main()
