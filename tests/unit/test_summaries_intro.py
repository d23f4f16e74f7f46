"""Figure 1: the histogram of estimates and one data set's reliability diagram."""

import numpy as np
import pytest

from calbias.engine.sampler import draw
from calbias.estimation.api import estimate
from calbias.simulation.replicates import Cell, Estimates
from calbias.summaries.intro import HISTOGRAM_BINS, estimate_histogram, reliability_diagram
from calbias.truth.curves import Curve
from calbias.truth.scenarios import Scenario


def test_histogram():
    values = np.random.default_rng(1).random(1000)
    cells = {Cell("a", 200, 15): Estimates(np.arange(1000), values, np.full(1000, 15))}
    table = estimate_histogram("intro", {"ece_bin_ew": cells})
    assert len(table) == HISTOGRAM_BINS
    assert table["count"].sum() == 1000
    assert table["mean_estimate_percent"].unique() == pytest.approx([100 * values.mean()])
    low, high, count = (table[name].to_numpy() for name in ("low_percent", "high_percent", "count"))
    np.testing.assert_array_equal(low[1:], high[:-1])
    for k in (0, 50, 98):
        assert count[k] == ((100 * values >= low[k]) & (100 * values < high[k])).sum()


def test_the_diagram_adds_up_to_ece_bin_of_replicate_0():
    scenario = Scenario("beta", 2.8, 0.05, Curve("identity"))
    table = reliability_diagram("intro", scenario, 200, 15, seed=3)
    assert len(table) == 15
    assert table["n_in_bin"].sum() == 200
    full = table[table["n_in_bin"] > 0]
    gaps = full["mean_score"] - full["mean_hit"]
    value = np.sqrt(np.sum(full["n_in_bin"] / 200 * gaps**2))
    data = draw(scenario, 200, 0, seed=3)
    hits = np.rint(data.hits()[0])
    assert value == pytest.approx(estimate("ece_bin_ew", data.scores[0], hits, norm=2).value)
    assert (full["mean_score"] >= full["low"]).all()
    assert (full["mean_score"] <= full["high"]).all()
    assert table[table["n_in_bin"] == 0][["mean_score", "mean_hit"]].isna().all(axis=None)
