"""The monotonic sweep over bins of equal mass, where bins must not cut groups of equal scores."""

import numpy as np

from calbias.engine.bin_search import error_of_bins, nearer_end
from calbias.engine.jit import njit
from calbias.engine.sweep import groups_pass, passes

_FEW = 128  # bins that have passed when it is tried whether all groups do


@njit(error_model="numpy")
def sweep_groups(
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
