"""The debiased estimate (Bröcker 2012; Ferro and Fricker 2012; Kumar et al. 2019), p = 2 only.

    ece_debias_e?           √max(D, 0)
    ece_debias_unclipped_*  sign(D)·√|D|
    ece_debias_*            D = Σ_k n_k/n · [(f_k - y_k)² - y_k(1 - y_k)/(n_k - 1)]

Bins with fewer than two samples are dropped. The sum D may be negative: it is clipped at 0 before
the root. Without clipping the root keeps the sign. ``ece_debias_squared_*`` is D itself, neither
clipped nor rooted: with bins fine enough an unbiased estimate of E δ².
"""

import numpy as np

from calbias.engine.sorted_batch import Estimates, SortedBatch
from calbias.samples.by_score import BinSums

VARIANTS = {
    "ece_debias_ew": {"binning": "equal_width"},
    "ece_debias_em": {"binning": "equal_mass"},
    "ece_debias_unclipped_ew": {"binning": "equal_width", "clipped": False},
    "ece_debias_unclipped_em": {"binning": "equal_mass", "clipped": False},
    "ece_debias_squared_ew": {"binning": "equal_width", "rooted": False},
    "ece_debias_squared_em": {"binning": "equal_mass", "rooted": False},
}
TARGET = {
    "ece_debias_squared_ew": "lp_power",
    "ece_debias_squared_em": "lp_power",
}
NORMS = (2,)  # the correction is for the mean of a squared difference


def estimate_data_sets(
    data: SortedBatch,
    n_bins: int,
    norm: float,
    binning: str,
    clipped: bool = True,
    rooted: bool = True,
) -> Estimates:
    """Return (estimates, bins used), each (m,): fractions, for SortedBatch of m rows."""
    from calbias.engine.bin_kernels import debiased_squares  # needs numba

    squares, ranks = np.empty(data.scores.shape[0]), data.ranks(n_bins, binning)
    debiased_squares(data.cum_gap, data.cum_hit, ranks, squares)
    if rooted and clipped:
        squares = np.sqrt(np.maximum(squares, 0.0))
    elif rooted:
        squares = np.sign(squares) * np.sqrt(np.abs(squares))
    return squares, data.bins_used(n_bins, binning)


def estimate_bins(bins: BinSums, norm: float, clipped: bool = True, rooted: bool = True) -> float:
    """Return the estimate from sums over bins.

    A weighted mean has the noise of n' = (Σ w)²/Σ w² rows: y(1 − y)/(n' − 1).
    """
    several = bins.counts > 1
    weight = bins.rows[several]
    gap, hit = bins.gaps[several] / weight, bins.hits[several] / weight
    effective = weight**2 / bins.squares[several]
    terms = weight * (gap * gap - hit * (1.0 - hit) / (effective - 1.0))
    square = float(np.sum(terms) / bins.rows.sum())
    if not rooted:
        return square
    return np.sqrt(max(square, 0.0)) if clipped else np.sign(square) * np.sqrt(abs(square))
