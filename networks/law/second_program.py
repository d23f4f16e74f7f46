"""The law again, by another road: raw rows in NumPy, no code of calbias.

``python networks/law/second_program.py`` prints both biases, and those of ``predicted.csv``, for
four networks. The calibration curve is lines between 40 cells, ψ the effect of a little more mass
at a row, N_b that of drawn rates that happen to be in order, the sweep a loop.
"""

from pathlib import Path

import numpy as np
import pandas as pd

LAW = Path(__file__).parent
NETWORKS = "f04_mlp2x300_p10", "f09_mlp2x30_p10", "f16_mlp2x300_p10", "f18_res2x8_p10"
N_ROWS, N_CELLS, N_PROBES, MASS = 1_000_000, 40, 400, 2e-3
rng = np.random.default_rng(11)


def draw_rows(cells: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Return scores and hit probabilities of rows in the order of the score, (N_ROWS,) each."""
    n, hits, middle = cells["n"].to_numpy(float), cells["hits"].to_numpy(float), cells["cell"] / 100
    coarse = ((np.cumsum(n) - n / 2) * N_CELLS // n.sum()).astype(int)
    total = np.bincount(coarse, n)
    score, complement = (np.bincount(coarse, n / (1 + np.exp(s * middle))) / total for s in (-1, 1))
    rate = np.clip(np.bincount(coarse, hits) / total, 0, 1 - 1e-6)
    shift = np.log(rate / (1 - rate)) - np.log(score / complement)
    x = np.sort(rng.choice(cells["cell"], N_ROWS, p=n / n.sum()) + rng.random(N_ROWS)) / 100
    at = np.bincount(coarse, n * middle) / total
    return 1 / (1 + np.exp(-x)), 1 / (1 + np.exp(-x - np.interp(x, at, shift)))


def cumulants(score: np.ndarray, hit: np.ndarray, b: int, n: int) -> tuple:
    """Return hit rates of b bins, and mean, variance, third cumulant of the debiased square."""
    gap, k = score - hit, np.arange(N_ROWS) * b // N_ROWS
    size = np.bincount(k)
    gaps, rates = np.bincount(k, gap) / size, np.bincount(k, hit) / size
    u = np.bincount(k, score**2 - 2 * score * hit + hit) / size - gaps**2
    upto, grid, p = (
        np.append(0, np.cumsum(gap)) / N_ROWS,
        np.linspace(0, 1, N_ROWS + 1),
        np.arange(b + 1) / b,
    )
    rows = np.linspace(0, N_ROWS - 1, N_PROBES).astype(int)
    psi = np.empty(N_PROBES)
    for j, row in enumerate(rows):
        before = (1 - MASS) * row / N_ROWS
        share = np.clip((p - before) / MASS, 0, 1)  # of the new mass that is in bins up to an edge
        sums = (1 - MASS) * np.interp((p - MASS * share) / (1 - MASS), grid, upto)
        psi[j] = (
            np.mean(np.diff(b * (sums + MASS * share * gap[row])) ** 2) - np.mean(gaps**2)
        ) / MASS
    psi -= psi.mean()
    g, t = gaps[k[rows]], hit[rows]
    label = g**2 * t * (1 - t)
    third = np.mean(psi**3 + 12 * psi * label - 8 * g * label * (1 - 2 * t))
    third += 24 * np.mean(gaps**2 * u**2) + 8 * np.sum(u**3) / n
    variance = np.mean(psi**2 + 4 * label) / n + 2 * np.sum(u**2) / n**2
    return rates, np.mean(gaps**2) + np.sum(u - rates * (1 - rates)) / n, variance, third / n**2


def mean_root(mean: float, variance: float, third: float) -> float:
    """Return the mean root, clipped at 0, of drawn gamma variables with these cumulants."""
    shape = 4 * variance**3 / third**2
    drawn = np.sign(third) * (rng.gamma(shape, size=400_000) - shape) / shape**0.5
    return float(np.mean(np.sqrt(np.maximum(mean + variance**0.5 * drawn, 0))))


def sweep_stops(hit: np.ndarray) -> int:
    """Return the sweep's number of bins on one data set with hit probabilities (n,) in order."""
    n, hits = len(hit), np.append(0, np.cumsum(rng.random(len(hit)) < hit))
    for b in range(2, n + 1):
        edges = np.arange(b + 1) * n // b
        if (np.diff(np.diff(hits[edges]) / np.diff(edges)) < -1e-12).any():
            return b - 1
    return n


def ordered_noise(rates: np.ndarray, n: int) -> float:
    """Return the mean of (y − T)² over drawn rates in order; NaN if next to none is."""
    b = len(rates)
    rows = np.diff(np.arange(b + 1) * n // b)
    drawn = np.concatenate([rng.binomial(rows, rates, (20_000, b)) / rows for _ in range(10)])
    drawn = drawn[(np.diff(drawn, axis=1) >= 0).all(axis=1)]
    return float(np.mean((drawn - rates) ** 2)) if len(drawn) > 20 else float("nan")


def main() -> None:
    """Print both programs' numbers."""
    sketches = pd.read_parquet(LAW / "resources/sketches.parquet")
    predicted = pd.read_csv(LAW / "predicted.csv").set_index(["name", "n_samples"])
    for name in NETWORKS:
        score, hit = draw_rows(sketches[sketches["name"] == name])
        truth = np.mean((score - hit) ** 2) ** 0.5
        for n in (200, 800):
            debias = mean_root(*cumulants(score, hit, 15, n)[1:])
            stops = [sweep_stops(hit[np.sort(rng.integers(N_ROWS, size=n))]) for _ in range(400)]
            roots, noise = [], 0.0
            for b, times in zip(*np.unique(stops, return_counts=True), strict=True):
                rates, mean, variance, third = cumulants(score, hit, int(b), n)
                noise = np.nan_to_num(ordered_noise(rates, n), nan=noise)
                roots += times * [mean_root(mean + noise, variance, third)]
            biases = 100 * (debias - truth), 100 * (np.mean(roots) - truth)
            row = predicted.loc[(name, n)]
            print(
                f"{name} n = {n}: error {100 * truth:.2f} ({row.truth_percent:.2f}), debias "
                f"{biases[0]:+.3f} ({row.debias_percent:+.3f}), sweep {biases[1]:+.3f} "
                f"({row.sweep_percent:+.3f})",
                flush=True,
            )


if __name__ == "__main__":
    main()
