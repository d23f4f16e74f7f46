"""Bias with the authors' own random numbers, and how far one chain of seeds leaves it open."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd

from calbias.estimation.loading import load_estimator
from calbias.estimation.registry import CHOSEN
from calbias.truth.curves import Curve
from calbias.truth.scenarios import Scenario
from calbias.truth.true_error import true_calibration_error
from pipeline.paper import (
    BINNED,
    DEBIAS_PERCENT,
    N_BINS,
    N_REPLICATES,
    NORM,
    SWEEP_PERCENT,
    T_STATISTIC,
)
from pipeline.scenarios import printed_fits
from pipeline.steps import AtLeast, Seed
from pipeline.table_schema import columns_of
from pipeline.tables import groups_of, read_table, write_table
from reproduction.authors_draws import batches, seed_cycle, seeds
from reproduction.bias import PAIR, PAIRINGS, abs_pairs, average_pairs, paired_t_test
from reproduction.replicates import Estimates, ReplicateCell, ReplicateCells
from reproduction.steps.summarise_bias import bias_rows

Row = dict[str, Any]

RESAMPLES = 1000
_STREAM = 0x617574686F72  # keeps the resamples apart from every other use of the seed
FIGURE_1 = Scenario("beta_2.8_0.05_identity", 2.8, 0.05, Curve("identity")), 200
MILLION = 1_000_000  # data sets behind Figure 1, as its caption says
SAMPLE_A_PERCENT = 5.08  # the line that the authors' code marks in Figure 1


def draw_as_authors(
    *,
    models_table: Path,
    beta_fits: Path,
    glm_fits: Path,
    models: list[str],
    n_samples: list[int],
    replicates: Annotated[int, AtLeast(2)],
    seed: Seed,
    output_draws: Path,
    output_numbers: Path,
) -> None:
    """Measure bias on the data sets that the authors' public code draws (paper §7.1, Figure 1).

    The second table has the t-test on them, its Monte Carlo errors, and Figure 1's numbers.

    models_table: models table: gives the groups
    beta_fits: published Table 2
    glm_fits: published Table 3
    models: models of the paper
    n_samples: sample sizes
    replicates: data sets per cell, those of the first seeds; at most the 1000 of the paper
    seed: seed of the resamples
    output_draws: table authors_draws to write
    output_numbers: table authors_numbers to write
    """
    fits = printed_fits(read_table(beta_fits), read_table(glm_fits))
    groups = groups_of(read_table(models_table), models_table)
    drawn = [fits[model].scenario() for model in models]
    rows, numbers = measure_draws(drawn, n_samples, min(replicates, N_REPLICATES), groups, seed)
    write_table(output_draws, "authors_draws", rows)
    write_table(output_numbers, "authors_numbers", [*numbers, *figure_1()])


def measure_draws(
    scenarios: Sequence[Scenario],
    n_samples: Sequence[int],
    replicates: int,
    groups: Mapping[str, str],
    seed: int,
) -> tuple[pd.DataFrame, list[Row]]:
    """Return the tables ``authors_draws`` and, without Figure 1, ``authors_numbers``."""
    if not scenarios:
        return pd.DataFrame(columns=list(columns_of("authors_draws"))), []
    cells: dict[str, ReplicateCells] = {name: {} for name in BINNED}
    for scenario in scenarios:
        for (name, n), estimates in _estimates(scenario, n_samples, seeds(replicates)).items():
            n_bins = CHOSEN if "sweep" in name else N_BINS
            cells[name][ReplicateCell(scenario.name, n, n_bins)] = estimates
    truths = {x.name: true_calibration_error(x, norm=NORM) for x in scenarios}
    rows = bias_rows("realistic", cells, truths)
    percent = {name: 100 * np.array([x.estimate for x in cells[name].values()]) for name in PAIR}
    return rows, [*t_tests(rows, percent, groups, seed), *_correlations(percent)]


def _estimates(
    scenario: Scenario, n_samples: Sequence[int], chain: Sequence[int]
) -> dict[tuple[str, int], Estimates]:
    """Return {(estimator, n): Estimates} on the data sets of n rows by seed."""
    run = {name: load_estimator(name) for name in BINNED}
    parts: dict[tuple[str, int], list[Any]] = {(name, n): [] for n in n_samples for name in BINNED}
    for n, batch in batches(scenario, n_samples, chain):
        for name, estimator in run.items():
            parts[name, n].append(estimator(batch, N_BINS, NORM))
    return {
        key: Estimates(np.arange(len(chain)), *map(np.concatenate, zip(*results, strict=True)))
        for key, results in parts.items()
    }


def t_tests(
    rows: pd.DataFrame, percent: Mapping[str, np.ndarray], groups: Mapping[str, str], seed: int
) -> Iterator[Row]:
    """Yield the numbers of the paired tests, each with its error over resamples of the seeds.

    ``rows`` are those of table ``bias``, ``percent`` the estimates (cells, m) in their order. All
    cells share their seeds, so a resample takes the same data sets in every cell.
    """
    pairs = abs_pairs(rows, *PAIR)
    truths = rows.drop_duplicates(["scenario", "n_samples"])
    order = pd.MultiIndex.from_frame(truths[["scenario", "n_samples"]])
    m = percent[PAIR[0]].shape[1]
    generator = np.random.default_rng([seed, _STREAM])
    weights = generator.multinomial(m, np.full(m, 1 / m), size=RESAMPLES) / m
    resampled = {
        name: np.abs(percent[name] @ weights.T - truths["tce_percent"].to_numpy()[:, None])
        for name in PAIR
    }
    for name, printed in zip(PAIR, (DEBIAS_PERCENT, SWEEP_PERCENT), strict=True):
        means = resampled[name].mean(axis=0)
        yield _number("mean_abs_bias_percent", name, pairs[name].mean(), means.std(ddof=1), printed)
    differences = pd.DataFrame(resampled[PAIR[0]] - resampled[PAIR[1]], index=order)
    for pairing in PAIRINGS:
        averaged = average_pairs(pairs, pairing, groups)
        test = paired_t_test(averaged, *PAIR)
        d = average_pairs(differences, pairing, groups)
        with np.errstate(invalid="ignore", divide="ignore"):
            ts = d.mean() / d.std() * np.sqrt(len(d))
        printed = T_STATISTIC if pairing == "cell" else np.nan
        yield _number("t_statistic", f"by {pairing}", test["t_statistic"], ts.std(), printed)
        yield _number("p_value", f"by {pairing}", test["p_value"])
        yield _number("n_pairs", f"by {pairing}", len(averaged))
    gains = (pairs[PAIR[0]] - pairs[PAIR[1]]).groupby("n_samples").mean()
    errors = differences.groupby("n_samples").mean().std(axis=1)
    for n, gain in gains.items():
        yield _number("gain_percent", f"n = {n}", gain, errors[n])


def _correlations(percent: Mapping[str, np.ndarray]) -> Iterator[Row]:
    """Yield the mean correlation of an estimator's values on two cells, over the data sets."""
    for name, values in percent.items():
        spread = values.std(axis=1) > 0
        if spread.sum() > 1 and values.shape[1] > 2:
            r = np.corrcoef(values[spread])
            yield _number("correlation_of_cells", name, r[np.triu_indices_from(r, 1)].mean())


def figure_1() -> Iterator[Row]:
    """Yield Figure 1's numbers: the cycle of the seeds, and ECE_bin on all its data sets."""
    chain, recurring = seed_cycle()
    scenario, n = FIGURE_1
    values = 100 * _estimates(scenario, [n], chain)["ece_bin_ew", n].estimate
    once, last = len(chain) - recurring, values[-recurring:]
    total = values[:once].sum() + last.mean() * (MILLION - once)
    yield _number("distinct_data_sets", "", len(chain))
    yield _number("recurring_data_sets", "", recurring)
    sd = values.std(ddof=1)
    yield _number(
        "figure_1_percent", "mean, each data set once", values.mean(), sd / len(chain) ** 0.5
    )
    yield _number(
        "figure_1_percent", "mean of a million", total / MILLION, last.std(ddof=1) / recurring**0.5
    )
    yield _number("figure_1_percent", "data set 1", values[0])
    yield _number("figure_1_percent", "data set 2", values[1], published=SAMPLE_A_PERCENT)


def _number(
    quantity: str, case: str, value: float, error: float = np.nan, published: float = np.nan
) -> Row:
    values = (quantity, case, value, error, published)
    return dict(zip(columns_of("authors_numbers"), values, strict=True))
