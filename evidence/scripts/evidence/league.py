"""The league: every estimator against the quantity that it estimates, on scenarios of known truth.

Two distributions of scores, one saturated like a network's on CIFAR and one spread, are crossed
with perfect calibration, slopes of 0.5, 0.8 and 1.25 in the log-odds, a shift and a wave.
Fitted scenarios of the paper's models and distributions of few values, whose scores are tied,
join them. All estimators see the same data sets. ``run_league`` adds calibrated uniform scores,
with columns for forecasters who say less or more than they know.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, cast

from numpy.typing import NDArray

from calbias.defaults import N_BINS
from calbias.engine.sorted_batch import SortedBatch
from calbias.estimation.loading import load_estimator
from calbias.estimation.registry import estimator_options, estimator_target
from calbias.io.python_files import literal
from calbias.truth.curves import Curve
from calbias.truth.scenarios import Scenario
from calbias.truth.targets import Population
from evidence.cells.beta import Wave
from evidence.cells.samples import SampledCell
from evidence.runner import Method, Row, Values, at_sizes, errors_of, run
from evidence.targets import options_taken, target_value, target_value_of
from pipeline.scenarios import fitted_scenario
from reproduction.judging import HalfCell

FEWEST_TIED, _TIED_SHARE = 40, 0.2  # data sets
MOST_QUADRATIC = 1000  # samples, for an estimator whose file says QUADRATIC = True
FEWEST, FEWEST_QUADRATIC = 100, 40  # data sets of a point
_LEAST_TRUTH = 1e-6  # below, an error relative to the truth says nothing
_GRID = 1 << 16  # points of a distribution: targets are accurate to 1e-5 of themselves

DISTRIBUTIONS = {"saturated": (2.78, 0.048), "spread": (2.0, 1.0)}
"""Parameters of a Beta; ``saturated`` is the published fit of resnet110_c10."""
CURVES: dict[str, Curve] = {
    "calibrated": Curve("identity"),
    "slope_0.5": Curve("logit_logit_b1", 0.0, 0.5),
    "slope_0.8": Curve("logit_logit_b1", 0.0, 0.8),
    "slope_1.25": Curve("logit_logit_b1", 0.0, 1.25),
    "shift": Curve("logit_logit_b0_b1", -0.5, 1.0),
    "wave": cast(Curve, Wave()),  # it has the methods of one
}


def league_scenarios(
    models: Sequence[str] = (), beta_fits: Sequence[Path] = (), glm_fits: Sequence[Path] = ()
) -> list[Scenario]:
    """Return the scenarios: two distributions with every curve, then ``models`` with their fits."""
    synthetic = [
        Scenario(f"{distribution}_{name}", *pair, curve)
        for distribution, pair in DISTRIBUTIONS.items()
        for name, curve in CURVES.items()
    ]
    fits = beta_fits, glm_fits
    return synthetic + [fitted_scenario(model, "fitted", *fits)[0] for model in models]


class TiedCell(NamedTuple):
    """A distribution on few scores with a curve; its truths are sums over the values."""

    name: str
    of: HalfCell

    @property
    def population(self) -> Population:
        """The values with the curve's gaps and their probabilities."""
        points, weights = self.of.grid()
        return Population(points, self.of.rates(points) - points, weights)

    def truth(self, target: str) -> float:
        """Return the error ``l1`` or ``l2``."""
        return self.of.truth(target)

    def batches(self, n: int, seed: int, data_sets: int) -> Iterator[SortedBatch]:
        """Yield SortedBatches of one data set."""
        for number in range(data_sets):
            yield self.of.draw(n, seed, number).data


TIED = [  # eleven verbalised values, scores rounded to two digits, and after histogram binning
    TiedCell(f"tied_{name}", HalfCell("league", *both))
    for name, both in {
        "verbalised_calibrated": (("verbalised", ()), ("calibrated", ())),
        "verbalised_values": (("verbalised", ()), ("values", (0.08,))),
        "rounded_slope_0.7": (("rounded", (2.0, 0.7, 2.0)), ("slope", (0.7,))),
        "binned_shift": (("binned", ()), ("shift", (-0.4,))),
    }.items()
]


def target_label(target: str, norm: float) -> str:
    """Return the name of a target with its norm: ``l1``, ``l2``, ``l2_squared``, ``smooth_ce`` …"""
    if target not in ("lp", "lp_power"):
        return target
    return f"l{norm:g}" if target == "lp" or norm == 1 else f"l{norm:g}_squared"


