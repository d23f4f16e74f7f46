"""What could refute the cause or the measurement: synthetic pairs, another smoother, held-out rows.

``python -m measured.cause --output FOLDER NAME ...`` writes a file for each network into the
folders ``cause`` (biases as ``measured.bias`` has them), ``lowest`` (the spread of the gap in the
lowest fifteenth of the scores) and ``held_out`` (what rows of a genuine network say that its laws
were not fitted to); with ``--posterior``, into ``posterior``:

synthetic_low: a gap of 0.12, or one from 0.03 to 0.21 within the lowest fifteenth of the scores
synthetic_top: a printed law, and with eleven more misses in 10 000 rows of its upper half
NAME, population_steps: hit rates of 200 bins, made monotone, with a cubic through them in place of
    the spline; ``scores_steps`` the same with 30 bins of the fold
posterior: the project's own estimator; its mean difference to debias is measured, and the bias of
    debias is that of ``bias.parquet``
"""

import argparse
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.interpolate import PchipInterpolator
from sklearn.isotonic import isotonic_regression

import calbias
from calbias.estimation.loading import load_estimator
from calbias.simulation import simulate_cells
from measured.bias import N_BINS, rows_of, write_rows
from measured.genuine import laws_of_fold, printed_law, read_top_labels
from measured.laws import (
    LOWER,
    LOWEST_BIN,
    TAIL,
    WEIGHTS,
    Law,
    cells_quantile,
    laws_of,
    scores_quantile,
)
from measured.shipped import Network, read_network
from measured.smooth import Curve

COMPARED = ("ece_debias_em", "ece_sweep_em")
TOP_NETWORK, MORE_MISSES = "resnet110_c10", 0.0011
POSTERIOR_SETS = {800: 200, 3200: 100}
HELD_OUT_SIZES = (200, 800, 1600)
ORDERS = 40
SEED = 60


def synthetic_low() -> dict[str, Law]:
    """Return two laws whose gaps differ inside the lowest bin, with equal means of all bins."""
    scores = 1 - 0.8 * np.stack([1 - TAIL, TAIL]) ** 4
    inside = np.where(LOWER < LOWEST_BIN, 0.03 + 0.18 * LOWER / LOWEST_BIN, 0.12)
    flat, running = (np.clip(scores - gap, 0, 1) for gap in (0.12, inside))
    return {"flat": Law(scores, flat), "running": Law(scores, running)}


def synthetic_top() -> dict[str, Law]:
    """Return a printed law, and one with more misses in the upper half of its scores."""
    printed = printed_law(TOP_NETWORK)
    hits = np.where(LOWER > 0.5, np.clip(printed.hits - MORE_MISSES, 0, 1), printed.hits)
    return {"printed": printed, "more_misses": Law(printed.scores, hits)}


def steps_curve(log_odds: np.ndarray, n: np.ndarray, hits: np.ndarray, n_bins: int) -> Curve:
    """Return a monotone cubic through the isotonic hit rates of bins of equal mass."""
    order = np.argsort(log_odds, kind="stable")
    log_odds, n, hits = log_odds[order], n[order], hits[order]
    bins = ((np.cumsum(n) - n / 2) / n.sum() * n_bins).astype(int)
    rows = np.bincount(bins, n)
    full = rows > 0
    middle = np.bincount(bins, n * log_odds)[full] / rows[full]
    rates = isotonic_regression(
        np.bincount(bins, hits)[full] / rows[full], sample_weight=rows[full]
    )
    cubic = PchipInterpolator(middle, rates)
    return lambda x: cubic(np.clip(x, middle[0], middle[-1]))


def steps_laws(network: Network, laws: dict[str, Law]) -> dict[str, Law]:
    """Return a network's population and its fold's scores, by the spline and by steps."""
    cells = network.cells
    fold = network.fold_log_odds, np.ones(len(network.fold_hits)), network.fold_hits
    by_steps = steps_curve(cells.log_odds, cells.n, cells.hits, 200)
    return {
        "population": laws["population"],
        "population_steps": Law.make(cells_quantile(cells), by_steps),
        "scores_spline": laws["scores_spline"],
        "scores_steps": Law.make(scores_quantile(fold[0]), steps_curve(*fold, 30)),
    }


def posterior_rows(network: Network) -> Iterator[dict[str, Any]]:
    """Yield mean differences, over shared data sets, of averaged_posterior and debias; percent."""
    names = ("averaged_posterior", COMPARED[0])
    run = {name: load_estimator(name) for name in names}
    laws = laws_of(network)
    for label in ("population", "beta_glm"):
        for n, m in POSTERIOR_SETS.items():
            sampler = laws[label].sampler(f"{network.name} posterior", n, SEED)
            cells = [(name, N_BINS) for name in names]
            (a, _), (b, _) = simulate_cells(sampler, np.arange(m), run, cells, 2.0)
            yield {
                "name": network.name,
                "law": label,
                "estimator": names[0],
                "n_samples": n,
                "n_replicates": m,
                "truth_percent": round(100 * laws[label].true_error(), 4),
                "shift_percent": round(100 * float((a - b).mean()), 4),
                "shift_se_percent": round(100 * float((a - b).std(ddof=1)) / m**0.5, 4),
                "sd_percent": round(100 * float(a.std(ddof=1)), 4),
            }


