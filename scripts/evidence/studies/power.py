"""Size and power of tests of calibration: how often each rejects, where the truth is known."""

import math

import numpy as np
import pandas as pd
from scipy.optimize import brentq

from calbias.auditing.verdict.judge import judge, p_value_of_groups
from calbias.auditing.verdict.rows import groups_of
from calbias.conventions import SIGNIFICANT
from calbias.truth.curves import Curve
from calbias.truth.scenarios import Scenario
from evidence.calibration_tests import CalibrationTest, load_test
from evidence.cells import clusters
from evidence.cells.common import UNIFORM
from evidence.cells.sampled import SampledCell
from evidence.runner import Method, each, values_of
from evidence.studies.interval_coverage import CLUSTER_REDRAWS
from evidence.studies.league import league_scenarios
from pipeline.detection_limits import detection_limits
from pipeline.tables.schema import columns_of

POWERS = (1.1, 1.3)  # of the curves c^d on uniform scores, as in the paper's §7.2
REACHES = (0.6, 0.9, 1.2, 1.6, 2.0, 2.5, 3.2)  # TCE·√n of the curves that detection is sought on
MISS_RATE = 0.1
VERDICT = "verdict"
"""The name, among tests, of the verdict of an audit."""
_REDRAWS = 239  # of the verdict: exact at 5 %, and two blocks of its redraws
NULL_REPLICATES = 1000
"""Data sets of a calibrated cell and of a null distribution."""


def power_scenarios():
    """Return the league's scenarios, and uniform scores with power curves."""
    uniform = [Scenario("uniform_calibrated", *UNIFORM, Curve("identity"))]
    uniform += [Scenario(f"uniform_power_{d:g}", *UNIFORM, Curve("power", 0.0, d)) for d in POWERS]
    return [*league_scenarios([], [], []), *uniform]


class Power:
    """Rejection rates of tests at the level 5 %; each null is simulated once.

    An analytic test uses its own p-value. A redraw test uses the 95 % quantile of its statistic
    over data sets of a calibrated model with the same distribution and n, drawn under another name.
    Calibrated scenarios and nulls have ``null_replicates`` data sets where that is more.
    """

    def __init__(self, tests, replicates, seed, null_replicates=0):
        self.tests = [_verdict if name == VERDICT else load_test(name) for name in tests]
        self.replicates, self.seed, self.nulls = replicates, seed, {}
        self.null_replicates = null_replicates

    def rates(self, scenario, n):
        """Return {test: (rejection rate, its binomial error, the threshold's, data sets)}."""
        outcomes = self._outcomes(self.tests, scenario, n)
        distribution = (scenario.alpha, scenario.beta, n)
        if distribution not in self.nulls:
            null = Scenario(
                f"null_{distribution[0]:g}_{distribution[1]:g}",
                *distribution[:2],
                Curve("identity"),
            )
            redrawn = [test for test in self.tests if test.p_values is None]
            self.nulls[distribution] = self._outcomes(redrawn, null, n)
        return {
            test.name: (
                *(
                    (*_rate(outcomes[test.name] <= SIGNIFICANT), 0.0)
                    if test.p_values
                    else _above_quantile(outcomes[test.name], self.nulls[distribution][test.name])
                ),
                outcomes[test.name].size,
            )
            for test in self.tests
        }

    def _outcomes(self, tests, scenario, n):
        """Return {test: p-values, or statistics where it has none, (replicates,)}."""
        if not tests:
            return {}
        methods = {test.name: Method("", test.p_values or test.statistics) for test in tests}
        batches = SampledCell(scenario).batches(n, self.seed, self._replicates(scenario))
        return values_of(methods, batches)

    def _replicates(self, scenario):
        null = self.null_replicates if scenario.curve.name == "identity" else 0
        return max(self.replicates, null)


def power_rows(tests, scenarios, sample_sizes, replicates, seed, null_replicates=0):
    """Return the rows of table ``test_power``; calibrated scenarios give the size of the tests."""
    power = Power(tests, replicates, seed, null_replicates)
    return [
        _row(test, scenario.name, n, *found)
        for scenario in scenarios
        for n in sample_sizes
        for test, found in power.rates(scenario, n).items()
    ]


