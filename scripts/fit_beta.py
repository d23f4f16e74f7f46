"""Fit a Beta distribution to a model's top-label scores by maximum likelihood (paper Eq. 9)."""

import argparse

from calbias.errors import InputError
from calbias.fits.beta import fit_beta
from calbias.fits.tables import beta_row, read_published
from calbias.io.command_line import command
from calbias.io.tables import write_table
from calbias.logits.store import FOLDS
from calbias.logits.top_label_table import read_top_labels


@command
def main(argv=None):
    """Read one fold of a top-label table, fit, and write one row of ``beta_fits.csv``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--top-labels", required=True, help="top-label table (Parquet) of read_logits.py"
    )
    parser.add_argument(
        "--fold", default="test", choices=FOLDS, help="fold to fit (default: test, as published)"
    )
    parser.add_argument(
        "--published", help="published Table 2 (CSV: model, alpha, beta), to stand beside the fit"
    )
    parser.add_argument("--output", required=True, help="table of one row to write (CSV)")
    arguments = parser.parse_args(argv)

    top_label, origin = read_top_labels(arguments.top_labels, arguments.fold)
    published = read_published(arguments.published, ["model"], ["alpha", "beta"])
    try:
        fit = fit_beta(top_label.log_score, top_label.log1m_score)
    except InputError as error:
        raise InputError(f"{arguments.top_labels}, fold {arguments.fold}: {error}") from error
    write_table(arguments.output, "beta_fits", [beta_row(fit, origin, published)])


if __name__ == "__main__":
    main()
