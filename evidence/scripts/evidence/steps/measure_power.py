"""Size and power of tests of calibration: how often each rejects, where the truth is known.

An analytic test uses its own p-value. A redraw test uses the 95 % quantile of its statistic over
data sets of a calibrated model with the same distribution and n, drawn under another name; each of
these nulls is simulated once.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import brentq

from calbias.auditing.verdict.judge import judge
from calbias.defaults import SIGNIFICANT
from calbias.engine.sorted_batch import SortedBatch
from calbias.samples.by_score import Scored
from calbias.truth.curves import Curve
from calbias.truth.scenarios import Scenario
from evidence.calibration_tests import CalibrationTest, load_test
from evidence.cells import clusters
from evidence.cells.clusters import REDRAWS, ClusterCell, Clustered
from evidence.cells.samples import SampledCell
from evidence.league import league_scenarios
from evidence.runner import Method, Row, Values, at_sizes, each, run, values_of
from pipeline.detection_limits import detection_limits
from pipeline.steps import AtLeast, Seed
from pipeline.table_schema import columns_of
from pipeline.tables import write_table

POWERS = (1.1, 1.3)  # of the curves c^d on uniform scores, as in the paper's §7.2
REACHES = (0.6, 0.9, 1.2, 1.6, 2.0, 2.5, 3.2)  # TCE·√n of the curves that detection is sought on
MISS_RATE = 0.1
VERDICT = "verdict"
"""The name, among tests, of the verdict of an audit."""
_REDRAWS = 239  # of the verdict: exact at 5 %, and two blocks of its redraws
NULL_REPLICATES = 1000
"""Data sets of a calibrated cell and of a null."""


def power_scenarios() -> list[Scenario]:
    """Return the league's scenarios, and uniform scores with power curves."""
    uniform = [Scenario("uniform_calibrated", 1.0, 1.0, Curve("identity"))]
    uniform += [Scenario(f"uniform_power_{d:g}", 1.0, 1.0, Curve("power", 0.0, d)) for d in POWERS]
    return [*league_scenarios(), *uniform]


class Rate(NamedTuple):
    """A test's rejection rate, its binomial error, the threshold's error, and the data sets."""

    rate: float
    error: float
    of_threshold: float
    n_data_sets: int


class Power:
    """Rejection rates of tests at the level 5 %, with the nulls of redraw tests.

    Calibrated scenarios and nulls have ``null_replicates`` data sets where that is more.
    """

    def __init__(
        self, tests: Sequence[str], replicates: int, seed: int, null_replicates: int = 0
    ) -> None:
        self.tests = [_verdict if name == VERDICT else load_test(name) for name in tests]
        self.replicates, self.seed, self.null_replicates = replicates, seed, null_replicates
        self._nulls: dict[tuple[float, float, int], Values] = {}

    def rows(self, scenarios: Iterable[Scenario], sizes: Sequence[int]) -> Iterator[Row]:
        """Yield test, scenario, n and the Rate of each cell."""
        cells = at_sizes(map(SampledCell, scenarios), sizes)
        return run(cells, lambda *_: _methods(self.tests), self._data_sets, self.seed, self._rates)

    def _data_sets(self, cell: SampledCell, n: int) -> int:
        is_null = cell.scenario.curve.name == "identity"
        return max(self.replicates, self.null_replicates) if is_null else self.replicates

    def _rates(
        self, cell: SampledCell, n: int, methods: Mapping[str, Method], values: Values
    ) -> Iterator[Row]:
        null = self._null(cell.scenario, n)
        for test in self.tests:
            outcomes = values[test.name]
            if test.has_p_values:
                rate = Rate(*_rate(outcomes <= SIGNIFICANT), 0.0, outcomes.size)
            else:
                rate = _above_quantile(outcomes, null[test.name])
            yield {"test": test.name, "scenario": cell.name, "n_samples": n, "rate": rate}

    def _null(self, scenario: Scenario, n: int) -> Values:
        """Return {test: statistics of calibrated data sets} of the tests without p-values."""
        key = scenario.alpha, scenario.beta, n
        if key not in self._nulls:
            name = f"null_{scenario.alpha:g}_{scenario.beta:g}"
            null = SampledCell(Scenario(name, *key[:2], Curve("identity")))
            redrawn = [test for test in self.tests if not test.has_p_values]
            batches = null.batches(n, self.seed, self._data_sets(null, n)) if redrawn else ()
            self._nulls[key] = values_of(_methods(redrawn), batches)
        return self._nulls[key]


def _methods(tests: Iterable[CalibrationTest]) -> dict[str, Method]:
    """Return the tests' p-values, or statistics where they have none."""
    return {test.name: Method("", test.values) for test in tests}


def power_rows(
    tests: Sequence[str],
    scenarios: Iterable[Scenario],
    sample_sizes: Sequence[int],
    replicates: int,
    seed: int,
    null_replicates: int = 0,
) -> Iterator[Row]:
    """Yield the rows of table ``test_power``; calibrated scenarios give the size of the tests."""
    for row in Power(tests, replicates, seed, null_replicates).rows(scenarios, sample_sizes):
        yield _row(row["test"], row["scenario"], row["n_samples"], row["rate"])


