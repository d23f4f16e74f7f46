"""The estimators' bias on trained networks whose true calibration error is known (ℓ2)."""

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import expit, log_expit

from calbias.defaults import N_BINS
from calbias.engine.sampler import Sampler
from calbias.engine.sorted_batch import Estimates
from calbias.estimation.loading import load_estimator
from calbias.estimation.registry import bin_numbers, estimator_file
from calbias.simulation import simulate_cells
from calbias.truth.counted import CountedScenario
from calbias.truth.scenarios import Scenario
from calbias.truth.true_error import true_calibration_error
from networks.kept import Network, read_networks
from pipeline.detection_limits import rejected_above
from pipeline.fits.beta import fit_beta
from pipeline.fits.glm import best_fit, fit_all
from pipeline.paper import (
    BINNED,
    DETECTABLE_PERCENT,
    HEATMAP_BINS,
    HEATMAP_SIZES,
    MODEL_SIZES,
    NORM,
)
from pipeline.steps import Seed
from pipeline.table_schema import columns_of
from pipeline.tables import write_table
from reproduction.goodness_of_fit import largest_decrease

ESTIMATORS = (*BINNED, "kde")
FIXED_BINS = ("ece_bin_ew", "ece_bin_em", "ece_debias_ew", "ece_debias_em")
TESTS = ("ece_bin_ew", "ece_sweep_em")
"""The estimators that Figure 5 tests calibration by."""
DRAWN_ROWS = 1 << 21  # of a network and a sample size
FEWEST = 300  # data sets
DRAWN = {"j": "first", "k": "second", "p": "partner"}
"""Sets of networks by the letter of their names; others go by their role."""
Cell = tuple[str, int]  # an estimator and its number of bins


def measure_networks(
    *,
    networks: Path,
    sketches: Path,
    top_labels: Path,
    scaled: Path,
    history: Path,
    replicates: int,
    seed: Seed,
    output_networks: Path,
    output_bias: Path,
) -> None:
    """Measure the bias of the paper's seven estimators on trained networks.

    Laws of each network share their uniform numbers: its population; the Beta and the GLM that the
    paper's method fits to its test fold; its scores as if they were calibrated; its population
    after temperature scaling.

    networks: table of the networks and their true errors
    sketches: their populations, in cells
    top_labels: their test folds
    scaled: their populations after temperature scaling
    history: table of error and loss during their training
    replicates: a quarter of the most data sets of a network and a sample size
    seed: seed of all random streams
    output_networks: table networks to write
    output_bias: table network_bias to write
    """
    read = read_networks(networks, sketches, top_labels, scaled)
    courses = dict([*pd.read_csv(history).groupby("name")])
    about = pd.DataFrame([described(x, courses.get(x.population.name)) for x in read])
    write_table(output_networks, "networks", about[list(columns_of("networks"))])
    rows = [row for network in read for row in network_rows(network, NORM, replicates, seed)]
    write_table(output_bias, "network_bias", pd.DataFrame(rows))


def described(network: Network, course: pd.DataFrame | None) -> dict[str, Any]:
    """Return the row of table ``networks``; ``course`` is its training, if that is known."""
    population = network.population
    points = population.points
    scores = expit(points.log_odds)
    middles = expit((population.cells + 0.5) * population.width)
    bins = np.minimum((middles * N_BINS).astype(int), N_BINS - 1)
    n, hits = (np.bincount(bins, x) for x in (population.n, population.hits))
    centred = scores - points.weights @ scores
    moments = {k: points.weights @ centred**k for k in (2, 3)}
    return {
        **network.about,
        "scenario": population.name,
        "drawn": _set_of(network.about),
        "skewness": moments[3] / moments[2] ** 1.5,
        "largest_decrease": largest_decrease(n[n > 0], hits[n > 0]),
        **({} if course is None else overfitted(course)),
    }


def _set_of(about: dict) -> str:
    """Return the set of networks that a network belongs to."""
    return DRAWN[about["name"][0]] if about["role"] == "judging" else about["role"]


def overfitted(course: pd.DataFrame) -> dict[str, float]:
    """Return by how much the loss rose and the error fell after the loss was least.

    Epochs that are next to the least one stand for it, since a least value of noisy ones is low.
    """
    course = course.sort_values("epoch")
    nll, error = course["nll"].to_numpy(), course["error_percent"].to_numpy()
    k = int(nll.argmin())
    near = [j for j in (k - 1, k + 1) if 0 <= j < len(nll)]
    end = slice(-2, None)
    return {
        "nll_rise": float(nll[end].mean() - nll[near].mean()),
        "error_fall_percent": float(error[near].mean() - error[end].mean()),
    }


