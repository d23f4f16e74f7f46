"""The studies of the verdict with clusters of rows."""

import numpy as np
import pandas as pd
import pytest

from evidence.studies.interval_coverage import coverage_table
from evidence.studies.power import cluster_rows
from evidence.studies.verdict_clusters import CELLS, Cell, intervals, p_values


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
