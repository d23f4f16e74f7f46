"""The error of a beta calibration curve that fits bins of many sizes (TCE_bpm).

    tce_bpm  (∫ |g(s) − s|^p f(s) ds)^(1/p),  g(s) = 1 / (1 + e^(−c) (1 − s)^b / s^a)

Dong, Jiang, Pan and Yu (2025). Combining priors with experience: confidence calibration based on
binomial process modeling. AAAI. p = 1 in the paper. f is the Beta density with the mean and
the variance of the scores. The parameters maximise Σ_B Σ_k exp(−w_k^0.1 − (g(s_k) − y_k)²) over
about eleven numbers B of equal-mass bins from n/100 to n/20, with the width w_k, the mean score s_k
and the hit rate y_k of bin k, by the simplex method from a = b = 5, c = −10 log 2. The last bin of
each B, with the rows that do not divide evenly, is left out. Written from the paper and from what
its authors' program computes; here B is at least 2 and the simplex method stops after 400 values.
"""

import numpy as np
from scipy.optimize import minimize
from scipy.special import betaincinv

POINTS = (np.arange(256) + 0.5) / 256
CLOSEST = 1e-10


def estimate(scores, hits, n_bins, norm):
    """Return the estimate, a fraction, for sorted scores (n,) and hits (n,)."""
    n = scores.size
    first, last = max(n // 100, 2), max(n // 20, 2)
    sums = [np.concatenate([[0], np.cumsum(x)]) for x in (scores, hits)]
    means, rates, widths = [], [], []
    for number in range(first, last + 1, max((last - first) // 10, 1)):
        size = max(n // number, 1)
        ends = np.minimum(size * np.arange(number), n)
        ends = np.unique(ends) if number > 2 else np.array([0, size])
        of_scores, of_hits = (np.diff(x[ends]) / np.diff(ends) for x in sums)
        means.append(of_scores)
        rates.append(of_hits)
        widths.append(scores[ends[1:] - 1] - scores[ends[:-1]])
    mean, rate, width = map(np.concatenate, (means, rates, widths))
    weight = np.exp(-(np.maximum(width, 0.0) ** 0.1))
    logs = _logs(mean)

    def loss(parameters):
        return -weight @ np.exp(-((_curve(parameters, *logs) - rate) ** 2))

    start = (5.0, 5.0, 10 * np.log(0.5))
    options = {"fatol": 1e-10, "maxfev": 400}
    found = minimize(loss, start, method="Nelder-Mead", options=options).x
    points = _points(scores.mean(), scores.var(ddof=1) if n > 1 else 0.0)
    return float(np.mean(abs(_curve(found, *_logs(points)) - points) ** norm) ** (1 / norm))


def _logs(s):
    s = np.clip(s, CLOSEST, 1 - CLOSEST)
    return np.log(s), np.log1p(-s)


def _curve(parameters, log_s, log_1ms):
    a, b, c = parameters
    return 1 / (1 + np.exp(np.clip(b * log_1ms - a * log_s - c, -700, 700)))


def _points(mean, variance):
    """Return scores that stand for the Beta of a mean and a variance."""
    total = mean * (1 - mean) / variance - 1 if variance > 0 else np.inf
    if not 0 < total < 1e6:
        return np.array([mean])
    return betaincinv(mean * total, (1 - mean) * total, POINTS)
