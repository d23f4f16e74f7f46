"""Verdicts and intervals where rows depend on each other."""

import numpy as np
import pytest
from refusals import refuses
from scipy.special import ndtr
from verdicts import judge

from calbias.auditing.verdict.clusters import whole_clusters_p_value
from calbias.auditing.verdict.redraws import signed_sums
from calbias.engine.seeding import stream


def clustered(seed=0, clusters=40, rows=25):
    """Every row is repeated in its cluster."""
    generator = np.random.default_rng(seed)
    scores = np.repeat(generator.beta(2, 1, clusters), rows)
    hits = np.repeat(generator.random(clusters), rows) < scores
    return scores, hits.astype(np.uint8), np.repeat(np.arange(clusters), rows)


def test_repeated_rows_are_not_evidence():
    alone, together = 0, 0
    for seed in range(8):
        scores, hits, ids = clustered(seed)
        alone += judge(scores, hits, replicates=199).miscalibrated
        together += judge(scores, hits, clusters=ids, replicates=199).miscalibrated
    assert alone > 6
    assert together <= 1


def test_calibrated_martingales_are_not_rejected():
    """Their last scores are next to 0 or 1, where all residuals of an atom have one sign."""
    rejected = 0
    for seed in range(4):
        steps = np.random.default_rng(seed).standard_normal((50, 61)) / np.sqrt(61)
        path, time = np.cumsum(steps, axis=1), np.arange(1, 61) / 61
        scores = ndtr(path[:, :-1] / np.sqrt(1 - time)).clip(1e-9, 1 - 1e-9).ravel()
        hits, games = np.repeat(path[:, -1] > 0, 60), np.repeat(np.arange(50), 60)
        rejected += judge(scores, hits * 1, clusters=games, replicates=199).miscalibrated
    assert rejected <= 1


def test_facts_of_repeated_rows():
    scores, hits, ids = clustered()
    verdict = judge(scores, hits, clusters=ids)
    facts = verdict.cluster_facts
    assert (facts.clusters, facts.largest, facts.rows_per_cluster) == (40, 25, 25.0)
    assert facts.design_effect == pytest.approx(25)
    assert facts.effective_rows == pytest.approx(40)
    assert facts.with_rarer == min(hits.sum(), 1000 - hits.sum()) // 25
    assert verdict.p_value == max(facts.p_signs, facts.p_independent)


@pytest.mark.parametrize("rows", [1, 25])
def test_names_of_clusters_do_not_matter(rows):
    """FINDINGS 9: renaming moved p from 0.40 to 0.82 where few misses were expected."""
    generator = np.random.default_rng(4)
    scores, ids = 1 - 0.04 * generator.random(40 * rows), np.repeat(np.arange(40), rows)
    hits = generator.random(scores.size) < scores
    names = np.array([f"{name}" for name in generator.permutation(40)])[ids]
    order = generator.permutation(scores.size)
    first = judge(scores, hits, clusters=np.append(ids[:-1], 40), replicates=199)
    names[-1] = "another"
    assert judge(scores[order], hits[order], clusters=names[order], replicates=199) == first


@pytest.mark.parametrize("number", [4096, 5000, 100_000])
@pytest.mark.parametrize("value", ["one", "normal"])
def test_signed_sums_of_any_number_of_clusters_have_the_sum_of_squares_as_variance(number, value):
    """Joined in the order of their values, without a sign each, clusters gave half of it."""
    values = np.random.default_rng(0).standard_normal((1, number)) if value == "normal" else 1.0
    table = np.broadcast_to(values, (1, number))
    sums = np.concatenate(list(signed_sums(table, stream(0, "test"), 2000)), axis=1)
    assert sums.var() / np.sum(table**2) == pytest.approx(1.0, abs=0.1)  # 3 standard errors


def test_few_misses_take_each_cluster_as_one_observation():
    generator = np.random.default_rng(0)
    ids = np.repeat(np.arange(50), 5 + np.arange(50) % 11)
    scores, hits = 1 - generator.random(ids.size) * 0.02, ids > 2
    verdict = judge(scores, hits, clusters=ids)
    facts, size = verdict.cluster_facts, np.bincount(ids)
    assert facts.with_rarer == 3
    means, rates = (np.bincount(ids, each) / size for each in (scores, hits))
    assert facts.p_whole == pytest.approx(whole_clusters_p_value(means, rates))
    assert facts.p_whole < 1
    assert verdict.p_value == max(facts.p_signs, facts.p_independent, facts.p_whole)
    assert "each cluster was also judged as one observation" in " ".join(verdict.warnings)
    none = judge(np.full(500, 0.95), np.ones(500), clusters=np.arange(500) // 10, replicates=499)
    facts = none.cluster_facts  # 50 rows of 0.95 without a miss are no wonder, 500 are
    assert max(facts.p_signs, facts.p_independent) < 0.01
    assert none.p_value == facts.p_whole > 0.1


def test_a_doubled_risk_is_found_by_signs():
    """FINDINGS 9: 40 clusters of 100 rows; one row a cluster found it in 55 %, signs in 100 %."""
    found = 0
    for seed in range(3):
        generator = np.random.default_rng(seed)
        risk, ids = generator.beta(2, 38, 4000), np.repeat(np.arange(40), 100)
        hits = generator.random(4000) < np.minimum(2 * risk, 1)
        found += judge(risk, hits, clusters=ids, replicates=199).miscalibrated
    assert found == 3


test_refusals = refuses(
    lambda ids: judge([0.5] * 12, [0, 1] * 6, clusters=ids),
    ([1.0] * 5 + [np.nan] + [2.0] * 6, "row 5"),
    (["a", "b", "", *"cdefghijk"], "row 2"),
    (["a", None, "b", *"cdefghijk"], "row 1"),
    ([0, 1] * 6, "2 clusters"),
    ([0] * 12, "1 cluster:"),
    ([1, 2, 3], "one id for each of the 12 rows"),
)
