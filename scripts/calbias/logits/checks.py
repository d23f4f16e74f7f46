"""Which outputs of a model are legal; every fault is one line: file, row, what is wrong, remedy.

Every array that enters passes here, from files of all formats and from a user's arrays, which
become a ``TopLabel``. The row of a CSV file is the line that an editor shows, the header being
line 1; rows of other files are counted from 0.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calbias.engine.scores_and_hits import (
    EXCESS,
    as_array,
    scores_and_hits,
    validate_same_order,
)
from calbias.errors import InputError
from calbias.logits.output_file import Fold, Place
from calbias.logits.top_label import TopLabel, row_blocks, top_label, top_label_of_scores

SUM_TOLERANCE = 5e-3
"""How far a row of probabilities may sum from 1: float32 is 1e-6 off and float16 6e-4, but ten
classes written with three decimals up to 5e-3."""
COARSEST = 1e-3
"""The coarsest resolution that zeros among probabilities are taken to have."""
_LARGEST_SCALE = 1000  # rows that sum to more are logits, not scaled probabilities
_MOSTLY = 0.9


def validate_no_classes(
    scores: np.ndarray, error: Callable[..., InputError] = InputError, remedy: str = ""
) -> None:
    """Raise InputError where all scores (n,), which are not of logits, are 0 or 1."""
    if np.isin(scores, (0.0, 1.0)).all():
        raise error(
            "all scores are 0 or 1: these are predicted classes, not scores; give the model's "
            f"probabilities, such as those of predict_proba{remedy}"
        )


def checked_values(values: np.ndarray, place: Place) -> np.ndarray:
    """Return the values, a finite numeric array of shape (n, K) with K >= 2, in their own type."""
    values = np.asarray(values)
    if values.dtype.kind not in "fiu":
        raise place.error(f"values of type {values.dtype} are not numbers; save floats")
    if values.ndim != 2:
        raise place.error(f"shape {values.shape}; give one row per sample, one column per class")
    if not len(values):
        raise place.error("no rows; give at least one")
    if values.shape[1] < 2:
        raise place.error("one class only; give a column for every class, two for a yes or no")
    for rows in row_blocks(values):
        block = values[rows]
        good = np.abs(block.astype(np.float64)) <= np.finfo(np.float32).max
        if not good.all():
            row, column = np.argwhere(~good)[0]
            raise place.error(
                f"column {column} of the classes (counted from 0) is {block[row, column]}; "
                "correct the value or drop the row",
                rows.start + row,
            )
    return values


def checked_labels(labels: np.ndarray, n_rows: int, n_classes: int, place: Place) -> np.ndarray:
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
    place.validate_rows(
        labels == np.floor(labels),  # false for NaN
        lambda row: f"label {labels[row]} is not a class number; count from 0",
    )
    low, high = labels.min(), labels.max()
    if low == 1 and high == n_classes:
        raise place.error(
            f"labels are counted from 1 (1 to {n_classes}); subtract 1 so that they start at 0"
        )
    place.validate_rows(
        (labels >= 0) & (labels < n_classes),
        lambda row: (
            f"label {labels[row]:g} is out of range; number the {n_classes} classes from 0 "
            f"to {n_classes - 1}"
        ),
    )
    return _of_several_classes(labels.astype(np.int64), place)


def _from_one_hot(labels: np.ndarray, place: Place) -> np.ndarray:
    labels = labels.astype(np.float64)
    place.validate_rows(
        ((labels == 0) | (labels == 1)).all(axis=1) & (labels.sum(axis=1) == 1),
        lambda row: "a one-hot label has a single 1, the rest 0; correct the row",
    )
    return _of_several_classes(labels.argmax(axis=1), place)


def _of_several_classes(labels: np.ndarray, place: Place) -> np.ndarray:
    if len(labels) == 1:
        raise place.error("one row only; give at least two")
    if labels.min() == labels.max():
        raise place.error(
            f"one class only: every label is {labels[0]}; give samples of several classes"
        )
    return labels


def are_probabilities(folds: Sequence[Fold]) -> bool:
    """Return whether nine of ten rows of folds look like probabilities.

    InputError where they do in one fold, and less than one in ten in the other.
    """
    legal = [_legal_rows(fold.values) for fold in folds]
    shares = [rows.mean() for rows in legal]
    for each, rows in zip(folds, legal, strict=True):
        _validate_one_form(each, rows)
    if min(shares) <= 1 - _MOSTLY and max(shares) >= _MOSTLY:
        fold, other = (folds[int(choose(shares))].place for choose in (np.argmin, np.argmax))
        raise fold.error(f"logits, but {other.part} has probabilities; give both folds the same")
    return np.concatenate(legal).mean() >= _MOSTLY


def _validate_one_form(fold: Fold, rows: np.ndarray) -> None:
    """Raise InputError where some rows are probabilities and some cannot be."""
    outside = ((fold.values < 0) | (fold.values > 1 + EXCESS)).any(axis=1)
    inside = rows & ~outside
    if min(inside.mean(), outside.mean()) > 1 - _MOSTLY:
        row, other = int(np.argmax(inside)), int(np.argmax(outside))
        raise fold.place.error(
            f"this row has probabilities and row {other} has logits; give all rows one form", row
        )


def _legal_rows(values: np.ndarray) -> np.ndarray:
    """Return which rows sum to 1 (n,); all of them where every value is in [0, 1]."""
    if values.min() >= 0 and values.max() <= 1:
        return np.full(len(values), True)
    return np.abs(values.sum(axis=1, dtype=np.float64) - 1) <= SUM_TOLERANCE


def validate_scaled_probabilities(folds: Sequence[Fold]) -> None:
    """Raise InputError if the rows of values >= 0 sum to one number that is not 1: percentages."""
    sums = np.concatenate([fold.values.sum(axis=1, dtype=np.float64) for fold in folds])
    usual = np.median(sums)
    same = np.mean(np.abs(sums - usual) <= SUM_TOLERANCE * usual) >= _MOSTLY
    if same and usual <= _LARGEST_SCALE and all(fold.values.min() >= 0 for fold in folds):
        raise folds[0].place.error(
            f"no value is negative and rows sum to {usual:.6g}: if these are probabilities, such "
            f"as percentages, divide them by {usual:.6g}; if logits, subtract 1 from all of them"
        )


def check_probabilities(values: np.ndarray, place: Place) -> None:
    """Raise InputError unless values are in [0, 1] and rows sum to 1 (``SUM_TOLERANCE``)."""
    place.validate_rows(
        np.all((values >= 0) & (values <= 1 + EXCESS), axis=1),
        lambda row: (
            f"{max(values[row], key=lambda p: abs(p - 0.5))} is not a probability; give values in "
            "[0, 1]"
        ),
    )
    sums = values.sum(axis=1, dtype=np.float64)
    place.validate_rows(
        np.abs(sums - 1) <= SUM_TOLERANCE,
        lambda row: (
            f"probabilities sum to {sums[row]:.6g}, not 1; normalise the row, write more digits "
            "or, if these are logits, subtract 1 from all of them"
        ),
    )


def zero_floor(folds: Sequence[np.ndarray]) -> float:
    """Return what a probability of 0 counts as: it never changes a score by more than 5e-4.

    The zeros of a row together stay below half of the smallest positive value in the file.
    """
    smallest = min(np.min(values, where=values > 0, initial=COARSEST) for values in folds)
    return max(float(smallest) / (2 * folds[0].shape[1]), 5e-324)


def log_probabilities(values: np.ndarray, floor: float) -> np.ndarray:
    """Return log p, float32, of probabilities of shape (n, K); a zero counts as ``floor`` > 0."""
    logs = np.empty(values.shape, dtype=np.float32)
    for rows in row_blocks(values):
        p = values[rows].astype(np.float64)
        logs[rows] = np.log(np.where(p > 0, p, floor))
    return logs


def as_top_label(
    scores: ArrayLike | None,
    hits: ArrayLike | None,
    *,
    logits: ArrayLike | None = None,
    probabilities: ArrayLike | None = None,
    labels: ArrayLike | None = None,
) -> TopLabel:
    """Return the TopLabel of scores and hits, logits and labels, or probabilities and labels."""
    all_kinds: dict[str, Any] = {"scores": scores, "logits": logits, "probabilities": probabilities}
    given = [name for name, values in all_kinds.items() if values is not None]
    if len(given) != 1:
        raise InputError(
            f"give scores, logits or probabilities, one of them: {' and '.join(given) or 'none'} "
            f"given"
        )
    [kind] = given
    partner, other = ("hits", "labels") if kind == "scores" else ("labels", "hits")
    values: dict[str, Any] = {"hits": hits, "labels": labels}
    if values[partner] is None or values[other] is not None:
        instead = "" if values[other] is None else f" instead of {other}"
        raise InputError(f"{kind} go with {partner}: give these{instead}")
    if kind == "scores":
        return top_label_of_scores(*scores_and_hits(all_kinds[kind], values[partner]))
    validate_same_order(**{kind: all_kinds[kind], "labels": labels})
    place = Place(Path(kind), "array")
    outputs: np.ndarray = checked_values(as_array(kind, all_kinds[kind]), place)
    n, n_classes = outputs.shape
    numbers: np.ndarray = checked_labels(as_array("labels", labels), n, n_classes, place)
    if kind == "logits":
        return top_label(outputs, numbers)
    check_probabilities(outputs, place)
    top = outputs.argmax(axis=1)
    score = outputs[np.arange(n), top].astype(np.float64)
    return top_label_of_scores(np.minimum(score, 1.0), top == numbers)
