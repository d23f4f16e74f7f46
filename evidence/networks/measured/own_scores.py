"""Which law, made of a fold, tells a network's biases? ``python -m measured.own_scores``.

Two comparisons, each by the means of those who use it; ``tables/laws.csv`` has them, over networks.

workflow: folds of 2000 and 10 000 rows; ℓ2; the paper's sample sizes. ``beta_glm`` is the paper's
    law, ``own_scores`` the fold's own scores with a penalised spline (``fits: own_scores``).
audit: files of 300 to 3000 rows of the network, and of its scores with calibrated hits; ℓ1; hits
    are drawn on the file's scores from the ``posterior`` curve, as an audit does, or from the
    spline (``own_scores``).
"""

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit, log_expit, logit

from calbias.auditing.calibration_curve import posterior_average
from calbias.auditing.estimator_bias import audited_estimators, redraws
from calbias.engine.posterior import curve_of
from calbias.simulation import simulate, simulate_estimates
from calbias.truth.counted import CountedScenario
from calbias.truth.scenarios import Scenario
from calbias.truth.true_error import true_calibration_error
from measured.bias import ESTIMATORS, N_BINS, SEED, SIZES, write_rows
from measured.collect import KEPT
from measured.comparisons import DEBIAS, SWEEP, over_networks
from measured.shipped import FOLDER
from pipeline.fits.beta import fit_beta
from pipeline.fits.glm import best_fit, fit_all
from pipeline.networks import Network, read_networks

FOLD_ROWS, FILE_ROWS = (2000, 10_000), (300, 1000, 3000)
DRAWN_ROWS, FEWEST = 1 << 20, 200
FILES, REDRAWS = 4, 200
AUDITED = ("ece_bin_ew", "ece_bin_em", "ece_sweep_em", "kde")
Law = Scenario | CountedScenario
Row = dict[str, Any]


def biases(law: Law, n: int, estimators: tuple[str, ...], norm: float) -> dict[str, float]:
    """Return {estimator: bias in percent} of a law, whose name keys the uniforms."""
    truth = true_calibration_error(law, norm=norm)
    numbers = np.arange(max(DRAWN_ROWS // n, FEWEST))
    estimates = simulate_estimates(law, n, numbers, estimators, N_BINS, norm, SEED)
    return {name: 100 * float(values.mean() - truth) for name, (values, _) in estimates.items()}


def workflow_rows(network: Network) -> Iterator[Row]:
    """Yield a row for each fold, sample size, law and estimator: true and predicted bias."""
    population = network.population
    truth = true_calibration_error(population, norm=2)
    for rows in FOLD_ROWS:
        log_odds, hits = network.log_odds[:rows], network.hits[:rows]
        logs = log_expit(log_odds), log_expit(-log_odds)
        beta = fit_beta(*logs)
        curve = best_fit(fit_all(*logs, hits, use_statsmodels=False)).curve
        laws: dict[str, Law] = {
            "beta_glm": Scenario(population.name, beta.alpha, beta.beta, curve),
            "own_scores": CountedScenario.from_log_odds(population.name, log_odds, hits),
        }
        errors = {x: 100 * (true_calibration_error(laws[x], norm=2) - truth) for x in laws}
        for n in SIZES:
            true_biases = biases(population, n, ESTIMATORS, 2)
            for law, scenario in laws.items():
                for estimator, bias in biases(scenario, n, ESTIMATORS, 2).items():
                    yield {
                        "use": "workflow",
                        "rows": rows,
                        "law": law,
                        "estimator": estimator,
                        "error_of_truth": errors[law],
                        "true_bias": true_biases[estimator],
                        "bias": bias,
                    }


def audit_rows(network: Network) -> Iterator[Row]:
    """Yield a row for each file, law and estimator: true bias, and that of redrawn hits."""
    estimators = audited_estimators(1.0, N_BINS, AUDITED)
    for use, population in (
        ("audit", network.population),
        ("audit, calibrated", network.population.calibrated()),
    ):
        truth = true_calibration_error(population, norm=1)
        for n in FILE_ROWS:
            true_biases = biases(population, n, AUDITED, 1)
            for scores, hits in zip(*simulate(population, n, replicates=FILES), strict=True):
                if hits.min() == hits.max():
                    continue
                for law, rates in curves(scores, hits).items():
                    error = np.mean(np.abs(scores - rates))
                    drawn = [*redraws(scores, rates, REDRAWS, SEED)]
                    for name, estimator in estimators.items():
                        mean = np.concatenate([estimator.run(batch) for batch in drawn]).mean()
                        yield {
                            "use": use,
                            "rows": n,
                            "law": law,
                            "estimator": name,
                            "error_of_truth": 100 * (error - truth),
                            "true_bias": true_biases[name],
                            "bias": 100 * (mean - error),
                        }


def curves(scores: np.ndarray, hits: np.ndarray) -> dict[str, np.ndarray]:
    """Return {law: hit probabilities at the scores (n,)}."""
    average = posterior_average(scores, np.ones(len(scores)), hits, 1.0)
    population = CountedScenario.from_scores("file", scores, hits)
    inside = np.clip(scores, 2.0**-53, 1 - 2.0**-53)
    return {
        "posterior": curve_of(average, scores).mean,
        "own_scores": expit(population.logit_hit(logit(inside))),
    }


def role(network: Network) -> str:
    """Return the role of a network; the second judging set is read apart from its partners."""
    second = {"k": "second judging", "p": "partner"}
    return second.get(network.population.name[0], str(network.about["role"]))


def summary(rows: pd.DataFrame) -> Iterator[Row]:
    """Yield mean errors of each law over the networks of a role, and differences of two laws."""
    rows = rows.assign(
        miss=(rows.bias - rows.true_bias).abs(),
        size=rows.bias.abs() - rows.true_bias.abs(),
        miss_of_truth=rows.error_of_truth.abs(),
    )
    for (use, n, role), part in rows.groupby(["use", "rows", "role"]):
        about = {"use": use, "rows": n, "set": role}
        means = part.groupby(["law", "name"])[["miss", "error_of_truth", "miss_of_truth"]].mean()
        quantities = {f"{what}, mean": means[what].unstack("law") for what in means}
        for estimator, cells in part.groupby("estimator"):
            quantities[f"miss, {estimator}"] = cells.groupby(["law", "name"]).miss.mean().unstack(0)
        if use == "workflow":
            sizes = part.pivot_table("size", ["name", "law"], "estimator")
            quantities["|debias| − |sweep|, moved"] = (sizes[DEBIAS] - sizes[SWEEP]).unstack("law")
        for what, wide in quantities.items():
            for law in wide:
                yield about | {"what": what, "law": law} | over_networks(wide[law].dropna())
            (other,) = {*wide} - {"own_scores"}
            difference = (wide[other] - wide["own_scores"]).dropna()
            yield about | {"what": what, "law": f"{other} − own_scores"} | over_networks(difference)


def main() -> int:
    """Measure all networks but controls and partners, and write the table."""
    files = (FOLDER / name for name in ("networks.csv", "sketches.parquet", "top_labels.parquet"))
    networks = [n for n in read_networks(*files) if role(n) not in ("control", "partner")]
    rows = pd.DataFrame(
        {"name": network.population.name, "role": role(network), **row}
        for network in networks
        for part in (workflow_rows, audit_rows)
        for row in part(network)
    )
    write_rows(KEPT / "laws.csv", list(summary(rows)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
