"""What is legal in a model's outputs; every fault is one line: file, row, what is wrong, remedy.

Every array that enters passes here, from files of all formats. The row of a CSV file is the line
that an editor shows, the header being line 1; rows of other files are counted from 0.
"""

import csv
from pathlib import Path
from typing import NamedTuple

import numpy as np

from calbias.errors import InputError

SUM_TOLERANCE = 5e-3
"""How far a row of probabilities may sum from 1: float32 is 1e-6 off and float16 6e-4, but ten
classes written with three decimals up to 5e-3."""
COARSEST = 1e-3
"""The coarsest resolution that zeros among probabilities are taken to have."""
EXCESS = 1e-6
"""By how much a score or a probability may exceed 1: a float32 softmax can, by a rounding."""
_LARGEST_SCALE = 1000  # rows that sum to more are logits, not scaled probabilities
_MOSTLY = 0.9
_CHUNK_ROWS = 4096


class Place(NamedTuple):
    """Where values come from: a file, the part of it, and each value's row there (None: all)."""

    file: Path
    part: str
    rows: np.ndarray | None = None

    def error(self, problem, row=None):
        """Return the InputError for a problem, in a row of the array at hand if one is given."""
        if row is None:
            return InputError(f"{self.file}: {self.part}: {problem}")
        row = row if self.rows is None else int(self.rows[row])
        if str(self.file).lower().endswith(".csv"):
            return InputError(f"{self.file}, line {_line_of_row(self.file, row)}: {problem}")
        return InputError(f"{self.file}: {self.part}, row {row} (counted from 0): {problem}")


def _line_of_row(path, row):
    """Return the line of a CSV file, from 1, on which a row of its table ends."""
    with open(path, newline="", encoding="utf-8-sig", errors="replace") as file:
        lines = csv.reader(file)
        numbers = (lines.line_num for cells in lines if cells)
        return next(number for k, number in enumerate(numbers) if k == row + 1)


class RawFold(NamedTuple):
    """Values and labels as a file holds them, unchecked, and their place."""

    values: np.ndarray
    labels: np.ndarray
    place: Place


def checked_values(values, place):
    """Return the values, a finite numeric array of shape (n, K) with K >= 2, in their own type."""
    values = np.asarray(values)
    if values.dtype.kind not in "fiu":
        raise place.error(f"values of type {values.dtype} are no numbers; save floats")
    if values.ndim != 2:
        raise place.error(f"shape {values.shape}; give one row per sample, one column per class")
    if not len(values):
        raise place.error("no rows; give at least one")
    if values.shape[1] < 2:
        raise place.error("one class only; give a column for every class, two for a yes or no")
    for start in range(0, len(values), _CHUNK_ROWS):
        chunk = values[start : start + _CHUNK_ROWS]
        good = np.abs(chunk.astype(np.float64)) <= np.finfo(np.float32).max
        if not good.all():
            row, column = np.argwhere(~good)[0]
            raise place.error(
                f"column {column} of the classes (counted from 0) is {chunk[row, column]}; "
                "correct the value or drop the row",
                start + row,
            )
    return values


def checked_labels(labels, n_rows, n_classes, place):
    """Return labels of shape (n,), int64, from class numbers, (n,) or (n, 1), or one-hot (n, K)."""
    labels = np.asarray(labels)
    if labels.dtype.kind not in "fiub":
        raise place.error(
            f"labels of type {labels.dtype}; give class numbers from 0 to {n_classes - 1}"
        )
    if labels.ndim == 0 or len(labels) != n_rows:
        n_labels = len(labels) if labels.ndim else 1
        raise place.error(f"{n_rows} rows of logits but {n_labels} labels; give one per row")
    if labels.shape == (n_rows, n_classes):
        return _from_one_hot(labels, place)
    if labels.size != n_rows:
        raise place.error(
            f"labels of shape {labels.shape}; give class numbers, or one-hot rows of {n_classes}"
        )
    labels = labels.reshape(-1)
    whole = labels == np.floor(labels)  # false for NaN
    if not whole.all():
        row = int(np.argmin(whole))
        raise place.error(f"label {labels[row]} is no class number; count from 0", row)
    low, high = labels.min(), labels.max()
    if low == 1 and high == n_classes:
        raise place.error(
            f"labels are counted from 1 (1 to {n_classes}); subtract 1 so that they start at 0"
        )
    if low < 0 or high >= n_classes:
        row = int(np.argmax((labels < 0) | (labels >= n_classes)))
        raise place.error(
            f"label {labels[row]:g} is out of range; number the {n_classes} classes from 0 "
            f"to {n_classes - 1}",
            row,
        )
    return _of_several_classes(labels.astype(np.int64), place)


def _from_one_hot(labels, place):
    labels = labels.astype(np.float64)
    good = ((labels == 0) | (labels == 1)).all(axis=1) & (labels.sum(axis=1) == 1)
    if not good.all():
        raise place.error(
            "a one-hot label has a single 1, the rest 0; correct the row", int(np.argmin(good))
        )
    return _of_several_classes(labels.argmax(axis=1), place)


def _of_several_classes(labels, place):
    if len(labels) == 1:
        raise place.error("one row only; give at least two")
    if labels.min() == labels.max():
        raise place.error(
            f"one class only: every label is {labels[0]}; give samples of several classes"
        )
    return labels


