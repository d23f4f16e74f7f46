from pathlib import Path
from typing import Annotated

from calbias.errors import InputError
from calbias.estimation.registry import FOLDER, estimator_file
from pipeline.logits.store import load_logits
from pipeline.steps import AtLeast, Seed, Softmax
from pipeline.tables.files import write_table
from reproduction.selection.tables import recalibration_tables


def recalibrate_model(
    *,
    logits: Path,
    estimator_dir: list[str],
    model: str,
    estimators: list[str],
    softmax: Softmax,
    bootstrap: Annotated[int, AtLeast(2)],
    seed: Seed,
    output_recalibration: Path,
    output_selections: Path,
    output_details: Path,
) -> None:
    """Recalibrate a model: fit each method on the validation fold and judge it on the test fold.

    Methods: histogram binning, isotonic regression, temperature scaling. Measures: every estimator
    of calibration error, the KS error, accuracy and negative log-likelihood, with two TCE
    references.

    logits: the model's logits in the pipeline's own form (NPZ)
    estimator_dir: folder of your own estimators
    model: the model's name
    estimators: measures besides the KS error (all)
    softmax: how scores are made
    bootstrap: resamples behind the selection frequencies
    seed: seed of all random streams
    output_recalibration: the model's rows of table recalibration to write
    output_selections: its selections under every choice, to write
    output_details: a row per method, to write: ties, bins, curve
    """
    folders: list[Path | str] = [FOLDER, *estimator_dir]
    files = {name: estimator_file(name, folders) for name in estimators}
    try:
        given = model, softmax, seed, bootstrap
        tables = recalibration_tables(load_logits(logits), *given, files or None)
    except InputError as error:
        named = str(error).startswith(str(logits))
        raise InputError(str(error) if named else f"{logits}: {error}") from error
    outputs = (output_recalibration, output_selections, output_details)
    columns = ("recalibration", list(tables[1][0]), "recalibration_details")
    for path, names, rows in zip(outputs, columns, tables, strict=True):
        write_table(path, names, rows)
