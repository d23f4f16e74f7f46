"""The one check of scores and hits, from a user's arrays and from files; and of options.

An ``error`` function makes the InputError of a problem, and of a row if one is given: of arrays it
is ``array_error``, of a file the method ``Place.error`` of ``calbias.reading.checks``.
"""

from collections.abc import Callable, Iterable, Mapping
from itertools import combinations
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calbias.errors import InputError

MOST_BINS, HIGHEST_NORM = 1_000_000, 100  # as in config.schema.yaml
MOST_AUDITED_BINS = 10_000
EXCESS = 1e-6
"""By how much a score or a probability may exceed 1: a float32 softmax can, by a rounding."""


def array_error(problem: str, row: int | None = None) -> InputError:
    """Return the InputError for a problem with a user's arrays, in a row if one is given."""
    return InputError(problem if row is None else f"row {row} (counted from 0): {problem}")


def scores_and_hits(
    scores: ArrayLike,
    hits: ArrayLike,
    error: Callable[..., InputError] = array_error,
    names: tuple[str, str] = ("scores", "hits"),
) -> tuple[np.ndarray, np.ndarray]:
    """Return scores (n,) in [0, 1], float64, and hits (n,), uint8, n >= 1.

    Both may have the shape (n, 1), and scores may exceed 1 by a float32's rounding. ``names`` are
    those by which the user gave them.
    """
    validate_same_order(error, **dict(zip(names, (scores, hits), strict=True)))
    scores, hits = _column(names[0], scores, error), _column(names[1], hits, error)
    if scores.ndim != 1 or scores.shape != hits.shape or scores.size == 0:
        raise error(
            f"{names[0]} and {names[1]} must be one-dimensional, of one length and not empty: "
            f"their shapes are {scores.shape} and {hits.shape}"
        )
    scores = np.ascontiguousarray(scores, np.float64)
    largest = scores.max()
    if not (scores.min() >= 0 and largest <= 1 + EXCESS):  # false for NaN
        row = int(np.argmin((scores >= 0) & (scores <= 1 + EXCESS)))
        what = "score" if names[0] == "scores" else "value"
        raise error(f"{what} {scores[row]:g} is not a probability: {_outside(scores)}", row)
    is_hit = hits == 1
    if np.count_nonzero(is_hit) + np.count_nonzero(hits == 0) < hits.size:
        row = int(np.argmin(is_hit | (hits == 0)))
        name, instead = "hit", "for a correct prediction"
        if names[1] == "labels":
            name, instead = "label", "where the event happened, as by labels == 1,"
        raise error(
            f"{name} {hits[row]:g} is neither 0 nor 1; give 1 {instead} and 0 otherwise, and leave "
            "out what is neither, such as a tie",
            row,
        )
    return scores if largest <= 1 else np.minimum(scores, 1.0), is_hit.view(np.uint8)


def _outside(scores: np.ndarray) -> str:
    """Return what scores (n,) are of which some are not in [0, 1], and the remedy."""
    finite = scores[np.isfinite(scores)]
    if finite.size < scores.size:
        return "it is not a finite number; correct it or leave the row out"
    low, high = float(finite.min()), float(finite.max())
    outside = int(np.sum((finite < 0) | (finite > 1 + EXCESS)))
    count = f"{outside} of {finite.size} scores are outside [0, 1]"
    if low >= -0.1 and high <= 1.1:
        return f"{count}, from {low:g} to {high:g}; correct them, or cut them off at 0 and 1"
    if low >= 0 and high <= 100 and outside > finite.size / 2:
        return "give probabilities in [0, 1], not percentages: divide by 100"
    if outside == scores.size and (scores == np.rint(scores)).all():
        return "all scores are whole numbers: ids or counts? Give the column of the probabilities"
    if low >= 0:
        return f"{count}, up to {high:g}; give all rows as probabilities"
    if high <= 0:
        return f"{count}: logarithms of probabilities? Give their exponentials"
    if outside < 0.6 * finite.size:
        return f"{count}, from {low:g} to {high:g}: logits in some rows? Give all as probabilities"
    return (
        f"{count}, from {low:g} to {high:g}: logits? Give the model's probabilities, for two "
        "classes 1/(1 + exp(-logit))"
    )


