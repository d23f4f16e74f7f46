"""How often the intervals hold the truth: every method on data whose true error is known.

The truth is the error of the distribution, not of the sample's scores. A one-sided bound covers
where the truth is on its side. ``found_by_verdict`` says whether a test sees the error. Intervals
of others run on the cells of ``beta`` alone, on half of the data sets.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from calbias.auditing.error.bins import binomial_limits
from calbias.auditing.error.estimator_bias import HEADLINE, audited_estimators
from calbias.auditing.error.interval import CalibrationInterval, Interval, calibration_interval
from calbias.auditing.verdict.judge import judge
from calbias.defaults import CONFIDENCE_LEVEL
from calbias.samples.by_score import Scored
from evidence.cells import blind_2026, clusters
from evidence.cells.beta import CURVES, DISTRIBUTIONS, SIZES, BetaCell
from evidence.cells.clusters import REDRAWS, ClusterCell, Clustered
from evidence.cells.design import random_world
from evidence.intervals.bootstrap import basic_bootstrap, percentile_bootstrap
from evidence.intervals.monotone_band import monotone_band
from evidence.intervals.sun2024 import sun2024
from evidence.intervals.variational_bound import variational_bound
from evidence.names import BLIND, BROKEN
from evidence.runner import Cell, Method, Row, Values, each
from evidence.runner import run as run_study
from pipeline.steps import AtLeast, Seed
from pipeline.tables import write_table
from reproduction import judging as halves
from reproduction.judging import JUDGING, Sample

OURS = {"calbias": "l1", "calbias_l2": "l2"}  # the audit's interval
VERDICT, _VERDICTS, _REDRAWS = "verdict", 20, 499  # data sets of a cell that get a verdict
_DRAWS = 200  # bootstrap resamples

JUDGED_AT = 1000  # rows of a cell of the judging half
N_WORLDS = 12  # random distributions with random curves


class Named:
    """A cell under a longer name."""

    def __init__(self, cell: Cell, prefix: str) -> None:
        self.name = prefix + cell.name
        self.batches, self.truth = cell.batches, cell.truth


def _of_beta(distribution: str) -> Iterator[tuple[Cell, int]]:
    return ((BetaCell(distribution, curve), n) for curve in CURVES for n in SIZES)


def _judging() -> Iterator[tuple[Cell, int]]:
    for cell in (*halves.CELLS, *map(random_world, range(N_WORLDS))):
        yield Named(cell, f"{JUDGING}_"), JUDGED_AT


def _blind_2026() -> Iterator[tuple[Cell, int]]:
    for cell in blind_2026.cells():
        yield Named(cell, BLIND if cell.assumption_holds else BROKEN), cell.n


SETS: dict[str, Callable[[], Iterator[tuple[Cell, int]]]] = {
    **{distribution: partial(_of_beta, distribution) for distribution in DISTRIBUTIONS},
    "judging": _judging,
    "blind26": _blind_2026,
    "clusters": lambda: ((cell, cell.n) for cell in clusters.CELLS.values()),
}
"""Sets of cells with their numbers of rows; a name that begins with ``judging`` tells the half."""


def methods(cell: Cell, data_sets: int, draws: int = _DRAWS) -> dict[str, Method]:
    """Return {name: Method} for a cell; values are the ends (m, 2), of the verdict p ≤ 5 % (m,)."""
    if isinstance(cell, ClusterCell):
        return {
            "calbias_clusters": Method("l1", each(_of_clusters)),
            VERDICT: Method("", each(_rejects_clusters), _VERDICTS),
        }
    result = {**_posterior(), VERDICT: Method("", each(_rejects), _VERDICTS)}
    return result | (
        _of_others(max(data_sets // 2, 2), draws) if isinstance(cell, BetaCell) else {}
    )


def _of_others(data_sets: int, draws: int) -> dict[str, Method]:
    """Return the methods of others; the bootstraps resample ``draws`` times.

    The percentile bootstrap is a warning: its ends are biased upwards, it misses the truth of a
    calibrated model. The variational bound is a lower one, the monotone band's an upper one.
    """
    run = audited_estimators()[HEADLINE].run
    intervals: dict[str, tuple[str, Callable[[Sample], Interval]]] = {
        "sun2024": ("l2^2", sun2024),
        "basic_bootstrap": ("l1", lambda data: basic_bootstrap(data, run, draws)),
        "percentile_bootstrap": ("l1", lambda data: percentile_bootstrap(data, run, draws)),
        "variational_bound": ("l1", variational_bound),
        "monotone_band": ("l1", monotone_band),
    }  # fmt: skip
    return {
        name: Method(target, each(interval), data_sets)
        for name, (target, interval) in intervals.items()
    }


def _of_clusters(rows: Clustered) -> Interval:
    """Return the audit's interval."""
    scored = Scored.of(*rows[:2], clusters=rows.clusters)
    facts = judge(scored, REDRAWS).cluster_facts
    return calibration_interval(scored, facts.design_effect if facts else 1.0).at()


