"""Assess one model: is it miscalibrated, by how much, and which estimate is to be trusted?"""

import pandas as pd

from calbias.assessment.api import assess_top_label, loaded_estimators
from calbias.assessment.reliability import diagram_of
from calbias.assessment.tables import diagram_rows, estimator_rows, verdict_row
from calbias.errors import InputError
from calbias.estimation.api import validate_options
from calbias.estimation.registry import FOLDER
from calbias.io.command_line import SEED, option, script
from calbias.io.tables import write_table
from calbias.logits.options import FOLD, TOP_LABELS
from calbias.logits.top_label_table import read_top_labels


@script(
    TOP_LABELS,
    option("--estimator-dir", "folder of your own estimators", many=True, default=[]),
    FOLD,
    option("--estimators", "estimators to apply", many=True),
    option("--n-bins", "number of bins", int, default=15),
    option("--norm", "p of the ℓp error", float, default=1.0),
    option("--replicates", "simulated data sets", int, least=2, default=1000),
    SEED,
    option("--output", "a row per estimator, to write"),
    option("--output-verdict", "the model's row, to write"),
    option("--output-diagram", "bins of the reliability diagram, to write"),
)
def main(options):
    validate_options(options.n_bins, options.norm)
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


if __name__ == "__main__":
    main()
