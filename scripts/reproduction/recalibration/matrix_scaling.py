"""Matrix and vector scaling (Guo et al. 2017, section 4.2): softmax(W z + b), most likely W and b.

Matrix scaling has a full matrix W. Its K² + K parameters overfit with many classes, as Guo et al.
report; on ImageNet their fit did not converge. In vector scaling W is diagonal: softmax(w ∘ z + b).
"""

import numpy as np

from calbias.errors import InputError
from calbias.recalibration.softmax_regression import LinearCalibration, fit_linear

MOST_CLASSES = 300  # of a full matrix


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
