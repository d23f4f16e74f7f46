"""How many rows or clusters a verdict needs, where its power is known, and its parts by hand."""

import numpy as np
import pytest
from scipy.special import logit, ndtr, ndtri
from scipy.stats import ncx2

from calbias.auditing.error.cox import detection_labels
from calbias.auditing.verdict import power as tested
from calbias.auditing.verdict.clusters import whole_clusters_p_value
from calbias.auditing.verdict.finding import fitted_rates
from calbias.auditing.verdict.groups import groups_of_rows
from calbias.auditing.verdict.power import cluster_labels, verdict_labels, verdict_power
from calbias.auditing.verdict.redraws import draw, pooled_p_value, signed_pool, surprise
from calbias.auditing.verdict.statistics import statistics_of
from calbias.engine.seeding import stream

SCORES = np.array([0.123, 0.234, 0.345, 0.456, 0.567, 0.678, 0.789, 0.891])
RATES = np.array([0.3, 0.25, 0.5, 0.45, 0.6, 0.6, 0.9, 0.7])


def noncentrality(power):
    """Of χ² with 2 degrees of freedom that exceeds its 95 % quantile so often; by bisection."""
    low, high = 0.0, 100.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if ncx2.sf(5.991464547, 2, middle) < power else (low, middle)
    return middle


def of_normal(delta, calls, error=0.02):
    """A power Φ(δ√n − 2), a line in √n, with a standard error that grows with n."""

    def power_at(n, replicates):
        assert n == int(n)
        calls.append((n, replicates))
        return float(ndtr(delta * np.sqrt(n) - 2)), error * (1 + n / 1000)

    return power_at


def by_least_squares(sizes, powers, errors, power):
    """√n at the power, its standard error, and that of the power: polyfit of weighted points."""
    x, y = np.sqrt(sizes), ndtri(powers)
    density = np.exp(-(y**2) / 2) / np.sqrt(2 * np.pi)
    (slope, start), covariance = np.polyfit(x, y, 1, w=density / errors, cov="unscaled")
    root = (ndtri(power) - start) / slope
    se = np.sqrt(np.array([root, 1]) @ covariance @ [root, 1])
    return root, se / slope, se * np.exp(-(ndtri(power) ** 2) / 2) / np.sqrt(2 * np.pi)


def test_the_line_through_simulated_powers():
    """The search walks by noncentralities from 50 until 0.8 is nearer than 0.06."""
    calls = []
    found = tested._search(of_normal(0.1, calls), 50.0, 0.8, 10**6, (7, 9))
    n, walked = 50.0, []
    while True:
        walked.append(int(np.ceil(n)))
        reached = ndtr(0.1 * np.sqrt(walked[-1]) - 2)
        if abs(reached - 0.8) < 0.06:
            break
        ratio = noncentrality(0.8) / noncentrality(min(max(reached, 0.1), 0.98))
        n *= min(max(ratio, 0.25), 4)
    assert calls[: len(walked)] == [(each, 7) for each in walked]
    sizes = [int(np.ceil(n * share)) for share in (0.75, 0.87, 1.0, 1.15, 1.33)]
    assert calls[len(walked) :] == [(each, 9) for each in sizes]
    powers, errors = zip(*(of_normal(0.1, [])(size, 9) for size in sizes), strict=True)
    root, se, se_of_power = by_least_squares(sizes, powers, errors, 0.8)
    exact = (2 + ndtri(0.8)) / 0.1
    assert root == pytest.approx(exact)
    assert found.labels == np.ceil(exact**2)
    reach = 1.959964 * se
    assert (found.labels_low, found.labels_high) == (
        np.ceil((root - reach) ** 2), np.ceil((root + reach) ** 2))  # fmt: skip
    assert found.simulated_power == pytest.approx(0.8)
    assert found.simulated_power_se == pytest.approx(se_of_power)


