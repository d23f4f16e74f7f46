"""Histogram binning (Zadrozny and Elkan 2001; Guo et al. 2017, section 4.1, Eq. 7).

Scores are put into bins, and every score in a bin becomes the bin's mean label.
"""

import numpy as np

from reproduction.recalibration.binary import Steps, bins_of


def histogram_binning(
    scores: np.ndarray,
    hits: np.ndarray,
    n_bins: int = 15,
    equal_mass: bool = False,
    empty_bins_zero: bool = False,
) -> Steps:
    """Return the ``Steps`` of the bins [k/b, (k+1)/b), with 1 in the last, or of equal mass.

    Of equal mass, bin k begins at the score of rank ceil(k·n/b); equal scores stay together, in the
    highest bin they reach; the lowest bin with samples reaches down to 0, as a₁ = 0 in Guo et al.
    The literature leaves open what a bin of equal width without samples gets: here its centre, or
    zero, as in the code published with the ten models.
    """
    inner = np.arange(1, n_bins)
    edges = inner / n_bins
    if equal_mass:
        n = len(scores)
        first_ranks = np.minimum(-(-inner * n // n_bins), n - 1)
        edges = np.partition(scores, first_ranks)[first_ranks]
    bins = bins_of(scores, edges)
    count = np.bincount(bins, minlength=n_bins)
    n_hits = np.bincount(bins, weights=hits, minlength=n_bins)
    centre = (np.arange(n_bins) + 0.5) / n_bins
    empty_values = np.zeros(n_bins) if empty_bins_zero else centre
    values = np.where(count > 0, n_hits / np.maximum(count, 1), empty_values)
    if equal_mass:
        values[0] = values[np.argmax(count > 0)]  # below tied lowest scores no bin has samples
    return Steps(edges, values)
