from pathlib import Path
from typing import Annotated

from calbias.errors import InputError
from calbias.estimation.registry import estimator_file
from pipeline.estimators import FOLDERS
from pipeline.logits.store import load_logits
from pipeline.manifest import verify_shipped
from pipeline.steps import AtLeast, Seed, Softmax
from pipeline.tables import write_table
from reproduction.selection.tables import recalibration_tables


def recalibrate_model(
    *,
    logits: Path,
    manifest: Path,
    estimator_dir: list[str],
    model: str,
    estimators: list[str],
    softmax: Softmax,
    bootstrap: Annotated[int, AtLeast(2)],
    seed: Seed,
    output_recalibration: Path,
    output_selections: Path,
) -> None:
    """Recalibrate a model: fit each method on the validation fold and judge it on the test fold.

    Methods: histogram binning, isotonic regression, temperature scaling. Measures: every estimator
    of calibration error, the KS error, accuracy and negative log-likelihood, with two TCE
    references.

    logits: the model's logits, both folds (NPZ)
    manifest: the shipped files (JSON)
    estimator_dir: folder of your own estimators
    model: the model's name
    estimators: measures besides the KS error (all)
    softmax: how scores are made
    bootstrap: resamples behind the selection frequencies
    seed: seed of all random streams
    output_recalibration: the model's rows of table recalibration to write
    output_selections: its selections under every choice, to write
    """
    folders: list[Path | str] = [*FOLDERS, *estimator_dir]
    files = {name: estimator_file(name, folders) for name in estimators}
    try:
        verify_shipped(logits, manifest)
        given = model, softmax, seed, bootstrap
        tables = recalibration_tables(load_logits(logits), *given, files or None)
    except InputError as error:
        named = str(error).startswith(str(logits))
        raise InputError(str(error) if named else f"{logits}: {error}") from error
    write_table(output_recalibration, "recalibration", tables[0])
    write_table(output_selections, list(tables[1][0]), tables[1])
