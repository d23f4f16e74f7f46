"""A binary GLM as a convex problem, for many sets of labels at once (Roelofs et al. 2022, Eq. 10).

For terms b0_b1 the coordinates are the linear predictor at the smallest and at the largest
transformed score, and every row's predictor is a weighted mean of the two. "All probabilities are
at most 1" under a log link is then just "both coordinates are at most 0", and the two columns of
the design have one scale.

With e events and o others at a row and p = g⁻¹(eta), the loss is -Σ [e log p + o log(1 - p)],
convex in eta for both links. A logflip link is a log link whose events are the misses.
"""

import warnings
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, log_expit

from calbias.errors import InputError
from calbias.truth.curves import log1m_exp, split_glm_name, transformed

# The largest float64 below 1 is 1 - 2^-53. A score that is exactly 1 says no more about 1 - c than
# that, and the published fits use the same value: 1 - 1e-16 rounds to 1 - 2^-53.
LOG_MISS_AT_ONE = float(np.log(2.0**-53))
_SMALLEST = 1e-300


class Design(NamedTuple):
    """``eta = x @ matrix.T`` for coordinates x (B, k), a row for each of B sets of labels.

    ``ends`` (k,) are the transformed scores at which the coordinates are the predictor, ``matrix``
    has shape (n, k), ``events`` and ``others`` are counts (B, n), ``link`` is ``"logit"`` or
    ``"log"`` (under which x <= 0) and ``start`` (k,) is strictly inside the model.
    """

    ends: np.ndarray
    matrix: np.ndarray
    events: np.ndarray
    others: np.ndarray
    link: str
    start: np.ndarray

    def coordinates(self, b0: float, b1: float) -> np.ndarray:
        """Return the coordinates (k,) of the coefficients; b0 is 0 without an intercept."""
        x = b0 + b1 * self.ends
        return x if self.link == "logit" else np.minimum(x, 0.0)

    @property
    def to_coefficients(self) -> np.ndarray:
        """The matrix (2, k) that takes coordinates to (b0, b1)."""
        if len(self.ends) == 1:
            return np.array([[0.0], [1.0]]) / self.ends
        low, high = self.ends
        return np.array([[high, -low], [-1.0, 1.0]]) / (high - low)

    def loss(self, x: np.ndarray) -> np.ndarray:
        """Return the summed losses, (B,) in nats, exact in both tails; inf outside the model."""
        eta = x @ self.matrix.T
        if self.link == "logit":
            return -np.sum(self.events * log_expit(eta) + self.others * log_expit(-eta), axis=1)
        with np.errstate(invalid="ignore"):
            others_term = np.where(
                self.others > 0, self.others * log1m_exp(np.minimum(eta, 0.0)), 0
            )
            loss = -np.sum(self.events * eta + others_term, axis=1)
        return np.where((eta <= 0).all(axis=1), loss, np.inf)

    def slopes(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the gradient (B, k) and the Hessian (B, k, k) of the losses."""
        eta = x @ self.matrix.T
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            if self.link == "logit":
                p, q = expit(eta), expit(-eta)
                first = self.others * p - self.events * q
                root = np.sqrt((self.events + self.others) * p * q)
            else:
                has_others = self.others > 0
                first = np.where(has_others, self.others / np.expm1(-eta), 0.0) - self.events
                root = np.where(has_others, -0.5 * np.sqrt(self.others) / np.sinh(eta / 2), 0.0)
            # the second derivative itself, by the inverse square of 1 - e^eta, may overflow
            weighted = self.matrix * root[..., None]
            return first @ self.matrix, weighted.transpose(0, 2, 1) @ weighted


def glm_design(
    name: str, log_score: np.ndarray, log1m_score: np.ndarray, hits: np.ndarray, misses: np.ndarray
) -> Design:
    """Return the Design of a GLM with a slope on scores, finite (n,), with counts (B, n).

    It starts from a curve without saturated rows: T = 1/2, T(c) = c, or for two terms the hit rate.
    """
    link, transform, terms = split_glm_name(name)
    events, others = (misses, hits) if link == "logflip" else (hits, misses)
    family = "logit" if link == "logit" else "log"
    t = transformed(transform, log_score, log1m_score)
    low, high = t.min(), t.max()
    if terms == "b1":
        # One end point: the transformed score farthest from 0, negative where there is a choice.
        far = high if high > -low else low
        start = np.array([0.0 if family == "logit" else far])
        return Design(np.array([far]), (t / far)[:, None], events, others, family, start)
    n_events, n_others = events.sum(), others.sum()
    rate = n_events / (n_events + n_others)
    level = np.log(n_events / n_others) if family == "logit" else np.log(rate)
    width = high - low
    if width == 0:
        raise InputError(f"all scores are equal: {name} has no slope; give distinct scores")
    matrix = np.stack([(high - t) / width, (t - low) / width], axis=1)
    start = np.array([level, level])
    return Design(np.array([low, high]), matrix, events, others, family, start)


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
