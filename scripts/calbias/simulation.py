"""Data sets of known calibration error, and an estimator's bias on them (Roelofs et al., Eq. 7)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from calbias.defaults import N_BINS
from calbias.engine.float_scores import EXACT
from calbias.engine.sampler import Sampler
from calbias.engine.scores_and_hits import validate_options, validate_whole
from calbias.engine.sorted_batch import Estimates, SortedBatch
from calbias.estimation.loading import load_estimator, loaded
from calbias.estimation.registry import (
    estimator_file,
    estimator_options,
    estimator_target,
    folders_with,
    usable_norm,
)
from calbias.truth.counted import CountedScenario
from calbias.truth.scenarios import Scenario, validate_scenario
from calbias.truth.targets import target_value

Run = Callable[[SortedBatch, int, float], Estimates]


@dataclass(frozen=True)
class Bias:
    """An estimator's error in a scenario; all errors are fractions.

    Attributes
    ----------
    bias, bias_se : float
        Mean estimate less the true value, and its Monte Carlo standard error.
    sd, rmse : float
        Standard deviation and root mean squared error of one estimate.
    mean_estimate, truth : float
        The mean over the replicates and the true value of the estimator's target.
    estimator : str
    n_samples, replicates : int
        The size of a data set and the number of data sets.
    norm : float
        p of the ℓp error.
    """

    bias: float
    bias_se: float
    sd: float
    rmse: float
    mean_estimate: float
    truth: float
    estimator: str
    n_samples: int
    replicates: int
    norm: float


def bias(
    estimator: str,
    scenario: Scenario | CountedScenario,
    n_samples: int,
    *,
    replicates: int = 1000,
    n_bins: int = N_BINS,
    norm: float | None = None,
    seed: int = 0,
    estimator_dir: Path | str | None = None,
) -> Bias:
    """Measure an estimator's bias and spread in a scenario.

    Parameters
    ----------
    estimator : str
        An estimator's name; ``calbias.list_estimators()`` lists them.
    scenario : Scenario or CountedScenario
        A distribution of the scores with a calibration curve: its true calibration error is known.
    n_samples : int
        The size of each data set.
    replicates : int, default 1000
        The number of data sets, at least 2.
    n_bins, norm, estimator_dir
        As for ``calbias.estimate``.
    seed : int, default 0
        Each data set depends on the seed, the scenario's name, ``n_samples`` and its own number.

    Returns
    -------
    Bias

    Raises
    ------
    InputError
        For an unknown estimator, an estimator without a known true value, and numbers out of range.

    References
    ----------
    Roelofs, Cain, Shlens and Mozer (2022), section 4, Eq. 7.

    Examples
    --------
    A calibrated model and 200 samples: what the usual ECE reports is all bias.

    >>> import calbias
    >>> calibrated = calbias.Scenario("example", 2.8, 0.05, calbias.Curve("identity"))
    >>> measured = calbias.bias("ece_bin_ew", calibrated, n_samples=200)
    >>> measured.truth < 1e-12
    True
    >>> 0.01 < measured.bias < 0.02
    True
    """
    validate_options(n_bins, norm)
    if isinstance(scenario, Scenario):
        validate_scenario(scenario)
    validate_whole("replicates", replicates, 2)
    path = estimator_file(estimator, folders_with(estimator_dir))
    norm = usable_norm(estimator, 1, path) if norm is None else float(norm)
    numbers = _numbers(n_samples, replicates, seed)
    estimates = simulate_estimates(
        scenario,
        n_samples,
        numbers,
        {estimator: load_estimator(estimator, path)},
        int(n_bins),
        norm,
        seed,
    )
    values = estimates[estimator][0]
    options = {**estimator_options(estimator, path), "norm": norm, "n_bins": n_bins}
    truth = target_value(estimator_target(estimator, path), scenario, **options)
    errors = values - truth
    sd = float(errors.std(ddof=1))
    return Bias(
        bias=float(errors.mean()),
        bias_se=sd / replicates**0.5,
        sd=sd,
        rmse=float(np.sqrt(np.mean(errors**2))),
        mean_estimate=float(values.mean()),
        truth=truth,
        estimator=estimator,
        n_samples=n_samples,
        replicates=replicates,
        norm=norm,
    )


def rmse_error(bias: Any, sd: Any, m: Any, rmse: Any) -> np.ndarray:
    """Return the Monte Carlo error of an RMSE: var(MSE) = (4 bias²·sd² + 2 sd⁴)/m."""
    square, variance = np.square(bias), np.square(sd)
    spread = (4 * square * variance + 2 * variance**2) / np.asarray(m)
    errors: np.ndarray = np.sqrt(spread) / (2 * np.asarray(rmse))
    return errors


def simulate(
    scenario: Scenario | CountedScenario,
    n_samples: int,
    *,
    replicates: int = 1,
    seed: int = 0,
) -> tuple[np.ndarray, np.ndarray]:
    """Draw data sets from a scenario.

    Parameters
    ----------
    scenario : Scenario or CountedScenario
    n_samples : int
        The size of each data set.
    replicates : int, default 1
        The number of data sets.
    seed : int, default 0
        Each data set depends on the seed, the scenario's name, ``n_samples`` and its own number.

    Returns
    -------
    scores : ndarray, shape (replicates, n_samples)
        Top-label probabilities, sorted in each row.
    hits : ndarray of uint8, shape (replicates, n_samples)
        1 where the prediction was correct, else 0.

    Raises
    ------
    InputError
        For numbers out of range.

    Examples
    --------
    >>> import calbias
    >>> squared = calbias.Scenario("squared", 1.0, 1.0, calbias.Curve("power", b1=2.0))
    >>> scores, hits = calbias.simulate(squared, n_samples=10_000)
    >>> scores.shape, bool(abs(hits.mean() - 1 / 3) < 0.02)
    ((1, 10000), True)
    """
    if isinstance(scenario, Scenario):
        validate_scenario(scenario)
    validate_whole("replicates", replicates, 1)
    numbers = _numbers(n_samples, replicates, seed)
    scores, hits = np.empty((replicates, n_samples)), np.empty((replicates, n_samples), np.uint8)
    done = 0
    for data in Sampler(scenario, n_samples, seed).batches(numbers):
        rows = slice(done, done + len(data.scores))
        # neighbours of an interpolated law can be out of order by their last bit
        np.maximum.accumulate(data.scores, axis=1, out=scores[rows])
        hits[rows] = np.rint(data.hits())
        done = rows.stop
    return scores, hits


def _numbers(n_samples: int, replicates: int, seed: int) -> np.ndarray:
    validate_whole("n_samples", n_samples, 1)
    validate_whole("seed", seed, 0)
    return np.arange(replicates)


def simulate_estimates(
    scenario: Scenario | CountedScenario,
    n_samples: int,
    replicates: np.ndarray,
    estimators: Iterable[str] | Mapping[str, Run],
    n_bins: int = N_BINS,
    norm: float = 2.0,
    seed: int = 0,
    precision: str = EXACT,
) -> dict[str, Estimates]:
    """Return {name: (estimates, bins used)}, (m,) each, on the data sets numbered ``replicates``.

    Estimators are names, or {name: ``run(data, n_bins, norm)``}.
    """
    if not isinstance(estimators, Mapping):
        estimators = {name: loaded(name) for name in estimators}
    cells = [(name, n_bins) for name in estimators]
    sampler = Sampler(scenario, n_samples, seed, precision=precision)
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
