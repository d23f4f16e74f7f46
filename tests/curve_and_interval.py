"""The curve of a picture, held against its bins and the interval."""

import numpy as np

from calbias.auditing.error.bins import binomial_limits, picture_bins
from calbias.auditing.error.calibration_curve import picture_curve, posterior_average
from calbias.auditing.error.interval import calibration_interval


def check_the_curve(scored):
    """Bins of 30 rows and more have a 99.9 % interval that meets the band; FINDINGS 3."""
    columns = scored.scores, scored.rows, scored.hits
    bins = picture_bins(scored)
    curve = picture_curve(posterior_average(*columns, 1.0), bins, *columns, 1.0, 0.95)
    low, high = binomial_limits(bins.mean_hit * bins.n_in_bin, bins.n_in_bin, 0.999)
    band = [np.interp(bins.mean_score, curve.scores, end) for end in (curve.low, curve.high)]
    large = bins.n_in_bin >= 30
    assert (band[0] <= high)[large].all()
    assert (band[1] >= low)[large].all()
    gaps = abs(np.interp(scored.scores, curve.scores, curve.mean) - scored.scores)
    interval = calibration_interval(scored).at()
    assert interval.low <= scored.rows @ gaps / scored.n <= interval.high
