"""The planned number of rows is the verdict's, and its power is the simulated one."""

import time

import numpy as np
import pytest
from scipy.special import expit, logit
from verdicts import judge

from calbias.auditing.plan import plan
from calbias.auditing.verdict.power import cluster_labels, verdict_labels, verdict_power

SCORES = (np.arange(2000) + 0.5) / 2000
OVER = expit(0.75 * logit(SCORES))


def test_a_calibrated_model_is_found_in_a_twentieth():
    power, error = verdict_power(SCORES, SCORES, 300, 4000)
    assert power == pytest.approx(0.05, abs=4 * error)


def test_power_is_how_often_the_verdict_finds_it():
    planned, error = verdict_power(SCORES, OVER, 400, 2000)
    generator, found = np.random.default_rng(0), 0
    for _ in range(200):
        scores = generator.random(400)
        hits = generator.random(400) < expit(0.75 * logit(scores))
        found += judge(scores, hits, replicates=499).miscalibrated
    assert found / 200 == pytest.approx(planned, abs=4 * np.hypot(error, 0.035))


def test_labels_have_the_power():
    labels = verdict_labels(SCORES, OVER)
    assert labels.labels_low < labels.labels < labels.labels_high < 1.15 * labels.labels_low
    power, error = verdict_power(SCORES, OVER, int(labels.labels), 4000, seed=1)
    assert power == pytest.approx(0.8, abs=4 * np.hypot(error, labels.simulated_power_se))
    assert verdict_labels(SCORES, OVER) == labels


def test_what_cannot_be_found_needs_infinitely_many():
    assert verdict_labels(SCORES, SCORES).labels == np.inf


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
    order = generator.permutation(300)
    renamed = generator.permutation(60)[clusters].astype(str)
    assert cluster_labels(scores[order], hits[order], renamed[order], rates[order]) == needed
    assert cluster_labels(scores, hits, clusters, scores).labels == np.inf


@pytest.mark.slow
def test_a_plan_is_quick():
    start = time.process_time()
    plan(beta=(2, 1))
    assert time.process_time() - start < 3
