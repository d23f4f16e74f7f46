"""Errors of the top label: given the predicted class, and of all classes together (confidence).

    of predicted class k   Σ_b n_kb/N_k · |f_kb − y_kb|^p,   over the N_k rows whose top class is k
    whole                  Σ_k N_k/n · value_k

f is the mean score of the top class, y the share of correct rows. Gupta and Ramdas (*Top-label
calibration and multiclass-to-binary reductions*, ICLR 2022) condition on the predicted class:
a model may be calibrated in confidence and too sure of one class, too unsure of another. With all
predicted classes in one group the same formula is the ECE that the rest of calbias estimates.
"""

from typing import Any

from calbias.multiclass.binned import absolute, debiased, square
from calbias.multiclass.binned import prepare as prepare

_WIDTH, _MASS = {"binning": "equal_width"}, {"binning": "equal_mass"}
_ERROR: dict[str, Any] = {"terms": absolute, "join": "weighted"}
_DEBIASED: dict[str, Any] = {"terms": debiased, "join": "root_weighted"}
_OF_CLASS, _OF_ALL = {"by": "predicted_class"}, {"by": "all"}
VARIANTS: dict[str, dict[str, Any]] = {
    "top_label_ece": {**_WIDTH, **_ERROR, **_OF_CLASS},
    "top_label_ece_em": {**_MASS, **_ERROR, **_OF_CLASS},
    "top_label_l2": {**_WIDTH, "terms": square, "join": "root_weighted", **_OF_CLASS},
    "top_label_l2_debiased": {**_WIDTH, **_DEBIASED, **_OF_CLASS},
    "top_label_l2_debiased_em": {**_MASS, **_DEBIASED, **_OF_CLASS},
    "confidence_ece": {**_WIDTH, **_ERROR, **_OF_ALL},
    "confidence_ece_em": {**_MASS, **_ERROR, **_OF_ALL},
}
TARGET = {
    "top_label_ece": "top_label_l1",
    "top_label_ece_em": "top_label_l1",
    "top_label_l2": "top_label_l2",
    "top_label_l2_debiased": "top_label_l2",
    "top_label_l2_debiased_em": "top_label_l2",
    "confidence_ece": "confidence_l1",
    "confidence_ece_em": "confidence_l1",
}
