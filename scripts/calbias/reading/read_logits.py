"""Read a model's outputs from a file of any format: logits, probabilities or top-label scores.

Outputs are NPZ or a table (``calbias.reading.read_table``), with the folds ``validation`` and
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

import os
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from calbias.defaults import LOGITS, PROBABILITIES
from calbias.engine.scores_and_hits import scores_and_hits
from calbias.errors import InputError, reading
from calbias.io.files import is_stream, validate_file_exists, validate_no_placeholder
from calbias.io.limits import validate_unpacked
from calbias.reading import checks, plausibility
from calbias.reading.columns import Columns
from calbias.reading.forms import as_probabilities, as_scores, common_form, validate_one_form
from calbias.reading.harness_logs import LOG
from calbias.reading.judged_rows import named_rows, rows_without_gaps
from calbias.reading.output_file import FOLDS, Fold, OutputFile, Place, are_folds, split_by_fold
from calbias.reading.read_table import read_table_file
from calbias.reading.reading import HITS, Reading
from calbias.reading.table_files import SUFFIXES, table_suffix
from calbias.reading.top_label import top_label_of_scores

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
    path: Path | str | Sequence[Path | str],
    by: Sequence[str] = (),
    columns: Columns | None = None,
) -> OutputFile:
    """Return the ``OutputFile`` of a user's file, or of several tables, checked.

    ``path`` may be ``-``, standard input. ``by`` names columns of subgroups of a table, and
    ``columns`` are ``Columns``, those that the user names.
    """
    raw, asked = read_raw(path, by, columns), columns.values if columns else None
    form = raw.read_as or asked
    if raw.form in SCORE_FORMS:
        return of_scores(raw, form)
    if asked is None and form in (LOGITS, PROBABILITIES):
        for fold in raw.folds.values():
            validate_one_form(fold, form)
    return of_logits(path, raw, form)


def of_logits(path: Any, raw: OutputFile, form: str | None = None) -> OutputFile:
    """Return the ``OutputFile`` of ``Fold``s of a file of logits or probabilities.

    ``form`` is what the user says that the values are.
    """
    folds = {}
    for name, fold in raw.folds.items():
        values = checks.checked_values(fold.values, fold.place)
        n_rows, n_classes = values.shape
        location = fold.place
        labels = checks.checked_labels(fold.labels, n_rows, n_classes, location, "--missing")
        folds[name] = replace(fold, values=values, labels=labels)
    classes = [fold.values.shape[1] for fold in folds.values()]
    if len(set(classes)) == 2:
        raise InputError(
            f"{path}: {classes[0]} classes for validation but {classes[1]} for test; "
            "give both folds the same"
        )
    form = form or common_form([*folds.values()])
    if raw.form == PROBABILITIES and form == LOGITS:
        form = PROBABILITIES  # the first value that is none is named
    logits, note = _as_logits(folds, form)
    about = _about_folds(folds, "; recalibration draws half of them as validation fold")
    doubts = plausibility.of_logits(folds, logits, form != LOGITS)
    notes, warnings = (*raw.notes, note), (*raw.warnings, *about, *doubts)
    kind = LOGITS if form == LOGITS else PROBABILITIES
    return raw._replace(folds=logits, warnings=warnings, form=kind, notes=notes, read_as=form)


def of_scores(raw: OutputFile, form: str | None = None) -> OutputFile:
    """Return the ``OutputFile`` of a file of scores and hits, or events.

    ``form`` is what the user says that the scores are.
    """
    folds, is_event = {}, raw.form == "event"
    names = ("scores", "labels") if is_event else ("scores", "hits")
    for name, fold in raw.folds.items():
        location = fold.place
        values = as_scores(fold.values, form, location.error)
        scores, hits = scores_and_hits(values, fold.labels, location.error, names)
        folds[name] = replace(fold, values=scores, labels=hits)
    tops = {name: top_label_of_scores(*fold) for name, fold in folds.items()}
    is_log = raw.folds["test"].place.part == LOG
    doubts = plausibility.of_scores(tops, is_event, is_log)
    is_told = form not in (None, PROBABILITIES)
    notes = (*raw.notes, *([f"the scores are read as {form}"] if is_told else ()))
    warnings = (*raw.warnings, *_about_folds(folds), *doubts)
    return raw._replace(folds=folds, warnings=warnings, notes=notes, read_as=form)


def read_raw(
    path: Path | str | Sequence[Path | str],
    by: Sequence[str] = (),
    columns: Columns | None = None,
) -> OutputFile:
    """Return the ``OutputFile`` of a file of any format, or of several tables."""
    columns = columns or Columns()
    if not isinstance(path, str | Path):
        if len(path) == 1:
            return read_raw(path[0], by, columns)
        for each in path:
            validate_file_exists(each)
            if table_suffix(each) not in SUFFIXES:
                raise InputError(f"{each}: several files must be tables: {', '.join(SUFFIXES)}")
        return read_table_file(path, by, columns)
    is_folder = Path(path).is_dir() and any(Path(path).rglob("*.parquet"))
    if is_stream(path) or is_folder:
        return read_table_file(path, by, columns)
    path = Path(path)
    validate_file_exists(path)
    suffix, is_table = path.suffix.lower(), table_suffix(path) in SUFFIXES
    if suffix != ".npz" and not is_table:
        suffixes = ", ".join([".npz", *SUFFIXES])
        remedy = _REMEDIES.get(suffix, f"give one of {suffixes}, or .gz after a table's")
        raise InputError(f"{path}: suffix {path.suffix!r} is not read; {remedy}")
    validate_no_placeholder(path)
    if is_table:
        return read_table_file(path, by, columns)
    if by or replace(columns, values=None, missing=(), rows=(), top_label=False) != Columns():
        raise InputError(
            f"{path}: naming columns needs a table (CSV, JSON lines or Parquet), not {suffix}"
        )
    return read_npz(path, columns)


def _as_logits(folds: Mapping[str, Fold], form: str) -> tuple[dict[str, Fold], str]:
    """Return folds of logits, and a note on how the values were read."""
    if form == LOGITS:
        note = "the columns of classes are read as logits"
        return {
            name: replace(fold, values=np.ascontiguousarray(fold.values, dtype=np.float32))
            for name, fold in folds.items()
        }, note
    read = [as_probabilities(fold.values, form, fold.place) for fold in folds.values()]
    floor = checks.zero_floor([values for values, _ in read])
    return {
        name: replace(fold, values=checks.log_probabilities(values, floor), probabilities=values)
        for (name, fold), (values, _) in zip(folds.items(), read, strict=True)
    }, read[-1][1]


def _about_folds(folds: Mapping[str, Fold], recalibration: str = "") -> Iterator[str]:
    if "validation" not in folds:
        n = len(folds["test"].labels)
        yield f"no validation fold; all {n} rows are judged{recalibration}"


_SCORES = ("scores", "score", "y_prob", "y_score")
_VALUES = ("logits", "probabilities", *_SCORES)
_LABELS = ("labels", "label", "y_true")


def read_npz(path: Path | str, columns: Columns | None = None) -> OutputFile:
    """Return the ``OutputFile`` of an NPZ file; InputError if it is damaged or lacks the arrays."""
    with reading(path, "NPZ file", "write it again with numpy.savez"), open(path, "rb") as file:
        try:
            archive = np.load(file, allow_pickle=False)
            if isinstance(archive, np.ndarray):
                raise InputError(f"{path}: one array, no NPZ; write it again with numpy.savez")
            sizes = sum(member.file_size for member in archive.zip.infolist())
            validate_unpacked(path, sizes, os.fstat(file.fileno()).st_size)
            return _output_file(Path(path), archive, columns or Columns())
        except ValueError as error:
            if "allow_pickle" not in str(error):
                raise
            # numpy's advice would run what is in the file
            is_archive = zipfile.is_zipfile(path)
            reason = "an array of Python objects" if is_archive else "not one by its first bytes"
            raise ValueError(reason) from None
    raise AssertionError


def _output_file(path: Path, archive: Any, columns: Columns) -> OutputFile:
    names = (*_VALUES, *_LABELS)
    prefixes = {fold: f"{fold}_" for fold in FOLDS if _find(archive, f"{fold}_", *names)}
    if prefixes and "test" not in prefixes:
        raise InputError(f"{path}: no array test_logits; the test fold is the one that is judged")
    has_folds, prefixes = bool(prefixes), prefixes or {"test": ""}
    read = {fold: _read_fold(path, archive, prefix) for fold, prefix in prefixes.items()}
    folds = {fold: raw for fold, (raw, _) in read.items()}
    forms = {form for _, form in read.values()}
    if len(forms) == 2 and {*SCORE_FORMS} & forms:
        raise InputError(f"{path}: scores in one fold and logits in the other; give both the same")
    folds, notes = _judged(folds, archive, columns, has_folds)
    return OutputFile(folds, max(forms, key=str) if forms != {None} else None, notes=(*notes,))


def _judged(
    folds: dict[str, Fold], archive: Any, columns: Columns, has_folds: bool
) -> tuple[dict[str, Fold], list[str]]:
    """Return the rows that --rows and array fold name and --missing leaves, and notes."""
    notes: list[str] = []
    test = folds["test"]
    if columns.rows:
        names = [each.partition("=")[0] for each in columns.rows]
        for name in names:
            if name in archive and archive[name].shape != (len(test.values),):
                raise test.place.error(f"--rows {name}: array {name} has not a value per row")
        rows, notes = named_rows(archive, columns.rows, len(test.values), test.place)
        folds = {"test": test.part(rows)}
    elif not has_folds and "fold" in archive:
        words = [str(name).strip() for name in np.ravel(archive["fold"])]
        if are_folds({*words}):
            folds, notes = split_by_fold(test, words)
        else:
            notes = ["array fold has no words for folds: all rows are judged"]
    if columns.missing:
        folds = {name: _labelled(fold, columns.missing, notes) for name, fold in folds.items()}
    return folds, notes


def _labelled(fold: Fold, missing: Sequence[str], notes: list[str]) -> Fold:
    """Return the rows with a label, or a hit, that is none of these values."""
    if len(fold.labels) != len(fold.values) or fold.labels.size != len(fold.labels):
        return fold
    table = {"labels": np.ravel(fold.labels)}
    kept, counts = rows_without_gaps(table, Reading(HITS, outcome="labels"), missing)
    if not kept.any():
        raise fold.place.error("no row has an outcome")
    reasons = ", ".join(f"{count}{reason}" for reason, count in counts.items() if count)
    options = " ".join(f"--missing {value}" for value in missing)
    notes.append(f"{options}: {(~kept).sum()} of {kept.size} rows left out: {reasons}")
    return fold.part(np.flatnonzero(kept))


def _read_fold(path: Path, archive: Any, prefix: str) -> tuple[Fold, str | None]:
    """Return a fold's ``Fold`` and its form."""
    values, labels, hits, predictions = (
        _find(archive, prefix, *names)
        for names in (_VALUES, _LABELS, ("hits", "hit"), ("predictions", "prediction"))
    )
    is_score = values is not None and values.removeprefix(prefix) in _SCORES
    outcomes = hits or labels if is_score else labels
    if not values or not outcomes:
        missing = ("hits" if is_score else "labels") if values else "logits"
        raise InputError(
            f"{path}: no array {prefix}{missing}, only {', '.join(archive.files) or 'nothing'}; "
            "name the arrays logits and labels, or scores and hits, with test_ and validation_ in "
            "front for two folds"
        )
    fold = Fold(archive[values], archive[outcomes], Place(path, values))
    if not is_score:
        return fold, "probabilities" if values.endswith("probabilities") else None
    if hits:
        return fold, "scores"
    if not predictions:
        is_table = fold.values.ndim == 2 and fold.values.shape[1] > 1
        return fold, "probabilities" if is_table else "event"
    label, prediction = np.ravel(fold.labels), np.ravel(archive[predictions])
    if label.shape != prediction.shape:
        raise fold.place.error(f"{len(label)} labels but {len(prediction)} predictions")
    return replace(fold, labels=label == prediction), "scores"


def _find(archive: Any, prefix: str, *names: str) -> str | None:
    return next((prefix + name for name in names if prefix + name in archive), None)
