"""Pairs of distribution and curve where the curve is the mean rate of rows with equal score."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from scipy.stats import norm

from evidence.cells.blind import (
    Continuous,
    Curve,
    Distribution,
    Floats,
    Mixture,
    Values,
    logit,
    normal,
    tabulated,
)

Population = tuple[Distribution, Curve]
Rounding = Callable[[Floats], Floats]
_GRID = 1 << 16


def rounded(distribution: Continuous, curve: Curve, rounding: Rounding) -> Population:
    """Round scores whose hits follow the score before; that score has 2^16 equal quantiles."""
    exact, _ = distribution.points(_GRID)
    return tabulated(rounding(exact), curve(exact))


def stored(distribution: Continuous, curve: Curve, rounding: Rounding) -> Population:
    """Round scores whose hits follow the rounded score."""
    return rounded(distribution, lambda s: curve(rounding(s)), rounding)


def bfloat16(s: Floats) -> Floats:
    """Round to 8 significant bits, half to even."""
    bits = s.astype(np.float32).view(np.uint32)
    kept = (bits + 0x7FFF + (bits >> 16 & 1)) & np.uint32(0xFFFF0000)
    return kept.astype(np.uint32).view(np.float32).astype(float)


def float16(s: Floats) -> Floats:
    """Round to half precision."""
    return s.astype(np.float16).astype(float)


def decimals(places: int) -> Rounding:
    """Return the rounding to decimals."""
    return lambda s: np.round(s, places)


def whole_percent_down(s: Floats) -> Floats:
    """Cut off what is beyond the percent."""
    return np.floor(100 * s) / 100


def log_odds_eighths(s: Floats) -> Floats:
    """Round the log odds to multiples of 1/8, as logits in bfloat16 from 16 to 32 are."""
    return expit(np.round(8 * logit(s)) / 8)


def eight_bits(s: Floats) -> Floats:
    """Round to multiples of 1/255."""
    return np.round(255 * s) / 255


def clipped(distribution: Continuous, curve: Curve, low: float, high: float) -> Population:
    """Move scores beyond two limits to the limits, where they have their mean rate."""
    exact, _ = distribution.points(_GRID)
    below, above = curve(exact[exact <= low]).mean(), curve(exact[exact >= high]).mean()
    return (
        Continuous(lambda u: np.clip(distribution.quantile(u), low, high)),
        lambda s: np.where(s <= low, below, np.where(s >= high, above, curve(s))),
    )


def with_ties(
    share: float,
    values: Sequence[float],
    rates: Sequence[float],
    remaining: Continuous,
    curve: Curve,
) -> Population:
    """Add single values with rates; ``share`` of all rows has one of them, all alike."""
    points, order = np.array(values), np.argsort(values)

    def both(s: Floats) -> Floats:
        near = order[np.clip(np.searchsorted(points[order], s), 0, len(points) - 1)]
        return np.where(points[near] == s, np.array(rates)[near], curve(s))

    return Mixture([share, 1 - share], [Values(values, np.ones(len(points))), remaining]), both


def pooled(*groups: tuple[float, float, float, float, float]) -> Population:
    """Pool groups, each (share, mean and deviation of the log odds, slope and shift of its line).

    The curve is the mean of the groups' rates, weighted by their densities at the score.
    """
    shares, means, deviations, slopes, shifts = np.array(groups).T

    def curve(s: Floats) -> Floats:
        odds = logit(s)[:, None]
        density = shares * norm.pdf(odds, means, deviations) + 1e-300
        return np.sum(density * expit(slopes * odds + shifts), 1) / np.sum(density, 1)

    parts = [normal(mean, deviation) for mean, deviation in zip(means, deviations, strict=True)]
    return Mixture(list(shares), parts), curve


def many_sites(seed: int, sites: int) -> Population:
    """Sites with patients, slopes and shifts of their own."""
    generator = np.random.default_rng([2026, seed])
    columns = (
        generator.dirichlet(np.full(sites, 2.0)),
        generator.normal(-1.5, 0.9, sites),
        generator.uniform(0.6, 1.1, sites),
        generator.uniform(0.6, 1.1, sites),
        generator.normal(-0.2, 0.4, sites),
    )
    return pooled(*zip(*columns, strict=True))


def items(seed: int, number: int, spread: float, shift: float = 0.0, rank: float = 0) -> Population:
    """Items with one score each; rates are off by normal amounts in the log odds.

    The share of an item falls as its rank to the power ``rank``.
    """
    generator = np.random.default_rng([2026, seed])
    scores = np.round(generator.beta(1.6, 1.2, number), 6)
    rates = expit(logit(scores) + shift + spread * generator.normal(size=number))
    return tabulated(scores, rates, np.arange(1.0, number + 1) ** -rank)


def _features(seed: int, rows: int) -> tuple[Floats, Floats, np.random.Generator]:
    """Draw four features and the true rates of rows, with an interaction and noise columns."""
    generator = np.random.default_rng([2026, seed])
    x = generator.random((rows, 4))
    return x, expit(5 * x[:, 0] + 3 * (x[:, 1] - 0.5) * (x[:, 2] > 0.4) - 3.2), generator


def _grow(
    x: Floats, hits: Floats, at: Floats, smallest: int, generator: np.random.Generator
) -> Floats:
    """Grow a tree with random cuts on rows x, and return its mean hits at other rows."""
    feature = generator.integers(x.shape[1])
    cut = generator.choice(x[:, feature])
    left, at_left = x[:, feature] < cut, at[:, feature] < cut
    means = np.full(len(at), hits.mean())
    if min(left.sum(), (~left).sum()) >= smallest and 0 < hits.mean() < 1:
        means[at_left] = _grow(x[left], hits[left], at[at_left], smallest, generator)
        means[~at_left] = _grow(x[~left], hits[~left], at[~at_left], smallest, generator)
    return means


def forest(seed: int, trees: int, smallest: int, vote: bool = False) -> Population:
    """Trees on bootstrap samples of 500 rows: their mean to three decimals, or share of votes."""
    at, rates, generator = _features(seed, 1 << 14)
    x, train_rates, _ = _features(seed + 1, 500)
    hits = (generator.random(500) < train_rates).astype(float)
    total = np.zeros(len(at))
    for _ in range(trees):
        rows = generator.integers(500, size=500)
        means = _grow(x[rows], hits[rows], at, smallest, generator)
        total += means > 0.5 if vote else means
    return tabulated(np.round(total / trees, 3), rates)


def boosted(seed: int, rounds: int, rate: float) -> Population:
    """Boosted stumps on 400 rows, to two decimals: too sure where there are too many rounds."""
    at, rates, generator = _features(seed, 1 << 14)
    x, train_rates, _ = _features(seed + 1, 400)
    hits = (generator.random(400) < train_rates).astype(float)
    odds, odds_at = np.zeros(400), np.zeros(len(at))
    for _ in range(rounds):
        feature = generator.integers(4)
        cut = np.quantile(x[:, feature], generator.uniform(0.05, 0.95))
        for inside, inside_at in (
            (x[:, feature] < cut, at[:, feature] < cut),
            (x[:, feature] >= cut, at[:, feature] >= cut),
        ):
            fitted = expit(odds[inside])
            step = rate * np.sum(hits[inside] - fitted) / (np.sum(fitted * (1 - fitted)) + 0.1)
            odds[inside] += step
            odds_at[inside_at] += step
    return tabulated(np.round(expit(odds_at), 2), rates)


def neighbours(seed: int, k: int) -> Population:
    """The share of hits among the k nearest of 300 rows."""
    at, rates, generator = _features(seed, 1 << 13)
    x, train_rates, _ = _features(seed + 1, 300)
    hits = (generator.random(300) < train_rates).astype(float)
    distance = ((at[:, None] - x) ** 2).sum(2)
    nearest: NDArray[np.intp] = np.argpartition(distance, k, axis=1)[:, :k]
    return tabulated(hits[nearest].mean(1), rates)


def insurer_table(seed: int, interaction: float) -> Population:
    """A tariff of 6 by 5 by 4 classes: main effects, where the truth has interactions too."""
    generator = np.random.default_rng([2026, seed])
    shape = (6, 5, 4)
    axes = np.meshgrid(*(generator.normal(0, 0.5, size) for size in shape), indexing="ij")
    main = -2 + np.sum(axes, axis=0)
    shares = generator.gamma(2.0, size=shape)
    rates = expit(main + interaction * generator.normal(size=shape))
    return tabulated(np.round(expit(main), 5).ravel(), rates.ravel(), shares.ravel())
