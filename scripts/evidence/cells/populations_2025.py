"""Distributions and curves of the blind cells of 2025: each is fixed when the module is read.

A draw only chooses the rows and their hits. Scores are what practitioners have: networks' outputs,
quality codes, points, odds, ratios of counts, findings, selected rows, recalibrated scores.
"""

from fractions import Fraction
from itertools import pairwise

import numpy as np
from scipy.optimize import isotonic_regression
from scipy.special import expit
from scipy.stats import betabinom, norm

from evidence.cells.blind import (
    Curve,
    Distribution,
    Floats,
    Sampled,
    Values,
    line,
    logit,
    tabulated,
)


def beta(alpha: float, beta: float, low: float = 0.0, high: float = 1.0) -> Distribution:
    """Return the Beta distribution on [low, high]."""
    return Sampled(lambda generator, n: low + (high - low) * generator.beta(alpha, beta, n))


def normal(mean: float, deviation: float) -> Distribution:
    """Return the distribution of scores whose log odds are normal."""
    return Sampled(lambda generator, n: expit(generator.normal(mean, deviation, n)))


def mixed(share: float, first: Distribution, second: Distribution) -> Distribution:
    """Return the mixture of two distributions; ``share`` is the first one's."""
    return Sampled(
        lambda generator, n: np.where(
            generator.random(n) < share, first(generator, n), second(generator, n)
        )
    )


@Sampled
def one_of_ten(generator: np.random.Generator, n: int) -> Floats:
    """Every class's softmax probability, pooled: most are near 0."""
    odds = np.exp(generator.normal(0, 2.4, (n, 10)))
    return odds[:, 0] / odds.sum(1)


def eight_bits(distribution: Distribution) -> Distribution:
    """A quantised network's output: multiples of 1/256 up to 255/256."""
    return Sampled(
        lambda generator, n: np.minimum(np.rint(256 * distribution(generator, n)), 255) / 256
    )


def _patterns(features: int) -> Floats:
    return np.array(np.meshgrid(*[[0, 1]] * features, indexing="ij")).reshape(features, -1).T


def ordered(scores: Floats, rates: Floats, shares: Floats) -> tuple[Values, Curve]:
    """Join equal scores, so that the curve is a function of the score."""
    return tabulated(np.round(scores, 12), rates, shares)


def findings(seed: int, features: int) -> tuple[Floats, Floats, Floats]:
    """Naive Bayes on dependent findings: its scores, the true rates and the shares."""
    generator = np.random.default_rng([20260118, seed])
    x = _patterns(features)
    severe = {0: 0.25, 1: 0.55}  # a latent state makes findings come together
    base = generator.normal(-0.9, 0.6, features)
    effect = generator.normal(0.9, 0.5, features)
    chances = {(y, z): expit(base + effect * y + 0.8 * z) for y in (0, 1) for z in (0, 1)}
    true, naive = [], []
    for y, prior in ((0, 0.7), (1, 0.3)):
        states = ((severe[y], chances[y, 1]), (1 - severe[y], chances[y, 0]))
        true.append(prior * sum(w * np.prod(np.where(x, p, 1 - p), 1) for w, p in states))
        marginal = sum(w * p for w, p in states)
        naive.append(prior * np.prod(np.where(x, marginal, 1 - marginal), 1))
    return naive[1] / (naive[0] + naive[1]), true[1] / (true[0] + true[1]), true[0] + true[1]


def no_interactions(seed: int, features: int) -> tuple[Values, Curve]:
    """The best logistic model of main effects, where the truth has three interactions."""
    generator = np.random.default_rng([20260118, seed])
    x = _patterns(features)
    common = generator.uniform(0.2, 0.6, features)
    shares = np.prod(np.where(x, common, 1 - common), 1)
    odds = -1.2 + x @ generator.normal(0.3, 0.6, features)
    odds = odds + 1.5 * x[:, 0] * x[:, 1] - 1.4 * x[:, 2] * x[:, 3] + 1.6 * x[:, 1] * x[:, 4]
    design, rates = np.column_stack([np.ones(len(x)), x]), expit(odds)
    weights = np.zeros(features + 1)
    for _ in range(30):  # Newton's steps on the population
        fitted = expit(design @ weights)
        slope = (design * (shares * fitted * (1 - fitted))[:, None]).T @ design
        weights = weights + np.linalg.solve(slope, design.T @ (shares * (rates - fitted)))
    return ordered(expit(design @ weights), rates, shares)


