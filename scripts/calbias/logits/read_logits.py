"""Read a model's outputs from a file of any format: logits, probabilities or top-label scores.

Outputs are a pickle of the form of published files, NPZ (``calbias.logits.read_npz``) or a table
(``calbias.logits.read_table``), with the folds ``validation`` and ``test`` or without. A file
without folds is one fold, ``test``, with all its rows: they are all judged.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from calbias.engine.scores_and_hits import scores_and_hits
from calbias.errors import InputError
from calbias.io.files import validate_file_exists, validate_no_placeholder
from calbias.logits import checks, plausibility
from calbias.logits.columns import Columns
from calbias.logits.output_file import Fold, OutputFile, Place
from calbias.logits.pickles import read_pickle
from calbias.logits.read_npz import read_npz
from calbias.logits.read_table import read_table_file
from calbias.logits.table_files import SUFFIXES, is_standard_input, table_suffix
from calbias.logits.top_label import TopLabel, top_label_of_scores

SCORE_FORMS = ("scores", "event")
_REMEDIES = {
    ".npy": 'save scores and hits together: numpy.savez("mine.npz", score=scores, hit=hits)',
    **dict.fromkeys(
        (".pt", ".pth"),
        'save it with NumPy: numpy.savez("mine.npz", logits=logits.numpy(), labels=labels.numpy())',
    ),
    **dict.fromkeys((".xlsx", ".xls", ".ods"), "save the sheet as CSV"),
}


def read_outputs(
    path: Path | str, by: Sequence[str] = (), columns: Columns | None = None
) -> OutputFile:
    """Return the ``OutputFile`` of a user's file, of ``TopLabel``s or of ``Fold``s as it has them.

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
    """Return the ``OutputFile`` of ``TopLabel``s of a file of scores and hits, or events."""
    folds, is_event = {}, raw.form == "event"
    for name, fold in raw.folds.items():
        values, labels, place = fold.values, fold.labels, fold.place
        if is_event:
            _validate_events(np.asarray(labels).reshape(-1), place)
        scores, hits = scores_and_hits(values, labels, place.error)
        if len(scores) == 1:
            raise place.error("one row only; give at least two")
        folds[name] = top_label_of_scores(scores, hits)
    doubts = plausibility.of_scores(folds, is_event)
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
    readers = {**dict.fromkeys((".p", ".pkl", ".pickle"), _read_pickle), ".npz": read_npz}
    suffix, is_table = path.suffix.lower(), table_suffix(path) in SUFFIXES
    if suffix not in readers and not is_table:
        suffixes = ", ".join([*readers, *SUFFIXES])
        remedy = _REMEDIES.get(suffix, f"give one of {suffixes}, or .gz after a table's")
        raise InputError(f"{path}: suffix {path.suffix!r} is not read; {remedy}")
    validate_no_placeholder(path)
    if is_table:
        return read_table_file(path, by, columns)
    if by or (columns is not None and columns != Columns()):
        option = "--by" if by else "naming columns"
        raise InputError(
            f"{path}: {option} needs a table (CSV, JSON lines or Parquet), not {suffix}"
        )
    return readers[suffix](path)


def _read_pickle(path: Path | str) -> OutputFile:
    pairs = zip(("validation", "test"), read_pickle(path), strict=True)
    return OutputFile(
        {
            fold: Fold(values, labels, Place(Path(path), f"fold {fold}"))
            for fold, (values, labels) in pairs
        }
    )


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


def _about_folds(folds: Mapping[str, Fold | TopLabel], recalibration: str = "") -> Iterator[str]:
    if "validation" not in folds:
        n = len([*folds["test"]][-1])
        yield f"no validation fold; all {n} rows are judged{recalibration}"