def cluster_rows(data_sets, seed):
    """Return rows of ``test_power``: the verdict on clusters, and as if rows were independent."""
    methods, rows = {"verdict": Method("", each(_cluster_p_values))}, []
    for cell in clusters.CELLS.values():
        found = values_of(methods, cell.batches(cell.n, seed, data_sets))["verdict"]
        for test, p_values in zip(("verdict_clusters", "verdict"), found.T, strict=True):
            rate = *_rate(p_values <= SIGNIFICANT), 0.0, data_sets
            rows.append(_row(test, cell.name, cell.n, *rate))
    return rows


def _cluster_p_values(rows):
    """Return the p-values of the verdict with clusters and without."""
    scores, hits, ids = rows
    verdict = judge(scores, hits, clusters=ids, replicates=CLUSTER_REDRAWS)
    return verdict.p_value, verdict.cluster_facts.p_independent


def _row(test, scenario, n, rate, error, of_threshold, n_replicates):
    return {
        "test": test,
        "scenario": scenario,
        "n_samples": n,
        "rejection_rate": rate,
        "rejection_rate_se": math.hypot(error, of_threshold),
        "level": SIGNIFICANT,
        "n_replicates": n_replicates,
    }


def detection_rows(tests, sample_sizes, replicates, seed, null_replicates=0):
    """Return table ``test_detection``: the TCE of c^d that a test misses in a tenth of the sets."""
    power, rows = Power(tests, replicates, seed, null_replicates), []
    for n in sample_sizes:
        for reach in REACHES:
            tce = reach / math.sqrt(n)
            d = brentq(lambda d, tce=tce: _error_of_power(d) - tce, 1.0, 60.0)
            scenario = Scenario(f"uniform_reach_{reach:g}", 1.0, 1.0, Curve("power", 0.0, d))
            rows += [
                (test, n, d, 100 * tce, 1 - rate, error, of_threshold, m)
                for test, (rate, error, of_threshold, m) in power.rates(scenario, n).items()
            ]
    columns = ["estimator", "n_samples", "exponent", "tce_percent", "miss_rate", "miss_rate_se"]
    columns += ["miss_rate_threshold_se", "n_replicates"]
    limits = detection_limits(pd.DataFrame(rows, columns=columns), (MISS_RATE,))
    return limits.rename(columns={"estimator": "test"})[list(columns_of("test_detection"))]


def _verdict_p_values(data):
    """Return the p-values (m,) of the verdict for a SortedBatch without equal scores."""
    rows = zip(data.scores, np.rint(data.hits()).astype(np.uint8), strict=True)
    return np.array([p_value_of_groups(groups_of(s, y)[0], _REDRAWS) for s, y in rows])


_verdict = CalibrationTest(VERDICT, _verdict_p_values)


def _error_of_power(d):
    return math.sqrt(max(1 / 3 - 2 / (d + 2) + 1 / (2 * d + 1), 0.0))


def _rate(rejected):
    """Return a share and its standard error, by (k + 1)/(m + 2) so that it is never 0."""
    m, smoothed = rejected.size, (np.count_nonzero(rejected) + 1) / (rejected.size + 2)
    return float(rejected.mean()), math.sqrt(smoothed * (1 - smoothed) / m)


def _above_quantile(values, null):
    """Return the share above the null's 95 % quantile, its error, and the quantile's error."""
    rate = _rate(values > np.quantile(null, 1 - SIGNIFICANT, method="higher"))
    wobble = math.sqrt(
        SIGNIFICANT * (1 - SIGNIFICANT) / null.size
    )  # of the level that the threshold has
    low, high = (
        np.quantile(null, np.clip(1 - SIGNIFICANT + sign * wobble, 0, 1)) for sign in (-1, 1)
    )
    return *rate, float(np.mean(values > low) - np.mean(values > high)) / 2