def ratios(
    sizes: range, alpha: float, beta: float, hits: int = 0, rows: int = 0
) -> tuple[Values, Curve]:
    """Past hits by past rows, (k + hits) / (m + rows); true rates have a Beta distribution."""
    mass: dict[Fraction, list[float]] = {}
    for m in sizes:
        for k in range(m + 1):
            share = betabinom.pmf(k, m, alpha, beta) / m  # small counts are more common
            entry = mass.setdefault(Fraction(k + hits, m + rows), [0.0, 0.0])
            entry[0] += share
            entry[1] += share * (alpha + k) / (alpha + beta + m)
    values = np.array([float(value) for value in mass])
    shares, rated = np.array(list(mass.values())).T
    return ordered(values, rated / shares, shares)


@Sampled
def points(generator: np.random.Generator, n: int) -> Floats:
    """A scorecard in integer points: 600 is 10 to 1, 40 points double; refused under 560."""
    points = np.rint(generator.normal(640, 55, n))
    points = np.where(points < 560, 560 + np.rint(generator.exponential(25, n)), points)
    return 1 / (1 + 10 * 2 ** ((points - 600) / 40))


_LADDER = np.concatenate([
    np.arange(1.01, 2, 0.01), np.arange(2, 3, 0.05), np.arange(3, 6, 0.1), np.arange(6, 12, 0.5),
    np.arange(12, 34, 2), [41, 51, 67, 81, 101],
])  # fmt: skip


@Sampled
def odds(generator: np.random.Generator, n: int) -> Floats:
    """One by a bookmaker's decimal odds, on the ladder of odds in use, margin included."""
    wanted = 1 / np.clip(1.06 * generator.beta(1.3, 2.1, n), 0.0095, 0.985)
    return 1 / _LADDER[np.searchsorted((_LADDER[1:] + _LADDER[:-1]) / 2, wanted)]


@Sampled
def lumps(generator: np.random.Generator, n: int) -> Floats:
    """A judge's grade of 1 to 5, averaged over the probabilities of the five tokens."""
    grade = generator.choice(5, n, p=[0.08, 0.12, 0.15, 0.45, 0.2])
    lean = generator.choice([-1, 1], n) * generator.beta(0.5, 9, n)
    return np.clip((grade + lean) / 4, 0, 1)


def lump_rates(s: Floats) -> Floats:
    """Within a lump the lean tells three times as much as it says; the lumps are off."""
    grade = np.rint(4 * s)
    rate = np.interp(grade, range(5), [0.1, 0.29, 0.45, 0.69, 0.93])
    return np.clip(rate + 3 * (s - grade / 4), 0, 1)


def alike(s: Floats) -> Floats:
    """Rows of one grade, a range of log odds, have one rate: the rate at its middle."""
    return expit((np.floor(logit(s) / 0.8) + 0.5) * 0.8)


def default_scores(
    seed: int, heaps: int, share: float, distribution: Distribution, curve: Curve
) -> tuple[Distribution, Curve]:
    """New customers get their segment's old rate, a heap; the segments have changed."""
    generator = np.random.default_rng([20260118, seed])
    scores = np.round(np.sort(expit(generator.normal(-1, 1.1, heaps))), 4)
    rates = expit(logit(scores) + generator.normal(0.2, 0.7, heaps))
    heap = Values(scores, generator.gamma(1.5, 1, heaps))

    def faulty(s: Floats) -> Floats:
        near = np.clip(np.searchsorted(scores, s - 1e-9), 0, heaps - 1)
        return np.where(abs(scores[near] - s) < 1e-9, rates[near], curve(s))

    return mixed(share, heap, distribution), faulty


def vendors(first: int, second: int, size: float) -> tuple[Values, Curve]:
    """Two vendors' grids lie between one another; one's scores are low, the other's high."""
    one = np.arange(1, first) / first
    two = (np.arange(second) + 0.5) / second
    scores = np.concatenate([one, two])
    signs = np.concatenate([np.ones(len(one)), -np.ones(len(two))])
    rates = np.clip(scores + size * signs * 4 * scores * (1 - scores), 0, 1)
    return ordered(scores, rates, scores**0.3 * (1 - scores) ** 0.6)