def cluster_rows(data_sets: int, seed: int) -> Iterator[Row]:
    """Yield rows of ``test_power``: the verdict on clusters, and as if rows were independent."""

    def reduce(
        cell: ClusterCell, n: int, methods: Mapping[str, Method], values: Values
    ) -> Iterator[Row]:
        for test, p_values in zip(("verdict_clusters", VERDICT), values[VERDICT].T, strict=True):
            yield _row(test, cell.name, n, Rate(*_rate(p_values <= SIGNIFICANT), 0.0, data_sets))

    methods = {VERDICT: Method("", each(_cluster_p_values))}
    cells = ((cell, cell.n) for cell in clusters.CELLS.values())
    return run(cells, lambda *_: methods, data_sets, seed, reduce)


def _cluster_p_values(rows: Clustered) -> tuple[float, float]:
    """Return the p-values of the verdict with clusters and without."""
    verdict = judge(Scored.of(*rows[:2], clusters=rows.clusters), REDRAWS)
    facts = verdict.cluster_facts
    assert facts  # the cells have many clusters
    assert facts.p_independent is not None
    return verdict.p_value, facts.p_independent


def _row(test: str, scenario: str, n: int, rate: Rate) -> Row:
    return {
        "test": test,
        "scenario": scenario,
        "n_samples": n,
        "rejection_rate": rate.rate,
        "rejection_rate_se": math.hypot(rate.error, rate.of_threshold),
        "level": SIGNIFICANT,
        "n_replicates": rate.n_data_sets,
    }


def detection_rows(
    tests: Sequence[str],
    sample_sizes: Iterable[int],
    replicates: int,
    seed: int,
    null_replicates: int = 0,
) -> pd.DataFrame:
    """Return table ``test_detection``: the TCE of c^d that a test misses in a tenth of the sets."""
    power, rows = Power(tests, replicates, seed, null_replicates), []
    for n in sample_sizes:
        for reach in REACHES:
            tce = reach / math.sqrt(n)
            d = brentq(lambda d, tce=tce: _error_of_power(d) - tce, 1.0, 60.0)
            scenario = Scenario(f"uniform_reach_{reach:g}", 1.0, 1.0, Curve("power", 0.0, d))
            for row in power.rows([scenario], [n]):
                rate, error, threshold_se, m = row["rate"]
                rows.append((row["test"], n, d, 100 * tce, 1 - rate, error, threshold_se, m))
    columns = ["estimator", "n_samples", "exponent", "tce_percent", "miss_rate", "miss_rate_se"]
    columns += ["miss_rate_threshold_se", "n_replicates"]
    limits: pd.DataFrame = detection_limits(pd.DataFrame(rows, columns=columns), (MISS_RATE,))
    return limits.rename(columns={"estimator": "test"})[list(columns_of("test_detection"))]


def _verdict_p_values(data: SortedBatch) -> NDArray[np.float64]:
    """Return the p-values (m,) of the verdict for a SortedBatch without equal scores."""
    rows = zip(data.scores, np.rint(data.hits()).astype(np.uint8), strict=True)
    return np.array([judge(Scored.of(s, y), _REDRAWS).p_value for s, y in rows])


_verdict = CalibrationTest(VERDICT, _verdict_p_values)


def _error_of_power(d: float) -> float:
    return math.sqrt(max(1 / 3 - 2 / (d + 2) + 1 / (2 * d + 1), 0.0))


def _rate(rejected: NDArray[np.bool_]) -> tuple[float, float]:
    """Return a share and its standard error, by (k + 1)/(m + 2) so that it is never 0."""
    m, smoothed = rejected.size, (np.count_nonzero(rejected) + 1) / (rejected.size + 2)
    return float(rejected.mean()), math.sqrt(smoothed * (1 - smoothed) / m)


def _above_quantile(values: NDArray, null: NDArray) -> Rate:
    """Return the Rate above the null's 95 % quantile."""
    rate = _rate(values > np.quantile(null, 1 - SIGNIFICANT, method="higher"))
    error = math.sqrt(SIGNIFICANT * (1 - SIGNIFICANT) / null.size)  # of the threshold's level
    low, high = (
        np.quantile(null, np.clip(1 - SIGNIFICANT + sign * error, 0, 1)) for sign in (-1, 1)
    )
    threshold_se = float(np.mean(values > low) - np.mean(values > high)) / 2
    return Rate(*rate, threshold_se, values.size)


def measure_power(
    *,
    tests: list[str],
    slow_tests: list[str],
    n_samples: list[Annotated[int, AtLeast(2)]],
    replicates: Annotated[int, AtLeast(20)],
    null_replicates: int = NULL_REPLICATES,
    seed: Seed,
    output_power: Path,
    output_detection: Path,
) -> None:
    """Measure size and power of tests of calibration, and the least miscalibration they detect.

    tests: tests; redraw_X is the redraw test of X
    slow_tests: tests left out at the largest size
    n_samples: sample sizes
    replicates: data sets of each cell
    null_replicates: data sets of a calibrated cell
    seed: seed of all random streams
    output_power: table test_power to write
    output_detection: table test_detection to write
    """
    sizes, scenarios = sorted(n_samples), power_scenarios()
    power: list[Row] = []
    detection = []
    counts = replicates, seed, null_replicates
    for names, some in ((tests, sizes), (slow_tests, sizes[:-1])):
        if names and some:
            power += power_rows(names, scenarios, some, *counts)
            detection.append(detection_rows(names, some, *counts))
    if VERDICT in tests:
        power += cluster_rows(replicates, seed)
    write_table(output_power, "test_power", power)
    write_table(output_detection, "test_detection", pd.concat(detection))
