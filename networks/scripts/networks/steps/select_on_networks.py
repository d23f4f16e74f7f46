"""Selection of recalibration methods on trained networks, where each one's true error is known."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit

from calbias.defaults import N_BINS
from calbias.engine.sorted_batch import sorted_data_set
from calbias.estimation.loading import load_estimator
from calbias.simulation import simulate
from calbias.truth.counted import CountedScenario
from networks.kept import Network, read_networks
from pipeline.paper import NORM
from pipeline.steps import Seed
from pipeline.table_schema import columns_of
from pipeline.tables import write_table
from reproduction.recalibration.binnings import bbq, histogram_binning, isotonic_regression
from reproduction.recalibration.platt_scaling import platt_scaling
from reproduction.recalibration.registry import load_method

TOP_LABEL = "_top_label"
MAPS: dict[str, Callable[..., Any]] = {
    "platt_scaling": platt_scaling,
    "histogram_binning": histogram_binning,
    "isotonic_regression": isotonic_regression,
    "bbq": bbq,
}
"""Maps of the top label's score: their true error follows from the population."""
CHOICES = tuple(MAPS)[:3]
"""As in Table 1, but with a logistic map for temperature scaling, which needs all logits."""
ESTIMATORS = ("ece_bin_ew", "ece_debias_em", "ece_sweep_em")
FITTED_ROWS = 5000  # of the kept test fold, which is independent of the population
SIZES = (1000, 3000, 10_000)
FOLDS = 50

Scores = Callable[[np.ndarray], np.ndarray]


def select_on_networks(
    *,
    networks: Path,
    sketches: Path,
    top_labels: Path,
    recalibrated: Path,
    folds: list[Path],
    seed: Seed,
    output_recalibrated: Path,
    output_selection: Path,
) -> None:
    """Select recalibration methods on trained networks, where the true error after each is known.

    Maps of the top label's score are fitted to kept rows; estimators see folds of fresh rows. The
    true error of other methods, which need all logits, was measured outside and is kept.

    networks: table of the networks and their true errors
    sketches: their populations, in cells
    top_labels: their test folds
    recalibrated: table of kept true errors after recalibration
    folds: logits of a validation fold of some networks, to which vector scaling is fitted
    seed: seed of all random streams
    output_recalibrated: table network_recalibrated to write
    output_selection: table network_selection to write
    """
    kept = pd.read_csv(recalibrated).rename(columns={"name": "scenario"}).assign(kept=True)
    kept["l2_percent"] = kept["l2_percent"].where(kept["is_defined"])
    truths, selections = [variation(path) for path in folds], []
    for network in read_networks(networks, sketches, top_labels):
        maps = fitted_maps(network)
        errors = {name: true_error(network.population, maps[name], NORM) for name in maps}
        name = network.population.name
        truths += [
            {"scenario": name, "method": method + TOP_LABEL, "kept": False, "l2_percent": 100 * x}
            for method, x in errors.items()
        ]
        selections += [*selected(network.population, maps, errors, NORM, seed)]
    table = pd.concat([pd.DataFrame(truths), kept], ignore_index=True)
    columns = list(columns_of("network_recalibrated"))
    write_table(output_recalibrated, "network_recalibrated", table[columns])
    write_table(output_selection, "network_selection", pd.DataFrame(selections))


def variation(fold: Path) -> dict[str, Any]:
    """Return how much the entries vary that vector scaling learns of a network."""
    with np.load(fold) as arrays:
        logits, labels = (arrays[f"validation_{x}"] for x in ("logits", "labels"))
    fitted = load_method("vector_scaling")(logits.astype(np.float64), labels.astype(int))
    return {
        "scenario": fold.stem,
        "method": "vector_scaling",
        "kept": False,
        "weights_variation": fitted.weights.std(ddof=1) / fitted.weights.mean(),
    }


def fitted_maps(network: Network) -> dict[str, Scores]:
    """Return {method: its map of scores} fitted to rows of a network's fold."""
    scores, hits = expit(network.log_odds[:FITTED_ROWS]), network.hits[:FITTED_ROWS]
    return {name: fit(scores, hits).predict for name, fit in MAPS.items()}


def true_error(population: CountedScenario, predict: Scores, norm: float) -> float:
    """Return the true ℓp error of the scores of a population after a map.

    Scores that a map makes equal are one score, with their mean probability of a hit.
    """
    points = population.points
    before = expit(points.log_odds)
    after, group = np.unique(predict(before), return_inverse=True)
    weight, hits = (
        np.bincount(group, x) for x in (points.weights, points.weights * (before + points.gaps))
    )
    return float((weight @ np.abs(after - hits / weight) ** norm) ** (1 / norm))


def selected(
    population: CountedScenario,
    maps: Mapping[str, Scores],
    errors: Mapping[str, float],
    norm: float,
    seed: int,
) -> Iterator[dict[str, Any]]:
    """Yield what each estimator selects of CHOICES on test folds of each size."""
    truth = np.array([errors[name] for name in CHOICES])
    run = {name: load_estimator(name) for name in ESTIMATORS}
    for n in SIZES:
        values = np.empty((len(ESTIMATORS), FOLDS, len(CHOICES)))
        folds = zip(*simulate(population, n, replicates=FOLDS, seed=seed), strict=True)
        for k, (scores, hits) in enumerate(folds):
            for j, method in enumerate(CHOICES):
                data = sorted_data_set(maps[method](scores), hits)
                values[:, k, j] = [estimate(data, N_BINS, norm)[0][0] for estimate in run.values()]
        for estimator, chosen in zip(ESTIMATORS, values.argmin(axis=2), strict=True):
            yield {
                "scenario": population.name,
                "estimator": estimator,
                "n_samples": n,
                "n_replicates": FOLDS,
                "share_best": np.mean(chosen == truth.argmin()),
                "share_worst": np.mean(chosen == truth.argmax()),
                "regret_percent": 100 * (truth[chosen].mean() - truth.min()),
            }