def low_spread(law: Law) -> float:
    """Return the standard deviation of the gap in the lowest fifteenth, percent."""
    low = LOWER < LOWEST_BIN
    gap, weights = (law.scores - law.hits)[low], WEIGHTS[low] / WEIGHTS[low].sum()
    return round(100 * float(np.sum(weights * (gap - weights @ gap) ** 2) ** 0.5), 4)


def lowest_rows(name: str, laws: dict[str, Law]) -> Iterator[dict[str, Any]]:
    """Yield the spread of the gap in the lowest fifteenth, under each law."""
    for label in ("population", "scores_spline", "beta_glm", "printed"):
        if label in laws:
            yield {"name": name, "law": label, "gap_sd_percent": low_spread(laws[label])}


def _of_samples(scores: np.ndarray, hits: np.ndarray, n: int) -> np.ndarray:
    """Return sweep less debias and the sweep's bins of disjoint samples of n rows, (m, k, 2)."""
    rng = np.random.default_rng(SEED)
    k = len(scores) // n
    results = []
    for _ in range(ORDERS):
        for rows in rng.permutation(len(scores))[: k * n].reshape(k, n):
            with warnings.catch_warnings():  # of a sweep that stops early
                warnings.simplefilter("ignore")
                debias, sweep = (
                    calbias.estimate(x, scores[rows], hits[rows], norm=2) for x in COMPARED
                )
            results.append((100 * (sweep.value - debias.value), sweep.n_bins))
    return np.reshape(results, (ORDERS, k, 2))


def held_out_rows(name: str, *test: np.ndarray) -> Iterator[dict[str, Any]]:
    """Yield sweep less debias and the sweep's bins on held-out rows, and as laws predict them.

    The truth cancels. Held out are halves of the test fold, and the validation fold where it is
    known. Standard errors are those of one order of disjoint samples, so a little too large.
    """
    log_odds, hits = test
    half = np.random.default_rng(SEED).permutation(len(hits)) % 2
    parts: dict[str, tuple[np.ndarray, ...]] = {
        f"half {k}": (log_odds[half == k], hits[half == k], half != k) for k in range(2)
    }
    for other, *fold in read_top_labels("validation"):
        if other == name:
            parts["validation"] = (*fold, half >= 0)
    for part, (x, right, seen) in parts.items():
        scores = 1 / (1 + np.exp(-x))
        laws = laws_of_fold(name, log_odds[seen], hits[seen])
        for n in HELD_OUT_SIZES:
            samples = _of_samples(scores, right.astype(int), n)
            observed = samples.mean((0, 1))
            errors = samples.std(1, ddof=1).mean(0) / samples.shape[1] ** 0.5
            for label in ("scores_spline", "beta_glm", "printed"):
                yield {
                    "name": name,
                    "held_out": part,
                    "law": label,
                    "n_samples": n,
                    **_pair("observed", *observed),
                    **_pair("observed_se", *errors),
                    **_pair("predicted", *_predicted(laws[label], name, n)),
                }


def _predicted(law: Law, name: str, n: int) -> tuple[float, float]:
    """Return sweep less debias, percent, and the sweep's bins, means over data sets of a law."""
    run = {x: load_estimator(x) for x in COMPARED}
    cells = [(x, N_BINS) for x in COMPARED]
    debias, sweep = simulate_cells(law.sampler(name, n, SEED), np.arange(2000), run, cells, 2.0)
    return 100 * float((sweep[0] - debias[0]).mean()), float(sweep[1].mean())


def _pair(what: str, difference: float, n_bins: float) -> dict[str, float]:
    return {f"{what}_percent": round(difference, 4), f"{what}_n_bins": round(n_bins, 3)}


def write_once(path: Path, rows: Callable[[], Iterable[dict[str, Any]]]) -> None:
    """Write a table, if there is none yet."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_rows(path, list(rows()))
        print(path.parent.name, path.stem, flush=True)


def cause_rows(name: str, laws: dict[str, Law]) -> Iterator[dict[str, Any]]:
    """Yield the biases of the compared estimators."""
    return (row for row in rows_of(name, laws) if row["estimator"] in COMPARED)


def main(argv: list[str] | None = None) -> int:
    """Measure the networks that the command line names, and the genuine ones; return the code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--posterior", action="store_true", help="measure averaged_posterior alone")
    options = parser.parse_args(argv)
    folder = options.output
    for name in options.names:
        network = read_network(name)
        if options.posterior:
            write_once(folder / "posterior" / f"{name}.csv", partial(posterior_rows, network))
            continue
        laws = laws_of(network)
        steps = steps_laws(network, laws)
        write_once(folder / "cause" / f"{name}.csv", partial(cause_rows, name, steps))
        write_once(folder / "lowest" / f"{name}.csv", partial(lowest_rows, name, laws))
    if options.posterior:
        return 0
    for name, pair in (("synthetic_low", synthetic_low), ("synthetic_top", synthetic_top)):
        write_once(folder / "cause" / f"{name}.csv", partial(cause_rows, name, pair()))
    for name, *top in read_top_labels():
        laws = laws_of_fold(name, *top)
        write_once(folder / "lowest" / f"{name}.csv", partial(lowest_rows, name, laws))
        write_once(folder / "held_out" / f"{name}.csv", partial(held_out_rows, name, *top))
    return 0


if __name__ == "__main__":
    sys.exit(main())
