"""The studies of the verdict with clusters of rows."""

import numpy as np
import pandas as pd
import pytest

from evidence.cells.clusters import CELLS, ClusterCell
from evidence.runner import values_of
from evidence.studies.interval_coverage import coverage_rows, methods
from evidence.studies.power import cluster_rows

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    "cell", [ClusterCell(50, 20, 0.5), ClusterCell(50, 0), ClusterCell(50, 20, 0.5, decimals=1)]
)
def test_clusters_are_calibrated_and_dependent(cell):
    scores, hits, ids = zip(*(cell.draw(cell.n, 0, number) for number in range(60)), strict=True)
    gap = np.concatenate(hits) - np.concatenate(scores)
    assert np.mean(gap) == pytest.approx(0, abs=0.03)
    sums = np.concatenate(
        [np.bincount(g, y - s) for s, y, g in zip(scores, hits, ids, strict=True)]
    )
    assert np.var(sums) > 2 * np.mean(gap**2) * ids[0].size / 50


def test_rates_and_coverage_of_clusters():
    cell = ClusterCell(40, 5, 0.3)
    found = values_of(methods(cell, 10), cell.batches(cell.n, 0, 10))
    assert np.mean(found["calbias_clusters"][:, 0] == 0.0) >= 0.7
    assert np.mean(found["verdict"]) <= 0.3
    assert ClusterCell(40, 5, slope=0.6).truth("l1") == pytest.approx(0.073, abs=0.002)


def test_rows_of_clusters():
    rows = pd.DataFrame(cluster_rows(4, seed=1)).set_index(["scenario", "test"])
    assert rows.shape[0] == 2 * len(CELLS)
    martingale = rows.loc["clusters_martingale_50x100_calibrated"]
    assert martingale["rejection_rate"]["verdict"] >= 0.75
    assert martingale["rejection_rate"]["verdict_clusters"] <= 0.5
    assert set(martingale["n_samples"]) == {5000}
    covered = pd.DataFrame(coverage_rows("clusters", 4, seed=1))
    assert list(covered["truth"] == 0) == ["calibrated" in name for name in covered["scenario"]]
