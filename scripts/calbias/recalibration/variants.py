"""The recalibration methods by name, with the variants that the paper's text leaves open."""

from functools import partial

from calbias.logits.top_label import top_label
from calbias.recalibration import histogram_binning, isotonic_regression, temperature_scaling
from calbias.recalibration.evaluation import judge, judge_top_label

METHODS = ("temperature_scaling", "histogram_binning", "isotonic_regression")
"""The methods that Table 1 selects from; of equal values the earlier method's is taken as least:
the one with fewer parameters."""

_BY_LOGITS = {
    "uncalibrated": lambda logits, labels: lambda new_logits: new_logits,
    "temperature_scaling": temperature_scaling.fit,
    "histogram_binning": histogram_binning.fit,
    "histogram_binning_em": partial(histogram_binning.fit, binning="em"),
    "histogram_binning_zero": partial(histogram_binning.fit, empty_bins="zero"),
    "isotonic_regression": isotonic_regression.fit,
    "isotonic_regression_step": partial(isotonic_regression.fit, shape="step"),
}
_BY_TOP_LABEL = {
    "histogram_binning_top_label": histogram_binning.fit_binary,
    "isotonic_regression_top_label": isotonic_regression.fit_binary,
}
VARIANTS = (*_BY_LOGITS, *_BY_TOP_LABEL)


def outcomes(validation, test, softmax="exact", variants=VARIANTS):
    """Return {variant: ``judge.Outcome``}: each fitted on one fold and judged on the other.

    The folds are ``logits.canonical.Fold``s. Binary methods go one class against the rest, then
    renormalise (Guo et al. 2017), except ``*_top_label``, which see the top label's score alone.
    """
    judged = {}
    of_validation = of_test = None
    for variant in variants:
        if variant in _BY_LOGITS:
            transform = _BY_LOGITS[variant](validation.logits, validation.labels)
            judged[variant] = judge(transform, test, softmax)
        else:
            if of_test is None:
                of_validation = top_label(*validation, softmax)
                of_test = top_label(*test, softmax)
            judged[variant] = judge_top_label(_BY_TOP_LABEL[variant], of_validation, of_test)
    return judged
