"""The table of all intervals of an audit; the first is the one that the verdict uses."""

import numpy as np
import pandas as pd

from calbias.auditing.intervals.basic_bootstrap import basic_bootstrap
from calbias.auditing.intervals.interval import Interval
from calbias.auditing.intervals.monotone_band import monotone_band
from calbias.auditing.intervals.percentile_bootstrap import percentile_bootstrap
from calbias.auditing.intervals.sun2024 import sun2024
from calbias.auditing.intervals.variational_bound import variational_bound


def intervals_table(sample, headline, inverted, options):
    """Return target, low, high and note of each method, indexed by ``method``."""
    level, target = options.level, headline.target_name
    rooted = Interval(*np.sqrt(sun2024(sample, level, options.n_bins)))
    rows = [
        ("test_inversion", target, inverted, "used for the verdict"),
        ("basic_bootstrap", target, basic_bootstrap(sample, headline.run, level), ""),
        (
            "percentile_bootstrap",
            target,
            percentile_bootstrap(sample, headline.run, level),
            "a warning: its ends are biased upwards; it misses the truth of a calibrated model",
        ),
        ("sun2024", "ℓ2", rooted, "equal-width bins; of the ℓ2 error, by the root of its square"),
        ("variational_bound", "ℓ1", variational_bound(sample, level), "a lower bound"),
        (
            "monotone_band",
            target,
            monotone_band(sample, level, options.norm),
            "an upper bound that holds at every n if more confidence never means fewer hits",
        ),
    ]
    return pd.DataFrame(
        [
            {"method": method, "target": target, **interval._asdict(), "note": note}
            for method, target, interval, note in rows
        ]
    ).set_index("method")