def test_ends_of_the_search():
    few = tested._search(of_normal(2.5, []), 3.0, 0.8, 10**6, least=5)
    assert few[:3] == (5, 5, 5)
    assert few[3:] == of_normal(2.5, [])(5, 1)
    calls = []
    assert tested._search(of_normal(0.001, calls), 100.0, 0.8, 10_000).labels == np.inf
    assert [n for n, _ in calls] == [100, 400, 1600, 6400]  # at most four times as many
    calls = []
    tested._search(of_normal(1.0, calls), 10_000.0, 0.15, 10**6)
    assert [n for n, _ in calls][:3] == [10_000, 2500, 625]
    calls = []
    tested._search(lambda n, b: calls.append(n) or (0.5, 0.01), 100.0, 0.8, 10**7)
    assert len(calls) == 8 + 5
    flat = tested._search(lambda n, b: (0.78, 0.01), 100.0, 0.8, 10**6)
    assert flat == (np.ceil(100 * 1.33), 75, np.inf, 0.78, 0.01)
    falls = tested._search(lambda n, b: (0.79 - n / 1e4, n / 1e4), 100.0, 0.8, 10**6)
    assert falls == pytest.approx((np.ceil(100 * 1.33), 75, np.inf, 0.7767, 0.0133))
    steps = tested._search(lambda n, b: ((n > 80) * 0.8 + (n > 120) * 0.2, 0.01), 100.0, 0.8, 10**6)
    powers = [1e-3, 0.8, 0.8, 0.8, 1 - 1e-3]  # no power is 0 or 1
    root, *_ = by_least_squares([75, 87, 100, 115, 133], powers, np.full(5, 0.01), 0.8)
    assert steps.labels == np.ceil(root**2)
    near = tested._search(of_normal(0.9, []), 9.0, 0.8, 10.0)
    assert near.labels <= 10


@pytest.mark.parametrize("nulls", [4000, 19])
def test_power_counts_redraws_of_the_curve_beyond_those_of_the_model(nulls, monkeypatch):
    """p = (1 + redraws as large) / (1 + redraws) of the largest surprise; 1/20 is found."""
    if nulls == 19:
        monkeypatch.setattr(tested, "_NULLS", nulls)
    n, replicates = 20, 60
    power, error = verdict_power(SCORES, RATES, n, replicates, seed=3)
    ranks = (np.arange(n) + 0.5) / n * 8
    scores, rates = SCORES[ranks.astype(int)], RATES[ranks.astype(int)]
    groups, _ = groups_of_rows(scores, np.zeros(n))
    upper = SCORES > 0.5
    statistics = statistics_of(groups)
    null = draw(statistics, groups, stream(3, "power", "null", "20"), nulls)[1:]
    chance = np.where(upper, 1 - RATES, RATES)
    drawn = draw(statistics, groups, stream(3, "power", "curve", "20"), replicates, chance)[1:]
    assert np.unique(scores).size == 8
    assert rates.size == n
    largest = tested.surprise_against(null, null).max(axis=1)
    p = [(1 + np.sum(largest >= each)) / (nulls + 1)
         for each in tested.surprise_against(null, drawn).max(axis=1)]  # fmt: skip
    assert power == np.mean(np.array(p) <= 0.05)
    smoothed = (power * 60 + 1) / 62
    assert error == pytest.approx(np.hypot(np.sqrt(smoothed * (1 - smoothed) / 60), 0.0095))


def test_labels_start_at_the_fewer_of_two_tests(monkeypatch):
    """Cox's score test, or 20 over the mean χ² of a row where the curve is not a line."""
    started = []
    monkeypatch.setattr(tested, "_search", lambda power_at, n, *rest: started.append((n, *rest)))
    for rates in (RATES, np.where(np.arange(8) % 2, SCORES + 0.1, SCORES - 0.1)):
        verdict_labels(SCORES, rates, 0.7)
        cox = detection_labels(SCORES, rates, 0.7)
        chi_square = np.mean((rates - SCORES) ** 2 / (SCORES * (1 - SCORES)))
        assert started[-1][0] == pytest.approx(min(cox, 20 / chi_square))
        assert started[-1][1:] == (0.7, 10**7)
    assert cox > 20 / chi_square
    verdict_labels(np.append(SCORES[:7], 1.0), np.append(SCORES[:7], 0.9), 0.7)
    assert started[-1][0] == pytest.approx(20 / (0.01 / 1e-12 / 8), rel=1e-9, abs=0)
    started.clear()
    assert verdict_labels(SCORES, SCORES).labels == np.inf
    assert verdict_labels(SCORES, SCORES + 1e-4).labels == np.inf
    assert not started


