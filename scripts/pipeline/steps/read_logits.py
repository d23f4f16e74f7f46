import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from calbias.errors import InputError
from calbias.reading.output_file import OutputFile
from calbias.reading.read_logits import SCORE_FORMS, of_logits
from calbias.reading.top_label import top_label
from pipeline.logits import REAL_LOGITS, Origin, save_logits, two_folds, write_top_labels
from pipeline.manifest import PublishedFile, read_manifest, verify
from pipeline.pickles import read_file
from pipeline.steps import Seed, Softmax


def read_logits(
    *,
    file: Path,
    manifest: Path,
    model: str,
    n_classes: int | None,
    softmax: Softmax,
    seed: Seed,
    output_logits: Path,
    output_top_labels: Path,
) -> None:
    """Read a model's logits from a file, check them, and write them in the pipeline's own form.

    FILE is a published pickle (with the size and SHA-256 of the manifest) or your own: NPZ, CSV or
    Parquet, logits or probabilities, with or without folds. Without a validation fold the
    top-label table has all rows as fold test; the logits, which recalibration needs in two folds,
    are split in half by the seed.

    file: the model's file of outputs
    manifest: the published files (CSV)
    model: the model's name
    n_classes: how many classes its rows must have
    softmax: how scores are made
    seed: seed of the split of a file without folds
    output_logits: logits to write (NPZ)
    output_top_labels: top-label table to write
    """
    outputs = checked_outputs(file, model, read_manifest(manifest), n_classes)
    folds: Any = outputs.folds
    for text in outputs.warnings:
        warnings.warn(f"{file}: {text}", stacklevel=1)
    top_labels = {
        name: top_label(fold.logits, fold.labels, softmax) for name, fold in folds.items()
    }
    origin = Origin(model, REAL_LOGITS, softmax, outputs.warnings)
    save_logits(output_logits, two_folds(folds, seed))
    write_top_labels(output_top_labels, top_labels, origin)


def checked_outputs(
    path: Path | str,
    model: str,
    manifest: Mapping[str, PublishedFile],
    n_classes: int | None = None,
) -> OutputFile:
    """Return the ``OutputFile`` of a model's logits or probabilities in ``path``.

    A file that ``manifest`` (``{model: PublishedFile}``) gives the model by name must be as
    published before anything is parsed. Any other is the user's own: doubts become warnings.
    """
    path = Path(path)
    published = manifest.get(model)
    genuine = published is not None and published.file == path.name
    if published is not None and genuine:
        verify(path, published)
    raw = read_file(path)
    if raw.form in SCORE_FORMS:
        raise InputError(f"{path}: top-label scores, no logits; read it by step read_scores")
    columns = np.shape(raw.folds["test"].values)[-1]
    if n_classes and columns != n_classes:
        raise InputError(
            f"{path}: {columns} columns of classes, but the models table says n_classes "
            f"{n_classes}; drop columns that are no class, or correct n_classes"
        )
    outputs = of_logits(path, raw)
    if genuine:
        return outputs._replace(warnings=())
    if published is None:
        return outputs
    agreement = (
        f"not the published file {published.file} of {published.model}: claims about this model "
        "are judged by your own file"
    )
    return outputs._replace(warnings=(agreement, *outputs.warnings))
