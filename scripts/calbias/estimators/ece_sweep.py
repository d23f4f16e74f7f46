"""The monotonic sweep ECE_sweep (Roelofs et al. 2022, Eq. 8 and Algorithm 1).

    ECE_sweep = ECE_bin with b bins, b the last of 2, 3, … before a bin's mean label decreases

Bins are added, b = 2, 3, …, n, as long as the mean labels y_1 ≤ … ≤ y_b do not decrease; the
estimate is ECE_bin at the last b that passed (1 if b = 2 fails). Equal means are no decrease and
empty bins are skipped. Bins of either kind never cut a group of equal scores whose labels are
averaged, so the sums of labels are whole numbers: means are compared exactly, by
cross-multiplication (for n below 9e7), and rounding never decides.
"""

import numpy as np

from calbias.engine.sorted_batch import IS_EQUAL_MASS, Estimates, SortedBatch
from calbias.errors import InputError
from calbias.estimators import ece_bin
from calbias.samples.by_score import Scored

VARIANTS = {
    "ece_sweep_ew": {"binning": "equal_width"},
    "ece_sweep_em": {"binning": "equal_mass"},
}
TARGET = "lp"
BINS = "chosen"


def estimate_data_sets(data: SortedBatch, n_bins: int, norm: float, binning: str) -> Estimates:
    """Return (estimates, bins chosen), each (m,): fractions, for SortedBatch of m rows.

    ``n_bins`` is ignored: the sweep chooses.
    """
    from calbias.engine.group_sweep import sweep_groups  # needs numba
    from calbias.engine.sweep import (
        MOST_SEARCHED,
        mass_plan,
        sweep_masses,
        sweep_widths,
        width_plan,
    )

    m, n = data.scores.shape
    is_tied, is_equal_mass = data.tie_first.shape[1] > 0, IS_EQUAL_MASS[binning]
    estimates, chosen = np.empty(m), np.empty(m, np.int64)
    results = norm, estimates, chosen
    if not is_equal_mass:
        sweep_widths(*data[:3], *width_plan(min(n, MOST_SEARCHED)), *results)
    elif is_tied:
        sweep_groups(*data, *results)
    else:
        sweep_masses(data.cum_gap, data.cum_hit, *mass_plan(n), *results)
    return estimates, chosen


def estimate_scored(scored: Scored, n_bins: int, norm: float, binning: str) -> tuple[float, int]:
    """Return (estimate, bins used) of a Scored without weights."""
    bins = scored.bins(bins_chosen(scored, binning), binning)
    return ece_bin.estimate_bins(bins, norm), bins.used


def bins_chosen(scored: Scored, binning: str) -> int:
    """Return the last number of bins that passed; bins that are empty are counted.

    Sums of weights that are not numbers of rows round, and rounding would decide where the sweep
    ends.
    """
    if scored.weights:
        raise InputError(
            "the sweep compares means exactly, which weights that are not numbers of rows do not "
            "allow: take ece_bin_em or ece_debias_em"
        )
    n = int(scored.total)
    rows, hits = scored.upto, np.append(0, np.cumsum(scored.hits))
    if _is_monotone(np.diff(rows), np.diff(hits)):  # then so are all sums over neighbours
        return n
    for b in range(2, n + 1):
        ends = np.append(scored.starts(b, binning), scored.scores.size)
        if not _is_monotone(np.diff(rows[ends]), np.diff(hits[ends])):
            return b - 1
    return n


def _is_monotone(rows: np.ndarray, hits: np.ndarray) -> bool:
    """Return whether the mean hits of consecutive bins (b,) do not decrease."""
    return bool((hits[:-1] * rows[1:] <= hits[1:] * rows[:-1]).all())
