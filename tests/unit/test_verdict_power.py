"""The planned number of rows is the verdict's, and its power is the simulated one."""

import time

import numpy as np
import pytest
from scipy.special import expit, logit

from calbias.auditing.plan import plan
from calbias.auditing.planning import needed_noncentrality
from calbias.auditing.verdict.judge import judge
from calbias.auditing.verdict.power import cluster_number, verdict_labels, verdict_power

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


def test_clusters_by_hand_and_in_the_plan():
    generator = np.random.default_rng(1)
    scores, ids = generator.random(2000), np.repeat(np.arange(100), 20)
    hits = generator.random(2000) < scores
    rates = np.clip(scores + 0.1, 0, 1)
    number = cluster_number(scores, hits, ids, rates)
    cell = 20 * 0.1  # rows of a cluster times the shift; about, since rates end at 1
    variance = 20 / 6
    rough = 1.25 * needed_noncentrality() / (cell**2 / variance)
    assert number == pytest.approx(rough, rel=0.35)
    table = plan(scores=scores, rates=rates, hits=hits, clusters=ids, detect=(0.05,))
    assert table.loc["detect the given curve", "clusters"] == number
    assert table.loc["detect the given curve", "labels"] < 400


def test_a_plan_is_quick():
    start = time.process_time()
    plan(beta=(2, 1))
    assert time.process_time() - start < 3
