"""The recalibration methods by name.

A file defines ``fit(logits, labels, **options)``, where VARIANTS gives the options of each name
({} for the file's own name without VARIANTS). ``fit`` takes the validation fold, logits (n, K) and
class numbers (n,) from 0, and returns an object with ``predict(logits)``: logits (m, K) whose
softmax are the recalibrated probabilities, or, from a method that recalibrates one score alone,
that score (m,). A file without ``fit`` defines ``fit_binary``, see ``binary``: it is fitted to one
class against the rest, or with the option ``top_label_only`` to the top label's score, and the
classes keep their order.
"""

from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any, NamedTuple

from calbias.errors import looked_up
from reproduction.recalibration import (
    bbq,
    histogram_binning,
    isotonic_regression,
    matrix_scaling,
    odir,
    platt_scaling,
    spline,
    temperature_scaling,
    uncalibrated,
)
from reproduction.recalibration.binary import fit_classes


class RecalibrationMethod(NamedTuple):
    """The file of a method, and the options of its name."""

    file: ModuleType
    options: dict[str, Any]


METHODS = {
    name: RecalibrationMethod(file, options)
    for file in (
        bbq, histogram_binning, isotonic_regression, matrix_scaling, odir, platt_scaling, spline,
        temperature_scaling, uncalibrated,
    )
    for name, options in getattr(
        file, "VARIANTS", {file.__name__.rpartition(".")[2]: {}}
    ).items()
}  # fmt: skip


def load_method(name: str) -> Callable[..., Any]:
    """Return ``fit(logits, labels, **options)`` of a method; InputError for an unknown name."""
    method = looked_up("method", name, METHODS)
    fit = getattr(method.file, "fit", None) or partial(fit_classes, method.file.fit_binary)
    return partial(fit, **method.options)
