"""Tests of calibration by name; a test is a file of this folder, or an estimator redrawn.

A file defines ``statistics(data, **options)`` and, where their null law is known,
``p_values(data, **options)``. Without p-values large statistics speak against calibration, and
their null law is found by redrawing hits. VARIANTS gives the options of each name. "Blind to" in a
file's docstring begins the sentence on what the test does not see. ``redraw_<estimator>`` is
the redraw test with that estimator as its statistic.
"""

import importlib
from typing import NamedTuple

from calbias.estimation.loading import load_estimator
from calbias.estimation.registry import estimator_file, estimator_options, literal
from calbias.hypothesis_tests.names import REDRAW, calibration_test_file

N_BINS = 15


class CalibrationTest(NamedTuple):
    """A test: its name, functions from a SortedBatch to values (m,), and what it is blind to."""

    name: str
    p_values: object = None
    statistics: object = None
    blind_to: str = ""

    def evidence(self, data):
        """Return values (m,) that are the larger the more speaks against calibration."""
        return -self.p_values(data) if self.p_values else self.statistics(data)


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
        " ".join(module.__doc__.partition("Blind to ")[2].split()).rstrip("."),
    )


def _statistic(estimator):
    run = load_estimator(estimator)
    norms = literal(estimator_file(estimator), "NORMS", default=(2,))
    return lambda data: run(data, N_BINS, float(norms[-1]))[0]
