"""Replicates: estimates of calibration error on simulated data sets (paper §4, Eq. 7)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache

import numpy as np

from calbias.conventions import N_BINS
from calbias.engine.sampler import Sampler
from calbias.engine.sorted_batch import Estimates, SortedBatch
from calbias.estimation.loading import load_estimator
from calbias.truth.scenarios import Scenario

Run = Callable[[SortedBatch, int, float], Estimates]
_loaded = cache(load_estimator)  # finding an estimator takes as long as simulating a small cell


def simulate_estimates(
    scenario: Scenario,
    n_samples: int,
    replicates: np.ndarray,
    estimators: Iterable[str] | Mapping[str, Run],
    n_bins: int = N_BINS,
    norm: float = 2.0,
    seed: int = 0,
) -> dict[str, Estimates]:
    """Return {name: (estimates, bins used)}, (m,) each, on the data sets numbered ``replicates``.

    Estimators are names, or {name: ``run(data, n_bins, norm)``}.
    """
    if not isinstance(estimators, Mapping):
        estimators = {name: _loaded(name) for name in estimators}
    cells = [(name, n_bins) for name in estimators]
    sampler = Sampler(scenario, n_samples, seed)
    results = simulate_cells(sampler, replicates, estimators, cells, norm)
    return dict(zip(estimators, results, strict=True))


def simulate_cells(
    sampler: Sampler,
    replicates: np.ndarray,
    estimators: Mapping[str, Run],
    cells: Sequence[tuple[str, int]],
    norm: float,
) -> list[Estimates]:
    """Return a list of (estimates, bins used), (m,) each, one for each (estimator, n_bins) cell."""
    m = len(replicates)
    results = [(np.empty(m), np.empty(m, np.int64)) for _ in cells]
    done = 0
    for data in sampler.batches(replicates):
        rows = slice(done, done + data.scores.shape[0])
        for (name, n_bins), (estimates, n_bins_used) in zip(cells, results, strict=True):
            estimates[rows], n_bins_used[rows] = estimators[name](data, n_bins, norm)
        done = rows.stop
    return results
