"""The interval methods of others, of study ``interval_coverage``."""

from collections.abc import Callable
from typing import NamedTuple

from evidence.studies.intervals.bootstrap import basic_bootstrap, percentile_bootstrap
from evidence.studies.intervals.monotone_band import monotone_band
from evidence.studies.intervals.sun2024 import sun2024
from evidence.studies.intervals.variational_bound import variational_bound


class Method(NamedTuple):
    """``interval(sample)`` for a target: "l1" or of another norm, or "l2^2"."""

    target: str
    interval: Callable


def other_methods(headline, level, draws):
    """Return {name: Method}; the bootstraps resample ``draws`` times, for the headline's run.

    The percentile bootstrap is a warning: its ends are biased upwards, it misses the truth of a
    calibrated model. The variational bound is a lower one, the monotone band's an upper one.
    """
    run = headline.run
    return {
        "sun2024": Method("l2^2", lambda x: sun2024(x, level)),
        "basic_bootstrap": Method("l1", lambda x: basic_bootstrap(x, run, level, draws)),
        "percentile_bootstrap": Method("l1", lambda x: percentile_bootstrap(x, run, level, draws)),
        "variational_bound": Method("l1", lambda x: variational_bound(x, level)),
        "monotone_band": Method("l1", lambda x: monotone_band(x, level)),
    }
