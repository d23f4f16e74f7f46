"""What may select a recalibration method: every estimator and the KS error, on resamples too."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from calbias.engine.seeding import stream
from calbias.engine.sorted_batch import SortedBatch, of_sorted_scores, sorted_data_set
from calbias.errors import InputError
from calbias.estimation.loading import load_estimator
from calbias.estimation.registry import known_estimators
from calbias.logits.top_label import TopLabel

Measures = dict[str, Callable[[SortedBatch], float]]

N_BINS = 15


def load_measures(norm: float = 2.0, estimators: Mapping[str, Path] | None = None) -> Measures:
    """Return {name: measure(data) -> value} for SortedBatch of one row.

    Estimators that do not exist for the norm are left out. The KS error, last, has no norm. Of tied
    scores in input order it sees every step, which the estimator ``ks`` does not.
    """
    probe = sorted_data_set([0.25, 0.5, 0.75, 1.0], [0, 1, 0, 1])
    measures: Measures = {}
    for name, file in (known_estimators() if estimators is None else estimators).items():
        run = load_estimator(name, file)
        try:
            run(probe, N_BINS, norm)
        except InputError:
            if norm == 2:
                raise
            continue
        measures[name] = partial(_value, run, norm)
    measures["ks_error"] = _ks_error
    return measures


def _value(run: Callable[..., Any], norm: float, data: SortedBatch) -> float:
    return float(run(data, N_BINS, norm)[0][0])


def _ks_error(data: SortedBatch) -> float:
    """Return max_i |Σ_{j≤i} (hit_j - score_j)|/n of one data set (Gupta et al. 2021, Eq. 11)."""
    return float(np.abs(data.cum_gap[0]).max() / data.scores.shape[1])


def measured(measures: Measures, top: TopLabel, ties: str = "average") -> dict[str, float]:
    """Return {name: value} of a ``TopLabel`` with tied scores taken as ``ties``."""
    data = sorted_data_set(top.score, top.hit, ties)
    return {name: measure(data) for name, measure in measures.items()}


def resampled_values(
    measures: Measures, top: TopLabel, counts: np.ndarray, ties: str = "average"
) -> dict[str, np.ndarray]:
    """Return {name: values (B,)} on resamples given as counts (B, n) of the rows of ``top``."""
    order = np.argsort(top.score, kind="stable")
    scores, hits = top.score[order], top.hit[order]
    values = {name: np.empty(len(counts)) for name in measures}
    for b, count in enumerate(counts):
        rows = np.repeat(np.arange(len(order)), count[order])
        data = of_sorted_scores(scores[rows], hits[rows][None], ties)
        for name, measure in measures.items():
            values[name][b] = measure(data)
    return values


def draw_counts(n: int, n_resamples: int, seed: int, model: str) -> np.ndarray:
    """Return how often each of n rows is in each bootstrap resample, (B, n) uint16.

    The stream depends on the seed and the model alone; further resamples extend it.
    """
    rng = stream(seed, model, "recalibration", "bootstrap")
    counts = np.empty((n_resamples, n), dtype=np.uint16)
    for row in counts:
        row[:] = np.bincount(rng.integers(n, size=n), minlength=n)
    return counts
