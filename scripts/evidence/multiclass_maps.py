"""Maps M of probability vectors: labels drawn from q = M(p) make a model's error known.

Each takes probabilities (n, K), rows that sum to 1, and returns q (n, K). What has probability 0
keeps it, but where noise or a full matrix gives it some.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln

from calbias.multiclass.cells import Floats

_LEAST = 1e-30  # what a probability of 0 counts as in a logarithm


def identity(p: Floats) -> Floats:
    """Return p: a calibrated model."""
    return p


def temperature(p: Floats, temperature: float) -> Floats:
    """Return q ∝ p^(1/T): with T > 1 the model is overconfident (Guo et al. 2017)."""
    return _normalised(p ** (1.0 / temperature))


def vector(p: Floats, slopes: ArrayLike, shifts: ArrayLike) -> Floats:
    """Return q ∝ p^w e^b with a slope and a shift for each class: vector scaling."""
    return _normalised(p ** np.asarray(slopes, float) * np.exp(np.asarray(shifts, float)))


def matrix(p: Floats, weights: ArrayLike, shifts: ArrayLike) -> Floats:
    """Return softmax(W log p + b): matrix scaling, and Dirichlet calibration as Kull et al. fit it.

    ``weights`` (K, K) has a row for each class of q.
    """
    logs = np.log(np.maximum(p, _LEAST))
    scores = np.stack([(logs * row).sum(axis=1) for row in np.asarray(weights, float)], axis=1)
    scores += np.asarray(shifts, float)
    return _normalised(np.exp(scores - scores.max(axis=1, keepdims=True)))


def dirichlet(p: Floats, parameters: ArrayLike, priors: ArrayLike) -> Floats:
    """Return P(Y | p) where p given Y = k is Dirichlet with the parameters of row k, (K, K).

    The generative form of Dirichlet calibration (Kull et al. 2019, §3).
    """
    alpha = np.asarray(parameters, float)
    constants = gammaln(alpha.sum(axis=1)) - gammaln(alpha).sum(axis=1)
    return matrix(p, alpha - 1.0, np.log(np.asarray(priors, float)) + constants)


def label_shift(p: Floats, ratios: ArrayLike) -> Floats:
    """Return q ∝ r p: class k is r_k times as frequent as where the model was calibrated."""
    return _normalised(p * np.asarray(ratios, float))


def label_noise(p: Floats, rate: float) -> Floats:
    """Return (1 − λ) p + λ/K: a share λ of the labels is drawn from all K classes alike.

    The one map besides the identity for which q_k depends on p_k alone: δ_k(s) = λ(1/K − s).
    """
    return (1.0 - rate) * p + rate * (1.0 / p.shape[1])


def _normalised(weights: Floats) -> Floats:
    normalised: Floats = weights / weights.sum(axis=1, keepdims=True)
    return normalised
