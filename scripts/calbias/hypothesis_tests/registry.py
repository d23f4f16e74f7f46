"""Tests of calibration by name; a test is a file of this folder, or an estimator redrawn.

A file defines ``p_values(data, **options)``, or ``statistics(data, **options)`` whose large values
speak against calibration and whose null law is found by redrawing hits. VARIANTS gives the options
of each name. ``redraw_<estimator>`` is the redraw test with that estimator as its statistic.
"""

import importlib
from pathlib import Path
from typing import NamedTuple

from calbias.errors import InputError, did_you_mean
from calbias.estimation.loading import load_estimator
from calbias.estimation.registry import estimator_options, known_estimators, literal

FOLDER = Path(__file__).parent
REDRAW = "redraw_"
N_BINS = 15
_NOT_TESTS = ("registry", "redraw", "power")


class CalibrationTest(NamedTuple):
    """A test: its name, and either of two functions from a SortedBatch to values (m,)."""

    name: str
    p_values: object = None
    statistics: object = None


def known_tests():
    """Return {name: path} of the tests that have a file, without importing any."""
    return {
        name: path
        for name, path in known_estimators((FOLDER,)).items()
        if path.stem not in _NOT_TESTS
    }


def load_test(name):
    """Return the CalibrationTest of a name; InputError, with the nearest, for an unknown one."""
    if name.startswith(REDRAW):
        return CalibrationTest(name, statistics=_statistic(name.removeprefix(REDRAW)))
    known = known_tests()
    if name not in known:
        raise InputError(f"unknown test {name!r}. {did_you_mean(name, sorted(known))}")
    module = importlib.import_module(f"calbias.hypothesis_tests.{known[name].stem}")
    options = estimator_options(name, known[name])

    def bound(function):
        return None if function is None else lambda data: function(data, **options)

    return CalibrationTest(
        name,
        bound(getattr(module, "p_values", None)),
        bound(getattr(module, "statistics", None)),
    )


def _statistic(estimator):
    run = load_estimator(estimator)
    norms = literal(known_estimators()[estimator], "NORMS", default=(2,))
    return lambda data: run(data, N_BINS, float(norms[-1]))[0]
