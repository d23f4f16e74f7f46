"""The estimators of all classes by name: a file a family."""

from __future__ import annotations

from types import ModuleType

from calbias.conventions import N_BINS
from calbias.errors import looked_up
from calbias.multiclass.binned import Measure
from calbias.multiclass.estimators import classwise, skce, top_label
from calbias.multiclass.rows import Rows

MEASURES: dict[str, ModuleType] = {
    name: file for file in (classwise, skce, top_label) for name in file.VARIANTS
}
"""{name: the file that defines it} of all estimators."""


def prepared(name: str, rows: Rows, n_bins: int = N_BINS) -> Measure:
    """Return the measure of that name for given probabilities."""
    file = looked_up("measure", name, MEASURES)
    measure: Measure = file.prepare(rows, n_bins, **file.VARIANTS[name])
    return measure


def target_of(measure: str) -> str:
    """Return the name of what a measure estimates."""
    target: str = looked_up("measure", measure, MEASURES).TARGET[measure]
    return target
