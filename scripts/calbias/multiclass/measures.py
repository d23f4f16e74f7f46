"""The measures of all classes by name: how each is made of given probabilities, and its target.

**Class-wise errors**: of the probability of each class, then the mean or sum over classes.

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

**Errors of the top label**: given the predicted class, and of all classes together (confidence).

    of predicted class k   Σ_b n_kb/N_k · |f_kb − y_kb|^p,   over the N_k rows whose top class is k
    whole                  Σ_k N_k/n · value_k

f is the mean score of the top class, y the share of correct rows. Gupta and Ramdas (*Top-label
calibration and multiclass-to-binary reductions*, ICLR 2022) condition on the predicted class:
a model may be calibrated in confidence and too sure of one class, too unsure of another. With all
predicted classes in one group the same formula is the ECE that the rest of calbias estimates.

**The kernel calibration error**: see ``skce``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from calbias.defaults import N_BINS
from calbias.errors import looked_up
from calbias.multiclass import skce
from calbias.multiclass.class_bins import (
    Binned,
    By,
    ClassBins,
    Join,
    Terms,
    absolute,
    debiased,
    equal_mass,
    equal_width,
    square,
    unbiased,
)
from calbias.multiclass.class_rows import Rows

THRESHOLD = 0.01
Measure = Binned | skce.KernelError


class Definition(NamedTuple):
    """``prepare(rows, n_bins, **options)`` returns the measure of rows; the name of its target."""

    prepare: Callable[..., Measure]
    target: str


def _binned(
    target: str,
    terms: Terms,
    join: Join,
    cells: Callable[..., ClassBins] = equal_width,
    by: By = "class",
    threshold: float = -1.0,
) -> Definition:
    def prepare(rows: Rows, n_bins: int) -> Binned:
        return Binned(rows, cells(rows, n_bins, by, threshold), terms, join)

    return Definition(prepare, target)


MEASURES: dict[str, Definition] = {
    "classwise_l2_debiased": _binned("classwise_l2", debiased, "root_mean"),
    "classwise_l2_debiased_em": _binned("classwise_l2", debiased, "root_mean", equal_mass),
    "classwise_l2_squared_debiased": _binned("classwise_l2_squared", debiased, "mean"),
    "classwise_l2_squared_unbiased": _binned("classwise_l2_squared", unbiased, "mean"),
    "classwise_l2_squared_unbiased_em": _binned(
        "classwise_l2_squared", unbiased, "mean", equal_mass
    ),
    "classwise_ece_mean": _binned("classwise_l1", absolute, "mean"),
    "classwise_ece_sum": _binned("classwise_l1_sum", absolute, "sum"),
    "classwise_ece_mean_em": _binned("classwise_l1", absolute, "mean", equal_mass),
    "classwise_ece_sum_em": _binned("classwise_l1_sum", absolute, "sum", equal_mass),
    "classwise_l2": _binned("classwise_l2", square, "root_mean"),
    "classwise_l2_em": _binned("classwise_l2", square, "root_mean", equal_mass),
    "thresholded_ece": _binned("thresholded_l1", absolute, "mean", threshold=THRESHOLD),
    "thresholded_ece_em": _binned(
        "thresholded_l1", absolute, "mean", equal_mass, threshold=THRESHOLD
    ),
    "skce": Definition(partial(skce.kernel_error, block=500), "kernel"),
    "skce_all_pairs": Definition(partial(skce.kernel_error, block=1 << 30), "kernel"),
    "top_label_ece": _binned("top_label_l1", absolute, "weighted", by="predicted_class"),
    "top_label_ece_em": _binned(
        "top_label_l1", absolute, "weighted", equal_mass, by="predicted_class"
    ),
    "top_label_l2": _binned("top_label_l2", square, "root_weighted", by="predicted_class"),
    "top_label_l2_debiased": _binned(
        "top_label_l2", debiased, "root_weighted", by="predicted_class"
    ),
    "top_label_l2_debiased_em": _binned(
        "top_label_l2", debiased, "root_weighted", equal_mass, by="predicted_class"
    ),
    "confidence_ece": _binned("confidence_l1", absolute, "weighted", by="all"),
    "confidence_ece_em": _binned("confidence_l1", absolute, "weighted", equal_mass, by="all"),
}


def prepared(name: str, rows: Rows, n_bins: int = N_BINS) -> Measure:
    """Return the measure of that name for given probabilities."""
    return looked_up("measure", name, MEASURES).prepare(rows, n_bins)


def target_of(measure: str) -> str:
    """Return the name of what a measure estimates."""
    return looked_up("measure", measure, MEASURES).target
