"""The percentile bootstrap: quantiles of the estimate on resamples of the rows.

It stands here as a warning. A calibration error estimate is biased upwards, and on a resample it is
biased once more: the interval of a calibrated model does not reach down to 0, its true error.
"""

import numpy as np

from calbias.auditing.intervals.interval import LEVEL, Interval
from calbias.auditing.intervals.resampling import resampled_estimates


def percentile_bootstrap(sample, run, level=LEVEL, replicates=400):
    """Return the Interval of an estimator ``run(data) -> (m,)`` on a Sample."""
    values = resampled_estimates(sample, run, replicates)
    return Interval(*np.quantile(values, [(1 - level) / 2, (1 + level) / 2]).tolist())