def pilot(clusters=12, seed=5):
    """Scores, hits, clusters of one to four rows, and rates 0.1 above the scores."""
    generator = np.random.default_rng(seed)
    codes = np.repeat(np.arange(clusters), 1 + np.arange(clusters) % 4)
    scores = generator.uniform(0.2, 0.8, codes.size)
    return scores, (generator.random(codes.size) < scores).astype(float), codes, scores + 0.1


def test_rows_of_drawn_clusters(monkeypatch):
    """A row's moved hit is c ± (y − r) √(c(1 − c)/(r(1 − r)) · G/(G − 2)), one sign a cluster."""
    scores, hits, codes, rates = pilot()
    seen = []

    def is_found(*arguments):
        seen.append(arguments)
        return len(seen) <= 3

    monkeypatch.setattr(tested, "_is_found", is_found)
    order = np.random.default_rng(0).permutation(codes.size)
    shuffled = scores[order], hits[order], codes[order], rates[order]
    power, error = tested.cluster_power(*shuffled, 15, replicates=4)
    assert power == 3 / 4
    assert error == pytest.approx(np.sqrt(4 / 6 * 2 / 6 / 4))
    groups, place = groups_of_rows(scores, hits)
    r = fitted_rates(groups)[place]
    scale = np.sqrt(rates * (1 - rates) / (r * (1 - r)) * 12 / 10)
    of_score = {s: k for k, s in enumerate(scores)}
    signs = []
    for s, y, moved, ids, _ in seen:
        assert np.unique(ids).tolist() == list(range(15))
        for g in range(15):
            rows = np.array([of_score[each] for each in s[ids == g]])
            one = codes[rows[0]]
            assert sorted(rows) == np.flatnonzero(codes == one).tolist()  # a whole cluster
            assert y[ids == g].tolist() == hits[rows].tolist()
            ratio = (moved[ids == g] - rates[rows]) / ((hits - r) * scale)[rows]
            assert ratio == pytest.approx(np.full(rows.size, np.sign(ratio[0])))
            signs.append(np.sign(ratio[0]))
    assert set(signs) == {-1, 1}


def test_a_drawn_study_is_judged_as_the_verdict_judges(monkeypatch):
    """The p-values of signs and of redraws, and of whole clusters where few have a hit."""
    results, seen = set(), []
    monkeypatch.setattr(tested, "surprise", lambda pool: seen.append(pool) or surprise(pool))
    for seed, shift in enumerate((0.0, 0.1, 0.2, 0.2, 0.3, 0.3)):
        scores, hits, codes, _ = pilot(30, seed)
        moved = np.clip(scores + shift, 0, 1) + 0.3 * (hits - scores)
        generators = [np.random.default_rng(seed) for _ in range(2)]
        found = tested._is_found(scores, hits, moved, codes, generators[0])
        groups, place = groups_of_rows(scores, hits)
        statistics, residual = statistics_of(groups), moved - scores
        by_group = np.lexsort((place, codes))
        signed = signed_pool(groups, statistics, place[by_group], residual[by_group],
                             codes[by_group], generators[1], 99)  # fmt: skip
        assert seen.pop(0) == pytest.approx(signed)
        seen.clear()
        p = [pooled_p_value(surprise(signed))[0]]
        observed = groups._replace(hits=np.bincount(place, moved))
        p.append(pooled_p_value(surprise(draw(statistics, observed, generators[1], 99)))[0])
        if p[0] > 0.05:
            p.pop()
        assert found == (max(p) <= 0.05)
        results.add(found)
    assert results == {True, False}
    codes = np.repeat(np.arange(12), 3)
    scores, few = np.linspace(0.2, 0.4, 36), (np.arange(36) % 12 == 0) * 1.0
    means, rates = (np.bincount(codes, x) / 3 for x in (scores, few + 0.1))
    assert whole_clusters_p_value(means, rates) > 0.05
    assert not tested._is_found(scores, few, few + 0.1, codes, np.random.default_rng(0))


