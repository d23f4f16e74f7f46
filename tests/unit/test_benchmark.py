"""The baselines of the benchmark compute what they are compared with, and ratios are ratios."""

import numpy as np
import pytest

from calbias import Curve, Scenario
from calbias.engine.sampler import Sampler
from calbias.estimation.loading import load_estimator
from evidence.benchmark.vectorised import six_binned
from evidence.benchmark.waiting import memory_rows
from evidence.benchmark.workloads import compare
from pipeline.paper import BINNED
from pipeline.table_schema import columns_of
from reproduction.steps.measure_fit_times import METHODS, fit_time_rows

SCENARIO = Scenario("benchmark", 1.1, 0.2, Curve("logit_logit_b0_b1", -0.5, 0.6))


@pytest.mark.parametrize("n", [20, 300])
def test_vectorised_numpy_agrees_with_the_kernels(n):
    data = next(Sampler(SCENARIO, n, 3).batches(range(12)))
    shuffled = np.random.default_rng(0).permutation(n)
    vectorised = six_binned(data.scores[:, shuffled], np.rint(data.hits())[:, shuffled])
    assert set(vectorised) == set(BINNED)
    for name in BINNED:
        ours = load_estimator(name)(data, 15, 2.0)[0]
        np.testing.assert_allclose(vectorised[name], ours, atol=1e-10)


def test_ratio_is_baseline_over_implementation():
    def busy(count):
        return lambda: sum(k * k for k in range(count))

    [row] = compare("count", 1, ("a", busy(100_000)), {"b": busy(400_000)}, 5)
    assert tuple(row) == columns_of("benchmark")
    assert 2 < row["ratio_median"] < 8
    assert row["ratio_low"] <= row["ratio_median"] <= row["ratio_high"]
    assert row["seconds"] < row["baseline_seconds"]


def test_every_method_is_fitted_at_every_size():
    rows = list(fit_time_rows(1, sizes=((60, 3), (90, 3))))
    assert [row["method"] for row in rows] == 2 * list(METHODS)
    assert all(0 < row["seconds_low"] <= row["seconds"] <= row["seconds_high"] for row in rows)
    assert columns_of("fit_times") == (*rows[0], "processor")


def test_peak_memory_is_that_of_a_process_of_its_own():
    """A simulation holds its estimates and one batch, far less than its scores."""
    held = np.ones(60_000_000)  # half a GB that the child must not inherit
    [row] = memory_rows([("cell", 200, 1000)])
    assert held[-1] == 1
    assert tuple(row) == columns_of("benchmark_memory")
    assert 50 < row["peak_mebibytes"] < 450
