"""The sampler: its words, spacings and table; its distribution, hits, sums and streams."""

import math

import mpmath
import numpy as np
import pytest
from engine_data import MODELS, published_scenario
from nightly import daily
from numba import njit
from scipy import stats
from scipy.special import betainc, betaincc, expit

from calbias import InputError
from calbias.engine import sampler as sampling
from calbias.engine.float_scores import log_gap_below_one, rounded
from calbias.engine.random_words import block, fill_words, minus_log, seed_lanes
from calbias.engine.sampler import (
    CELLS,
    CELLS_PER_OCTAVE,
    OCTAVES,
    SMALLEST,
    WORD,
    Sampler,
    build_quantile_table,
    draw,
)
from calbias.engine.seeding import digest_of, stream_key
from calbias.engine.simd import load, store
from calbias.engine.sorted_batch import of_sorted_scores
from calbias.simulation import simulate_estimates
from calbias.truth.curves import NAMED_CURVES, Curve
from calbias.truth.scenarios import Scenario, score_quantiles

# Random123, kat_vectors: counter, key, answer.
KNOWN_ANSWERS = [
    ("00000000 00000000 00000000 00000000", "00000000 00000000",
     "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff",
     "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0",
     "d16cfe09 94fdcceb 5001e420 24126ea1"),
]  # fmt: skip


def words(text):
    return [np.uint32(int(word, 16)) for word in text.split()]


def test_known_answers():
    for counter, key, answer in KNOWN_ANSWERS:
        given = (np.uint64(word) for word in (*words(counter), *words(key)))
        assert list(block.py_func(*given)) == words(answer)


def test_words_are_the_blocks_at_consecutive_counters():
    out = np.empty((4, 9), np.uint32)
    fill_words(out, 9, *map(np.uint32, (2**32 - 5, 3, 4, 5, 6)))
    for i, column in enumerate(out.T, start=2**32 - 5):
        given = map(np.uint64, (i % 2**32, 0, 5, 6, 3, 4))
        assert column.tolist() == list(block.py_func(*given))


def test_a_key_is_a_function_of_its_three_arguments():
    """Pinned: a change would redraw every simulated data set."""
    key = stream_key(2022, "resnet110_c10", 200)
    assert (key.dtype, key.tolist()) == (np.uint32, [1710645587, 291979810])


def test_a_digest_is_of_scores_to_a_millionth():
    one, near, other = (digest_of(np.array([s]), np.ones(1)) for s in (0.6, 0.6000004, 0.600001))
    assert one == near != other


MASK = 2**64 - 1
# Of the authors' xoshiro256plusplus.c, with the state 1, 2, 3, 4.
KNOWN_WORDS = [41943041, 58720359, 3588806011781223, 3591011842654386, 9228616714210784205]


def next_word(state):
    """One step of xoshiro256++ on a list of four Python ints; return the word."""
    s0, s1, s2, s3 = state
    total = (s0 + s3) & MASK
    word = ((total << 23 | total >> 41) + s0) & MASK
    s2, s3 = s2 ^ s0, s3 ^ s1
    state[:] = s0 ^ s3, s1 ^ s2, s2 ^ (s1 << 17 & MASK), (s3 << 45 | s3 >> 19) & MASK
    return word


def halves(word):
    return (word & 0xFFFFFFFF) + 0.5, (word >> 32) + 0.5


def seeded(key=(3, 4), replicate=9):
    state = np.empty(32, np.uint64)
    seed_lanes(np.array(key, np.uint32), np.uint64(replicate), state)
    return state


def slow_sums(state, n_blocks):
    """Return (sums, marks), lists in order of the samples, in plain Python."""
    lanes = [[int(word) for word in state.reshape(4, 8)[:, lane]] for lane in range(8)]
    sums, marks, before = [], [], 0.0
    for _ in range(n_blocks):
        for lane in lanes:
            words = [next_word(lane) for _ in range(6)]
            u = [half / 2**32 for word in words[:2] for half in halves(word)]
            whole = -math.log(math.prod(u))
            inside = sorted([*halves(words[2]), halves(words[3])[0]])
            sums += [before + whole * x / 2**32 for x in inside] + [before + whole]
            marks += [int(half) for word in words[4:] for half in halves(word)]
            before += whole
    return sums, marks


def test_words_of_plain_python_are_those_of_xoshiro():
    state = [1, 2, 3, 4]
    assert [next_word(state) for _ in range(5)] == KNOWN_WORDS


def test_lanes_are_seeded_by_philox():
    state = seeded(replicate=2**32 * 7 + 5)
    words = np.empty((4, 16), np.uint32)
    three, four, five, seven, zero = (np.uint32(k) for k in (3, 4, 5, 7, 0))
    fill_words(words, 16, zero, three, four, five, seven)
    assert state.tobytes() == words.tobytes()
    assert np.unique(state).size == 32
    assert not np.isin(seeded(replicate=6), state).any()


