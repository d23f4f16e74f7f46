"""The monotonic sweep ECE_sweep (Roelofs et al. 2022, Eq. 8 and Algorithm 1).

    ECE_sweep = ECE_bin with b bins, b the last of 2, 3, … before a bin's mean label decreases

Bins are added, b = 2, 3, …, n, as long as the mean labels y_1 ≤ … ≤ y_b do not decrease; the
estimate is ECE_bin at the last b that passed (1 if b = 2 fails). Equal means are no decrease and
empty bins are skipped. Bins of either kind never cut a group of equal scores whose labels are
averaged, so the sums of labels are whole numbers: means are compared exactly, by
cross-multiplication (for n below 9e7), and rounding never decides.
"""

import numpy as np

from calbias.engine.bin_search import error_of_bins, nearer_end
from calbias.engine.jit import njit
from calbias.engine.sorted_batch import IS_EQUAL_MASS, Estimates, SortedBatch
from calbias.engine.sweep import (
    MOST_SEARCHED,
    groups_pass,
    mass_plan,
    passes,
    sweep_masses,
    sweep_widths,
    width_plan,
)
from calbias.errors import InputError
from calbias.estimators import ece_bin
from calbias.scored import Scored

VARIANTS = {
    "ece_sweep_ew": {"binning": "equal_width"},
    "ece_sweep_em": {"binning": "equal_mass"},
}
TARGET = "lp"
BINS = "chosen"

_FEW = 128  # bins that have passed when it is tried whether all groups do


def estimate_data_sets(data: SortedBatch, n_bins: int, norm: float, binning: str) -> Estimates:
    """Return (estimates, bins chosen), each (m,): fractions, for SortedBatch of m rows.

    ``n_bins`` is ignored: the sweep chooses.
    """
    m, n = data.scores.shape
    is_tied, is_equal_mass = data.tie_first.shape[1] > 0, IS_EQUAL_MASS[binning]
    estimates, chosen = np.empty(m), np.empty(m, np.int64)
    results = norm, estimates, chosen
    if not is_equal_mass:
        sweep_widths(*data[:3], *width_plan(min(n, MOST_SEARCHED)), *results)
    elif is_tied:
        _sweep_groups(*data, *results)
    else:
        sweep_masses(data.cum_gap, data.cum_hit, *mass_plan(n), *results)
    return estimates, chosen


@njit(error_model="numpy")
def _sweep_groups(
    scores: np.ndarray,
    cum_gap: np.ndarray,
    cum_hit: np.ndarray,
    tie_first: np.ndarray,
    tie_last: np.ndarray,
    norm: float,
    out: np.ndarray,
    chosen: np.ndarray,
) -> None:
    """Fill the estimates and the numbers of bins chosen of equal mass, of data with tie groups."""
    n = cum_gap.shape[1] - 1
    bins = np.empty(n + 1, np.int64)
    for row in range(out.shape[0]):
        sums, firsts, lasts = cum_hit[row], tie_first[row], tie_last[row]
        b = 1
        while b < n and passes(bins, _fill_groups(n, b + 1, firsts, lasts, bins), sums):
            b += 1
            if b == _FEW and groups_pass(scores[row], sums, bins):
                b = n
        last = _fill_groups(n, b, firsts, lasts, bins) - 1
        chosen[row] = last
        out[row] = error_of_bins(cum_gap[row], bins, last, norm)


@njit
def _fill_groups(n: int, b: int, firsts: np.ndarray, lasts: np.ndarray, bins: np.ndarray) -> int:
    """Fill in the ranks where the full bins of b of equal mass begin, and n; return how many."""
    last = rank = k = 0
    while rank < n:
        bins[last] = rank
        last += 1
        while rank == bins[last - 1]:
            k += 1
            rank = nearer_end((k * n + b - 1) // b, firsts, lasts)
    bins[last] = n
    return last + 1


def estimate_scored(scored: Scored, n_bins: int, norm: float, binning: str) -> tuple[float, int]:
    """Return (estimate, bins used) of a Scored without weights."""
    last, is_finest = bins_chosen(scored, binning)
    value, used = ece_bin.estimate_scored(scored, last, norm, binning)
    return value, int(scored.total) if is_finest and not IS_EQUAL_MASS[binning] else used


def bins_chosen(scored: Scored, binning: str) -> tuple[int, bool]:
    """Return the last number of bins that passed, and whether each score is a bin there.

    More bins then change nothing. Bins that are empty are counted. Sums of weights that are not
    numbers of rows round, and rounding would decide where the sweep ends.
    """
    if scored.weights:
        raise InputError(
            "the sweep compares means exactly, which weights that are not numbers of rows do not "
            "allow: take ece_bin_em or ece_debias_em"
        )
    for b in range(2, int(scored.total) + 1):
        starts = scored.starts(b, binning)
        hits, sizes = (x.tolist() for x in scored.bin_sums(starts, scored.hits, scored.rows))
        if any(hits[k] * sizes[k + 1] > hits[k + 1] * sizes[k] for k in range(len(hits) - 1)):
            return b - 1, False
        if len(hits) == scored.scores.size:
            return b, True
    return int(scored.total), False
