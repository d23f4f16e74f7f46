"""Histogram binning (Zadrozny and Elkan 2001; Guo et al. 2017, section 4.1, Eq. 7).

Scores are put into bins and every score in a bin becomes the bin's mean label.
"""

import numpy as np

from calbias.errors import InputError
from calbias.recalibration.binary import Steps, bins_of

VARIANTS = {
    "histogram_binning": {},
    "histogram_binning_em": {"binning": "em"},
    "histogram_binning_zero": {"empty_bins": "zero"},
    "histogram_binning_top_label": {"top_label_only": True},
}
BINNINGS = ("ew", "em")
EMPTY_BINS = ("centre", "zero")


def fit_binary(scores, hits, n_bins=15, binning="ew", empty_bins="centre"):
    """Return the ``Steps``, from the bins ``"ew"`` [k/b, (k+1)/b), with 1 in the last, or ``"em"``.

    There bin k begins at the score of rank ceil(k·n/b); equal scores stay together, in the highest
    bin they reach. The literature leaves open what a bin without samples gets: its ``"centre"``
    (there are none of ``"em"``), or ``"zero"``, as in the code published with the ten models.
    """
    if binning not in BINNINGS or empty_bins not in EMPTY_BINS:
        raise InputError(
            f"histogram binning {binning!r} with empty bins {empty_bins!r} is unknown: "
            f"choose from {', '.join(BINNINGS)} and {', '.join(EMPTY_BINS)}"
        )
    inner = np.arange(1, n_bins)
    if binning == "ew":
        edges = inner / n_bins
    else:
        n = len(scores)
        first_ranks = np.minimum(-(-inner * n // n_bins), n - 1)
        edges = np.partition(scores, first_ranks)[first_ranks]
    bins = bins_of(scores, edges)
    count = np.bincount(bins, minlength=n_bins)
    n_hits = np.bincount(bins, weights=hits, minlength=n_bins)
    centre = (np.arange(n_bins) + 0.5) / n_bins
    of_empty = centre if empty_bins == "centre" and binning == "ew" else np.zeros(n_bins)
    return Steps(edges, np.where(count > 0, n_hits / np.maximum(count, 1), of_empty))