@dataclass(frozen=True)
class LeagueMeasure:
    """An estimator in the league, at one norm; ``is_quadratic`` where it costs O(n²)."""

    name: str
    path: Path
    run: Callable[..., tuple[NDArray, NDArray]]
    norm: float
    target: str
    is_quadratic: bool = False

    @property
    def label(self) -> str:
        """What tells it from the others: the name and the target with its norm."""
        return f"{self.name} → {target_label(self.target, self.norm)}"

    def truth(self, of: Scenario | TiedCell) -> float:
        """Return the value of the estimator's own target."""
        if isinstance(of, TiedCell):
            return float(target_value_of(self.target, of.population, **self.options))
        return float(target_value(self.target, of, size=_GRID, **self.options))

    def values(self, data: SortedBatch) -> NDArray:
        """Return the estimates (m,)."""
        return self.run(data, N_BINS, self.norm)[0]

    @property
    def options(self) -> dict[str, Any]:
        """What its target may depend on."""
        return {**estimator_options(self.name, self.path), "norm": self.norm, "n_bins": N_BINS}

    @property
    def quantity(self) -> object:
        """What it estimates: measures of one quantity have one truth."""
        return self.target, *sorted(options_taken(self.target, self.options).items())


def league_measures(estimators: Mapping[str, Path]) -> list[LeagueMeasure]:
    """Return the measures of {name: file}, without those that estimate no target."""
    measures = []
    for name, path in estimators.items():
        if (target := estimator_target(name, path)) == "none":
            continue
        estimate = load_estimator(name, path)
        is_quadratic = literal(path, "QUADRATIC", default=False)
        norms = (1, 2) if target in ("lp", "lp_power") else (2,)
        for norm in literal(path, "NORMS", default=None) or norms:
            measures.append(LeagueMeasure(name, path, estimate, float(norm), target, is_quadratic))
    return measures


def league_rows(
    estimators: Mapping[str, Path],
    scenarios: Sequence[Scenario | TiedCell],
    sample_sizes: Sequence[int],
    replicates: int,
    seed: int,
) -> list[Row]:
    """Return the rows of table ``league``; ``replicates`` are those at the smallest sample size."""
    measures = league_measures(estimators)
    by_label = {measure.label: measure for measure in measures}
    truths: dict[tuple[str, object], float] = {}

    def n_data_sets(cell: SampledCell | TiedCell, n: int) -> int:
        if isinstance(cell, TiedCell):
            return min(max(FEWEST_TIED, round(_TIED_SHARE * replicates)), replicates)
        return n_replicates(n, sample_sizes, replicates)

    def reduce(
        cell: SampledCell | TiedCell, n: int, methods: Mapping[str, Method], values: Values
    ) -> Iterator[Row]:
        for label, estimates in values.items():
            measure = by_label[label]
            key = cell.name, measure.quantity
            if key not in truths:
                truths[key] = measure.truth(cell if isinstance(cell, TiedCell) else cell.scenario)
            yield row_of(cell.name, measure, n, truths[key], estimates)

    cells = [each if isinstance(each, TiedCell) else SampledCell(each) for each in scenarios]
    sized = at_sizes(cells, sample_sizes)
    return list(run(sized, lambda _, n: methods_of(measures, n), n_data_sets, seed, reduce))


def methods_of(measures: Sequence[LeagueMeasure], n: int) -> dict[str, Method]:
    """Return {label: Method}; one that costs O(n²) has few data sets, and none of many rows."""
    return {
        measure.label: Method(
            measure.target, measure.values, FEWEST_QUADRATIC if measure.is_quadratic else None
        )
        for measure in measures
        if n <= MOST_QUADRATIC or not measure.is_quadratic
    }


def n_replicates(n: int, sample_sizes: Sequence[int], replicates: int) -> int:
    """Return how many data sets of n samples: at least 100, else in inverse proportion to n."""
    return max(min(replicates, FEWEST), round(replicates * min(sample_sizes) / n))


def row_of(
    scenario: str, measure: LeagueMeasure, n_samples: int, truth: float, values: NDArray
) -> Row:
    """Return a row of table ``league`` from the estimates of its data sets."""
    errors = errors_of(values, truth)
    return {
        "scenario": scenario,
        "estimator": measure.name,
        "target": target_label(measure.target, measure.norm),
        "n_samples": n_samples,
        **errors,
        "relative_rmse": errors["rmse"] / truth if truth > _LEAST_TRUTH else math.nan,
    }
