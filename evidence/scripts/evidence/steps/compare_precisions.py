"""What scores stored as floats, and their ties, do to each estimator."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from calbias.engine.float_scores import PRECISIONS, rounded
from calbias.engine.sampler import Sampler, build_quantile_table
from calbias.engine.sorted_batch import TIES, Estimates, SortedBatch
from calbias.estimation.loading import load_estimator
from calbias.truth.scenarios import Scenario
from calbias.truth.true_error import true_calibration_error
from pipeline.paper import N_BINS, NORM
from pipeline.scenarios import printed_fits
from pipeline.steps import AtLeast, Seed
from pipeline.tables import read_table, write_table

Row = dict[str, Any]
Run = Callable[[SortedBatch, int, float], Estimates]
Rounding = Callable[[SortedBatch], SortedBatch]


def compare_precisions(
    *,
    beta_fits: Path,
    glm_fits: Path,
    models: list[str],
    n_samples: list[int],
    replicates: Annotated[int, AtLeast(2)],
    estimators: list[str],
    seed: Seed,
    output: Path,
) -> None:
    """Measure how the bias changes of float64 and of float32 scores (docs/papers/sampler.md).

    beta_fits: published Table 2
    glm_fits: published Table 3
    models: models of the paper
    n_samples: sample sizes
    replicates: data sets per cell
    estimators: names of calbias's own estimators
    seed: seed of all random streams
    output: table score_precision to write
    """
    fits = printed_fits(read_table(beta_fits), read_table(glm_fits))
    run = {name: load_estimator(name) for name in estimators}
    rows = [
        row
        for model in models
        for n in n_samples
        for row in precision_rows(fits[model].scenario(), n, replicates, run, seed)
    ]
    write_table(output, "score_precision", rows)


def precision_rows(
    scenario: Scenario, n: int, replicates: int, run: Mapping[str, Run], seed: int
) -> Iterator[Row]:
    """Yield the rows of table ``score_precision`` of one cell: the same draws, rounded."""
    tce = 100 * true_calibration_error(scenario, norm=NORM)
    sampler = Sampler(scenario, n, seed)
    exact, _ = _estimates(sampler, replicates, run, lambda data: data)
    for precision in PRECISIONS[1:]:
        sampler = Sampler(scenario, n, seed, build_quantile_table(scenario, precision))
        for ties in TIES:
            estimates, share = _estimates(
                sampler, replicates, run, partial(rounded, precision=precision, ties=ties)
            )
            for name, (values, bins) in estimates.items():
                differences = values - exact[name][0]
                yield {
                    "scenario": scenario.name,
                    "estimator": name,
                    "n_samples": n,
                    "n_replicates": replicates,
                    "precision": precision,
                    "ties": ties,
                    "share_at_one": share,
                    "bias_exact_percent": exact[name][0].mean() - tce,
                    "bias_percent": values.mean() - tce,
                    "effect_percent": differences.mean(),
                    "effect_se_percent": differences.std(ddof=1) / np.sqrt(replicates),
                    "mean_n_bins_exact": exact[name][1].mean(),
                    "mean_n_bins_used": bins.mean(),
                }


def _estimates(
    sampler: Sampler, replicates: int, run: Mapping[str, Run], rounding: Rounding
) -> tuple[dict[str, tuple[np.ndarray, np.ndarray]], float]:
    """Return {estimator: (values in percent, bins used)} and the share of scores that are 1."""
    parts: dict[str, list[Any]] = {name: [] for name in run}
    at_one = 0
    for batch in sampler.batches(np.arange(replicates)):
        data = rounding(batch)
        at_one += int(np.count_nonzero(data.scores == 1.0))
        for name, estimate in run.items():
            parts[name].append(estimate(data, N_BINS, NORM))
    estimates = {}
    for name, results in parts.items():
        values, bins = map(np.concatenate, zip(*results, strict=True))
        estimates[name] = 100 * values, bins
    return estimates, at_one / (replicates * sampler.n_samples)
