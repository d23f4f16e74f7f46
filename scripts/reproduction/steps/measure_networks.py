"""The estimators' bias on trained networks whose true calibration error is known."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit, log_expit

from calbias.conventions import N_BINS
from calbias.engine.sampler import Sampler
from calbias.estimation.loading import load_estimator
from calbias.simulation import simulate_cells
from calbias.truth.counted import CountedScenario
from calbias.truth.scenarios import Scenario
from calbias.truth.true_error import true_calibration_error
from pipeline.fits.beta import fit_beta
from pipeline.fits.glm import best_fit, fit_all
from pipeline.networks import Network, read_networks
from pipeline.paper import BINNED, MODEL_SIZES
from pipeline.steps import Seed
from pipeline.tables import write_table

ESTIMATORS = (*BINNED, "kde")
LAWS = TRUTH, FITS, CALIBRATED = ("population", "beta_glm", "calibrated")
DRAWN_ROWS = 1 << 21  # of a network and a sample size
FEWEST = 300  # data sets


def measure_networks(
    *,
    networks: Path,
    sketches: Path,
    top_labels: Path,
    norm: float,
    replicates: int,
    seed: Seed,
    output: Path,
) -> None:
    """Measure the bias of the paper's seven estimators on trained networks.

    Three laws of each network share their uniform numbers: its population; the Beta and the GLM
    that the paper's method fits to its test fold; its scores as if they were calibrated.

    networks: table of the networks and their true errors
    sketches: their populations, in cells
    top_labels: their test folds
    norm: p of the ℓp error
    replicates: a quarter of the most data sets of a network and a sample size
    seed: seed of all random streams
    output: table to write
    """
    rows = [
        {"scenario": network.population.name, **_about(network), **row}
        for network in read_networks(networks, sketches, top_labels)
        for row in network_rows(network, norm, replicates, seed)
    ]
    write_table(output, "network_bias", pd.DataFrame(rows))


def _about(network: Network) -> dict[str, Any]:
    return {name: network.about[name] for name in ("role", "l2_percent", "share_above_99")}


def network_rows(
    network: Network, norm: float, replicates: int, seed: int
) -> Iterator[dict[str, Any]]:
    """Yield the rows of table ``network_bias`` of a network, without the columns about it."""
    run = {name: load_estimator(name) for name in ESTIMATORS}
    cells = [(name, N_BINS) for name in ESTIMATORS]
    for law, scenario in zip(LAWS, laws(network), strict=True):
        truth = 100 * true_calibration_error(scenario, norm=norm)
        for n in MODEL_SIZES:
            m = min(max(DRAWN_ROWS // n, FEWEST), 4 * replicates)
            results = simulate_cells(Sampler(scenario, n, seed), np.arange(m), run, cells, norm)
            for name, (estimates, n_bins_used) in zip(ESTIMATORS, results, strict=True):
                errors = 100 * estimates - truth
                sd = errors.std(ddof=1)
                yield {
                    "law": law,
                    "estimator": name,
                    "n_samples": n,
                    "n_replicates": m,
                    "tce_percent": truth,
                    "bias_percent": errors.mean(),
                    "bias_se_percent": sd / m**0.5,
                    "sd_percent": sd,
                    "mean_n_bins_used": n_bins_used.mean(),
                }


def laws(network: Network) -> tuple[CountedScenario | Scenario, ...]:
    """Return the scenarios of LAWS; they have the network's name, which keys their streams."""
    population, _, log_odds, hits = network
    logs = log_expit(log_odds), log_expit(-log_odds)
    beta = fit_beta(*logs)
    curve = best_fit(fit_all(*logs, hits, use_statsmodels=False)).curve
    fitted = Scenario(population.name, beta.alpha, beta.beta, curve)
    cells, n, width = population.cells, population.n, population.width
    calibrated = n * expit((cells + 0.5) * width)
    return population, fitted, CountedScenario(population.name, cells, n, calibrated, width)
