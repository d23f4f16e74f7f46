"""Class-wise errors: of the probability of each class, then the mean or sum over classes.

    classwise_*      Σ_b n_kb/n · |f_kb − y_kb|^p of class k
    thresholded_*    Σ_b n_kb/N_k · |f_kb − y_kb|,  over the N_k rows with p_ik > ε
    *_debiased*      Σ_b n_kb/n · [(f_kb − y_kb)² − y_kb(1 − y_kb)/(n_kb − 1)]
    *_unbiased*      Σ_b n_kb/n · [(Σ r)² − Σ r²] / (n_kb(n_kb − 1)),  r = p_ik − 1{y_i = k} in b

f_kb is the mean probability of class k in bin b, y_kb the share of rows of class k. ``_l2`` is the
root of the mean over classes, ``squared`` has no root.

Kull et al. (NeurIPS 2019), §2, define the mean and print the sum in Table 3; Nixon et al. (CVPR
workshops 2019) call the mean static calibration error, and with equal mass adaptive calibration
error. The root mean square is the marginal calibration error of Kumar, Liang and Ma (NeurIPS 2019).

With hundreds of classes nearly all probabilities are close to 0 and hide the rest. ε = 0.01 with
equal mass is TACE of Nixon et al., here weighted by the rows of a bin; a class without a
probability above ε counts as 0. The value depends on ε: state it.

Of the errors without the bias of the bins' noise, bins of fewer than two rows are dropped. The mean
over classes may be negative; the rooted form is 0 there. The debiased marginal calibration error of
Kumar et al. takes a bin's probabilities as equal. The unbiased one is a U-statistic (as T-Cal, Lee
et al. 2022): exactly unbiased for the squared error of bins that do not depend on the rows.
"""

from typing import Any

from calbias.multiclass.binned import absolute, debiased, square, unbiased
from calbias.multiclass.binned import prepare as prepare

THRESHOLD = 0.01
_WIDTH, _MASS = {"binning": "equal_width"}, {"binning": "equal_mass"}
VARIANTS: dict[str, dict[str, Any]] = {
    "classwise_l2_debiased": {**_WIDTH, "terms": debiased, "join": "root_mean"},
    "classwise_l2_debiased_em": {**_MASS, "terms": debiased, "join": "root_mean"},
    "classwise_l2_squared_debiased": {**_WIDTH, "terms": debiased, "join": "mean"},
    "classwise_l2_squared_unbiased": {**_WIDTH, "terms": unbiased, "join": "mean"},
    "classwise_l2_squared_unbiased_em": {**_MASS, "terms": unbiased, "join": "mean"},
    "classwise_ece_mean": {**_WIDTH, "terms": absolute, "join": "mean"},
    "classwise_ece_sum": {**_WIDTH, "terms": absolute, "join": "sum"},
    "classwise_ece_mean_em": {**_MASS, "terms": absolute, "join": "mean"},
    "classwise_ece_sum_em": {**_MASS, "terms": absolute, "join": "sum"},
    "classwise_l2": {**_WIDTH, "terms": square, "join": "root_mean"},
    "classwise_l2_em": {**_MASS, "terms": square, "join": "root_mean"},
    "thresholded_ece": {**_WIDTH, "terms": absolute, "join": "mean", "threshold": THRESHOLD},
    "thresholded_ece_em": {**_MASS, "terms": absolute, "join": "mean", "threshold": THRESHOLD},
}
TARGET = {
    "classwise_l2_debiased": "classwise_l2",
    "classwise_l2_debiased_em": "classwise_l2",
    "classwise_l2_squared_debiased": "classwise_l2_squared",
    "classwise_l2_squared_unbiased": "classwise_l2_squared",
    "classwise_l2_squared_unbiased_em": "classwise_l2_squared",
    "classwise_ece_mean": "classwise_l1",
    "classwise_ece_sum": "classwise_l1_sum",
    "classwise_ece_mean_em": "classwise_l1",
    "classwise_ece_sum_em": "classwise_l1_sum",
    "classwise_l2": "classwise_l2",
    "classwise_l2_em": "classwise_l2",
    "thresholded_ece": "thresholded_l1",
    "thresholded_ece_em": "thresholded_l1",
}
