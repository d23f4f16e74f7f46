"""The power of the verdict: as planned, and as the study measures it."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit
from verdicts import judge

from calbias.auditing.verdict.power import cluster_labels, verdict_labels, verdict_power
from evidence.cells.clusters import CELLS, ClusterCell
from evidence.runner import values_of
from evidence.steps.measure_coverage import coverage_rows, methods
from evidence.steps.measure_power import cluster_rows

pytestmark = pytest.mark.slow

SCORES = (np.arange(2000) + 0.5) / 2000
OVER = expit(0.75 * logit(SCORES))


def test_a_calibrated_model_is_found_in_a_twentieth():
    power, error = verdict_power(SCORES, SCORES, 300, 4000)
    assert power == pytest.approx(0.05, abs=4 * error)


@pytest.mark.nightly
def test_power_is_how_often_the_verdict_finds_it():
    planned, error = verdict_power(SCORES, OVER, 400, 2000)
    generator, found = np.random.default_rng(0), 0
    for _ in range(100):
        scores = generator.random(400)
        hits = generator.random(400) < expit(0.75 * logit(scores))
        found += judge(scores, hits, replicates=499).miscalibrated
    assert found / 100 == pytest.approx(planned, abs=4 * np.hypot(error, 0.05))


def test_labels_have_the_power():
    labels = verdict_labels(SCORES, OVER)
    assert labels.labels_low < labels.labels < labels.labels_high < 1.15 * labels.labels_low
    power, error = verdict_power(SCORES, OVER, int(labels.labels), 4000, seed=1)
    assert power == pytest.approx(0.8, abs=4 * np.hypot(error, labels.simulated_power_se))


@pytest.mark.nightly
def test_a_local_curve_that_a_line_misses_is_planned_too():
    bump = SCORES + 0.15 * np.sin(8 * np.pi * SCORES) * (np.abs(SCORES - 0.5) < 0.25)
    labels = verdict_labels(SCORES, bump)
    assert 100 < labels.labels < 3000


def test_clusters_of_copies_need_as_many_as_rows():
    generator = np.random.default_rng(1)
    scores = generator.uniform(0.2, 0.8, 60)
    hits = (generator.random(60) < scores).astype(int)
    scores, hits, clusters = (np.repeat(each, 5) for each in (scores, hits, np.arange(60)))
    rates = scores + 0.2
    needed = cluster_labels(scores, hits, clusters, rates)
    assert needed.labels_low < needed.labels < needed.labels_high
    grid = 0.2 + 0.6 * SCORES
    assert needed.labels == pytest.approx(verdict_labels(grid, grid + 0.2).labels, rel=0.35)


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


@pytest.mark.nightly
def test_rates_and_coverage_of_clusters():
    cell = ClusterCell(40, 5, 0.3)
    found = values_of(methods(cell, 10), cell.batches(cell.n, 0, 10))
    assert np.mean(found["calbias_clusters"][:, 0] == 0.0) >= 0.7
    assert np.mean(found["verdict"]) <= 0.3
    assert ClusterCell(40, 5, slope=0.6).truth("l1") == pytest.approx(0.073, abs=0.002)


@pytest.mark.nightly
def test_rows_of_clusters():
    rows = pd.DataFrame(cluster_rows(4, seed=1)).set_index(["scenario", "test"])
    assert rows.shape[0] == 2 * len(CELLS)
    martingale = rows.loc["clusters_martingale_50x100_calibrated"]
    assert martingale["rejection_rate"]["verdict"] >= 0.75
    assert martingale["rejection_rate"]["verdict_clusters"] <= 0.5
    assert set(martingale["n_samples"]) == {5000}
    covered = pd.DataFrame(coverage_rows("clusters", 2, seed=1))
    assert list(covered["truth"] == 0) == ["calibrated" in name for name in covered["scenario"]]
