"""How many bins, of which kind: errors of the ECE, of the calibration curve, and bands by bin.

Three tables that the threads of scikit-learn on a calibration error and on ``calibration_curve``
ask for (issues 18268, 30664, 33658, pull request 34261):

``error_rows``   bias and root mean squared error of the estimated calibration error
``curve_rows``   root mean squared error of the binned curve against the true one, at the scores
``band_rows``    coverage of intervals for a bin's rate, and size of the consistency band
"""

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.stats import binom

import calbias
from calbias.conventions import CONFIDENCE_LEVEL, N_BINS
from calbias.engine.pool_adjacent import pooled_means
from calbias.engine.sorted_batch import sorted_data_set
from calbias.estimators.ece_bin_cube_root import cube_root
from calbias.estimators.ece_sweep import bins_chosen
from evidence.scenarios.sets import SATURATED_ROUNDED, SPREAD, UNIFORM
from evidence.scenarios.wave import Wave
from evidence.studies.interval_coverage import clopper_pearson

SCENARIOS = {
    "calibrated": calbias.Scenario("binning", *SPREAD, calbias.Curve("identity")),
    "slope": calbias.Scenario("binning", *SPREAD, calbias.Curve("logit_logit_b0_b1", 0.1, 0.6)),
    "saturated": calbias.Scenario(
        "binning", *SATURATED_ROUNDED, calbias.Curve("logflip_logflip_b0_b1", -0.24, 0.3)
    ),
    "rare": calbias.Scenario("binning", 0.5, 9.5, calbias.Curve("logit_logit_b0_b1", -0.5, 0.8)),
    "wave": calbias.Scenario("binning", *UNIFORM, Wave("wave", 0.08, 2)),
}
SIZES = (100, 1000, 10_000)
RULES: dict[str, Callable[[int], int]] = {
    "5": lambda n: 5,
    "15": lambda n: N_BINS,
    "cube_root": cube_root,
    "square_root": lambda n: int(np.ceil(np.sqrt(n))),
}
_KINDS = {"uniform": ("ew", "equal_width"), "quantile": ("em", "equal_mass")}


def error_rows(replicates: int, seed: int) -> Iterator[dict[str, Any]]:
    """Yield bias and RMSE, fractions, of ECE_bin and of the debiased ℓ2 error, and of the sweep."""
    estimators = [
        (f"ece_{what}_{_KINDS[strategy][0]}", strategy, rule, norm)
        for strategy in _KINDS
        for rule in RULES
        for what, norm in (("bin", 1), ("bin", 2), ("debias", 2))
    ]
    estimators += [("ece_sweep_em", "sweep", "", norm) for norm in (1, 2)]
    for name, n in itertools.product(SCENARIOS, SIZES):
        for estimator, strategy, rule, norm in estimators:
            n_bins = RULES[rule](n) if rule else N_BINS
            measured = calbias.bias(
                estimator, SCENARIOS[name], n, replicates=replicates, n_bins=n_bins, norm=norm,
                seed=seed,
            )  # fmt: skip
            yield {
                "scenario": name,
                "n_samples": n,
                "estimator": estimator,
                "strategy": strategy,
                "n_bins": rule,
                "norm": norm,
                "truth": measured.truth,
                "bias": measured.bias,
                "bias_se": measured.bias_se,
                "rmse": measured.rmse,
            }


