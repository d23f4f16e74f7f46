"""The KS error of top-label scores (Gupta et al. 2021, section 3, Eq. 11-12).

    KS = max_i |H_i - C_i|,  H_i = 1/n Σ_{j≤i} hit_j,  C_i = 1/n Σ_{j≤i} score_j

with the samples in ascending order of the score.
"""

import numpy as np

from calbias.engine.sorted_batch import sorted_data_set


def ks_error(scores, hits, ties="average"):
    """Return the KS error, a fraction, of scores (n,) in [0, 1] and hits (n,) in {0, 1}.

    With ``ties="average"`` the maximum is over the ends of groups of equal scores, so that the
    order of the rows does not matter. Raises InputError as ``datasets.sorted_data_set`` does.

    >>> round(ks_error([0.5, 0.7, 0.9], [0, 1, 1]), 4)
    0.1667
    """
    return ks_of_data_set(sorted_data_set(scores, hits, ties))


def ks_of_data_set(data):
    """Return the KS error of a ``datasets.SortedBatch`` of one row."""
    return float(np.abs(data.cum_gap[0]).max() / data.scores.shape[1])
