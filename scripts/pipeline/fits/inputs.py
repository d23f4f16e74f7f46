"""The input of every fit: ``log c`` and ``log(1 - c)``, finite, of one length."""

import warnings

import numpy as np
from numpy.typing import ArrayLike

from calbias.errors import InputError

# The largest float64 below 1 is 1 - 2^-53. A score that is exactly 1 says no more about 1 - c than
# that, and the published fits use the same value: 1 - 1e-16 rounds to 1 - 2^-53.
LOG_MISS_AT_ONE = float(np.log(2.0**-53))
_SMALLEST = 1e-300


def checked_scores(log_score: ArrayLike, log1m_score: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Return log c and log(1 - c), finite (n,), n >= 1; a score of 1 is taken as 1 - 2^-53."""
    log_score = np.array(log_score, dtype=float)
    log1m_score = np.array(log1m_score, dtype=float)
    if log_score.ndim != 1 or log_score.shape != log1m_score.shape or not log_score.size:
        raise InputError(
            f"log_score and log1m_score have shapes {log_score.shape} and {log1m_score.shape}: "
            "give two arrays of one length, at least 1"
        )
    at_one = np.isneginf(log1m_score)
    if at_one.any():
        warnings.warn(
            f"{at_one.sum()} of {at_one.size} scores are exactly 1: taken as 1 - 2^-53, "
            "which fits depend on; compute log(1 - c) from the logits if you have them",
            stacklevel=3,
        )
        log1m_score[at_one] = LOG_MISS_AT_ONE
    _validate_none(
        ~np.isfinite(log_score) | ~np.isfinite(log1m_score), "is not finite, or its score is 0"
    )
    _validate_none((log_score > 0) | (log1m_score > 0), "has a score outside (0, 1]")
    _validate_none(
        np.abs(np.expm1(np.logaddexp(log_score, log1m_score))) > 1e-6,
        "has a log_score and a log1m_score that are not log c and log(1 - c) of one score",
    )
    upper = log1m_score < log_score
    log_score[upper] = np.minimum(np.log1p(-np.exp(log1m_score[upper])), -_SMALLEST)
    return log_score, log1m_score


def checked_hits(hit: ArrayLike, n: int) -> np.ndarray:
    """Return the hits as a bool array of shape (n,); InputError unless 0/1 with both present."""
    hit = np.asarray(hit)
    if hit.shape != (n,):
        raise InputError(f"hit has shape {hit.shape}: give one value for each of the {n} scores")
    _validate_none((hit != 0) & (hit != 1), "has a hit that is neither 0 nor 1")
    hit = hit.astype(bool)
    if hit.all() or not hit.any():
        raise InputError(
            f"all {n} rows are {'hits' if hit[0] else 'misses'}: "
            "a calibration curve cannot be fitted to one class; give more rows"
        )
    return hit


def below_one(log1m_score: ArrayLike) -> np.ndarray:
    """Return a bool array: is the score below 1 - 2^-53, the published stand-in for 1?"""
    return np.asarray(log1m_score) > LOG_MISS_AT_ONE * (1 - 1e-12)


def _validate_none(bad: np.ndarray, what: str) -> None:
    if bad.any():
        raise InputError(f"row {int(np.argmax(bad))} (counted from 0) {what}: correct or remove it")