class Law(NamedTuple):
    """A law of scores and hits, and the cells that are run on its data sets at each n.

    ``more_bins`` are estimators that are run with other numbers of bins too; the estimates of the
    law ``null`` give the thresholds of a test.
    """

    scenario: CountedScenario | Scenario
    cells: list[Cell]
    more_bins: tuple[str, ...] = ()
    null: str = ""


def laws(network: Network) -> dict[str, Law]:
    """Return {law: Law} of a network; all have its name, which keys their streams."""
    population = network.population
    usual = [(x, bin_numbers(estimator_file(x), (N_BINS,))[0]) for x in ESTIMATORS]
    result = {
        "calibrated": Law(population.calibrated(), usual, ("ece_bin_em",)),
        "population": Law(population, usual, FIXED_BINS, null="calibrated"),
        "beta_glm": Law(fitted(network), usual),
    }
    if network.scaled:
        tests = [cell for cell in usual if cell[0] in TESTS]
        result["scaled_calibrated"] = Law(network.scaled.calibrated(), tests)
        result["scaled"] = Law(network.scaled, tests, null="scaled_calibrated")
    return result


def network_rows(
    network: Network, norm: float, replicates: int, seed: int
) -> Iterator[dict[str, Any]]:
    """Yield the rows of table ``network_bias`` of a network.

    At the sample sizes of the paper's sentences on detection there are tests alone.
    """
    by_name = laws(network)
    truths = {x: 100 * true_calibration_error(by_name[x].scenario, norm=norm) for x in by_name}
    for n in sorted({*MODEL_SIZES, *DETECTABLE_PERCENT}):
        m = min(max(DRAWN_ROWS // n, FEWEST), 4 * replicates)
        estimates = {name: _estimates(law, n, m, norm, seed) for name, law in by_name.items()}
        for name, law in by_name.items():
            for cell, (values, n_bins_used) in estimates[name].items():
                tested = law.null and cell[0] in TESTS and cell in law.cells
                missed = _missed(values, estimates[law.null][cell][0]) if tested else (np.nan,) * 2
                errors = 100 * values - truths[name]
                yield {
                    "scenario": network.population.name,
                    "law": name,
                    "estimator": cell[0],
                    "n_bins": cell[1] or np.nan,
                    "n_samples": n,
                    "n_replicates": m,
                    "tce_percent": truths[name],
                    "bias_percent": errors.mean(),
                    "bias_se_percent": errors.std(ddof=1) / m**0.5,
                    "sd_percent": errors.std(ddof=1),
                    "mean_n_bins_used": n_bins_used.mean(),
                    "miss_rate": missed[0],
                    "miss_rate_se": missed[1],
                }


def _estimates(law: Law, n: int, m: int, norm: float, seed: int) -> dict[Cell, Estimates]:
    """Return the estimates of a law's cells on its first m data sets of n rows."""
    run = {name: load_estimator(name) for name in ESTIMATORS}
    cells = [cell for cell in law.cells if n in MODEL_SIZES or cell[0] in TESTS]
    if n in HEATMAP_SIZES:
        cells += itertools.product(law.more_bins, HEATMAP_BINS)
    results = simulate_cells(Sampler(law.scenario, n, seed), np.arange(m), run, cells, norm)
    return dict(zip(cells, results, strict=True))


def _missed(estimates: np.ndarray, null: np.ndarray) -> tuple[float, float]:
    """Return the share of estimates that a test at 5 % does not reject, and its standard error."""
    rate, low, high = (float(np.mean(estimates <= x)) for x in rejected_above(null))
    return rate, float(np.hypot((rate * (1 - rate) / estimates.size) ** 0.5, (high - low) / 2))


def fitted(network: Network) -> Scenario:
    """Return the Beta and the GLM of least AIC of a network's test fold."""
    logs = log_expit(network.log_odds), log_expit(-network.log_odds)
    beta = fit_beta(*logs)
    curve = best_fit(fit_all(*logs, network.hits, use_statsmodels=False)).curve
    return Scenario(network.population.name, beta.alpha, beta.beta, curve)