def _posterior() -> dict[str, Method]:
    """Return the audit's own interval, for the ℓ1 and the ℓ2 error: one posterior serves both."""
    last: list[tuple[Sample, CalibrationInterval]] = []

    def ends(sample: Sample, norm: int) -> Interval:
        if not last or last[0][0] is not sample:
            last[:] = [(sample, calibration_interval(Scored.of(sample.scores, sample.hits)))]
        return last[0][1].at(norm, CONFIDENCE_LEVEL)

    return {
        name: Method(target, each(partial(ends, norm=int(target[1]))))
        for name, target in OURS.items()
    }


def _rejects(sample: Sample) -> bool:
    return judge(Scored.of(sample.scores, sample.hits), _REDRAWS).miscalibrated


def _rejects_clusters(rows: Clustered) -> bool:
    return judge(Scored.of(*rows[:2], clusters=rows.clusters), REDRAWS).miscalibrated


def covered(cell: Cell, n: int, methods: Mapping[str, Method], values: Values) -> Iterator[Row]:
    """Yield the row of each interval."""
    for name, method in methods.items():
        if name == VERDICT:
            continue
        ends: NDArray[np.float64] = values[name]
        low, high = ends.T
        m, truth = low.size, cell.truth(method.target)
        held = int(np.sum((low <= truth * (1 + 1e-9)) & (truth <= high)))
        lengths, interval = high - low, binomial_limits(held, m, CONFIDENCE_LEVEL)
        yield {
            "method": name,
            "target": method.target,
            "scenario": cell.name,
            "n_samples": n,
            "nominal": CONFIDENCE_LEVEL,
            "coverage": held / m,
            "low": float(interval[0]),
            "high": float(interval[1]),
            "mean_length": float(lengths.mean()) if np.isfinite(lengths).all() else np.nan,
            "truth": truth,
            "found_by_verdict": float(np.mean(values[VERDICT])),
            "n_data_sets": m,
        }


def coverage_rows(cells: str, data_sets: int, seed: int) -> Iterator[Row]:
    """Yield the rows of table ``interval_coverage`` of one of ``SETS``."""

    def of_cell(cell: Cell, n: int) -> dict[str, Method]:
        return methods(cell, data_sets)

    return run_study(SETS[cells](), of_cell, data_sets, seed, covered)


def measure_coverage(
    *,
    cells: str,
    data_sets: Annotated[int, AtLeast(2)],
    seed: Seed,
    output: Path,
) -> None:
    """Measure how often the intervals of an audit hold the truth, for one set of cells.

    cells: the set of cells
    data_sets: data sets of each cell
    seed: seed of all random streams
    output: table to write
    """
    rows = list(coverage_rows(cells, data_sets, seed))
    write_table(output, "interval_coverage", rows)
