"""A user's arrays as scores and hits: lists, columns, tensors; scores, or outputs and labels."""

from __future__ import annotations

from numbers import Integral, Real
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from calbias.engine.scores_and_hits import as_array, scores_and_hits, validate_same_order
from calbias.errors import InputError
from calbias.logits import checks
from calbias.logits.output_file import Fold, Place
from calbias.logits.top_label import TopLabel, top_label_of_scores
from calbias.logits.top_label import top_label as top_label_of_logits

KINDS = ("logits", "probabilities")
MOST_BINS, HIGHEST_NORM = 1_000_000, 100  # as in config.schema.yaml


def top_label(
    outputs: ArrayLike,
    labels: ArrayLike,
    kind: Literal["logits", "probabilities"] | None = None,
) -> TopLabel:
    """Reduce a model's outputs to the score of its top class and whether that class is right.

    Parameters
    ----------
    outputs : array_like, shape (n, K), K >= 2
        Logits or probabilities, one row a sample, one column a class.
    labels : array_like, shape (n,), (n, 1) or (n, K)
        Class numbers from 0, or one-hot rows.
    kind : {"logits", "probabilities"}, optional
        What the outputs are. By default values are probabilities where nine of ten rows sum to 1,
        or where every value is in [0, 1].

    Returns
    -------
    TopLabel
        ``score`` c in (0, 1], ``log_score`` log c, ``log1m_score`` log(1 - c) and ``hit``, 1 where
        the prediction was correct and else 0; arrays (n,).

    Raises
    ------
    InputError
        For values that are not finite numbers, probabilities outside [0, 1] or not summing to 1,
        and labels that are not class numbers.

    Notes
    -----
    Logits keep log(1 - c) exact where c rounds to 1. Among tied classes the first is the top class.

    Examples
    --------
    >>> import calbias
    >>> top = calbias.top_label([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]], labels=[0, 1])
    >>> top.score.round(6), top.hit
    (array([0.7, 0.6]), array([1, 0], dtype=uint8))
    """
    if kind not in (None, *KINDS):
        raise InputError(f"kind must be {' or '.join(KINDS)}, not {kind!r:.60}")
    name = kind or "outputs"
    validate_same_order(**{name: outputs, "labels": labels})
    place = Place(Path(name), "array")
    values: np.ndarray = checks.checked_values(as_array(name, outputs), place)
    n, n_classes = values.shape
    numbers: np.ndarray = checks.checked_labels(as_array("labels", labels), n, n_classes, place)
    fold = Fold(values, numbers, place)
    if kind == "logits" or not (kind or checks.are_probabilities([fold])):
        if kind is None:
            checks.validate_scaled_probabilities([fold])
        return top_label_of_logits(values, numbers)
    checks.check_probabilities(values, place)
    top = values.argmax(axis=1)
    scores = values[np.arange(n), top].astype(np.float64)
    return top_label_of_scores(np.minimum(scores, 1.0), top == numbers)


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
    return top_label(
        all_kinds[kind], values[partner], "logits" if kind == "logits" else "probabilities"
    )


def validate_whole(name: str, value: Any, least: int) -> None:
    """Raise InputError unless a value is a whole number of at least so much."""
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
        raise InputError(f"{name} must be a whole number of at least {least}, not {value!r:.60}")


def validate_options(n_bins: Any, norm: Any) -> None:
    """Raise InputError for a number of bins or a norm that no estimator could have."""
    if not is_number(n_bins) or not (1 <= n_bins <= MOST_BINS and n_bins % 1 == 0):
        raise InputError(
            f"n_bins must be a whole number of at least 1 and at most {MOST_BINS}, "
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