def test_the_largest_of_three_p_values_is_at_most_5_percent(monkeypatch):
    """Of signs, of redraws, and of whole clusters where nine of thirty have a hit, not ten."""
    scores, _, codes, _ = pilot(30, 4)
    for clusters, *p_values in ((9, 0.05, 0.05, 0.05), (9, 0.0501, 0, 0), (10, 1, 0.05, 0.05),
                                (10, 0, 0.0501, 0), (10, 0, 0, 0.0501)):  # fmt: skip
        hits = (codes < clusters) * 1.0
        whole, *pooled = p_values
        monkeypatch.setattr(tested, "whole_clusters_p_value", lambda *rates, p=whole: p)
        monkeypatch.setattr(tested, "pooled_p_value", lambda e, left=pooled: (left.pop(0), None))
        found = tested._is_found(scores, hits, hits, codes, np.random.default_rng(0))
        assert found == (max(p_values[clusters > 9 :]) <= 0.05)


def test_noncentralities_by_matrices():
    """δᵀ V⁻¹ δ: means and covariances of the clusters' scores, weighted."""
    scores, hits, codes, rates = pilot()
    weights = np.vstack([np.ones(12), np.random.default_rng(0).integers(0, 3, (4, 12))])
    groups, place = groups_of_rows(scores, hits)
    residual = hits - fitted_rates(groups)[place]
    x = logit(scores) - logit(scores).mean()
    for shift in (rates - scores, 0.1 * np.sin(9 * scores)):
        found = tested._noncentralities(scores, hits, codes, shift, weights)
        for w, value in zip(weights, found, strict=True):
            u = np.array([[np.sum((r * f)[codes == g]) for g in range(12)]
                          for r, f in ((residual, x**0), (residual, x))])  # fmt: skip
            d = np.array([np.sum(w[codes] * shift * f) for f in (x**0, x)]) / w.sum()
            assert value == pytest.approx(d @ np.linalg.inv((u * w) @ u.T / w.sum()) @ d)
    one = np.full(scores.size, 0.3)  # no slope: the square of the mean over the variance
    shift = rates - scores
    found = tested._noncentralities(one, hits, codes, shift, weights[:1])
    sums, moved = (np.bincount(codes, each) for each in (hits - 0.3, shift))
    assert found[0] == pytest.approx(np.mean(moved) ** 2 / np.mean(sums**2))


@pytest.mark.parametrize(("gap", "k"), [(0.3, 1), (-0.3, 1), (0.008, 5)])
def test_labels_of_clusters(gap, k, monkeypatch):
    """A line in √G is searched with an error k times as large where more than 200 are needed."""
    scores, hits, codes, _ = pilot(30)
    rates = scores + gap
    names = np.char.add("c", codes.astype(str))
    drawn = stream(2, "pilot").multinomial(30, np.full(30, 1 / 30), 1000)
    seen = []

    def power(values, outcomes, ids, curve, number, replicates, seed):
        seen.append((values, outcomes, ids, curve, number, replicates, seed))
        return float(ndtr(0.25 * np.sqrt(number) - 2)), 0.03

    monkeypatch.setattr(tested, "cluster_power", power)
    found = cluster_labels(scores, hits, names, rates, seed=2)
    values, outcomes, ids, curve, _, replicates, seed = seen[0]
    assert (replicates, seed) == (40, 2)
    weights = np.vstack([np.ones(30), drawn])
    each = tested._noncentralities(values, outcomes, ids, np.full(values.size, gap), weights)
    start = noncentrality(0.8) / each[0]
    ratio = max(np.sqrt(start / 200), 1)
    assert (ratio > 1) == (k > 1)
    assert curve == pytest.approx(np.clip(values + ratio * gap, 0, 1))
    assert seen[0][4] == max(np.ceil(start / ratio**2), 10)
    plain = ((2 + ndtri(0.8)) / 0.25) ** 2
    assert found.labels == pytest.approx(plain * ratio**2, abs=ratio**2 + 1)
    sorted_ratios = np.sort(each[0] / each[1:])
    low, high = sorted_ratios[24], sorted_ratios[974]  # 2.5 % and 97.5 % of a thousand
    assert found.labels_low == pytest.approx(min(low, 1) * found.labels, rel=0.02)
    assert found.labels_high == pytest.approx(max(high, 1) * found.labels, rel=0.02)
    order = np.random.default_rng(1).permutation(scores.size)
    renamed = np.random.default_rng(2).permutation(30)[codes][order]
    assert cluster_labels(scores[order], hits[order], renamed, rates[order], seed=2) == found
    assert cluster_labels(scores, hits, names, scores).labels == np.inf
