"""The league: every estimator against the quantity that it estimates, on scenarios of known truth.

The scenario set crosses two distributions of scores, one saturated like a network's on CIFAR and
one spread, with perfect calibration, slopes of 0.5, 0.8 and 1.25 in the log-odds, a shift and a
wave; fitted scenarios of the paper's models and distributions of few values, whose scores are tied,
join it. All
estimators see the same data sets. ``honesty`` adds calibrated uniform scores, with columns for
forecasters who say less or more than they know.
"""

import math
from pathlib import Path
from typing import NamedTuple

import numpy as np

from calbias.conventions import N_BINS
from calbias.engine.sorted_batch import sorted_data_set
from calbias.estimation.loading import load_estimator
from calbias.estimation.registry import estimator_module, estimator_options, estimator_target
from calbias.io.constants import literal
from calbias.truth.curves import Curve
from calbias.truth.scenarios import Scenario
from calbias.truth.targets import Population, population_of_scenario
from evidence.cells.common import SATURATED, SPREAD
from evidence.cells.halves import HalfCell
from evidence.cells.sampled import SampledCell
from evidence.cells.wave import Wave
from evidence.runner import Method, values_of
from evidence.targets import options_taken, target_value, target_value_of
from pipeline.scenarios.fits import fitted_scenario

DISTRIBUTIONS = {"saturated": SATURATED, "spread": SPREAD}
CURVES = {
    "calibrated": Curve("identity"),
    "slope_0.5": Curve("logit_logit_b1", 0.0, 0.5),
    "slope_0.8": Curve("logit_logit_b1", 0.0, 0.8),
    "slope_1.25": Curve("logit_logit_b1", 0.0, 1.25),
    "shift": Curve("logit_logit_b0_b1", -0.5, 1.0),
    "wave": Wave(),
}
TIED = {  # eleven verbalised values, scores rounded to two digits, and after histogram binning
    "tied_verbalised_calibrated": (("verbalised", ()), ("calibrated", ())),
    "tied_verbalised_values": (("verbalised", ()), ("values", (0.08,))),
    "tied_rounded_slope_0.7": (("rounded", (2.0, 0.7, 2.0)), ("slope", (0.7,))),
    "tied_binned_shift": (("binned", ()), ("shift", (-0.4,))),
}
FEWEST_TIED, _TIED_SHARE = 40, 0.2  # data sets
OWN = "own"  # the target of an estimator whose file defines ``truth``
MOST_QUADRATIC = 1000  # samples, for an estimator whose file says QUADRATIC = True
FEWEST, FEWEST_QUADRATIC = 100, 40  # data sets of a point
_LEAST_TRUTH = 1e-6  # below, an error relative to the truth says nothing
_GRID = 1 << 16  # points of a distribution: targets are accurate to 1e-5 of themselves


def league_scenarios(models, beta_fits, glm_fits):
    """Return the scenarios: two distributions with every curve, then ``models`` with their fits."""
    synthetic = [
        Scenario(f"{distribution}_{name}", *pair, curve)
        for distribution, pair in DISTRIBUTIONS.items()
        for name, curve in CURVES.items()
    ]
    fits = beta_fits, glm_fits
    return synthetic + [fitted_scenario(model, "fitted", *fits)[0] for model in models]


class TiedScenario(NamedTuple):
    """A distribution on few scores with a curve; its truths are sums over the values."""

    name: str
    of: HalfCell

    @property
    def population(self):
        """The values with the curve's gaps and their probabilities."""
        points, weights = self.of.grid()
        return Population(points, self.of.rates(points) - points, weights)

    def batches(self, n, seed, replicates):
        """Yield SortedBatches of one data set."""
        for k in range(replicates):
            yield sorted_data_set(*self.of.draw(n, seed, k))


def tied_scenarios():
    """Return the scenarios of tied scores."""
    return [TiedScenario(name, HalfCell("league", *both)) for name, both in TIED.items()]


def target_label(target, norm):
    """Return the name of a target with its norm: ``l1``, ``l2``, ``l2_squared``, ``smooth_ce`` …"""
    if target not in ("lp", "lp_power"):
        return target
    return f"l{norm:g}" if target == "lp" or norm == 1 else f"l{norm:g}_squared"


