"""Recalibrate a model: fit each method on the validation fold and judge it on the test fold.

Methods: histogram binning, isotonic regression, temperature scaling. Measures: every estimator of
calibration error, the KS error, accuracy and negative log-likelihood, with two TCE references.
"""

import argparse

from calbias.errors import InputError
from calbias.estimation.registry import FOLDER, estimator_file
from calbias.io.command_line import command
from calbias.io.tables import write_table
from calbias.logits.store import load_logits
from calbias.logits.top_label import SOFTMAXES
from calbias.recalibration.tables import recalibration_tables


@command
def main(argv=None):
    """Write the model's rows of ``recalibration.csv``, its selections and the details."""
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--model", required=True, help="the model's name, as in the config")
    add("--logits", required=True, help="its logits in the pipeline's own form (NPZ)")
    add("--softmax", choices=SOFTMAXES, default="exact", help="how scores are computed (exact)")
    add("--seed", type=int, required=True, help="seed of the bootstrap, an integer >= 0")
    add(
        "--bootstrap",
        type=int,
        default=200,
        help="resamples of the test fold behind the selection frequencies, >= 2 (200)",
    )
    add("--estimators", nargs="*", default=[], help="measures besides the KS error (all)")
    add("--estimator-dir", nargs="*", default=[], help="folder of your own estimators")
    add("--output", required=True, help="output: the model's rows of recalibration.csv")
    add("--selection-output", help="output: its selections under every choice (CSV)")
    add("--details-output", help="output: a row per method: ties, bins, fitted curve (CSV)")
    options = parser.parse_args(argv)
    if options.bootstrap < 2 or options.seed < 0:
        raise InputError("--bootstrap must be at least 2 and --seed at least 0")

    folders = [FOLDER, *options.estimator_dir]
    files = {name: estimator_file(name, folders) for name in options.estimators}
    try:
        tables = recalibration_tables(
            load_logits(options.logits),
            options.model,
            options.softmax,
            options.seed,
            options.bootstrap,
            files or None,
        )
    except InputError as error:
        named = str(error).startswith(str(options.logits))
        raise InputError(str(error) if named else f"{options.logits}: {error}") from error
    outputs = (options.output, options.selection_output, options.details_output)
    columns = ("recalibration", list(tables[1][0]), "recalibration_details")
    for path, names, rows in zip(outputs, columns, tables, strict=True):
        if path:
            write_table(path, names, rows)


if __name__ == "__main__":
    main()
