"""Which file holds a test of calibration, without importing any of them."""

from pathlib import Path

from calbias.errors import InputError, did_you_mean
from calbias.estimation.registry import estimator_file, known_estimators

FOLDER = Path(__file__).parent
REDRAW = "redraw_"
_NOT_TESTS = ("names", "registry", "power")


def known_tests():
    """Return {name: path} of the tests that have a file of their own."""
    return {
        name: path
        for name, path in known_estimators((FOLDER,)).items()
        if path.stem not in _NOT_TESTS
    }


def calibration_test_file(name):
    """Return the file of a test, or of the estimator X that ``redraw_X`` redraws."""
    if name.startswith(REDRAW):
        return estimator_file(name.removeprefix(REDRAW))
    known = known_tests()
    if name not in known:
        raise InputError(f"unknown test {name!r}. {did_you_mean(name, sorted(known))}")
    return known[name]
