"""The sampler: its distribution, hits, sums and streams; means that a slow sampler confirms."""

import numpy as np
import pytest
from engine_data import MODELS, published_scenario
from nightly import daily
from scipy import stats
from scipy.special import expit
from test_sampler_parts import seeded, slow_sums

from calbias import Curve, InputError, Scenario
from calbias.engine import sampler as sampling
from calbias.engine.float_scores import log_gap_below_one, rounded
from calbias.engine.sampler import Sampler, draw
from calbias.engine.sorted_batch import of_sorted_scores
from calbias.simulation import simulate_estimates
from calbias.truth.scenarios import score_quantiles

ROUNDS_TO_ONE = 2.0**-54  # a score rounds to 1 where 1 - c is below this
SURE = 1e-5  # p-values below are no accident: a few hundred are looked at, at fixed seeds
UNIFORM = Scenario("uniform", 1.0, 1.0, Curve("identity"))


def sample(scenario, n=4000, replicates=40, seed=11):
    """Return (scores, hits), each (replicates, n)."""
    batches = [
        (data.scores.copy(), np.round(data.hits()))
        for data in Sampler(scenario, n, seed).batches(range(replicates))
    ]
    return tuple(np.concatenate(arrays) for arrays in zip(*batches, strict=True))


def beyond(scenario, miss):
    """Return P(1 - c < miss) of the exact c."""
    return stats.beta(scenario.beta, scenario.alpha).cdf(miss)


@pytest.mark.parametrize("model", daily(MODELS, 1))
def test_scores_of_the_published_fits(model):
    """Kolmogorov-Smirnov where 1 - c > 1e-9, where float64 resolves F; counts of decades beyond."""
    scenario = published_scenario(model)
    scores, _ = sample(scenario)
    inner = scores[scores < 1 - 1e-9]
    u = stats.beta(scenario.alpha, scenario.beta).cdf(inner) / (1 - beyond(scenario, 1e-9))
    assert stats.kstest(u, "uniform").pvalue > SURE
    bounds = 1 - np.array([1.0, 1e-3, 1e-6, 1e-9, 1e-12, 1e-14])
    counts = [*np.histogram(scores[scores < 1], [*bounds, 1])[0], int((scores == 1).sum())]
    above = np.array([*beyond(scenario, 1 - bounds), beyond(scenario, ROUNDS_TO_ONE), 0])
    expected = -np.diff(above) * scores.size
    used = expected > 5
    z = (np.array(counts) - expected)[used] / np.sqrt(expected[used])
    assert stats.chi2(used.sum()).sf(np.sum(z**2)) > SURE
    rounds_to_one = float(beyond(scenario, ROUNDS_TO_ONE))
    assert stats.binomtest(counts[-1], scores.size, rounds_to_one).pvalue > SURE
    if model == "resnet110_c10":
        assert rounds_to_one == pytest.approx(0.18, abs=0.005)


@pytest.mark.parametrize("n", [1, 2, 3, 7, 31, 32, 33, 200, 1023, 5000])
def test_a_data_set_is_sorted_and_its_sums_are_right(n):
    data = draw(published_scenario("resnet110_c100"), n, 3, seed=5)
    scores, hits = data.scores[0], np.round(data.hits()[0])
    assert data.scores.shape == (1, n)
    assert (np.diff(scores) >= -1e-15).all()
    assert np.isin(hits, [0, 1]).all()
    np.testing.assert_array_equal(data.cum_hit[0], [0, *np.cumsum(hits)])
    np.testing.assert_allclose(data.cum_gap[0], [0, *np.cumsum(scores - hits)], atol=1e-12 * n)
    assert data.tie_first.shape == data.tie_last.shape == (1, 0)


