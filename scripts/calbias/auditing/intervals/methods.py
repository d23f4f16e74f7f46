"""The interval methods but test inversion, and the table of all of them in an audit."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd

from calbias.auditing.intervals.bootstrap import basic_bootstrap, percentile_bootstrap
from calbias.auditing.intervals.interval import Interval
from calbias.auditing.intervals.monotone_band import monotone_band
from calbias.auditing.intervals.sun2024 import sun2024
from calbias.auditing.intervals.variational_bound import variational_bound


class Method(NamedTuple):
    """``interval(sample)`` for a target: "l1" or of another norm, or "l2^2"."""

    target: str
    interval: Callable
    note: str = ""


def other_methods(headline, level, n_bins=15, norm=1.0, draws=400):
    """Return {name: Method}; the bootstraps resample ``draws`` times, for the headline's run."""
    target = f"l{norm:g}"
    return {
        "sun2024": Method("l2^2", lambda x: sun2024(x, level, n_bins), "equal-width bins"),
        "basic_bootstrap": Method(target, lambda x: basic_bootstrap(x, headline.run, level, draws)),
        "percentile_bootstrap": Method(
            target,
            lambda x: percentile_bootstrap(x, headline.run, level, draws),
            "a warning: its ends are biased upwards; it misses the truth of a calibrated model",
        ),
        "variational_bound": Method("l1", lambda x: variational_bound(x, level), "a lower bound"),
        "monotone_band": Method(
            target,
            lambda x: monotone_band(x, level, norm),
            "an upper bound that holds at every n if more confidence never means fewer hits",
        ),
    }


def intervals_table(sample, headline, inverted, options):
    """Return target, low, high and note of each method, the one of the verdict first."""
    used = Method(f"l{options.norm:g}", lambda _: inverted, "used for the verdict")
    others = other_methods(headline, options.level, options.n_bins, options.norm)
    rows = {}
    for name, method in {"test_inversion": used, **others}.items():
        interval = method.interval(sample)
        if method.target == "l2^2":  # shown as the root of the squared error
            interval = Interval(*np.sqrt(interval))
        target = f"ℓ{method.target[1:].removesuffix('^2')}"
        rows[name] = {"target": target, **interval._asdict(), "note": method.note}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("method")
