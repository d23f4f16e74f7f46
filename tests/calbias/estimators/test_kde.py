"""The KDE estimate: against KDEpy's FFTKDE as the original uses it, against direct kernel sums."""

import numpy as np
import pytest
from engine_data import MODELS, published_scenario
from hypothesis import given
from hypothesis import strategies as st
from nightly import daily
from scipy.integrate import trapezoid

from calbias.engine.sampler import Sampler
from calbias.engine.triweight_sums import moment_coefficients
from calbias.estimation.api import estimate
from calbias.estimators import kde


def bandwidth(scores, hits):
    """Return std(scores of the hits)·(2n)^(-1/5)."""
    return np.std(np.asarray(scores)[np.asarray(hits) == 1]) * (2 * len(scores)) ** -0.2


GRID = np.linspace(-0.6, 1.6, 2**14)
INSIDE = (GRID[GRID > 0][0], GRID[GRID < 1][-1])


def kde_exact(scores, hits, norm=2, between=INSIDE, points_per_bandwidth=400):
    """Return the unrooted KDE estimate by direct kernel sums and a fine trapezoidal rule.

    The kernels within reach of each point are summed one by one; each sample has a mirror image at
    0 if it is below 1/2 and at 1 otherwise. The integral runs between two scores, by default the
    outermost points of the literal grid; only stretches that a kernel reaches are walked over.
    """
    scores, hits = np.asarray(scores, float), np.asarray(hits, float)
    h = bandwidth(scores, hits)
    reach = 3 * h
    error = mass = 0.0
    for low, high in _stretches(np.sort(scores), reach, *between):
        x = np.linspace(low, high, max(3, int((high - low) / h * points_per_bandwidth)))
        everyone, of_hits = np.zeros_like(x), np.zeros_like(x)
        for score, hit in zip(scores, hits, strict=True):
            for centre in (score, -score if score < 0.5 else 2 - score):
                inside = slice(*np.searchsorted(x, [centre - reach, centre + reach]))
                kernel = np.maximum(1 - ((x[inside] - centre) / reach) ** 2, 0) ** 3
                everyone[inside] += kernel
                of_hits[inside] += hit * kernel
        reached = everyone > 0
        accuracy = np.minimum(of_hits[reached] / everyone[reached], 1)
        gaps = np.zeros_like(x)
        gaps[reached] = np.abs(x[reached] - accuracy) ** norm * everyone[reached]
        error += trapezoid(gaps, x)
        mass += trapezoid(everyone, x)
    return error / mass


def _stretches(scores, reach, bottom, top):
    """Return the [low, high] parts of [bottom, top] within ``reach`` of a score, merged."""
    merged = []
    for score in scores:
        low, high = max(score - reach, bottom), min(score + reach, top)
        if high <= low:
            continue
        if merged and low <= merged[-1][1]:
            merged[-1][1] = high
        else:
            merged.append([low, high])
    return merged


def kde_literal(scores, hits, norm=2):
    """Return the unrooted KDE estimate as Zhang et al. compute it: KDEpy's FFTKDE on their grid."""
    from KDEpy import FFTKDE

    scores, hits = np.asarray(scores, float), np.asarray(hits)
    h = bandwidth(scores, hits)

    def density(c):
        mirrored = np.concatenate([-c[c < 0.5], c, 2 - c[c >= 0.5]])
        return FFTKDE(bw=h, kernel="triweight").fit(mirrored).evaluate(GRID) * 2

    everyone, of_hits = density(scores), density(scores[hits == 1])
    inside = (GRID > 0) & (GRID < 1)
    x, everyone, of_hits = GRID[inside], everyone[inside], of_hits[inside]
    reached = everyone > 1e-6
    accuracy = np.zeros_like(x)
    accuracy[reached] = np.minimum(np.mean(hits) * of_hits[reached] / everyone[reached], 1)
    gaps = np.where(reached, np.abs(x - accuracy) ** norm * everyone, 0.0)
    return trapezoid(gaps, x) / trapezoid(everyone, x)


def both(scores, hits, norm=2):
    return [estimate(name, scores, hits, norm=norm).value for name in ("kde", "kde_unrooted")]


