"""A GLM as a bounded convex problem: its coordinates are predictors at the end points.

For terms b0_b1 the coordinates are the linear predictor at the smallest and at the largest
transformed score, and every row's predictor is a weighted mean of the two. "All probabilities are
at most 1" under a log link is then just "both coordinates are at most 0", and the two
columns of the design have one scale, whatever the scores.
"""

from typing import NamedTuple

import numpy as np

from calbias.errors import InputError
from calbias.truth.curves import split_glm_name, transformed


class Design(NamedTuple):
    """``eta = matrix @ x`` for terms b1 and b0_b1.

    ``ends`` (k,) are the transformed scores at which the coordinates x (k,) are the predictor,
    ``matrix`` has shape (n, k), ``event`` is bool (n,), ``link`` is ``"logit"`` or ``"log"`` (under
    which x <= 0) and ``start`` (k,) is strictly inside the model.
    """

    ends: np.ndarray
    matrix: np.ndarray
    event: np.ndarray
    link: str
    start: np.ndarray

    @property
    def to_coefficients(self):
        """The matrix (2, k) that takes x to (b0, b1)."""
        if len(self.ends) == 1:
            return np.array([[0.0], [1.0]]) / self.ends
        low, high = self.ends
        return np.array([[high, -low], [-1.0, 1.0]]) / (high - low)


def glm_design(name, log_score, log1m_score, hit):
    """Return the Design of a GLM with a slope on scores, finite arrays of shape (n,).

    It starts from a curve without saturated rows: T = 1/2, T(c) = c, or for two terms the hit rate.

    Raises InputError where two coefficients are asked for and all transformed scores are equal.
    """
    link, transform, terms = split_glm_name(name)
    event = ~hit if link == "logflip" else hit
    family = "logit" if link == "logit" else "log"
    t = transformed(transform, log_score, log1m_score)
    low, high = t.min(), t.max()
    if terms == "b1":
        # One end point: the transformed score farthest from 0, negative where there is a choice.
        far = high if high > -low else low
        start = np.array([0.0 if family == "logit" else far])
        return Design(np.array([far]), (t / far)[:, None], event, family, start)
    rate = event.mean()
    level = np.log(rate / (1 - rate)) if family == "logit" else np.log(rate)
    width = high - low
    if width == 0:
        raise InputError(f"all scores are equal: {name} has no slope; give distinct scores")
    matrix = np.stack([(high - t) / width, (t - low) / width], axis=1)
    start = np.array([level, level])
    return Design(np.array([low, high]), matrix, event, family, start)
