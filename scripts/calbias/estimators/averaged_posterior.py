"""Posterior mean of the error, averaged over calibration, lines, Gaussian and piecewise curves.

Rows are put into at most 30 cells of neighbouring scores. A curve moves the log odds of cell k by
f_k: f = 0 (calibrated), a random line, a Gaussian process, or lines between random change points.
Each model m has its evidence Z_m and its posterior mean error, by Laplace approximations.

    estimate = Σ_m P(m) Z_m E[(Σ_k w_k |σ(L_k + f_k) − p_k|^p)^(1/p) | m] / Σ_m P(m) Z_m

Norms 1 and 2 come from one pass. ``calbias.engine.posterior`` has the steps, the models and the
priors, docs/tool/estimators.md what was measured. Laplace approximation: Rasmussen and Williams,
*Gaussian Processes for Machine Learning* (2006), algorithms 3.1 and 5.1. Gaussian-process
calibration: Wenger, Kjellström and Triebel (AISTATS 2020). Averages over binnings: Naeini, Cooper
and Hauskrecht (AAAI 2015). Posterior probability of calibration: Guthrie and Franck (*The American
Statistician* 2024). Target: Roelofs et al. (AISTATS 2022), Eq. 1.
"""

import numpy as np

from calbias.engine.posterior import Average, average_of
from calbias.engine.sorted_batch import Estimates, SortedBatch
from calbias.samples.by_score import Scored

TARGET = "lp"
BINS = "none"
NORMS = (1, 2)

_KEPT = "averaged_posterior"


def estimate_data_sets(data: SortedBatch, n_bins: int = 0, norm: float = 1.0) -> Estimates:
    """Return (estimates, bins used = 0), each (m,): fractions, for SortedBatch of m rows."""
    cache = data.__dict__  # of one batch, as its ranks: a second norm costs nothing
    if _KEPT not in cache:
        rows = zip(data.scores, data.cum_hit, strict=True)
        cache[_KEPT] = np.array([_average(*row)[-2:] for row in rows])
    estimates = cache[_KEPT][:, 0 if norm == 1 else 1].copy()
    return estimates, np.zeros(estimates.shape, np.int64)


def estimate_scored(scored: Scored, n_bins: int, norm: float) -> tuple[float, int]:
    """Return (estimate, bins used = 0) of a Scored.

    A cell counts as (Σ w)²/Σ w² of its rows, and its share of the error is that of its weight.
    """
    scale = scored.effective_n / scored.total  # Σ w is then Σ w²
    rows, hits, squares = scored.rows * scale, scored.hits * scale, scored.squares * scale**2
    average = average_of(scored.scores, rows, hits, squares)
    return average.l1 if norm == 1 else average.l2, 0


def _average(scores: np.ndarray, cum_hit: np.ndarray) -> Average:
    """Return the Average of ascending scores (n,), equal ones together, and sums (n + 1,)."""
    starts = np.flatnonzero(np.append(True, scores[1:] != scores[:-1]))
    ends = np.append(starts, scores.size)
    return average_of(scores[starts], np.diff(ends), np.diff(cum_hit[ends]))
