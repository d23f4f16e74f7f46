"""Truth and bias by a second program: plain NumPy, fresh rows themselves, no module of calbias.

Data sets are drawn with replacement from a network's fresh rows. The truth is the mean product of
the gaps of two halves of the rows, in bins of equal width of the log odds. ``python -m
measured.second_program BUILD NAME ...`` prints both for networks of a build folder.
"""

import sys
from itertools import pairwise
from pathlib import Path

import numpy as np

BIN_WIDTH = 0.1
SIZES = {200: 3000, 800: 1500, 3200: 600, 12_800: 300}


def truth_by_halves(log_odds: np.ndarray, scores: np.ndarray, hits: np.ndarray) -> float:
    """Return the l2 error from products of the two halves' gaps."""
    bins = np.floor(log_odds / BIN_WIDTH).astype(int)
    bins -= bins.min()
    gaps = scores - hits
    sums, counts = [], []
    for half in (slice(None, None, 2), slice(1, None, 2)):
        counts.append(np.bincount(bins[half], minlength=bins.max() + 1))
        sums.append(np.bincount(bins[half], gaps[half], minlength=bins.max() + 1))
    full = (counts[0] > 0) & (counts[1] > 0)
    means = [total[full] / count[full] for total, count in zip(sums, counts, strict=True)]
    weights = counts[0][full] + counts[1][full]
    return float(np.sqrt(max(np.sum(weights * means[0] * means[1]) / weights.sum(), 0)))


def debiased(scores: np.ndarray, hits: np.ndarray, n_bins: int = 15) -> float:
    """Return Bröcker's debiased l2 error with bins of equal mass, of sorted scores."""
    total = 0.0
    edges = [-(-k * len(scores) // n_bins) for k in range(n_bins + 1)]
    for low, high in pairwise(edges):
        size, rate = high - low, hits[low:high].mean()
        gap = scores[low:high].mean() - rate
        total += size / len(scores) * (gap * gap - rate * (1 - rate) / (size - 1))
    return float(np.sqrt(max(total, 0)))


def swept(scores: np.ndarray, hits: np.ndarray) -> float:
    """Return the l2 error with the most bins of equal mass whose hit rates do not fall."""
    n = len(scores)
    cumulative = np.append(0, np.cumsum(hits))
    chosen = np.array([0, n])
    for n_bins in range(2, n + 1):
        edges = -(-np.arange(n_bins + 1) * n // n_bins)
        sizes, sums = np.diff(edges), np.diff(cumulative[edges])
        if np.any(sums[:-1] * sizes[1:] > sums[1:] * sizes[:-1]):
            break
        chosen = edges
    sizes = np.diff(chosen)
    gaps = np.add.reduceat(scores - hits, chosen[:-1]) / sizes
    return float(np.sqrt(np.sum(sizes * gaps**2) / n))


def main(build: Path, names: list[str]) -> None:
    """Print truth and bias of the two estimators, in percentage points."""
    for name in names:
        arrays = np.load(build / name / "fresh.npz")
        log_odds, hits = arrays["log_odds"].astype(float), arrays["hits"].astype(np.int64)
        scores = 1 / (1 + np.exp(-log_odds))
        truth = truth_by_halves(log_odds, scores, hits)
        rng = np.random.default_rng(len(name))
        for n, m in SIZES.items():
            values = np.empty((m, 2))
            for i in range(m):
                rows = rng.integers(len(scores), size=n)
                rows = rows[np.argsort(log_odds[rows] + 1e-6 * rng.random(n))]
                values[i] = debiased(scores[rows], hits[rows]), swept(scores[rows], hits[rows])
            bias, error = values.mean(0) - truth, values.std(0, ddof=1) / m**0.5
            print(
                f"{name},{n},{100 * truth:.3f},{100 * bias[0]:.3f},{100 * error[0]:.3f},"
                f"{100 * bias[1]:.3f},{100 * error[1]:.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
