"""Assess one model: is it miscalibrated, by how much, and which estimate is to be trusted?"""

import argparse

import pandas as pd

from calbias.assessment.api import assess_top_label, loaded_estimators
from calbias.assessment.reliability import diagram_of
from calbias.assessment.tables import diagram_rows, estimator_rows, verdict_row
from calbias.errors import InputError
from calbias.estimation.api import validate_options
from calbias.estimation.registry import FOLDER
from calbias.io.command_line import command
from calbias.io.tables import write_table
from calbias.logits.top_label_table import read_top_labels


@command
def main(argv=None):
    """Write a model's rows of the tables ``assessment*``, and print its verdict."""
    options = _parse(argv)
    top, origin = read_top_labels(options.top_labels, options.fold)
    folders = [FOLDER, *options.estimator_dir]
    estimators = loaded_estimators(options.estimators, options.norm, folders)
    place = f"model {origin.model}, fold {options.fold}"
    if len(top.hit) < 2:
        raise InputError(
            f"{place}: {len(top.hit)} samples are too few to judge by: give at least 2"
        )
    settings = {"replicates": options.replicates, "seed": options.seed, "n_bins": options.n_bins}
    assessment = assess_top_label(top, estimators, norm=options.norm, **settings)
    diagram = diagram_of(top, **settings)
    print(f"{place}: {assessment.verdict}")
    for path, table, rows in (
        (options.output, "assessment", estimator_rows(origin, options.fold, assessment)),
        (
            options.output_verdict,
            "assessment_verdicts",
            [verdict_row(origin, options.fold, assessment)],
        ),
        (
            options.output_diagram,
            "assessment_diagrams",
            diagram_rows(origin, options.fold, diagram),
        ),
    ):
        write_table(path, table, pd.DataFrame(rows, dtype=object))  # integers beside gaps


def _parse(argv):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--top-labels", required=True, help="the model's top-label table (Parquet)")
    parser.add_argument("--fold", default="test", help="fold to judge on (test)")
    parser.add_argument("--estimators", nargs="+", required=True, help="estimators to apply")
    parser.add_argument("--estimator-dir", nargs="*", default=[], help="folder of your own ones")
    parser.add_argument("--n-bins", type=int, default=15, help="number of bins (15)")
    parser.add_argument("--norm", type=float, default=1.0, help="p of the ℓp error (1)")
    parser.add_argument(
        "--replicates", type=int, default=1000, help="simulated data sets, >= 2 (1000)"
    )
    parser.add_argument("--seed", type=int, required=True, help="seed of the random streams")
    parser.add_argument("--output", required=True, help="a row per estimator, to be written")
    parser.add_argument("--output-verdict", required=True, help="the model's row, to be written")
    parser.add_argument(
        "--output-diagram", required=True, help="bins of the reliability diagram, to be written"
    )
    options = parser.parse_args(argv)
    if options.replicates < 2 or options.seed < 0:
        raise InputError("--replicates must be at least 2 and --seed at least 0")
    validate_options(options.n_bins, options.norm)
    return options


if __name__ == "__main__":
    main()
