"""Read the outputs of the run's models: published files, verified, or a user's own."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from calbias.errors import InputError
from calbias.logits.output_file import OutputFile
from calbias.logits.read_logits import SCORE_FORMS, of_logits, of_scores, read_raw
from pipeline.manifest import PublishedFile, verify, verify_shipped


def read_logits(
    path: Path | str,
    model: str,
    manifest: Mapping[str, PublishedFile],
    n_classes: int | None = None,
) -> OutputFile:
    """Return the ``OutputFile`` of ``Fold``s of a model's logits or probabilities in ``path``.

    A file that ``manifest`` (``{model: PublishedFile}``) gives the model by name must be as
    published before anything is parsed. Any other is the user's own: doubts become
    warnings.
    """
    path = Path(path)
    published = manifest.get(model)
    genuine = published is not None and published.file == path.name
    if published is not None and genuine:
        verify(path, published)
    raw = read_raw(path)
    if raw.form in SCORE_FORMS:
        raise InputError(f"{path}: top-label scores, no logits; read it with read_scores.py")
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
    own = (
        f"not the published file {published.file} of {published.model}: claims about this model "
        "are judged by your own file"
    )
    return outputs._replace(warnings=(own, *outputs.warnings))


def read_scores(path: Path | str, manifest: Path | str | None = None) -> OutputFile:
    """Return the ``OutputFile`` of ``TopLabel``s of scores and hits; InputError without them.

    A file that ``manifest``, the path of the shipped files' manifest, lists must be as listed.
    """
    path = Path(path)
    if manifest is not None:
        verify_shipped(path, manifest)
    raw = read_raw(path)
    if raw.form != "scores":
        raise InputError(
            f"{path}: no columns score and hit (or score, label and prediction); add them, or read "
            "logits with read_logits.py"
        )
    return of_scores(raw)
