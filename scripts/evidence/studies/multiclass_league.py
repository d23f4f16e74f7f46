"""Estimators for all classes, each against its own truth, where the labels are drawn from q = M(p).

A population is a finite set of probability vectors: draws of a Dirichlet distribution, or the test
rows of networks. A data set has n rows of it, drawn with replacement, and labels drawn from M(p).
The maps are a calibrated model, temperature 1.5, a label shift that makes the last class four times
as frequent as the first, Dirichlet calibration's generative form, and 5 % label noise.

The rule that corrects a value for its noise was chosen on Dirichlet distributions; networks judge
it.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from calbias.conventions import N_BINS
from calbias.engine.seeding import stream
from calbias.multiclass.cells import Floats
from calbias.multiclass.measures import MEASURES, prepared, target_of
from calbias.multiclass.noise import corrected, drawn_values
from calbias.multiclass.rows import Rows
from evidence import multiclass_maps as maps
from evidence.multiclass_targets import target_value

DISTRIBUTIONS = {"dirichlet_3": (3, 1.0), "dirichlet_10": (10, 0.3), "dirichlet_100": (100, 0.05)}
"""Number of classes and concentration of each class of symmetric Dirichlet distributions."""
POPULATION = 4000
GROUPS = 100
CORRECTED = ("classwise_ece_mean", "classwise_ece_mean_em", "thresholded_ece_em", "top_label_ece",
             "confidence_ece")  # fmt: skip
_REDRAWS = 50
_OWN_BANDWIDTH = ("skce", "skce_all_pairs")
MOST_ALL_PAIRS = 1000  # rows, for the estimator that costs n²·K
_LEAST = 1e-12

Map = Callable[[Floats], Floats]


def maps_of(n_classes: int) -> dict[str, Map]:
    """Return the maps by name."""
    ratios = np.geomspace(0.5, 2.0, n_classes)
    parameters = 1.0 + 0.5 * np.eye(n_classes)
    return {
        "calibrated": maps.identity,
        "temperature": lambda p: maps.temperature(p, 1.5),
        "label_shift": lambda p: maps.label_shift(p, ratios),
        "dirichlet": lambda p: maps.dirichlet(p, parameters, np.full(n_classes, 1 / n_classes)),
        "label_noise": lambda p: maps.label_noise(p, 0.05),
    }


def dirichlet_population(name: str, seed: int) -> Floats:
    """Return the rows (N, K) of one of DISTRIBUTIONS."""
    n_classes, concentration = DISTRIBUTIONS[name]
    generator = stream(seed, "multiclass", name)
    # by logarithms of gamma variates: with a small concentration the variates themselves are 0
    logs = np.log(generator.gamma(concentration + 1, size=(POPULATION, n_classes)))
    logs += np.log(generator.random((POPULATION, n_classes))) / concentration
    return maps.temperature(np.exp(logs - logs.max(axis=1, keepdims=True)), 1.0)


def league_rows(
    name: str, population: Floats, sample_sizes: list[int], replicates: int, seed: int
) -> Iterator[dict[str, Any]]:
    """Yield the rows of table ``multiclass_league`` of a population (N, K).

    ``replicates`` are data sets of the smallest size; larger ones have fewer, at least three.
    """
    rows = Rows.of(population)
    bandwidth = prepared("skce", rows).bandwidth  # type: ignore[attr-defined]
    for of_map, chances_of in maps_of(rows.shape[1]).items():
        chances = chances_of(rows.probabilities)
        truths = _truths(rows, chances)
        for n in sample_sizes:
            data_sets = max(3, round(replicates * min(sample_sizes) / n))
            found: dict[str, list[float]] = {}
            for replicate in range(data_sets):
                sample, labels = _drawn(rows, chances, n, seed, f"{name} {of_map}", replicate)
                for estimator, value in _estimates(sample, labels, bandwidth).items():
                    found.setdefault(estimator, []).append(value)
            for estimator, values in found.items():
                target = target_of(estimator.removesuffix("_corrected"))
                yield {
                    "scenario": f"{name}_{of_map}",
                    "population": name,
                    "map": of_map,
                    "n_classes": rows.shape[1],
                    "estimator": estimator,
                    "target": target,
                    "n_samples": n,
                    **_summary(np.array(values), *truths[target]),
                }


def _truths(rows: Rows, chances: Floats) -> dict[str, tuple[float, float]]:
    """Return {target: (truth, truth at half the resolution)}."""
    targets = {target_of(name) for name in MEASURES}
    truths = {}
    for name in sorted(targets):
        groups = (GROUPS,) if name == "kernel" else (GROUPS, GROUPS // 2)
        values = [target_value(name, rows, chances, m) for m in groups]
        truths[name] = values[0], values[-1]
    return truths


def _drawn(
    rows: Rows, chances: Floats, n: int, seed: int, scenario: str, replicate: int
) -> tuple[Rows, np.ndarray]:
    """Return a data set: n rows of the population and labels (n, 1) in their order."""
    generator = stream(seed, "multiclass", scenario, str(n), str(replicate))
    chosen = generator.integers(0, len(rows.probabilities), n)
    sums = np.cumsum(chances[chosen], axis=1)
    levels = generator.random(n) * sums[:, -1]
    labels = (sums <= levels[:, None]).sum(axis=1)
    sample = Rows.of(rows.probabilities[chosen])
    return sample, sample.given(np.minimum(labels, chances.shape[1] - 1))


def _estimates(sample: Rows, labels: np.ndarray, bandwidth: float) -> dict[str, float]:
    estimates = {}
    for name, entry in MEASURES.items():
        if name == "skce_all_pairs" and len(labels) > MOST_ALL_PAIRS:
            continue
        if "_sum" in name:  # K times another
            continue
        own = {"bandwidth": bandwidth} if name in _OWN_BANDWIDTH else {}
        measure = entry.prepare(sample, N_BINS, **own)
        value = float(measure.whole(measure.values(labels))[0])
        estimates[name] = value
        if name in CORRECTED:
            floor = measure.whole(drawn_values(measure, sample, _REDRAWS, 0)).mean()
            estimates[f"{name}_corrected"] = float(corrected(value, floor, False))
    return estimates


def _summary(values: Floats, truth: float, at_half: float) -> dict[str, Any]:
    truth, at_half = (0.0 if abs(x) < _LEAST else x for x in (truth, at_half))
    sd, rmse = values.std(ddof=1), math.sqrt(np.mean((values - truth) ** 2))
    return {
        "n_replicates": values.size,
        "truth": truth,
        "truth_at_half_resolution": at_half,
        "mean_estimate": values.mean(),
        "bias": values.mean() - truth,
        "bias_se": sd / math.sqrt(values.size),
        "sd": sd,
        "rmse": rmse,
        "relative_rmse": rmse / truth if truth > 0 else math.nan,
    }