class Entry(NamedTuple):
    """An estimator in the league, at one norm; ``is_quadratic`` where it costs O(n²)."""

    name: str
    path: object
    run: object
    norm: float
    target: str
    is_quadratic: bool = False

    def truth(self, scenario):
        """Return the value of the estimator's own target, or of its file's ``truth``."""
        is_tied = isinstance(scenario, TiedScenario)
        if self.target == OWN or is_tied:
            population = scenario.population if is_tied else population_of_scenario(scenario, _GRID)
        if self.target == OWN:
            return float(estimator_module(self.path).truth(*population, self.norm))
        if is_tied:
            return target_value_of(self.target, population, **self.options)
        return target_value(self.target, scenario, size=_GRID, **self.options)

    @property
    def options(self):
        """What its target may depend on, a dict."""
        return {**estimator_options(self.name, self.path), "norm": self.norm, "n_bins": N_BINS}

    @property
    def quantity(self):
        """What it estimates: entries of one quantity have one truth."""
        if self.target == OWN:
            return self
        return self.target, *sorted(options_taken(self.target, self.options).items())


def league_entries(estimators):
    """Return the Entries of {name: file}.

    An estimator without TARGET whose file defines ``truth(scores, gaps, weights, norm)``, a
    function of a population's arrays, is held against that; one with neither against the ℓp error.
    """
    entries = []
    for name, path in estimators.items():
        target = estimator_target(name, path)
        if literal(path, "TARGET", default=None) is None:
            target = OWN if hasattr(estimator_module(Path(path)), "truth") else target
        run, is_quadratic = load_estimator(name, path), literal(path, "QUADRATIC", default=False)
        norms = (1, 2) if target in ("lp", "lp_power") else (2,)
        for norm in literal(path, "NORMS", default=None) or norms:
            entries.append(Entry(name, path, run, float(norm), target, is_quadratic))
    return entries


def league_rows(estimators, scenarios, sample_sizes, replicates, seed):
    """Return the rows of table ``league``; ``replicates`` are those at the smallest sample size."""
    entries = league_entries(estimators)
    quantities, rows = {entry.quantity: entry for entry in entries}, []
    of_entry = {entry: entry.quantity for entry in entries}
    for scenario in scenarios:
        truths = {quantity: entry.truth(scenario) for quantity, entry in quantities.items()}
        is_tied = isinstance(scenario, TiedScenario)
        cell = scenario if is_tied else SampledCell(scenario)
        for n in sample_sizes:
            m = n_replicates(n, sample_sizes, replicates)
            if is_tied:
                m = min(max(FEWEST_TIED, round(_TIED_SHARE * replicates)), replicates)
            found = values_of(methods_of(entries, n), cell.batches(n, seed, m))
            rows += [
                row_of(scenario.name, entry, n, truths[of_entry[entry]], values)
                for entry, values in found.items()
            ]
    return rows


def methods_of(entries, n):
    """Return {Entry: Method}; one that costs O(n²) has few data sets, and none of many rows."""
    return {
        e: Method(e.target, lambda data, e=e: e.run(data, N_BINS, e.norm)[0],
                  FEWEST_QUADRATIC if e.is_quadratic else None)
        for e in entries if n <= MOST_QUADRATIC or not e.is_quadratic
    }  # fmt: skip


def n_replicates(n, sample_sizes, replicates):
    """Return how many data sets of n samples: at least 100, else in inverse proportion to n."""
    return max(min(replicates, FEWEST), round(replicates * min(sample_sizes) / n))


def row_of(scenario, entry, n_samples, truth, values):
    """Return a row of table ``league`` from the estimates of its data sets."""
    bias, sd = values.mean() - truth, values.std(ddof=1)
    rmse = math.sqrt(np.mean((values - truth) ** 2))
    return {
        "scenario": scenario,
        "estimator": entry.name,
        "target": target_label(entry.target, entry.norm),
        "n_samples": n_samples,
        "n_replicates": values.size,
        "truth": truth,
        "mean_estimate": values.mean(),
        "bias": bias,
        "bias_se": sd / math.sqrt(values.size),
        "sd": sd,
        "rmse": rmse,
        "relative_rmse": rmse / truth if truth > _LEAST_TRUTH else math.nan,
    }
