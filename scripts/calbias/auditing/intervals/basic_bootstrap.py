"""The basic bootstrap: twice the estimate less the quantiles of the percentile bootstrap.

Davison and Hinkley, *Bootstrap Methods and their Application* (1997), section 5.2. It takes the
bias on a resample for the bias of the estimate. Ends below 0 are 0.
"""

import numpy as np

from calbias.auditing.intervals.interval import LEVEL, Interval
from calbias.auditing.intervals.resampling import resampled_estimates


def basic_bootstrap(sample, run, level=LEVEL, replicates=400):
    """Return the Interval of an estimator ``run(data) -> (m,)`` on a Sample."""
    values = resampled_estimates(sample, run, replicates)
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    observed = float(run(sample.data)[0])
    return Interval(max(2 * observed - high, 0.0), max(2 * observed - low, 0.0))