def sites(seed: int, sites: int) -> tuple[Distribution, Curve]:
    """Hospitals with their own patients, intercept and slope; the rate is their mean."""
    generator = np.random.default_rng([20260118, seed])
    shares = generator.dirichlet(np.full(sites, 1.5))
    means, deviations = generator.normal(-1.2, 1.0, sites), generator.uniform(0.5, 1.1, sites)
    slopes, shifts = generator.uniform(0.5, 1.2, sites), generator.normal(-0.15, 0.6, sites)

    @Sampled
    def distribution(generator: np.random.Generator, n: int) -> Floats:
        site = generator.choice(sites, n, p=shares)
        return expit(generator.normal(means[site], deviations[site]))

    def curve(s: Floats) -> Floats:
        odds = logit(s)
        total, rated = np.zeros_like(odds), np.zeros_like(odds)
        for site in range(sites):
            weight = shares[site] * norm.pdf(odds, means[site], deviations[site]) + 1e-300
            total += weight
            rated += weight * expit(slopes[site] * odds + shifts[site])
        return rated / total

    return distribution, curve


def _true_hits(edges: Floats) -> Floats:
    """Integrals of the true curve expit(6 r - 3.5) of the raw score between edges."""
    return np.diff(np.log1p(np.exp(6 * edges - 3.5)) / 6)


def _labelled(seed: int, rows: int) -> tuple[Floats, Floats]:
    generator = np.random.default_rng([20260118, seed])
    raw = np.sort(generator.random(rows))
    return raw, (generator.random(rows) < expit(6 * raw - 3.5)) * 1.0


def bagged_isotonic(seed: int, rows: int, folds: int) -> tuple[Values, Curve]:
    """The mean of isotonic fits on disjoint folds: many unequal steps."""
    raw, hits = _labelled(seed, rows)
    fits = []
    for fold in range(folds):
        inside, labels = raw[fold::folds], hits[fold::folds]
        fit = isotonic_regression(labels)
        cuts = fit.blocks[1:-1]
        fits.append(((inside[cuts - 1] + inside[cuts]) / 2, fit.x[fit.blocks[:-1]]))
    edges = np.unique(np.concatenate([[0, 1], *[cuts for cuts, _ in fits]]))
    middles = (edges[1:] + edges[:-1]) / 2
    scores = sum(levels[np.searchsorted(cuts, middles)] for cuts, levels in fits) / folds
    widths = np.diff(edges)
    return ordered(scores, _true_hits(edges) / widths, widths)


def joined_isotonic(seed: int, rows: int) -> tuple[Distribution, Curve]:
    """An isotonic fit joined by lines between the middles of its blocks; flat at the ends."""
    raw, hits = _labelled(seed, rows)
    fit = isotonic_regression(hits)
    levels = fit.x[fit.blocks[:-1]]
    middles = np.array([raw[a:b].mean() for a, b in pairwise(fit.blocks)])
    low = _true_hits(np.array([0, middles[0]]))[0] / middles[0]
    high = _true_hits(np.array([middles[-1], 1]))[0] / (1 - middles[-1])

    @Sampled
    def distribution(generator: np.random.Generator, n: int) -> Floats:
        return np.interp(generator.random(n), middles, levels)

    def curve(s: Floats) -> Floats:
        rates = expit(6 * np.interp(s, levels, middles) - 3.5)
        return np.where(s <= levels[0], low, np.where(s >= levels[-1], high, rates))

    return distribution, curve


def zipf(seed: int, items: int) -> Values:
    """Items with one score each; the share falls as one by the rank."""
    generator = np.random.default_rng([20260118, seed])
    return Values(generator.beta(1.5, 3, items), 1 / np.arange(1, items + 1))


def sure_and_wrong(s: Floats) -> Floats:
    """The very surest rows are foreign data."""
    return line(0.95)(s) - 0.28 * np.clip((s - 0.975) / 0.02, 0, 1)


def overridden(s: Floats) -> Floats:
    """Just under the limit of .12, loans went through a second look."""
    return 1.1 * s - 0.055 * expit((s - 0.095) / 0.0015)
