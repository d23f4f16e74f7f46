"""Size and power of tests of calibration: how often each rejects, where the truth is known."""

import math

import numpy as np

from calbias.beyond.league import league_scenarios
from calbias.engine.sampler import Sampler
from calbias.hypothesis_tests.registry import load_test
from calbias.truth.curves import Curve
from calbias.truth.scenarios import Scenario

POWERS = (1.1, 1.3)  # of the curves c^d on uniform scores, as in the paper's §7.2


def power_scenarios():
    """Return the scenarios: the league's laws and curves, and uniform scores with power curves."""
    uniform = [Scenario("uniform_calibrated", 1.0, 1.0, Curve("identity"))]
    uniform += [Scenario(f"uniform_power_{d:g}", 1.0, 1.0, Curve("power", 0.0, d)) for d in POWERS]
    return [*league_scenarios([], [], []), *uniform]


def power_rows(tests, scenarios, sample_sizes, replicates, seed, level=0.05):
    """Return the rows of table ``test_power``, dicts.

    Parameters
    ----------
    tests : list of str
        Names as ``load_test`` takes them.
    scenarios : list of Scenario
        A calibrated one gives the size of the tests, another their power.
    sample_sizes : list of int
    replicates : int
        Data sets per scenario and sample size, at least 2.
    seed : int
    level : float
        Rejections are at this level. An analytic test uses its own p-value. A redraw test uses the
        1 − level quantile of its statistic over as many data sets of a calibrated model with the
        same score law and n, drawn under another name; the error of that threshold is part of
        ``rejection_rate_se``.

    Returns
    -------
    list of dict
    """
    loaded = [load_test(name) for name in tests]
    rows, nulls = [], {}
    for scenario in scenarios:
        for n in sample_sizes:
            outcomes = _outcomes(loaded, scenario, n, replicates, seed)
            law = (scenario.alpha, scenario.beta, n)
            if law not in nulls:
                null = Scenario(f"null_{law[0]:g}_{law[1]:g}", *law[:2], Curve("identity"))
                redrawn = [test for test in loaded if test.p_values is None]
                nulls[law] = _outcomes(redrawn, null, n, replicates, seed)
            for test in loaded:
                values = outcomes[test.name]
                if test.p_values is not None:
                    rate, error = _rate(values <= level)
                else:
                    rate, error = _above_quantile(values, nulls[law][test.name], level)
                rows.append(
                    {
                        "test": test.name,
                        "scenario": scenario.name,
                        "n_samples": n,
                        "rejection_rate": rate,
                        "rejection_rate_se": error,
                        "level": level,
                    }
                )
    return rows


def _outcomes(tests, scenario, n, replicates, seed):
    """Return {test: p-values, or statistics where it has none, (replicates,)}."""
    parts = {test.name: [] for test in tests}
    for data in Sampler(scenario, n, seed).batches(range(replicates)):
        for test in tests:
            parts[test.name].append(np.array((test.p_values or test.statistics)(data)))
    return {name: np.concatenate(values) for name, values in parts.items()}


def _rate(rejected):
    """Return a share and its standard error, by (k + 1)/(m + 2) so that it is never 0."""
    m, smoothed = rejected.size, (np.count_nonzero(rejected) + 1) / (rejected.size + 2)
    return float(rejected.mean()), math.sqrt(smoothed * (1 - smoothed) / m)


def _above_quantile(values, null, level):
    """Return the share above the null's quantile, and its error with that of the quantile."""
    rate, error = _rate(values > np.quantile(null, 1 - level, method="higher"))
    wobble = math.sqrt(level * (1 - level) / null.size)  # of the level that the threshold has
    low, high = (np.quantile(null, np.clip(1 - level + sign * wobble, 0, 1)) for sign in (-1, 1))
    of_threshold = (np.mean(values > low) - np.mean(values > high)) / 2
    return rate, math.hypot(error, of_threshold)
