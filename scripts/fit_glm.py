"""Fit the twelve calibration-curve GLMs to a model's top labels, choose by AIC (paper Eq. 10)."""

import argparse

from calbias.errors import InputError
from calbias.fits.glm import fit_all
from calbias.fits.tables import glm_rows, read_published
from calbias.io.command_line import command
from calbias.io.tables import write_table
from calbias.logits.store import FOLDS
from calbias.logits.top_label_table import read_top_labels


@command
def main(argv=None):
    """Read one fold of a top-label table, fit, and write twelve rows of ``glm_fits.csv``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--top-labels", required=True, help="top-label table (Parquet) of read_logits.py"
    )
    parser.add_argument(
        "--fold", default="test", choices=FOLDS, help="fold to fit (default: test, as published)"
    )
    parser.add_argument(
        "--scores-equal-to-one",
        default="by_softmax",
        choices=("by_softmax", "keep", "drop"),
        help="rows whose score is 1 in float64, or was before the published reduction by 1e-16; "
        "by_softmax (default) drops them under float32_2020, as published, and keeps them else",
    )
    parser.add_argument(
        "--published",
        help="published Table 3 (CSV: model, glm, aic, b0, b1), to stand beside the fits",
    )
    parser.add_argument("--output", required=True, help="table of twelve rows to write (CSV)")
    arguments = parser.parse_args(argv)

    top_label, origin = read_top_labels(arguments.top_labels, arguments.fold)
    published = read_published(arguments.published, ["model", "glm"], ["aic", "b0", "b1"])
    drop = {"by_softmax": origin.softmax == "float32_2020", "keep": False, "drop": True}
    try:
        fits = fit_all(
            top_label.log_score,
            top_label.log1m_score,
            top_label.hit,
            drop_scores_equal_to_one=drop[arguments.scores_equal_to_one],
        )
    except InputError as error:
        raise InputError(f"{arguments.top_labels}, fold {arguments.fold}: {error}") from error
    write_table(arguments.output, "glm_fits", glm_rows(fits, origin, published))


if __name__ == "__main__":
    main()