def random_data(seed, concentration=1.0):
    """Return scores within ``concentration`` of 1, or of 0, and hits, at least two of them."""
    generator = np.random.default_rng(seed)
    n = int(generator.integers(4, 150))
    scores = generator.beta(*np.exp(generator.uniform(-3, 2, 2)), n)
    if seed % 3 == 0:
        scores = np.round(scores, 2)
    hits = (generator.random(n) < scores ** generator.uniform(0.3, 2)).astype(int)
    hits[np.argsort(scores)[-2:]] = 1
    scores = concentration * scores if seed % 2 else 1 - concentration * (1 - scores)
    return scores, hits


def test_as_the_original_on_any_scores():
    pytest.importorskip("KDEpy")
    wide = [data for data in map(random_data, range(30)) if bandwidth(*data) > 0.008]
    assert len(wide) > 20
    for data in wide:
        assert both(*data)[1] == pytest.approx(kde_literal(*data), abs=1e-6)


@pytest.mark.parametrize(
    ("concentration", "least", "most", "between"),
    [
        *((concentration, 2.2 * 2 / 2**14, 0.008, INSIDE) for concentration in (0.05, 0.01, 0.003)),
        # the original has no points under a kernel
        *((concentration, 1e-12, 2e-4, (0, 1)) for concentration in (1e-3, 1e-5, 1e-8)),
    ],
)
def test_direct_sums_at_small_bandwidths(concentration, least, most, between):
    drawn = [random_data(seed, concentration) for seed in range(40)]
    narrow = [data for data in drawn if least < bandwidth(*data) < most]
    assert len(narrow) > 2
    for data in narrow[:12]:
        exact = kde_exact(*data, between=between, points_per_bandwidth=100)
        assert both(*data)[1] == pytest.approx(exact, abs=1e-5)


def test_the_end_correction_is_exact_for_polynomials():
    """Ends of twenty steps, weighted by Gregory: ∫ (x/20)^p dx = 20/(p + 1) up to p = 5."""
    weights = np.ones(21)
    weights[:6] += kde._GREGORY
    weights[:-7:-1] += kde._GREGORY
    for p in range(6):
        assert weights @ np.linspace(0, 1, 21) ** p == pytest.approx(20 / (p + 1), rel=1e-13)


def test_bandwidth_zero_is_the_mean_label_at_each_score():
    for scores, hits, square in (
        ([0.2, 0.6, 0.6], [0, 0, 0], (0.04 + 0.36 + 0.36) / 3),
        ([0.5, 0.5, 0.8], [1, 0, 0], 0.64 / 3),  # hits at one score
        ([0.7], [1], 0.09),
        ([1.0, 1.0], [1, 1], 0.0),
    ):
        assert both(scores, hits) == pytest.approx([np.sqrt(square), square])


@given(
    scores=st.lists(st.floats(0, 1), min_size=1, max_size=12),
    seed=st.integers(0, 99),
    exponent=st.integers(0, 15),
)
def test_never_nan_and_within_bounds(scores, seed, exponent):
    generator = np.random.default_rng(seed)
    near_one = 1 - 10.0**-exponent * np.array(scores)
    for c in (near_one, 1 - near_one, np.array(scores)):
        rooted, unrooted = both(c, generator.integers(0, 2, c.size))
        assert 0 <= unrooted <= 1 + 1e-6
        assert rooted == pytest.approx(np.sqrt(unrooted))


@pytest.mark.parametrize("n", daily([200, 400, 1600, 12800], 1))
def test_fewer_cells_change_a_root_by_1e_6_at_most(n):
    """Against four times as many cells within a kernel's reach."""
    for model in MODELS:
        for data in Sampler(published_scenario(model), n, 5).batches(range(25600 // n)):
            exact = np.empty(data.scores.shape[0])
            kde._kde(data.scores, data.cum_hit, 2.0, moment_coefficients(80), exact)
            values, _ = kde.estimate_data_sets(data, 0, 2.0, rooted=True)
            np.testing.assert_allclose(values, np.sqrt(exact), rtol=0, atol=1e-6)
