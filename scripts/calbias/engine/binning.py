"""Where bins begin: the two partitions that every binned estimator shares.

Equal width: bin k of b holds the scores in [k/b, (k+1)/b), and 1.0 is in the last bin. Equal mass:
the sample of rank i (from 0, in ascending order) is in bin floor(i·b/n), in integer arithmetic.
"""

from calbias.engine.jit import njit

# An estimator's option ``binning`` by name, and the argument ``equal_mass`` of compiled functions.
IS_EQUAL_MASS = {"equal_width": False, "equal_mass": True}


@njit
def first_rank(k, n_bins, scores, equal_mass):
    """Return the first rank in bin ``k`` or above, for k = 0..n_bins, of sorted scores (n,)."""
    n = scores.shape[0]
    if k <= 0:
        return 0
    if k >= n_bins:
        return n
    if equal_mass:
        return (k * n + n_bins - 1) // n_bins
    edge = k / n_bins
    low, high = 0, n
    while low < high:
        middle = (low + high) >> 1
        if scores[middle] < edge:
            low = middle + 1
        else:
            high = middle
    return low


@njit
def width_bin(score, n_bins):
    """Return the equal-width bin of a score in [0, 1], by the same edges k/n_bins."""
    k = min(int(score * n_bins), n_bins - 1)  # rounding may put it one off
    if score < k / n_bins:
        return k - 1
    if k + 1 < n_bins and score >= (k + 1) / n_bins:
        return k + 1
    return k