@pytest.mark.parametrize("scenario", [published_scenario("densenet40_c10"), UNIFORM])
def test_a_data_set_is_that_of_plain_python(scenario):
    """From the words to scores and hits: exact quantiles of the slow sums, marks below T."""
    n = 100
    sampler = Sampler(scenario, n, seed=7)
    sums, marks = map(np.array, slow_sums(seeded(sampler.key, 3), n // 32 + 1))
    logs = score_quantiles(scenario.alpha, scenario.beta, lower=sums[:n] / sums[n])
    data = next(sampler.batches([3]))
    np.testing.assert_allclose(data.scores[0], np.exp(logs[0]), atol=1e-9)
    distance = (marks[:n] + 0.5) / 2**32 - scenario.curve.hit(*logs)
    assert np.abs(distance).min() > 1e-8
    np.testing.assert_array_equal(np.round(data.hits()[0]), distance < 0)


def test_numbers_do_not_depend_on_batches_order_or_shards(monkeypatch):
    scenario = published_scenario("densenet40_c10")
    for n in (30, 1500):
        expected = all_of(scenario, n, np.arange(50))
        for size in (1, 1 << 10, 1 << 20):
            monkeypatch.setattr(sampling, "_SAMPLES_PER_BATCH", size)
            np.testing.assert_array_equal(all_of(scenario, n, np.arange(50)), expected)
        order = np.random.default_rng(0).permutation(50)
        np.testing.assert_array_equal(all_of(scenario, n, order), expected[order])
        for shard in range(3):
            mine = np.arange(shard, 50, 3)
            np.testing.assert_array_equal(all_of(scenario, n, mine), expected[mine])
        np.testing.assert_array_equal(all_of(scenario, n, np.arange(20)), expected[:20])


def all_of(scenario, n, replicates):
    """Return scores and sums of hits, (m, 2n + 1)."""
    batches = Sampler(scenario, n, 9).batches(replicates)
    return np.concatenate([np.hstack([data.scores, data.cum_hit]) for data in batches])


def test_streams_differ_by_scenario_sample_size_replicate_and_seed():
    """Means over data sets of different streams are uncorrelated, and none repeats."""
    m, n = 4000, 40

    def means(name="a", n=n, seed=1, first=0):
        batches = Sampler(UNIFORM._replace(name=name), n, seed).batches(range(first, first + m))
        return np.concatenate([data.scores.mean(axis=1) for data in batches])

    base = means()
    for other in (means("b"), means(n=n + 1), means(seed=2), means(first=1), means(first=2**32)):
        assert abs(np.corrcoef(base, other)[0, 1]) < 5 / np.sqrt(m)
        assert not np.isin(other, base).all()
    assert np.unique(base).size == m
    # Independent replicates: the means scatter as those of n independent uniforms.
    assert base.var() * 12 * n == pytest.approx(1, abs=5 * np.sqrt(2 / m))
    np.testing.assert_array_equal(means(first=1)[:-1], base[1:])


def test_scenarios_of_one_name_share_their_uniforms():
    a = draw(UNIFORM._replace(curve=Curve("power", 0, 2)), 300, 4, seed=1)
    b = draw(UNIFORM, 300, 4, seed=1)
    np.testing.assert_array_equal(a.scores, b.scores)
    assert (np.round(a.hits()) <= np.round(b.hits())).all()  # c² ≤ c: common random numbers


@pytest.mark.parametrize("n", [0, -5])
def test_bad_sample_sizes(n):
    with pytest.raises(InputError, match=f"n_samples must be at least 1, not {n}"):
        Sampler(published_scenario("resnet110_c10"), n, 1)


ESTIMATORS = (
    *(f"ece_{kind}_{bins}" for kind in ("bin", "debias", "sweep") for bins in ("ew", "em")),
    "kde",
)


def test_all_estimators_see_the_same_data_sets():
    scenario = published_scenario("densenet40_c100")
    together = simulate_estimates(scenario, 300, range(20), ESTIMATORS, seed=1)
    for name in ESTIMATORS:
        alone = simulate_estimates(scenario, 300, range(20), [name], seed=1)
        np.testing.assert_array_equal(alone[name], together[name])


STEEP = Scenario("steep", 2.0, 0.04, Curve("logit_logflip_b1", b1=-0.1))


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("ties", ["average", "input_order"])
def test_rounded_data_sets_are_those_of_a_file_of_scores(precision, ties):
    (data,) = Sampler(STEEP, 300, seed=1).batches(range(3))
    result = rounded(data, precision, ties)
    for row in range(3):
        scores = data.scores[row].astype(precision).astype(float)
        expected = of_sorted_scores(scores, data.hits()[row : row + 1], ties)
        for ours, theirs in zip(result, expected, strict=True):
            np.testing.assert_array_equal(ours[row], theirs[0])
    assert (result.tie_first.size > 0) == (ties == "average")


@pytest.mark.parametrize(("precision", "bits"), [("float64", 53), ("float32", 24)])
def test_scores_of_one_have_the_curve_at_the_largest_float_below(precision, bits):
    """T there is 1/(1 + 2^(-bits/10)); exact scores that round to 1 have more hits."""
    rates = {}
    for name in (precision, "exact"):
        (data,) = Sampler(STEEP, 40_000, seed=2, precision=name).batches([0])
        at_one = data.scores[0].astype(precision) == 1
        rates[name] = data.hits()[0][at_one].mean()
        n = np.count_nonzero(at_one)
    assert log_gap_below_one(precision) == pytest.approx(-bits * np.log(2))
    expected = expit(0.1 * bits * np.log(2))
    error = np.sqrt(expected * (1 - expected) / n)
    assert abs(rates[precision] - expected) < 4 * error
    assert rates["exact"] > expected + 4 * error
    assert n > 5000