def validate_same_order(error: Callable[..., InputError] = array_error, /, **columns: Any) -> None:
    """Raise InputError for pandas columns whose indices hold the same labels in another order.

    Each may also be several columns, in a list or by name.
    """
    every = [(name, column) for name, given in columns.items() for column in _each(given)]
    named = [(k, v.index) for k, v in every if hasattr(getattr(v, "index", 0), "equals")]
    for (one, first), (other, second) in combinations(named, 2):
        if first.equals(second) or first.size != second.size:
            continue
        if first.difference(second).empty:
            raise error(
                f"{one} and {other} have the same index in another order, and rows are paired by "
                f"position: give {other}.loc[{one}.index], or both as .to_numpy()"
            )


def _each(given: Any) -> Iterable[Any]:
    """Return the columns of a list or a mapping, or the one column."""
    if isinstance(given, Mapping):
        return given.values()
    is_list = isinstance(given, list | tuple) and any(map(np.ndim, given[:1]))
    return given if is_list else (given,)


def checked_weights(sample_weight: Any, n: int) -> np.ndarray:
    """Return weights (n,), float64; InputError unless they are numbers of at least 0, not all 0."""
    weights = weights_of_rows(
        sample_weight, n, np.isfinite,
        "finite number of at least 0; correct it or leave the row out",
    ).astype(np.float64)  # fmt: skip
    if not weights.any():
        raise InputError("all sample_weight are 0: give at least one row a weight")
    return weights / weights.max()


def weights_of_rows(
    sample_weight: Any, n: int, is_valid: Callable[[np.ndarray], np.ndarray], valid: str
) -> np.ndarray:
    """Return weights (n,) of at least 0 that are valid; InputError, with words for valid, else."""
    weights = _column("sample_weight", sample_weight, array_error)
    if weights.shape != (n,):
        raise InputError(
            f"sample_weight must have one weight a row: its shape is {weights.shape} and there are "
            f"{n} rows"
        )
    is_right = (weights >= 0) & is_valid(weights)
    if not is_right.all():
        row = int(np.argmin(is_right))
        raise array_error(f"sample_weight {weights[row]:g} is not a {valid}", row)
    return weights


def as_array(name: str, values: Any, error: Callable[..., InputError] = array_error) -> np.ndarray:
    """Return a numeric array of a list, a column, a tensor or an array; InputError otherwise."""
    values = any_array(name, values, error)
    if values.dtype.kind not in "fiub":
        remedy = "convert them, as by astype(float)"
        if name == "labels" and values.size and all(isinstance(x, str) for x in values.flat):
            remedy = f"give class numbers, or for an event labels == {str(values.flat[0])!r:.40}"
        raise error(f"{name} must be numbers, not of type {values.dtype}: {remedy}")
    return values


def any_array(name: str, values: Any, error: Callable[..., InputError] = array_error) -> np.ndarray:
    """Return an array of any type; InputError for a mask and for rows of several lengths."""
    if isinstance(values, np.ma.MaskedArray):
        raise error(f"{name} must have no mask: leave masked samples out")
    try:
        return np.asarray(values)
    except (ValueError, TypeError, RuntimeError) as cause:  # ragged rows, a tensor on a GPU, …
        message = " ".join(str(cause).split())
        if hasattr(values, "detach"):
            message = "give a tensor as x.detach().float().cpu().numpy()"
        raise error(f"{name} cannot be read as an array: {message}") from cause


def _column(name: str, values: Any, error: Callable[..., InputError]) -> np.ndarray:
    values = as_array(name, values, error)
    return values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values


def validate_whole(name: str, value: Any, least: int) -> None:
    """Raise InputError unless a value is a whole number of at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
        raise InputError(f"{name} must be a whole number of at least {least}, not {value!r:.60}")


def validate_options(n_bins: Any, norm: Any, most_bins: int = MOST_BINS) -> None:
    """Raise InputError for a number of bins or a norm that no estimator could have."""
    if not is_number(n_bins) or not (1 <= n_bins <= most_bins and n_bins % 1 == 0):
        raise InputError(
            f"n_bins must be a whole number of at least 1 and at most {most_bins}, "
            f"not {n_bins!s:.60}"
        )
    if norm is not None and not (is_number(norm) and 0 < norm <= HIGHEST_NORM):
        raise InputError(
            f"norm must be a finite number above 0 and at most {HIGHEST_NORM}, not {norm!s:.60}"
        )


def validate_level(level: Any, least: float = 0.0) -> None:
    """Raise InputError unless a confidence level is above 0, at least ``least``, and below 1."""
    if not (is_number(level) and 0 < level < 1 and level >= least):
        low = f"at least {least:g}" if least else "above 0"
        raise InputError(f"confidence_level must be {low} and below 1, not {level!s:.60}")


def is_number(value: Any) -> bool:
    """Return whether a value is a real number, and not True or False."""
    return isinstance(value, Real) and not isinstance(value, bool)
