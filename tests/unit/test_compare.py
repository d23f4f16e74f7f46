"""Which of two models is better calibrated: brute force, known pairs, clusters, refusals."""

import itertools

import numpy as np
import pandas as pd
import pytest
from refusals import refuses
from scipy.special import expit, logit, ndtr

from calbias import InputError
from calbias.auditing.compare import compare, compare_files, reliability
from calbias.engine.posterior.cells import cells_of, interval_cells
from evidence.cells.common import line, wave


def by_pairs(scores, hits, cluster):
    """Return E δ² from all pairs of rows of a cell that are in different clusters."""
    order = np.argsort(scores, kind="stable")
    cum_hit = np.append(0.0, np.cumsum(hits[order]))
    bounds = cells_of(scores[order], cum_hit, *interval_cells(scores.size)).bounds
    residual, total = (hits - scores)[order], 0.0
    edges = np.unique([0, *bounds, scores.size])
    for low, high in itertools.pairwise(edges):
        r, g = residual[low:high], cluster[order][low:high]
        apart = g[:, None] != g
        if apart.any():
            total += (high - low) / scores.size * np.outer(r, r)[apart].mean()
    return total


def drawn(n=300, seed=0, decimals=9):
    generator = np.random.default_rng(seed)
    scores = generator.beta(3, 1, n).round(decimals)
    return scores, (generator.random(n) < scores**1.4).astype(np.uint8)


@pytest.mark.parametrize("decimals", [1, 2, 9])
@pytest.mark.parametrize("rows", [1, 7])
def test_the_estimate_is_a_mean_over_pairs(decimals, rows):
    scores, hits = drawn(decimals=decimals)
    cluster = np.arange(scores.size) // rows
    found, influence = reliability(scores, hits, cluster)
    assert found == pytest.approx(by_pairs(scores, hits, cluster))
    assert influence.sum() == pytest.approx(0, abs=1e-12)


def test_the_influences_are_those_of_leaving_a_cluster_out():
    """To first order: on tied scores, whose cells stay."""
    scores, hits = drawn(4000, decimals=1)
    cluster = np.arange(scores.size) // 4
    whole, influence = reliability(scores, hits, cluster)
    for left in (0, 17, 900):
        rest = cluster != left
        part, _ = reliability(
            scores[rest], hits[rest], np.unique(cluster[rest], return_inverse=1)[1]
        )
        assert whole - part == pytest.approx(influence[left], rel=0.05, abs=2e-8)


def test_the_better_calibrated_model_is_found_in_both_orders_and_any_order_of_rows():
    generator = np.random.default_rng(0)
    q = generator.beta(4, 1.5, 2000)
    hits = generator.random(2000) < q
    good, bad = expit(1.2 * logit(q)), expit(2.5 * logit(q))
    found = compare(good, bad, hits)
    assert found.better == "first"
    assert str(found) == found.sentence
    assert "first is better calibrated" in found.sentence
    other = compare(bad, good, hits, names=("a", "b"))
    assert (other.better, other.difference) == ("b", -found.difference)
    order = generator.permutation(2000)
    assert compare(good[order], bad[order], hits[order]).low == pytest.approx(found.low, rel=1e-9)
    with pytest.raises(AttributeError):
        found.n = 3


def test_no_model_is_better_than_itself():
    scores, hits = drawn()
    itself = compare(scores, expit(logit(scores)), hits)
    assert (itself.difference, itself.p_value, itself.better) == (0, 1, None)
    assert "no difference found" in itself.sentence


@pytest.mark.parametrize("saturated", [1.0, 1 - 1e-15, 1 - 1e-7])
def test_a_few_misses_among_saturated_scores_do_not_hide_what_is_wrong_with_them(saturated):
    """30 % of the second model's scores are of rate 0.96: E δ² is 0.3·0.04² = 4.8·10⁻⁴."""
    generator = np.random.default_rng(2)
    rates = np.where(np.arange(4000) < 1200, 0.96, generator.random(4000))
    hits = generator.random(4000) < rates
    found = compare(rates, np.where(rates == 0.96, saturated, rates), hits)
    assert found.reliability_second == pytest.approx(4.8e-4, abs=4e-4)
    assert found.difference < 0


def test_a_difference_without_spread_is_found():
    ones, misses = np.ones(100), np.zeros(100)
    assert compare(ones, 0.9 * ones, misses).p_value < 1e-20
    assert compare(ones, ones, misses).p_value == 1
    found = compare(ones, ones, (misses, ones))
    assert (found.reliability_first, found.reliability_second) == (1, 0)


