"""Tests of calibration by name; a test is a file of this folder, or an estimator redrawn.

A file defines ``p_values(data, **options)``, or ``statistics(data, **options)`` whose large values
speak against calibration and whose null law is found by redrawing hits. VARIANTS gives the options
of each name. ``redraw_<estimator>`` is the redraw test with that estimator as its statistic.
"""

import importlib
from typing import NamedTuple

from calbias.estimation.loading import load_estimator
from calbias.estimation.registry import estimator_file, estimator_options, literal
from calbias.hypothesis_tests.names import REDRAW, calibration_test_file

N_BINS = 15


class CalibrationTest(NamedTuple):
    """A test: its name, and either of two functions from a SortedBatch to values (m,)."""

    name: str
    p_values: object = None
    statistics: object = None


def load_test(name):
    """Return the CalibrationTest of a name; InputError, with the nearest, for an unknown one."""
    if name.startswith(REDRAW):
        return CalibrationTest(name, statistics=_statistic(name.removeprefix(REDRAW)))
    path = calibration_test_file(name)
    module = importlib.import_module(f"calbias.hypothesis_tests.{path.stem}")
    options = estimator_options(name, path)

    def bound(function):
        return None if function is None else lambda data: function(data, **options)

    return CalibrationTest(
        name,
        bound(getattr(module, "p_values", None)),
        bound(getattr(module, "statistics", None)),
    )


def _statistic(estimator):
    run = load_estimator(estimator)
    norms = literal(estimator_file(estimator), "NORMS", default=(2,))
    return lambda data: run(data, N_BINS, float(norms[-1]))[0]
