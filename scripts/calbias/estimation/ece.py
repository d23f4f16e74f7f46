"""The expected calibration error in bins, as most papers and packages print it."""

from __future__ import annotations

from typing import Literal

from numpy.typing import ArrayLike

from calbias.defaults import N_BINS
from calbias.engine.scores_and_hits import scores_and_hits, validate_options
from calbias.errors import looked_up
from calbias.estimators.ece_bin import estimate_bins
from calbias.samples.in_order import UnsortedRows

_BINNINGS = {"width": "equal_width", "mass": "equal_mass"}


def ece(
    scores: ArrayLike,
    hits: ArrayLike,
    n_bins: int = N_BINS,
    norm: float = 1,
    binning: Literal["width", "mass"] = "width",
) -> float:
    """Return the expected calibration error in bins.

    It is ``calbias.estimate`` with ``ece_bin_ew`` or ``ece_bin_em``. It is biased: a calibrated
    model has an ECE above 0. ``calbias.audit`` says by how much, and gives an interval.

    Parameters
    ----------
    scores : array_like, shape (n,) or (n, 1)
        Top-label probabilities in [0, 1], or the probabilities of an event.
    hits : array_like, shape (n,) or (n, 1)
        1 where the prediction was correct, or the event happened, else 0.
    n_bins : int, default 15
    norm : float, default 1
        p of the ℓp error.
    binning : {"width", "mass"}, default "width"
        Bins of equal width, [k/b, (k + 1)/b) and the last with 1, or with equally many rows.

    Returns
    -------
    float
        A fraction.

    Raises
    ------
    InputError
        A ``ValueError`` of one line, for input that is not of this form.

    References
    ----------
    Naeini, Cooper and Hauskrecht (AAAI 2015); Guo et al. (ICML 2017), Eq. 3; Roelofs et al.
    (AISTATS 2022), Eq. 4.

    Examples
    --------
    >>> import calbias
    >>> round(calbias.ece([0.3, 0.4, 0.8, 0.9], [0, 1, 1, 1], n_bins=2), 3)
    0.15
    """
    validate_options(n_bins, norm)
    sample = UnsortedRows(*scores_and_hits(scores, hits))
    bins = sample.bins(int(n_bins), looked_up("binning", binning, _BINNINGS))
    return float(estimate_bins(bins, float(norm)))