def pair(law, curve, second, n, generator, rows=1, correlation=0.0):
    """Return scores of two models, hits and clusters of ``rows`` rows, and the true difference.

    The first scores are drawn from Beta(*law) and have the rates ``curve(scores)``, the second are
    ``second(rates)``; the hits of a cluster share a normal effect of this correlation.
    """
    first = np.clip(generator.beta(*law, n), 1e-12, 1 - 1e-12)
    rates = np.clip(curve(first), 1e-9, 1 - 1e-9)
    cluster = np.arange(n) // rows
    effect = np.sqrt(correlation) * generator.standard_normal(n)[cluster]
    noise = np.sqrt(1 - correlation) * generator.standard_normal(n)
    return first, second(rates), (ndtr(effect + noise) < rates).astype(np.uint8), cluster, rates


@pytest.mark.parametrize(
    ("law", "curve", "second"),
    [
        ((1.0, 1.0), wave(2, 0.1), line(0.2, 1)),
        ((6.0, 1.5), lambda s: s - 0.1 * (s > 0.9), line(0.15, 1)),
    ],
)
def test_pairs_on_which_one_logistic_line_failed(law, curve, second):
    """A wave of 10 points against a shift; 10 points above 0.9 against a shift."""
    first, other, _, _, rates = pair(law, curve, second, 400_000, np.random.default_rng(9))
    truth = np.mean((first - rates) ** 2) - np.mean((other - rates) ** 2)
    drawn = (pair(law, curve, second, 2000, np.random.default_rng(k)) for k in range(40))
    found = [compare(first, other, hits) for first, other, hits, *_ in drawn]
    differences = [c.difference for c in found]
    assert abs(np.mean(differences) - truth) < 4 * np.std(differences) / np.sqrt(40)
    assert np.mean([c.low <= truth <= c.high for c in found]) >= 0.85
    assert sum(c.p_value <= 0.05 and c.difference * truth < 0 for c in found) <= 2


def test_clusters_widen_the_interval_and_keep_its_coverage():
    law, curve = (1.0, 1.0), line(-0.3, 1)
    generators = map(np.random.default_rng, range(60))
    drawn = [pair(law, curve, line(-0.3, 1), 1000, g, 20, 0.5) for g in generators]
    first, other, _, _, rates = pair(law, curve, line(-0.3, 1), 400_000, np.random.default_rng(61))
    truth = np.mean((first - rates) ** 2) - np.mean((other - rates) ** 2)
    found = [compare(a, b, hits, clusters=cluster) for a, b, hits, cluster, _ in drawn]
    assert np.mean([c.low <= truth <= c.high for c in found]) >= 0.8
    first, second, hits, *_ = drawn[0]
    wide, narrow = found[0], compare(first, second, hits)
    assert wide.high - wide.low > 1.5 * (narrow.high - narrow.low)
    each = compare(first, second, hits, clusters=[f"row {k}" for k in range(1000)])
    assert (each.n_clusters, each.low) == (1000, pytest.approx(narrow.low))


S, Y = drawn(30)
test_bad_arguments = refuses(
    compare,
    (S, S[:-1], (Y, Y[:-1]), "30 rows in the first and 29 in the second: give the same rows"),
    (S[:9], S[:9], Y[:9], "9 rows are too few to compare two models by: give at least 20"),
    (S, S + 1, Y, "is no probability"),
)
test_bad_options = refuses(
    lambda **options: compare(S, S, Y, **options),
    ({"confidence_level": 1.0}, "confidence_level must be above 0 and below 1, not 1"),
    (
        {"clusters": [1] * 29},
        r"clusters must be one id for each of the 30 rows: .* \(29,\)",
    ),
    ({"clusters": [1] * 30}, "1 cluster: give at least 10"),
    ({"confidence_level": "0.9"}, "confidence_level must be above 0 and below 1, not 0.9"),
    ({"clusters": [*range(29), None]}, r"row 29 \(counted from 0\): the cluster id is missing"),
    ({"clusters": [*range(29), np.nan]}, r"row 29 \(counted from 0\): the cluster id is missing"),
)


def files(tmp_path, first, second):
    paths = tmp_path / "a.csv", tmp_path / "b.csv"
    for path, columns in zip(paths, (first, second), strict=True):
        pd.DataFrame(columns).to_csv(path, index=False)
    return paths


def test_an_event_and_top_label_scores_are_not_compared(tmp_path):
    event, wide = {"label": Y, "score": S}, {"label": Y, "p0": 1 - S, "p1": S}
    paths = files(tmp_path, event, {"score": S, "hit": Y})
    with pytest.raises(
        InputError, match=r"a\.csv holds the probabilities of an event and .*b\.csv"
    ):
        compare_files(*paths)
    itself = compare_files(*files(tmp_path, event, wide))
    assert (itself.difference, itself.p_value) == (0, 1)
    assert (itself.first, itself.second) == ("a", "b")


def test_files_of_other_rows_are_refused(tmp_path):
    other = np.where(np.arange(30) == 4, 1 - Y, Y)
    event = {"label": Y, "score": S}
    paths = files(tmp_path, event, {"label": other, "score": S})
    with pytest.raises(InputError, match=r"b.csv: row 4 \(counted from 0\) has label"):
        compare_files(*paths)
