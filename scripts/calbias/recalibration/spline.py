"""Spline recalibration (Gupta et al. 2021, section 4), of one score: the classes keep their order.

The scores of the validation fold are sorted, z_1 ≤ … ≤ z_N, with cumulative hits and scores
h_i = Σ_{j≤i} hit_j / N, h̃_i = Σ_{j≤i} z_j / N at t_i = i/N. A natural cubic spline with K equally
spaced knots on [0, 1] is fitted by least squares; its derivative at a score's fractile t is the
probability of a hit there.

- ``spline``: the authors' practice. The spline v is fitted to h - h̃, and γ(z) = z + v'(t(z)).
- ``spline_as_written``: as in the text. The spline is fitted to h, and γ(z) = v'(t(z)).

Between the validation scores v' is linear in z, outside them constant; γ is clipped to [0, 1].
"""

from typing import NamedTuple

import numpy as np

from calbias.errors import InputError


class SplineMap(NamedTuple):
    """The derivative ``slopes`` (k,) of the spline at ascending ``scores`` (k,)."""

    scores: np.ndarray
    slopes: np.ndarray
    add_score: bool

    def predict(self, scores: np.ndarray) -> np.ndarray:
        """Return the recalibrated scores, (m,) in [0, 1]."""
        slopes = np.interp(scores, self.scores, self.slopes)
        return np.clip(scores + slopes if self.add_score else slopes, 0.0, 1.0)


def fit_binary(
    scores: np.ndarray, hits: np.ndarray, n_knots: int = 6, add_score: bool = True
) -> SplineMap:
    """Return the ``SplineMap``; equal scores share their mean hit and their mean slope."""
    distinct, group, count = np.unique(scores, return_inverse=True, return_counts=True)
    mean_hit = np.bincount(group, weights=hits) / count
    return fit_counts(distinct, mean_hit, count, n_knots, add_score)


def fit_counts(
    scores: np.ndarray,
    mean_hit: np.ndarray,
    count: np.ndarray,
    n_knots: int = 6,
    add_score: bool = True,
) -> SplineMap:
    """Return the ``SplineMap`` of ascending distinct scores (k,), their mean hits and rows."""
    from scipy.interpolate import CubicSpline  # an audit fits none

    n = int(count.sum())
    if not 2 <= n_knots <= n:
        raise InputError(f"{n} samples are too few for a spline of {n_knots} knots (at least 2)")
    steps = np.repeat(mean_hit - scores if add_score else mean_hit, count)
    t = np.arange(1, n + 1) / n
    basis = CubicSpline(np.linspace(0, 1, n_knots), np.eye(n_knots), bc_type="natural")
    values = np.linalg.lstsq(basis(t), np.cumsum(steps) / n, rcond=None)[0]
    slopes = np.add.reduceat(basis(t, 1) @ values, np.cumsum(count) - count) / count
    return SplineMap(scores, slopes, add_score)
