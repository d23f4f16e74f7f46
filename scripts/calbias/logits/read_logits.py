"""Read a model's outputs from a file of any format: logits, probabilities or top-label scores.

Outputs are NPZ or a table (``calbias.logits.read_table``), with the folds ``validation`` and
``test`` or without. A file without folds is one fold, ``test``, with all its rows: they are all
judged.

The arrays of an NPZ file, with folds: ``validation_logits, validation_labels, test_logits,
test_labels``, or the test fold alone. Without: ``logits, labels``, and optionally ``fold``, one of
the texts ``validation`` and ``test`` per row. ``probabilities`` may stand for ``logits``. Top-label
scores are ``scores`` and ``hits``, or ``scores``, ``labels`` and ``predictions``; an event has
``scores``, probabilities of label 1, and ``labels`` (or ``y_prob`` and ``y_true``). Each name may
be singular, and other arrays are ignored. Arrays of Python objects are refused: they would need the
unpickler.
"""

import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from calbias.engine.scores_and_hits import scores_and_hits
from calbias.errors import InputError
from calbias.io.files import validate_file_exists, validate_no_placeholder
from calbias.logits import checks, plausibility
from calbias.logits.class_columns import validate_no_features
from calbias.logits.columns import Columns
from calbias.logits.json_records import LOG
from calbias.logits.output_file import FOLDS, Fold, OutputFile, Place, split_by_fold
from calbias.logits.read_table import read_table_file
from calbias.logits.table_files import SUFFIXES, is_standard_input, table_suffix
from calbias.logits.top_label import top_label_of_scores

SCORE_FORMS = ("scores", "event")
_REMEDIES = {
    ".npy": 'save scores and hits together: numpy.savez("mine.npz", score=scores, hit=hits)',
    **dict.fromkeys(
        (".pt", ".pth"),
        'save it with NumPy: numpy.savez("mine.npz", logits=logits.numpy(), labels=labels.numpy())',
    ),
    **dict.fromkeys(
        (".p", ".pkl", ".pickle"),
        'a pickle can run code; save the arrays: numpy.savez("mine.npz", logits=…, labels=…)',
    ),
    **dict.fromkeys((".xlsx", ".xls", ".ods"), "save the sheet as CSV"),
}


def read_outputs(
    path: Path | str, by: Sequence[str] = (), columns: Columns | None = None
) -> OutputFile:
    """Return the ``OutputFile`` of a user's file, checked.

    ``path`` may be ``-``, standard input. ``by`` names columns of subgroups of a table, and
    ``columns`` are ``Columns``, those that the user names.
    """
    raw = read_raw(path, by, columns)
    return of_scores(raw) if raw.form in SCORE_FORMS else of_logits(Path(path), raw)


def of_logits(path: Path, raw: OutputFile) -> OutputFile:
    """Return the ``OutputFile`` of ``Fold``s of a file of logits or probabilities."""
    folds = {}
    for name, fold in raw.folds.items():
        values = checks.checked_values(fold.values, fold.place)
        labels = checks.checked_labels(fold.labels, len(values), values.shape[1], fold.place)
        validate_no_features(raw.classes, values, labels, fold.place)
        folds[name] = Fold(values, labels, fold.place)
    classes = [fold.values.shape[1] for fold in folds.values()]
    if len(set(classes)) == 2:
        raise InputError(
            f"{path}: {classes[0]} classes for validation but {classes[1]} for test; "
            "give both folds the same"
        )
    probabilities = raw.form == "probabilities" or checks.are_probabilities([*folds.values()])
    logits = _as_logits(folds, probabilities)
    about = _about_folds(folds, "; recalibration draws half of them as validation fold")
    doubts = plausibility.of_logits(folds, logits, probabilities)
    form = "probabilities" if probabilities else "logits"
    return raw._replace(folds=logits, warnings=(*about, *doubts), form=form)


def of_scores(raw: OutputFile) -> OutputFile:
    """Return the ``OutputFile`` of a file of scores and hits, or events."""
    folds, is_event = {}, raw.form == "event"
    for name, fold in raw.folds.items():
        values, labels, place = fold.values, fold.labels, fold.place
        if is_event:
            _validate_events(np.asarray(labels).reshape(-1), place)
        scores, hits = scores_and_hits(values, labels, place.error)
        if len(scores) == 1:
            raise place.error("one row only; give at least two")
        folds[name] = Fold(scores, hits, place)
    tops = {name: top_label_of_scores(*fold) for name, fold in folds.items()}
    is_log = raw.folds["test"].place.part == LOG
    doubts = plausibility.of_scores(tops, is_event, is_log)
    return raw._replace(folds=folds, warnings=(*_about_folds(folds), *doubts))


def _validate_events(labels: np.ndarray, place: Place) -> None:
    place.validate_rows(
        (labels == 0) | (labels == 1),
        lambda row: (
            f"label {labels[row]} with a score alone; write 1 where the event happened and 0 "
            "elsewhere, or add hits or predictions"
        ),
    )


def read_raw(
    path: Path | str, by: Sequence[str] = (), columns: Columns | None = None
) -> OutputFile:
    """Return the ``OutputFile`` of a file of any format."""
    if is_standard_input(path):
        return read_table_file(path, by, columns)
    path = Path(path)
    if path.is_dir() and any(path.rglob("*.parquet")):
        return read_table_file(path, by, columns)
    validate_file_exists(path)
    suffix, is_table = path.suffix.lower(), table_suffix(path) in SUFFIXES
    if suffix != ".npz" and not is_table:
        suffixes = ", ".join([".npz", *SUFFIXES])
        remedy = _REMEDIES.get(suffix, f"give one of {suffixes}, or .gz after a table's")
        raise InputError(f"{path}: suffix {path.suffix!r} is not read; {remedy}")
    validate_no_placeholder(path)
    if is_table:
        return read_table_file(path, by, columns)
    if by or (columns is not None and columns != Columns()):
        raise InputError(
            f"{path}: naming columns needs a table (CSV, JSON lines or Parquet), not {suffix}"
        )
    return read_npz(path)


def _as_logits(folds: Mapping[str, Fold], probabilities: bool) -> dict[str, Fold]:
    raw = [*folds.values()]
    if not probabilities:
        checks.validate_scaled_probabilities(raw)
        values = [np.ascontiguousarray(fold.values, dtype=np.float32) for fold in raw]
    else:
        for fold in raw:
            checks.check_probabilities(fold.values, fold.place)
        floor = checks.zero_floor([fold.values for fold in raw])
        values = [checks.log_probabilities(fold.values, floor) for fold in raw]
    pairs = zip(folds.items(), values, strict=True)
    return {name: replace(fold, values=logits) for (name, fold), logits in pairs}


def _about_folds(folds: Mapping[str, Fold], recalibration: str = "") -> Iterator[str]:
    if "validation" not in folds:
        n = len(folds["test"].labels)
        yield f"no validation fold; all {n} rows are judged{recalibration}"


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
