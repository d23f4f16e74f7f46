"""Matrix and vector scaling (Guo et al. 2017, section 4.2): softmax(W z + b), most likely W and b.

Matrix scaling has a full matrix W. Its K² + K parameters overfit with many classes, as Guo et al.
report; on ImageNet their fit did not converge. In vector scaling W is diagonal: softmax(w ∘ z + b).

**ODIR** (Kull et al. 2019, NeurIPS): matrix scaling with a penalty off the diagonal and on b.

softmax(W x + b) with x the logits (``ms_odir``) or the log probabilities (``dir_odir``: Dirichlet
calibration), and the penalty of ``softmax_regression``. Its strength λ = μ is the one, of a grid,
with the least negative log-likelihood in 5-fold cross-validation on the validation fold; the method
is then fitted to all its rows.
"""

import warnings
from collections.abc import Sequence

import numpy as np

from calbias.errors import InputError
from calbias.recalibration.softmax_regression import LinearCalibration, fit_linear

MOST_CLASSES = 300  # of a full matrix
PENALTIES = (1e2, 1e1, 1e0, 1e-1, 1e-2)
N_FOLDS = 5


def matrix_scaling(
    logits: np.ndarray, labels: np.ndarray, diagonal: bool = False
) -> LinearCalibration:
    """Fit W and b to logits (n, K) and labels (n,).

    InputError for a full matrix of more than 300 classes.
    """
    n_classes = logits.shape[1]
    if n_classes > MOST_CLASSES and not diagonal:
        raise InputError(
            f"matrix scaling of {n_classes} classes has {n_classes * (n_classes + 1)} parameters "
            f"for {len(labels)} samples and no penalty: use ms_odir, or vector_scaling"
        )
    return fit_linear(logits, labels, diagonal=diagonal)


def odir(
    logits: np.ndarray,
    labels: np.ndarray,
    log_probabilities: bool = False,
    penalties: Sequence[float] = PENALTIES,
) -> LinearCalibration:
    """Fit W and b to logits (n, K) and labels (n,); one penalty needs no cross-validation."""
    penalty = penalties[0]
    if len(penalties) > 1:
        held_out = _held_out(logits, labels, penalties, log_probabilities)
        penalty = penalties[int(np.argmin(held_out))]
    return fit_linear(logits, labels, penalty=penalty, log_probabilities=log_probabilities)


def _held_out(
    logits: np.ndarray, labels: np.ndarray, penalties: Sequence[float], log_probabilities: bool
) -> np.ndarray:
    """Return the negative log-likelihood of held-out rows for each penalty, strongest first."""
    # Rows may be sorted by class: deal them out, class by class.
    fold = np.empty(len(labels), np.int64)
    fold[np.argsort(labels, kind="stable")] = np.arange(len(labels)) % N_FOLDS
    total = np.zeros(len(penalties))
    for held_out in range(N_FOLDS):
        fitted, calibration = fold != held_out, None
        for k, penalty in enumerate(penalties):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a candidate need not be at its minimum
                calibration = fit_linear(
                    logits[fitted],
                    labels[fitted],
                    penalty=penalty,
                    log_probabilities=log_probabilities,
                    start=calibration,
                    tolerance=1e-4,
                )
            total[k] += np.sum(~fitted) * calibration.mean_nll(logits[~fitted], labels[~fitted])
    return total
