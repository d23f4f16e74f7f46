"""Recalibrate a model: fit each method on the validation fold and judge it on the test fold.

Methods: histogram binning, isotonic regression, temperature scaling. Measures: every estimator of
calibration error, the KS error, accuracy and negative log-likelihood, with two TCE references.
"""

from calbias.errors import InputError
from calbias.estimation.registry import FOLDER, estimator_file
from pipeline.logits.options import MODEL, SOFTMAX
from pipeline.logits.store import load_logits
from pipeline.script import SEED, option, script
from pipeline.tables.files import write_table
from reproduction.selection.tables import recalibration_tables


@script(
    option("--logits", "the model's logits in the pipeline's own form (NPZ)"),
    option("--estimator-dir", "folder of your own estimators", many=True, default=[]),
    MODEL,
    option("--estimators", "measures besides the KS error (all)", many=True, default=[]),
    SOFTMAX,
    option("--bootstrap", "resamples behind the selection frequencies", int, least=2, default=200),
    SEED,
    option("--output", "the model's rows of table recalibration to write"),
    option("--selection-output", "its selections under every choice, to write", default=None),
    option("--details-output", "a row per method, to write: ties, bins, curve", default=None),
)
def main(options):
    folders = [FOLDER, *options.estimator_dir]
    files = {name: estimator_file(name, folders) for name in options.estimators}
    try:
        logits = load_logits(options.logits)
        given = options.model, options.softmax, options.seed, options.bootstrap
        tables = recalibration_tables(logits, *given, files or None)
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
