"""The interval and the curve in bins against their formulas, bin by bin and cluster by cluster."""

import math
from functools import cache

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import beta, pearson3, t
from scipy.stats import norm as normal

from calbias.auditing.error import interval
from calbias.auditing.error.bins import picture_bins
from calbias.auditing.error.calibration_curve import (
    Bins,
    moved_to_bins,
    picture_curve,
    posterior_average,
)
from calbias.auditing.error.interval import _Sample, calibration_interval
from calbias.engine.posterior import ONE_DEVIATION, PosteriorCurve, curve_of
from calbias.engine.posterior_cells import SCORE
from calbias.samples.by_score import Scored


@cache
def limits(hits, rows, level):
    """Clopper and Pearson's limits of a share."""
    tail = (1 - level) / 2
    low = beta.ppf(tail, hits, rows - hits + 1) if hits > 0 else 0.0
    high = beta.ppf(1 - tail, hits + 1, rows - hits) if hits < rows else 1.0
    return low, high


def moved(curve, i, expected, rows, hits, score, effect, level, by_deviance):
    """Point i of a curve after its bin of rows, hits and a mean score moved it."""
    n, k, rate = rows / effect, hits / effect, hits / rows
    if by_deviance:
        terms = [
            x * math.log(x / (n * p)) for x, p in ((k, expected), (n - k, 1 - expected)) if x > 0
        ]
        noise, square = 4, 2 * sum(terms)
    else:
        p = (k + score) / (n + 1)
        noise, square = 2, (rate - expected) ** 2 * n / (p * (1 - p))
    share = max(1 - noise / square, 0) if square > 0 else 0
    mean = min(max(curve.mean[i] + share * (rate - expected), 0), 1)
    ends = []
    for end, limit, side in zip((curve.low, curve.high), limits(k, n, level), (-1, 1), strict=True):
        reach = math.hypot((1 - share) * (curve.mean[i] - end[i]), share * (rate - limit))
        ends.append(min(max(mean + side * reach, 0), 1))
    return mean, *ends


def textbook_bins(rows, number, effect, above=None):
    """The bin of each score: of equal mass, and scores with many rows by themselves.

    ``above`` says of each score whether the curve is above the diagonal: a bin does not cross it.
    """
    n, place, before = rows.sum(), [], None
    for i, each in enumerate(rows):
        mass = int(max(number, 1) * (rows[:i].sum() + each / 2) / n)
        alone = each >= max(20 * effect, n / (4 * number))
        begins = before is not None and (alone or before[1] or mass != before[0])
        begins |= above is not None and i > 0 and above[i] != above[i - 1]
        place.append(place[-1] + begins if place else 0)
        before = mass, alone
    return np.array(place)


def textbook_curve(scores, rows, hits, place, effect):
    """The smooth curve with one deviation to either side, moved in each bin."""
    kept = rows > 0
    average = posterior_average(scores[kept], rows[kept], hits[kept], effect)
    smooth, points = curve_of(average, scores, ONE_DEVIATION), []
    for i, b in enumerate(place):
        w = rows * (place == b)
        if w.sum() == 0:
            points.append((smooth.mean[i], smooth.low[i], smooth.high[i]))
            continue
        bin_ = w @ smooth.mean / w.sum(), w.sum(), hits @ (place == b), w @ scores / w.sum()
        points.append(moved(smooth, i, *bin_, effect, ONE_DEVIATION, False))
    return PosteriorCurve(scores, *np.array(points).T)


def upper(share, weight, square, shape, v, n, z, power):
    """The greatest error x that the sum of squares does not refute, by brackets and bisection.

    The gaps of an error x are the shape times a number; their matrix C = √a v √a has the cumulants
    of a quadratic form, 2 tr C² + 4 x'Cx and 8 tr C³ + 24 x'C²x.
    """
    total, a = share @ weight, share / weight
    c = np.sqrt(a)[:, None] * v * np.sqrt(a)
    l1, l2, l4 = (share @ shape**k for k in (1, 2, 4))

    def excess(error):
        scale = error / (l1 if power == 1 else math.sqrt(l2))
        x = np.sqrt(a) * scale * shape
        variance = 2 * np.trace(c @ c) + 4 * x @ c @ x
        quantile = z
        if power == 1:
            variance += (2 * scale * l1 / total) ** 2 * scale**2 * (l2 - l1**2) / n
            third = 8 * np.trace(c @ c @ c) + 24 * x @ c @ c @ x
            quantile = -pearson3.ppf(normal.sf(z), third / variance**1.5)
        else:
            variance += scale**4 * (l4 - l2**2) / n
        return error - math.sqrt(max(total * (a @ square + quantile * math.sqrt(variance)), 0))

    if excess(1.0) <= 0:
        return 1.0
    grid = np.linspace(1, 0, 200)
    first = next(x for x in grid if x == 0 or excess(x) <= 0)
    return brentq(excess, first, first + grid[0] - grid[1]) if first > 0 else 0.0


