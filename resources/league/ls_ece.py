"""The calibration error of scores whose log odds have Gaussian noise added (LS-ECE).

    ls_ece  (∫ |Σ_i φ_σ(t − z_i) (y_i − s(t))|^p / (Σ_i φ_σ(t − z_i))^(p − 1) dt / n)^(1/p)

Chidambaram, Lee, McSwiggen and Rezchikov (2024). How flawed is ECE? An analysis via logit
smoothing. ICML. With T = z + σξ, ξ standard normal, z the log odds and s the sigmoid, it is the
error E|E[Y | T] − s(T)|^p, for p = 1 in the paper. There E[Y | T] is a kernel regression at random
T, and σ is 1 over the number of bins. Here the mean over T is an integral over a grid of spacing
σ/4, to which the rows are assigned linearly: nothing is random. Log odds are cut at ±15.
"""

import numpy as np

STEPS, REACH, FARTHEST = 4, 5, 15.0


def estimate(scores, hits, n_bins, norm):
    """Return the estimate, a fraction, for sorted scores (n,) and hits (n,)."""
    step = 1 / (n_bins * STEPS)
    with np.errstate(divide="ignore"):
        z = np.clip(np.log(scores) - np.log1p(-scores), -FARTHEST, FARTHEST)
    half = STEPS * REACH
    place = (z - z[0]) / step + half
    low = place.astype(int)
    size = low[-1] + half + 2
    share = place - low
    mass, hit = (
        np.bincount(low, weight * (1 - share), size) + np.bincount(low + 1, weight * share, size)
        for weight in (np.ones_like(hits), hits)
    )
    kernel = np.exp(-0.5 * (np.arange(-half, half + 1) / STEPS) ** 2)
    mass, hit = (np.convolve(x, kernel / kernel.sum(), "same") for x in (mass, hit))
    score = 1 / (1 + np.exp(-(z[0] + (np.arange(size) - half) * step)))
    there = mass > 0
    rate = hit[there] / mass[there]
    return float((mass[there] @ abs(rate - score[there]) ** norm / mass.sum()) ** (1 / norm))