def test_logarithms():
    @njit
    def compiled(x, out):
        for i in range(0, x.size, 8):
            store(out, i, minus_log(load(x, i)))

    generator = np.random.default_rng(1)
    x = 2.0 ** generator.uniform(-4, 128, 8000)
    x[:4] = 0.5**4, (2.0**32 - 0.5) ** 4, 2.0**127, np.nextafter(2.0**128, 0)
    out = np.empty(x.size)
    compiled(x, out)
    np.testing.assert_allclose(out, 128 * np.log(2) - np.log(x), rtol=6e-11, atol=5e-14)


TAILS = np.array([1e-11, 1e-6, 1e-3, 0.05, 0.3, 0.5])
EXTREME = [(0.03, 0.03), (0.03, 200), (200, 0.03), (200, 200), (1, 1), (0.5, 3), (2.8, 0.05),
           (1.1, 0.1)]  # fmt: skip


def upper_tail(alpha, beta, log1m_score):
    """Return P(score > c) for 1 - c = exp(log1m_score), to 30 digits."""
    with mpmath.workdps(30):
        return mpmath.betainc(beta, alpha, 0, mpmath.exp(log1m_score), regularized=True)


@pytest.mark.parametrize("model", MODELS)
def test_quantiles_of_the_published_fits(model):
    """Where the smaller of c and 1 - c has rounded away in float64, too: 1 - c down to 1e-300."""
    _, alpha, beta, _ = published_scenario(model)
    for tail, value in zip(TAILS, score_quantiles(alpha, beta, upper=TAILS)[1], strict=True):
        assert float(upper_tail(alpha, beta, value)) == pytest.approx(tail, rel=1e-9)
    for tail, value in zip(TAILS, score_quantiles(alpha, beta, lower=TAILS)[0], strict=True):
        precision = 1e-9 if np.exp(value) < 0.5 else 1e-4
        assert float(upper_tail(beta, alpha, value)) == pytest.approx(tail, rel=precision)


@pytest.mark.parametrize(("alpha", "beta"), EXTREME)
def test_quantiles_of_extreme_parameters(alpha, beta):
    for side, shapes, k in (("lower", (beta, alpha), 0), ("upper", (alpha, beta), 1)):
        logs = score_quantiles(alpha, beta, **{side: TAILS})
        assert np.isfinite(logs).all()
        np.testing.assert_allclose(np.exp(logs).sum(axis=0), 1, rtol=1e-14)
        expected = [float(upper_tail(*shapes, value)) for value in logs[k]]
        np.testing.assert_allclose(expected, TAILS, rtol=2e-5)


def look_up(table, d, side):
    """Return (score, T) at the distance d of u from 0 or, ``upper``, from 1."""
    octave = np.floor(np.log2(d / SMALLEST)).astype(int)
    within = (d / (SMALLEST * 2.0**octave) - 1) * CELLS_PER_OCTAVE
    cell = octave * CELLS_PER_OCTAVE + np.floor(within).astype(int)
    rows = table.reshape(2, CELLS, 4, 2)[0 if side == "lower" else 1][cell]
    powers = (within - np.floor(within))[:, None] ** np.arange(4)
    score, hits = np.einsum("ij,ijk->ki", powers, rows)
    return score, hits / WORD


def places():
    generator = np.random.default_rng(4)
    return np.append(0.5 * 2.0 ** -generator.uniform(0, OCTAVES - 0.01, 1000), 0.5)


@pytest.mark.parametrize("model", daily(MODELS, 3))
def test_published_scenarios(model):
    """The score to 1e-9, and |F(score) - u| ≤ 2e-7·d where float64 resolves the score."""
    scenario, d = published_scenario(model), places()
    table = build_quantile_table(scenario)
    for side, tail in (("lower", betainc), ("upper", betaincc)):
        score, hit_rate = look_up(table, d, side)
        assert ((score >= 0) & (score <= 1 + 1e-15)).all()
        logs = score_quantiles(scenario.alpha, scenario.beta, **{side: d})
        np.testing.assert_allclose(score, np.exp(logs[0]), atol=1e-9)
        np.testing.assert_allclose(hit_rate, scenario.curve.hit(*logs), atol=1e-9)
        resolved = logs[1] > np.log(1e-7)  # nearer to 1 the score's own rounding moves F by more
        away = np.abs(tail(scenario.alpha, scenario.beta, score) - d)[resolved]
        assert (away <= 2e-7 * d[resolved]).all()


@pytest.mark.parametrize(("alpha", "beta"), daily(EXTREME, 3))
def test_extreme_scores(alpha, beta):
    d = places()
    logs = {side: score_quantiles(alpha, beta, **{side: d}) for side in ("lower", "upper")}
    for curve in (Curve("identity"), Curve("power", 0, 0.5), NAMED_CURVES["logistic"]):
        table = build_quantile_table(Scenario("extreme", alpha, beta, curve))
        for side, at in logs.items():
            score, hit_rate = look_up(table, d, side)
            np.testing.assert_allclose(score, np.exp(at[0]), rtol=5e-5, atol=1e-9)
            np.testing.assert_allclose(hit_rate, curve.hit(*at), rtol=5e-5, atol=5e-5)


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
