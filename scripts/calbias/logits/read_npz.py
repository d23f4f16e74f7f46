"""Read a user's NPZ file of model outputs.

With folds: ``validation_logits, validation_labels, test_logits, test_labels``, or the test fold
alone. Without: ``logits, labels``, and optionally ``fold``, one of the texts ``validation`` and
``test`` per row. ``probabilities`` may stand for ``logits``. Top-label scores are ``scores`` and
``hits``, or ``scores``, ``labels`` and ``predictions``; an event has ``scores``, probabilities of
label 1, and ``labels`` (or ``y_prob`` and ``y_true``). Each name may be singular, and other arrays
are ignored. Arrays of Python objects are refused: they would need the unpickler.
"""

import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from calbias.errors import InputError
from calbias.logits.output_file import FOLDS, Fold, OutputFile, Place, split_by_fold

_VALUES = ("logits", "probabilities", "scores", "score", "y_prob", "y_score")
_LABELS = ("labels", "label", "y_true")


def read_npz(path: Path | str) -> OutputFile:
    """Return the ``OutputFile`` of an NPZ file; InputError if it is damaged or lacks the arrays."""
    try:
        with open(path, "rb") as file:
            archive = np.load(file, allow_pickle=False)
            if isinstance(archive, np.ndarray):
                raise InputError(f"{path}: one array, no NPZ; write it again with numpy.savez")
            return _output_file(Path(path), archive)
    except InputError:
        raise
    except (OSError, ValueError, EOFError, MemoryError, zipfile.BadZipFile, zlib.error) as error:
        reason = (str(error) or type(error).__name__).splitlines()[0]
        if "allow_pickle" in reason:  # numpy's advice, which would run what is in the file
            archive = zipfile.is_zipfile(path)
            reason = "an array of Python objects" if archive else "not one by its first bytes"
        raise InputError(
            f"{path}: no readable NPZ file: {reason}; write it again with numpy.savez"
        ) from error


def _output_file(path: Path, archive: Any) -> OutputFile:
    names = (*_VALUES, *_LABELS)
    prefixes = {fold: f"{fold}_" for fold in FOLDS if _find(archive, f"{fold}_", *names)}
    if prefixes and "test" not in prefixes:
        raise InputError(f"{path}: no array test_logits; the test fold is the one that is judged")
    prefixes = prefixes or {"test": ""}
    read = {fold: _read_fold(path, archive, prefix) for fold, prefix in prefixes.items()}
    folds = {fold: raw for fold, (raw, _) in read.items()}
    forms = {form for _, form in read.values()}
    if len(forms) == 2 and {"scores", "event"} & forms:
        raise InputError(f"{path}: scores in one fold and logits in the other; give both the same")
    if "fold" in archive and prefixes == {"test": ""}:
        folds_of_rows = [str(name).strip() for name in np.ravel(archive["fold"])]
        folds = split_by_fold(folds["test"], folds_of_rows)
    return OutputFile(folds, max(forms, key=str) if forms != {None} else None)


def _read_fold(path: Path, archive: Any, prefix: str) -> tuple[Fold, str | None]:
    """Return a fold's ``Fold`` and its form."""
    values = _find(archive, prefix, *_VALUES)
    labels = _find(archive, prefix, *_LABELS)
    if values and ("score" in values or "y_prob" in values):
        hits = _find(archive, prefix, "hits", "hit")
        predictions = _find(archive, prefix, "predictions", "prediction")
        place = Place(path, values)
        if hits:
            return Fold(archive[values], archive[hits], place), "scores"
        if labels and not predictions:
            is_table = archive[values].ndim == 2 and archive[values].shape[1] > 1
            form = "probabilities" if is_table else "event"
            return Fold(archive[values], archive[labels], place), form
        if labels:
            label, prediction = np.ravel(archive[labels]), np.ravel(archive[predictions])
            if label.shape != prediction.shape:
                raise place.error(f"{len(label)} labels but {len(prediction)} predictions")
            return Fold(archive[values], label == prediction, place), "scores"
        labels = None
    if not values or not labels:
        missing = prefix + (("labels" if "score" not in values else "hits") if values else "logits")
        raise InputError(
            f"{path}: no array {missing}, only {', '.join(archive.files) or 'nothing'}; name the "
            "arrays logits and labels, or scores and hits, with test_ and validation_ in front "
            "for two folds"
        )
    form_of_classes = "probabilities" if values.endswith("probabilities") else None
    return Fold(archive[values], archive[labels], Place(path, values)), form_of_classes


def _find(archive: Any, prefix: str, *names: Any) -> str | None:
    return next((prefix + name for name in names if prefix + name in archive), None)
