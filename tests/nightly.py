"""Which cases of a long list are tried every day; the nights, with CALBIAS_NIGHTLY=1, try all."""

import pytest

NEEDLESS = "rules that ran though their outputs stayed the same"  # what a test records


def daily(cases, number):
    """Return the cases; all but a number of them, evenly spaced, are marked for the nights."""
    cases = [*cases]
    kept = {k * len(cases) // number for k in range(number)}
    return [case if k in kept else _at_night(case) for k, case in enumerate(cases)]


def _at_night(case):
    values = case if type(case) is tuple else (case,)
    return pytest.param(*values, marks=pytest.mark.nightly)