def least(total, at_zero, observed, z):
    """The x below the total with (total − x)² = z² V(x), V a line from 0 to the total; bisected."""
    low, high = 0.0, max(total, 0.0)
    if total <= 0 or total**2 <= z**2 * at_zero:
        return 0.0
    for _ in range(100):
        x = (low + high) / 2
        is_low = (total - x) ** 2 > z**2 * (at_zero + (observed - at_zero) * x / total)
        low, high = (x, high) if is_low else (low, x)
    return low


def textbook(scored, effect, options, seed=0):
    """Sums and binned gaps of the interval by its formulas, and its ends for norms and levels."""
    sample, clustered = _Sample(scored, effect), scored.clusters is not None
    scored = scored if clustered else scored.by_score
    s, rows, hits = scored.scores, scored.rows * 1.0, scored.hits * 1.0
    n, m, effect = rows.sum(), s.size, max(effect, 1.0)
    power = (n / effect) ** 0.35
    place = textbook_bins(rows, 1.5 * power, effect)
    curve = textbook_curve(s, rows, hits, place, effect)
    number, entries = 0, None
    if clustered:
        number = scored.clusters.ids.size
        entries = sample.cluster, sample.at, sample.own_hits - sample.own_rows * s[sample.at]

    def squares(weight, rows, hits, own):
        if not clustered:
            return weight**2 @ (hits * (1 - s) ** 2 + (rows - hits) * s**2)
        g, at, r = (x[own] for x in entries)
        return sum(np.sum((weight[at] * r)[g == k]) ** 2 for k in range(number))

    v = s * (1 - s)
    found = [[hits.sum() - rows @ s, squares(np.ones(m), rows, hits, slice(None)), rows @ v]]
    found += [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    size = 0.0
    for of_fold, own_hits, own in sample.folds(seed):
        others = textbook_curve(s, rows - of_fold, hits - own_hits, place, effect)
        gap = others.mean - s
        size += of_fold @ gap**2
        deviation = np.maximum((others.high - others.low) / 2, 1e-12)
        for k, weight in ((1, np.clip(gap / deviation, -1, 1)), (2, gap)):
            found[k][0] += weight @ (own_hits - of_fold * s)
            found[k][1] += squares(weight, of_fold, own_hits, own)
            found[k][2] += weight**2 @ (of_fold * v)
    found[2] = [
        x / y for x, y in zip(found[2], (math.sqrt(size / n), size / n, size / n), strict=True)
    ]
    found[0][0] = abs(found[0][0])
    count, freedom = (number, number - 1) if clustered else (n, 1e12)
    sums = []
    for k, (total, square, null) in enumerate(found):
        observed = max((square - total**2 / count) * count / (count - 1), null)
        at_zero = max(null, square) if clustered else null
        sums.append((total, at_zero * (1 if k == 0 else 2), observed))
    of_rows = hits @ (1 - s) ** 2 + (rows - hits) @ s**2 - found[0][0] ** 2 / n
    own_effect = max(sums[0][2] / max(of_rows, found[0][2]), 1) if clustered else 1
    gaps = [textbook_gaps(s, rows, hits, curve, entries, effect, k) for k in (1, 2)]
    mean, moves = rows @ s / n, sample.moves
    room = 1 + min(500 * effect / n, 1)
    p, share, within = (hits.sum() + mean) / (n + 1), gaps[0][0], 1
    if not clustered:  # the variance of hits within bins
        within = min(share @ gaps[0][4] @ share * n / (p * (1 - p)), 1)
    ends = []
    for norm, level in options:
        tail = (1 - level) / 2
        z = t.ppf(1 - tail, freedom)
        counted = own_effect * (z / t.ppf(1 - tail, 1e12)) ** 2
        below, above = (x - mean for x in limits(hits.sum() / counted, n / counted, level))
        low = max(below, -above)
        counted *= within
        below, above = (x - mean for x in limits(hits.sum() / counted, n / counted, level))
        high = max(above, -below)
        deviations, lows = (t.ppf(1 - room * tail, freedom), z), []
        for k in range(1, norm + 1):
            low = max(low, least(*sums[k], z) / n)
            lows.append(low - (rows @ moves**k / n) ** (1 / k))
            high = max(high, upper(*gaps[k - 1], deviations[k - 1], k))
        low = min(max(*lows, 0), 1) if norm == 2 else max(lows[0], 0)
        ends.append((low, min(max(low, high), 1)))
    return sums[1:], gaps, ends


def textbook_gaps(s, rows, hits, curve, entries, effect, norm):
    """share, weight, d² − v, shape, covariances and n of the finest bins that clearly show more."""
    n, most, chosen = rows.sum(), -math.inf, None
    counted = n / effect
    number = min(1.5 * counted**0.35, 0.4 * counted**0.5) if norm == 1 else 3 * counted**0.35
    for finer in (1, 3, 9):
        above = curve.mean > s if norm == 1 and finer == 1 else None
        place = textbook_bins(rows, number * finer, effect, above)
        inside = [place == b for b in range(place.max() + 1)]
        size = np.array([rows @ w for w in inside])
        gap = np.array([(hits - rows * s) @ w for w in inside]) / size
        if entries is None:
            p = [
                (hits @ w + rows @ (s * w) / k) / (k + 1) for w, k in zip(inside, size, strict=True)
            ]
            v = np.diag([q * (1 - q) / k for q, k in zip(p, size, strict=True)])
        else:
            g, at, r = entries
            sums = np.array(
                [[np.sum(r[(g == c) & w[at]]) for w in inside] for c in range(g.max() + 1)]
            )
            v = sums.T @ sums
            calibrated = [(rows * s * (1 - s)) @ w for w in inside]
            np.fill_diagonal(v, np.maximum(np.diag(v), calibrated))
            v = v / np.outer(size, size)
        share = size / n
        square = share @ (gap**2 - np.diag(v))
        if square > most + 3 * math.sqrt(2 * share**2 @ np.diag(v) ** 2):
            most, chosen = square, (share, gap, v, inside, size)
    share, gap, v, inside, size = chosen
    own = np.array([rows @ ((curve.mean - s) * w) for w in inside]) / size
    deviation = np.maximum((curve.high - curve.low) / 2, 1e-12)
    spread = np.array([rows @ (deviation**2 * w) for w in inside]) / size
    if norm == 1:
        weight = shape = np.sqrt(own**2 + spread + np.diag(v))
    else:
        weight, shape = np.ones(size.size), np.maximum(abs(own), abs(gap))
    return share, weight, gap**2 - np.diag(v), shape, v, n / effect


def study(name):
    """A Scored and the design effect of its clusters."""
    generator = np.random.default_rng(3)
    if name == "rows":
        s = generator.beta(2, 1, 150)
        return Scored.of(s, generator.random(150) < s**2), 1.0
    if name == "waves":  # which only the finest bins show
        s, wave = np.linspace(0.3, 0.7, 150), 0.4 * (-1) ** (np.arange(150) // 5)
        s += 1e-9 * generator.random(150)
        return Scored.of(s, generator.random(150) < s + wave), 1.0
    if name == "frequent scores":
        s = generator.choice([0.2, 0.55, 0.9, 1.0], 200)
        return Scored.of(s, generator.random(200) < 0.8 * s), 1.0
    if name == "many rows":
        s = generator.choice(np.sort(generator.random(90)), 1200)
        return Scored.of(s, generator.random(1200) < s**1.3), 1.0
    if name == "no miss":
        s = generator.uniform(0.8, 0.99, 60)
        return Scored.of(s, np.ones(60)), 1.0
    generator = np.random.default_rng(6)  # the first cluster has no row in the first bin
    ids = np.repeat(np.arange(20), 2 + np.arange(20) % 5)
    s = generator.beta(2, 1, ids.size)
    hits = generator.random(20)[ids] < 0.7 * s
    return Scored.of(s, hits, clusters=ids), 1.7


@pytest.mark.parametrize(
    "name", ["rows", "waves", "frequent scores", "many rows", "no miss", "clusters"]
)
def test_the_interval_by_its_formulas(name, monkeypatch):
    monkeypatch.setattr(interval, "_AT_ONCE", 7)  # clusters
    scored, effect = study(name)
    found, options = calibration_interval(scored, effect), ((1, 0.95), (2, 0.8))
    sums, gaps, ends = textbook(scored, effect, options)
    np.testing.assert_allclose(found.sums, sums, rtol=1e-6, atol=1e-9)
    moved, share = _Sample(scored, effect).moves, scored.by_score.rows / scored.n
    assert found.rounding == pytest.approx((share @ moved, math.sqrt(share @ moved**2)))
    assert (found.rounding[1] > 0) == (name == "frequent scores")
    for values, (*expected, v, n) in zip(found.gaps, gaps, strict=True):
        assert (values.n, np.shape(values.variance)) == (n, np.shape(v)[: 1 + (effect > 1)])
        matrix = values.variance if effect > 1 else np.diag(values.variance)
        for one, other in zip((*values[:4], matrix), (*expected, v), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
    for option, expected in zip(options, ends, strict=True):
        assert found.at(*option) == pytest.approx(expected, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("effect", [1.0, 2.0])
def test_a_curve_moved_by_deviance(effect):
    """Bins without a hit, without a miss, and of a rate that the curve expects, or excludes."""
    rows, hits = np.array([50.0, 40, 30, 20, 8, 8]), np.array([0.0, 40, 15, 3, 7, 8])
    score = np.array([0.1, 0.8, 0.5, 0.9, 1.0, 1.0])
    mean = np.array([0.12, 0.85, 0.5, 0.92, 1.0, 1.0])
    curve = PosteriorCurve(score, mean, mean - 0.05, mean + 0.06)
    found = moved_to_bins(
        curve, mean, Bins(rows, hits, score, np.arange(6)), effect, 0.9, by_deviance=True
    )
    for i in range(6):
        point = moved(
            curve, i, min(mean[i], 1 - 1e-16), rows[i], hits[i], score[i], effect, 0.9, True
        )
        assert [x[i] for x in found[1:]] == pytest.approx(point, abs=1e-9)


@pytest.mark.parametrize(("each", "least"), [(1, 30), (10, 31)])
def test_the_curve_of_a_picture(each, least):
    """At cells, bins, frequent scores and both ends; frequent scores are bins by themselves.

    Frequent is a hundredth of the rows, at least 30. A bin ends below its last score, by rounding.
    """
    generator = np.random.default_rng(2)
    s = np.r_[np.repeat(generator.beta(2, 1, 300), each), [0.4] * least, [0.6] * (least - 1)]
    scored = Scored.of(s, generator.random(s.size) < np.where(s == 0.4, 0.9, s**3))
    columns = scored.scores, scored.rows, scored.hits
    bins, average = picture_bins(scored), posterior_average(*columns, 1.0)
    bins = bins._replace(highest_score=np.nextafter(bins.highest_score, 0))
    found = picture_curve(average, bins, *columns, 1.0, 0.9)
    cells = average.cells.table[SCORE]
    ends = scored.scores[[0, -1]]
    points = np.unique([*cells, *bins.mean_score, 0.4, *ends])
    assert found.scores.tolist() == points.tolist()
    smooth, at_bins = curve_of(average, points, 0.9), curve_of(average, bins.mean_score, 0.9).mean
    for i, x in enumerate(points):
        b = min(np.sum(bins.highest_score < x), bins.mean_score.size - 1)
        size, rate = bins.n_in_bin[b], bins.mean_hit[b]
        of_bin = at_bins[b], size, rate * size, bins.mean_score[b], 1.0, 0.9, True
        expected = moved(smooth, i, *of_bin)
        if x == 0.4:
            curve = PosteriorCurve(points, *(np.full(points.size, value) for value in expected))
            k = scored.hits[scored.scores == 0.4][0]
            expected = moved(curve, i, expected[0], least, k, 0.4, 1.0, 0.9, True)
        assert [values[i] for values in found[1:]] == pytest.approx(expected, abs=1e-9)
