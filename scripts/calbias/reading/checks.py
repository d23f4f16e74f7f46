"""Which outputs of a model are legal; every fault is one line: file, row, what is wrong, remedy.

Every array that enters passes here, from files of all formats and from a user's arrays, which
become a ``TopLabel``. The row of a CSV file is the line that an editor shows, the header being
line 1; rows of other files are counted from 0.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calbias.engine.scores_and_hits import as_array, scores_and_hits, validate_same_order
from calbias.errors import InputError
from calbias.reading.forms import SUM_TOLERANCE, check_range
from calbias.reading.output_file import Place
from calbias.reading.top_label import TopLabel, row_blocks, top_label, top_label_of_scores

COARSEST = 1e-3
"""The coarsest resolution that zeros among probabilities are taken to have."""


def checked_values(values: np.ndarray, location: Place) -> np.ndarray:
    """Return the values, a finite numeric array of shape (n, K) with K >= 2, in their own type."""
    values = np.asarray(values)
    if values.dtype.kind not in "fiu":
        raise location.error(f"values of type {values.dtype} are not numbers; save floats")
    if values.ndim != 2:
        raise location.error(f"shape {values.shape}; give one row per sample, one column per class")
    if not len(values):
        raise location.error("no rows; give at least one")
    if values.shape[1] < 2:
        raise location.error("one class only; give a column for every class, two for a yes or no")
    for rows in row_blocks(values):
        block = values[rows]
        good = np.abs(block.astype(np.float64)) <= np.finfo(np.float32).max
        if not good.all():
            row, column = np.argwhere(~good)[0]
            raise location.error(
                f"column {column} of the classes (counted from 0) is {block[row, column]}; "
                "correct the value or drop the row",
                rows.start + row,
            )
    return values


def checked_labels(
    labels: np.ndarray, n_rows: int, n_classes: int, location: Place, remedy: str = ""
) -> np.ndarray:
    """Return labels of shape (n,), int64, from class numbers, (n,) or (n, 1), or one-hot (n, K).

    ``remedy`` is an option that leaves a label out, followed by the label.
    """
    labels = np.asarray(labels)
    if labels.dtype.kind not in "fiub":
        raise location.error(
            f"labels of type {labels.dtype}; give class numbers from 0 to {n_classes - 1}"
        )
    if labels.ndim == 0 or len(labels) != n_rows:
        n_labels = len(labels) if labels.ndim else 1
        raise location.error(f"{n_rows} rows of logits but {n_labels} labels; give one per row")
    if labels.shape == (n_rows, n_classes):
        return _from_one_hot(labels, location)
    if labels.size != n_rows:
        raise location.error(
            f"labels of shape {labels.shape}; give class numbers, or one-hot rows of {n_classes}"
        )
    labels = labels.reshape(-1)
    location.validate_rows(
        labels == np.floor(labels),  # false for NaN
        lambda row: f"label {labels[row]} is not a class number; count from 0",
    )
    low, high = labels.min(), labels.max()
    if low == 1 and high == n_classes:
        raise location.error(
            f"labels are counted from 1 (1 to {n_classes}); subtract 1 so that they start at 0"
        )
    location.validate_rows(
        (labels >= 0) & (labels < n_classes),
        lambda row: (
            f"label {labels[row]:g} is out of range; number the {n_classes} classes from 0 "
            f"to {n_classes - 1}, or leave such rows out"
            + (f" by {remedy} {labels[row]:g}" if remedy else "")
        ),
    )
    return labels.astype(np.int64)


def _from_one_hot(labels: np.ndarray, location: Place) -> np.ndarray:
    labels = labels.astype(np.float64)
    location.validate_rows(
        ((labels == 0) | (labels == 1)).all(axis=1) & (labels.sum(axis=1) == 1),
        lambda row: "a one-hot label has a single 1, the rest 0; correct the row",
    )
    return labels.argmax(axis=1)


def check_probabilities(values: np.ndarray, location: Place) -> None:
    """Raise InputError unless values are in [0, 1] and rows sum to 1 (``SUM_TOLERANCE``)."""
    check_range(values, location)
    sums = values.sum(axis=1, dtype=np.float64)
    location.validate_rows(
        np.abs(sums - 1) <= SUM_TOLERANCE,
        lambda row: f"probabilities sum to {sums[row]:.6g}, not 1; divide each row by its sum",
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
    location = Place(Path(kind), "array")
    outputs: np.ndarray = checked_values(as_array(kind, all_kinds[kind]), location)
    n, n_classes = outputs.shape
    numbers: np.ndarray = checked_labels(as_array("labels", labels), n, n_classes, location)
    if kind == "logits":
        return top_label(outputs, numbers)
    check_probabilities(outputs, location)
    top = outputs.argmax(axis=1)
    score = outputs[np.arange(n), top].astype(np.float64)
    return top_label_of_scores(np.minimum(score, 1.0), top == numbers)