def are_probabilities(folds):
    """Return whether the values of ``RawFold``s are meant as probabilities.

    They are when nine of ten rows sum to 1 within ``SUM_TOLERANCE``, as logits do not, or when
    every value is in [0, 1]. Raises InputError where that is so in one fold, and in the other for
    less than one row in ten.
    """
    legal = [_legal_rows(fold.values) for fold in folds]
    shares = [rows.mean() for rows in legal]
    if min(shares) <= 1 - _MOSTLY and max(shares) >= _MOSTLY:
        fold, other = (folds[int(choose(shares))].place for choose in (np.argmin, np.argmax))
        raise fold.error(f"logits, but {other.part} has probabilities; give both folds the same")
    return np.concatenate(legal).mean() >= _MOSTLY


def _legal_rows(values):
    """Return which rows sum to 1 (n,); all of them where every value is in [0, 1]."""
    if values.min() >= 0 and values.max() <= 1:
        return np.full(len(values), True)
    return np.abs(values.sum(axis=1, dtype=np.float64) - 1) <= SUM_TOLERANCE


def validate_scaled_probabilities(folds):
    """Raise InputError if the rows of values >= 0 sum to one number that is not 1: percentages."""
    sums = np.concatenate([fold.values.sum(axis=1, dtype=np.float64) for fold in folds])
    usual = np.median(sums)
    same = np.mean(np.abs(sums - usual) <= SUM_TOLERANCE * usual) >= _MOSTLY
    if same and usual <= _LARGEST_SCALE and all(fold.values.min() >= 0 for fold in folds):
        raise folds[0].place.error(
            f"no value is negative and rows sum to {usual:.6g}: if these are probabilities, such "
            f"as percentages, divide them by {usual:.6g}; if logits, subtract 1 from all of them"
        )


def check_probabilities(fold):
    """Raise InputError unless values are in [0, 1] and rows sum to 1 (``SUM_TOLERANCE``)."""
    outside = ((fold.values < 0) | (fold.values > 1 + EXCESS)).any(axis=1)
    if outside.any():
        row = int(np.argmax(outside))
        value = max(fold.values[row], key=lambda p: abs(p - 0.5))
        raise fold.place.error(f"{value} is no probability; give values in [0, 1]", row)
    sums = fold.values.sum(axis=1, dtype=np.float64)
    wrong = np.abs(sums - 1) > SUM_TOLERANCE
    if wrong.any():
        row = int(np.argmax(wrong))
        raise fold.place.error(
            f"probabilities sum to {sums[row]:.6g}, not 1; normalise the row, write more digits "
            "or, if these are logits, subtract 1 from all of them",
            row,
        )


def checked_scores(scores, place):
    """Return scores of shape (n,), float64, in [0, 1], from numbers of shape (n,) or (n, 1)."""
    scores = _column(scores, "scores", place)
    if not len(scores):
        raise place.error("no rows; give at least two")
    if len(scores) == 1:
        raise place.error("one row only; give at least two")
    good = (scores >= 0) & (scores <= 1 + EXCESS)  # false for NaN
    if not good.all():
        row = int(np.argmin(good))
        percent = np.nanmin(scores) >= 0 and 1.5 < np.nanmax(scores) <= 100 + EXCESS
        remedy = "divide percentages by 100" if percent else "give probabilities in [0, 1]"
        raise place.error(f"score {scores[row]:g} is no probability; {remedy}", row)
    return np.minimum(scores, 1.0)


def checked_hits(hits, n_rows, place):
    """Return hits of shape (n,), uint8, from 0 and 1 or False and True, (n,) or (n, 1)."""
    hits = _column(hits, "hits", place)
    if len(hits) != n_rows:
        raise place.error(f"{n_rows} scores but {len(hits)} hits; give one per row")
    good = (hits == 0) | (hits == 1)
    if not good.all():
        row = int(np.argmin(good))
        raise place.error(
            f"hit {hits[row]:g} is neither 0 nor 1; write 1 where the prediction was correct", row
        )
    return hits.astype(np.uint8)


def _column(values, name, place):
    values = np.asarray(values)
    if values.dtype.kind not in "fiub":
        raise place.error(f"{name} of type {values.dtype} are no numbers")
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise place.error(f"{name} of shape {values.shape}; give one per row")
    return values.astype(np.float64)


def zero_floor(folds):
    """Return what a probability of 0 counts as, so that its logarithm is finite.

    The zeros of a row together stay below half of the smallest positive value in the file (the
    resolution it was written with), and never change a score by more than 5e-4.
    """
    smallest = min(np.min(fold.values, where=fold.values > 0, initial=COARSEST) for fold in folds)
    return float(smallest) / (2 * folds[0].values.shape[1])


def log_probabilities(values, floor):
    """Return log p, float32, of probabilities of shape (n, K); a zero counts as ``floor`` > 0."""
    logs = np.empty(values.shape, dtype=np.float32)
    for start in range(0, len(values), _CHUNK_ROWS):
        rows = slice(start, start + _CHUNK_ROWS)
        p = values[rows].astype(np.float64)
        logs[rows] = np.log(np.where(p > 0, p, floor))
    return logs