def curve_rows(replicates: int, seed: int) -> Iterator[dict[str, Any]]:
    """Yield the RMSE of the curve by bins, by the sweep's bins and by isotonic regression."""
    for name, n in itertools.product(SCENARIOS, SIZES):
        squares: dict[tuple[str, str], list[float]] = {}
        for scores, hits in _data_sets(name, n, replicates, seed):
            data, truth = sorted_data_set(scores, hits), _rates(SCENARIOS[name], scores)
            fits = {
                (strategy, rule): _binned(data, RULES[rule](n), _KINDS[strategy][1])
                for strategy, rule in itertools.product(_KINDS, RULES)
            }
            chosen = bins_chosen(data, "equal_mass")
            fits["sweep", ""] = _binned(data, chosen, "equal_mass")
            fits["isotonic", ""] = np.empty(n)
            pooled_means(scores, hits.astype(float), fits["isotonic", ""])
            for key, fit in fits.items():
                squares.setdefault(key, []).append(float(np.mean((fit - truth) ** 2)))
        for (strategy, rule), values in squares.items():
            mean = np.mean(values)
            yield {
                "scenario": name,
                "n_samples": n,
                "strategy": strategy,
                "n_bins": rule,
                "rmse": np.sqrt(mean),
                "rmse_se": np.std(values) / np.sqrt(replicates) / 2 / np.sqrt(mean),
            }


def band_rows(replicates: int, seed: int) -> Iterator[dict[str, Any]]:
    """Yield the share of bins whose true rate is in an interval of 95 %, and in which it is not.

    The true rate is the mean of the curve over the bin's scores. The bootstrap draws a bin's hits
    with replacement: its percentiles follow a binomial law. ``consistency_band`` is the share
    of bins inside the band: 95 % where the model is calibrated.
    """
    for name, n, strategy in itertools.product(SCENARIOS, SIZES, _KINDS):
        inside: dict[str, list[float]] = {}
        for drawn in _data_sets(name, n, replicates, seed):
            for method, share in _inside(SCENARIOS[name], *drawn, _KINDS[strategy][1]).items():
                inside.setdefault(method, []).append(share)
        for method, shares in inside.items():
            yield {
                "scenario": name,
                "n_samples": n,
                "strategy": strategy,
                "n_bins": "cube_root",
                "method": method,
                "share_inside": np.mean(shares),
                "share_inside_se": np.std(shares) / np.sqrt(replicates),
            }


def _data_sets(name: str, n: int, replicates: int, seed: int) -> Iterator[tuple[np.ndarray, ...]]:
    """Return pairs of scores and hits, (n,) each."""
    drawn = calbias.simulate(SCENARIOS[name], n, replicates=replicates, seed=seed)
    return zip(*drawn, strict=True)


def _inside(
    scenario: calbias.Scenario, scores: np.ndarray, hits: np.ndarray, binning: str
) -> dict[str, float]:
    """Return the share of one data set's bins that each method's interval holds."""
    n_bins = cube_root(len(scores))
    ranks = np.unique(sorted_data_set(scores, hits).ranks(n_bins, binning))
    sizes = np.diff(ranks)
    rates = np.add.reduceat(_rates(scenario, scores), ranks[:-1]) / sizes
    counts = np.add.reduceat(hits.astype(int), ranks[:-1])
    tail = (1 - CONFIDENCE_LEVEL) / 2
    diagram = calbias.reliability_diagram(
        scores, hits, n_bins=n_bins, binning=binning, replicates=400
    )
    exact = [clopper_pearson(int(k), int(m)) for k, m in zip(counts, sizes, strict=True)]
    drawn = [binom.ppf([tail, 1 - tail], m, k / m) / m for k, m in zip(counts, sizes, strict=True)]
    bands = {
        "clopper_pearson": (*np.transpose(exact), rates),
        "bootstrap": (*np.transpose(drawn), rates),
        "consistency_band": (diagram.band_low, diagram.band_high, diagram.mean_hit),
    }
    return {
        method: float(np.mean((low <= values) & (values <= high)))
        for method, (low, high, values) in bands.items()
    }


def _rates(scenario: calbias.Scenario, scores: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return np.asarray(scenario.curve.hit(np.log(scores), np.log1p(-scores)))


def _binned(data: Any, n_bins: int, binning: str) -> np.ndarray:
    """Return each row's mean hit of its bin, (n,)."""
    ranks = np.unique(data.ranks(n_bins, binning)[0])
    means = np.diff(data.cum_hit[0][ranks]) / np.diff(ranks)
    return np.repeat(means, np.diff(ranks))
