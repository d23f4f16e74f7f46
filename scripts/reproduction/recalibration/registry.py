"""The recalibration methods by name.

A method is ``fit(logits, labels)``: it takes the validation fold, logits (n, K) and class numbers
(n,) from 0, and returns an object with ``predict(logits)``: logits (m, K) whose softmax are the
recalibrated probabilities, or, from a method that recalibrates one score alone, that score (m,).
A method for two classes goes through ``binary.fit_classes``: it is fitted to one class against the
rest, or with the option ``top_label_only`` to the top label's score, and the classes keep their
order.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from calbias.errors import looked_up
from reproduction.recalibration.binary import fit_classes, fit_spline
from reproduction.recalibration.binnings import bbq, histogram_binning, isotonic_regression
from reproduction.recalibration.matrix_scaling import matrix_scaling, odir
from reproduction.recalibration.platt_scaling import platt_scaling
from reproduction.recalibration.temperature_scaling import temperature_scaling

Fit = Callable[..., Any]


class Uncalibrated:
    """The identity: the model's own probabilities, to compare the methods with."""

    def predict(self, logits: np.ndarray) -> np.ndarray:
        """Return the logits (n, K) as they are."""
        return logits


METHODS: dict[str, Fit] = {
    "uncalibrated": lambda logits, labels: Uncalibrated(),
    "histogram_binning": partial(fit_classes, histogram_binning),
    "isotonic_regression": partial(fit_classes, isotonic_regression),
    "bbq": partial(fit_classes, bbq),
    "temperature_scaling": temperature_scaling,
    "vector_scaling": partial(matrix_scaling, diagonal=True),
    "matrix_scaling": matrix_scaling,
    "ms_odir": odir,
    "dir_odir": partial(odir, log_probabilities=True),
    "spline": fit_spline,
    "spline_as_written": partial(fit_spline, add_score=False),
    "platt_scaling": partial(fit_classes, platt_scaling),
    "platt_scaling_top_label": partial(fit_classes, platt_scaling, top_label_only=True),
}
"""The methods that every model with logits is measured with."""
VARIANTS: dict[str, Fit] = {
    "histogram_binning_em": partial(fit_classes, histogram_binning, equal_mass=True),
    "histogram_binning_zero": partial(fit_classes, histogram_binning, empty_bins_zero=True),
    "histogram_binning_top_label": partial(fit_classes, histogram_binning, top_label_only=True),
    "isotonic_regression_step": partial(fit_classes, isotonic_regression, step=True),
    "isotonic_regression_top_label": partial(fit_classes, isotonic_regression, top_label_only=True),
    "bbq_top_label": partial(fit_classes, bbq, top_label_only=True),
    "temperature_by_ece": partial(temperature_scaling, by="ece"),
}
"""Variants of them, of which some stand in for a method where Table 1 is made in another way."""


def load_method(name: str) -> Fit:
    """Return ``fit(logits, labels, **options)`` of a method; InputError for an unknown name."""
    return looked_up("method", name, METHODS | VARIANTS)
