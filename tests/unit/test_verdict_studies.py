"""The studies of the verdict: alternatives, clusters, and their rates."""

import numpy as np
import pandas as pd
import pytest

from calbias.calibration_tests.registry import load_test
from evidence.studies import verdict_power
from evidence.studies.interval_coverage import coverage_table
from evidence.studies.power import cluster_rows
from evidence.studies.verdict_clusters import CELLS, Cell, intervals, p_values
from evidence.studies.verdict_power import DESIGN, JUDGING, power_against

BOTH = DESIGN | JUDGING


def test_nineteen_alternatives_in_two_halves():
    assert (len(DESIGN), len(JUDGING), len(BOTH)) == (9, 10, 19)


@pytest.mark.parametrize("name", BOTH)
def test_an_alternative_leaves_calibration_with_its_strength(name):
    alternative = BOTH[name]
    scores = alternative.draw(np.random.default_rng(0), 2000)
    np.testing.assert_array_equal(alternative.rates(scores, 0.0), scores)
    rates = alternative.rates(scores, 1.0)
    assert ((rates >= 0) & (rates <= 1)).all()
    assert np.abs(rates - scores).max() > 1e-3


def test_power_is_tuned_to_the_best_single_test():
    one = {"shift, beta_2_1": DESIGN["shift, beta_2_1"]}
    row = power_against(one, 100, 100, ("cox_score", "redraw_ks"), replicates=199).iloc[0]
    assert row["best"] == max(row["cox_score"], row["redraw_ks"])
    assert 0.6 < row["best"] < 0.95
    assert 0.4 < row["verdict"] < 0.95


@pytest.mark.parametrize("cell", [Cell(50, 20, 0.5), Cell(50, 0), Cell(50, 20, 0.5, decimals=1)])
def test_clusters_are_calibrated_and_dependent(cell):
    scores, hits, ids = zip(*(cell.draw(np.random.default_rng(i)) for i in range(60)), strict=True)
    gap = np.concatenate(hits) - np.concatenate(scores)
    assert np.mean(gap) == pytest.approx(0, abs=0.03)
    sums = np.concatenate(
        [np.bincount(g, y - s) for s, y, g in zip(scores, hits, ids, strict=True)]
    )
    assert np.var(sums) > 2 * np.mean(gap**2) * ids[0].size / 50


def test_rates_and_coverage_of_clusters():
    cell = Cell(40, 5, 0.3)
    found = p_values(cell, 10)
    np.testing.assert_array_equal(found["clusters"], found[["signs", "independent"]].max(axis=1))
    assert np.mean(intervals(cell, 10)[:, 0] == 0.0) >= 0.7
    assert Cell(40, 5, slope=0.6).error() == pytest.approx(0.073, abs=0.002)


def test_rows_of_clusters():
    rows = pd.DataFrame(cluster_rows(4, seed=1)).set_index(["scenario", "test"])
    assert rows.shape[0] == 2 * len(CELLS)
    martingale = rows.loc["clusters_martingale_50x100_calibrated"]
    assert martingale["rejection_rate"]["verdict"] >= 0.75
    assert martingale["rejection_rate"]["verdict_clusters"] <= 0.5
    assert set(martingale["n_samples"]) == {5000}
    covered = coverage_table("clusters", 4, seed=1)
    assert list(covered["truth"] == 0) == ["calibrated" in name for name in covered["scenario"]]


def test_data_sets_with_and_without_equal_scores_are_tested_together():
    test = load_test("spiegelhalter")
    scores = np.array([[0.1, 0.2, 0.2, 0.7], [0.1, 0.2, 0.3, 0.7]])
    hits = np.array([[0, 0, 1, 1], [1, 0, 1, 0]])

    def found(rows):
        drawn = verdict_power._Drawn(scores[rows], None)
        return verdict_power._outcomes([test], drawn, hits[rows])["spiegelhalter"].tolist()

    assert found([0, 1]) == found([0]) + found([1])
