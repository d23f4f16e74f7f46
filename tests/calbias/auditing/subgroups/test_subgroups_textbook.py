"""The test over subgroups against its formulas, segment by segment: roots, p-values, intervals."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import expit, logit, ndtr, ndtri
from scipy.stats import t

from calbias.auditing.subgroups import segment_test
from calbias.auditing.subgroups.segment_rows import SegmentRows, _root
from calbias.auditing.subgroups.segment_test import Ordered
from calbias.auditing.subgroups.segments import segments_of
from calbias.auditing.subgroups.subgroup_audit import audit_subgroups
from calbias.auditing.verdict.groups import groups_of_rows
from calbias.engine.seeding import stream


def exact_root(weight, s, total):
    """The signed root of Chernoff's exponent; steps up and down are two Poisson numbers."""
    terms = []
    for side in (1, -1):
        hit, miss = side * weight * (1 - s), -side * weight * s
        jumps = [(s[hit > 0], hit[hit > 0]), (1 - s[miss > 0], miss[miss > 0])]
        square, cube = (sum(np.sum(p * x**k) for p, x in jumps) for k in (2, 3))
        terms.append((side * cube / square, square))

    def slope(a):
        return sum(v / h * np.expm1(a * h) for h, v in terms)

    a = brentq(lambda a: slope(a) - total, -39 / -terms[1][0], 39 / terms[0][0], xtol=1e-13)
    cumulant = sum(v / h**2 * (np.expm1(a * h) - a * h) for h, v in terms)
    return np.sign(total) * np.sqrt(2 * max(a * total - cumulant, 0))


def cumulant(s, shift):
    """log E exp(shift · Σ (y − s)) of rows with scores s, by both outcomes of each."""
    return np.sum(np.log(s * np.exp(shift * (1 - s)) + (1 - s) * np.exp(-shift * s)))


def shift_to(s, total):
    return brentq(lambda a: np.sum(expit(logit(s) + a) - s) - total, -40, 40, xtol=1e-13)


def shift_at(s, total, side, most):
    """The shift on a side of the fit at which the deviance of half a hit more is ``most``."""
    total = total + side / 2
    best = shift_to(s, total)
    peak = best * total - cumulant(s, best)
    return brentq(
        lambda a: 2 * (peak - a * total + cumulant(s, a)) - most, best, 40 * side, xtol=1e-13
    )


def segment_rows(*segments, clusters=None):
    """SegmentRows of segments of (scores, hits)."""
    s, y = (np.concatenate(each) for each in zip(*segments, strict=True))
    sign = np.where(s > 0.5, -1.0, 1.0)
    size = np.array([each.size for each, _ in segments])
    return SegmentRows(
        sign * logit(s), sign, np.where(s > 0.5, 1 - y, y), np.repeat(np.arange(size.size), size),
        np.cumsum(size) - size, clusters,
    )  # fmt: skip


SEGMENTS = [
    (np.array([0.9, 0.97, 0.6, 0.99, 0.8]), np.array([1.0, 0, 1, 1, 1])),
    (np.array([0.02, 0.3, 0.004, 0.45, 0.1, 0.5, 0.2]), np.array([0.0, 1, 0, 0, 1, 1, 0])),
    (np.array([0.2, 0.95, 0.7]), np.array([0.0, 1.0, 0.0])),
]
ROWS = segment_rows(*SEGMENTS)


def test_roots_by_a_search_of_the_exponent():
    generator = np.random.default_rng(0)
    for weights in ([np.ones(s.size) for s, _ in SEGMENTS],
                    [generator.normal(size=s.size) for s, _ in SEGMENTS]):  # fmt: skip
        share = np.array([-0.95, -0.5, -0.1, -0.003, 0.02, 0.2, 0.6, 0.9])[:, None]
        most = [np.minimum(s, 1 - s) @ abs(w) for w, (s, _) in zip(weights, SEGMENTS, strict=True)]
        found = ROWS.roots(np.concatenate(weights), share * most)
        for k, (w, (s, _)) in enumerate(zip(weights, SEGMENTS, strict=True)):
            expected = [exact_root(w, s, total) for total in share[:, 0] * most[k]]
            assert found[:, k] == pytest.approx(expected, rel=3e-3)
    s, w = np.r_[1e-6, np.full(50, 0.5)], np.r_[100, np.full(50, 0.01)]  # a rare step is large
    total = np.array([-0.12, -0.08, -0.02, -0.005])
    found = segment_rows((s, np.zeros(51))).roots(w, total[:, None])[:, 0]
    assert found == pytest.approx([exact_root(w, s, each) for each in total], rel=3e-3)


def test_shifts_and_cumulants_of_single_rows():
    totals = np.array([-1.5, 1.2, 0.3])
    pairs = [(s, total) for (s, _), total in zip(SEGMENTS, totals, strict=True)]
    expected = np.array([shift_to(*pair) for pair in pairs])
    assert ROWS.shift_to(totals) == pytest.approx(expected, abs=1e-8)
    assert ROWS.shifted(expected)[1] == pytest.approx(totals, abs=1e-9)
    of_rows = [cumulant(s, a) for (s, _), a in zip(SEGMENTS, expected, strict=True)]
    assert ROWS.cumulant(expected) == pytest.approx(of_rows, rel=1e-9)
    assert ROWS.residual == pytest.approx(np.concatenate([y - s for s, y in SEGMENTS]))
    for side in (-1, 1):
        ends = [shift_at(s, np.sum(y - s), side, 3.0) for s, y in SEGMENTS[:2]]
        assert ROWS.shift_at(side, np.full(3, 3.0))[:2] == pytest.approx(ends, abs=1e-7)


def test_newtons_steps_stay_between_the_ends():
    """x³ from a start where its slope is 0, and the root of a step that Newton overshoots."""

    def function(x):
        cubic, bend = x[0] ** 3 - 8, np.arctan(x[1] - 3)
        return np.array([cubic, bend]), np.array([3 * x[0] ** 2, 1 / (1 + (x[1] - 3) ** 2)])

    ends = np.full(2, 30.0)
    for start in (np.array([0.0, 29.0]), ends, -ends):
        assert _root(function, -ends, ends, start) == pytest.approx([2, 3], abs=1e-9)


def test_a_sum_beyond_all_hits_is_shifted_as_far_as_can_be():
    """All rows of the first segment hit: with half a hit more the fit is at the farthest shift."""
    s = np.array([0.6, 0.7, 0.9])
    rows = segment_rows((s, np.ones(3)))
    assert rows.shift_to(np.array([np.sum(1 - s) + 0.5])) == pytest.approx(40, abs=1e-6)
    total = np.sum(1 - s) - 0.5
    best = shift_to(s, total)
    low = shift_at(s, np.sum(1 - s), -1, 2.0)
    assert low < best
    assert rows.shift_at(-1, np.array([2.0])) == pytest.approx(low, abs=1e-7)


def test_sums_within_strata_are_those_of_orthogonal_weights():
    """Rows of stratum 0 are not made orthogonal; all rows together have no statistic."""
    generator = np.random.default_rng(8)
    n, x = 400, generator.normal(1, 1, 400)
    s, y = expit(x), (generator.random(400) < 0.6).astype(float)
    a, b = np.arange(n) % 3, np.arange(n) // 100
    segments = segments_of({"a": a, "b": b}, n)
    groups, group = groups_of_rows(s, y)
    ordered = Ordered.of(groups, group, y, segments, None, groups.chance[group])
    curve, strata = 0.7 * x - 0.4, np.where(b == 3, 0, np.digitize(x, [0.0, 1.0, 2.0]) + 1)
    rows = ordered.beyond(curve, strata)
    at, segment_rows = rows.of_each(segments)
    statistics = segment_test._Statistics.of(rows, segments, at, segment_rows)
    sums = statistics.of_all([])[:, 0]
    assert sums[:, 0].tolist() == [0, 0]
    rate = expit(curve)
    v, r = rate * (1 - rate), y - rate
    masks = {f"a = {k}": a == k for k in range(3)} | {f"b = {k}": b == k for k in range(4)}
    for name, inside in masks.items():
        k = segments.words.index(name)
        middle = np.sum((v * curve)[inside]) / np.sum(v[inside])
        for total, plain in zip(sums[:, k], (1.0 * inside, inside * (curve - middle)), strict=True):
            weight = plain.copy()
            for stratum in range(1, 5):
                part = strata == stratum
                weight[part] -= np.sum((v * plain)[part]) / np.sum(v[part])
            left = np.sum(v * weight**2) / np.sum(v * plain**2)
            expected = np.sum(weight * r) / np.sqrt(left) if left > 1e-6 else 0.0
            assert total == pytest.approx(expected, abs=1e-6)
    common = np.bincount(strata, r) / np.bincount(strata, v) * (np.arange(5) > 0)
    assert statistics.residual == pytest.approx((r - v * common[strata])[ordered.order])


def study(with_clusters):
    """220 rows: of a 100, 60 and 60, of which the second are too high; a = 0 and b make pairs."""
    generator = np.random.default_rng(7)
    scores = generator.beta(3, 2, 220)
    a, b = np.repeat([0, 1, 2], [100, 60, 60]), np.arange(220) % 2
    hits = generator.random(220) < expit(logit(scores) - 2.0 * (a == 1))
    order = generator.permutation(220)
    ids = np.arange(220) // 3 if with_clusters else None
    columns = [x if x is None else x[order] for x in (scores, hits.astype(float), a, b, ids)]
    a, b = columns[2:4]
    masks = {"all rows": a >= 0}
    masks |= {f"a = {k}": a == k for k in range(3)} | {f"b = {k}": b == k for k in range(2)}
    masks |= {f"a = 0 and b = {k}": (a == 0) & (b == k) for k in range(2)}
    return columns, masks


def by_rank(pool, level):
    """p-values, statistics and quantile of a pool (2, R + 1, m), a slope's less 0.3."""
    pool = np.stack([pool[0], pool[1] - 0.3])
    largest, seen = pool.max(axis=(0, 2)), pool[:, 0].max(axis=0)
    p = np.mean(largest[:, None] >= seen[None] - 1e-9, axis=0)
    return p, seen, np.sort(largest)[int(np.ceil(level * largest.size)) - 1]


def textbook(columns, masks, level, replicates):
    """The table of subgroups by its formulas: {segment: column: value}."""
    s, y, a, b, ids = columns
    x, n = logit(s), s.size
    order = sorted(range(n), key=lambda i: (a[i], b[i], s[i], y[i]))
    generator = stream(0, "subgroups", str(n))
    redrawn = [y]
    for row in generator.random((replicates, n)):
        unlikely = np.empty(n)
        unlikely[order] = row < np.minimum(s, 1 - s)[order]
        redrawn.append(np.where(s > 0.5, 1 - unlikely, unlikely))
    v, inside = s * (1 - s), list(masks.values())
    weights = [(m * 1.0, m * (x - np.sum((v * x)[m]) / v[m].sum())) for m in inside]
    pool = np.array([
        [[np.round(np.sum(w[k] * (each - s)), 9) for w in weights] for each in redrawn]
        for k in (0, 1)
    ])  # fmt: skip
    roots = np.zeros(pool.shape)
    for k, j in np.ndindex(2, len(inside)):
        w, m = weights[j][k], inside[j]
        seen = {total: exact_root(w[m], s[m], total) for total in set(pool[k, :, j])}
        roots[k, :, j] = [seen[total] for total in pool[k, :, j]]
    p, clear, critical = by_rank(np.abs(roots), level)
    number = [np.inf] * len(inside)
    if ids is not None:
        number = [np.unique(ids[m]).size for m in inside]
        signs = [np.ones(n)]
        for row in generator.integers(0, 2, (replicates, ids.max() + 1)):
            signs.append((2 * row - 1)[ids])
        ratios = np.zeros(pool.shape)
        for k, j in np.ndindex(2, len(inside)):
            terms = weights[j][k] * (y - s)
            scale = np.sqrt(np.sum(np.bincount(ids, terms) ** 2))
            wide = t.ppf(0.975, number[j] - 1) / ndtri(0.975)
            for i, sign in enumerate(signs):
                ratios[k, i, j] = abs(np.sum(sign * terms)) / scale * (wide if i else 1)
        of_signs = by_rank(ratios, level)
        p, clear = np.maximum(p, of_signs[0]), np.minimum(clear, of_signs[1])
        critical = max(critical, of_signs[2])
    tail, table = min(ndtr(-critical), (1 - level) / 2 / len(inside)), {}
    for j, (name, m) in enumerate(masks.items()):
        size, total = m.sum(), np.sum((y - s)[m])
        reach = -ndtri(tail) if ids is None else t.isf(tail, number[j] - 1)
        rate = expit(x[m] + shift_to(s[m], total))
        squares = (y[m] - rate) ** 2 if ids is None else np.bincount(ids[m], y[m] - rate) ** 2
        ratio = max(squares.sum() / np.sum(rate * (1 - rate)), 1)
        ends = [shift_at(s[m], total, side, ratio * reach**2) for side in (1, -1)]
        low, high = (np.mean(s[m] - expit(x[m] + end)) for end in ends)
        effect = 1 if ids is None else ratio
        five = np.where(s[m].mean() > 0.5, -0.05, 0.05)
        shift = shift_to(s[m], five * size)
        deviance = 2 * (shift * five - cumulant(s[m], shift) / size)
        is_level = low > 0 or high < 0 or abs(roots[0, 0, j]) >= abs(roots[1, 0, j])
        word = ("too high" if total < 0 else "too low") if is_level else (
            "too extreme" if roots[1, 0, j] < 0 else "not extreme enough")  # fmt: skip
        needed = max(np.ceil((reach + ndtri(0.8)) ** 2 * effect / deviance), 50)
        table[name] = {
            "n": size,
            "mean_score": s[m].mean(),
            "accuracy": y[m].mean(),
            "gap": -total / size,
            "noise_floor": np.sqrt(2 / np.pi * effect * np.sum(v[m])) / size,
            "p_value": p[j],
            "low": low,
            "high": high,
            "rows_needed": needed,
            "finding": "miscalibrated" if p[j] <= 0.05 else (
                "too small to tell" if size < needed else "none found"),
            "fault": f"scores {word}" if p[j] <= 0.05 else "",
            "clear": clear[j],
        }  # fmt: skip
    return table


@pytest.mark.parametrize(("with_clusters", "level"), [(False, 0.95), (True, 0.9)])
def test_the_table_by_its_formulas(with_clusters, level, monkeypatch):
    columns, masks = study(with_clusters)
    expected = textbook(columns, masks, level, 199)
    s, y, a, b, ids = columns
    monkeypatch.setattr(segment_test, "_BLOCK", 220 * 70)  # redraws in three blocks
    found = audit_subgroups(
        s, y, {"a": a, "b": b}, ids, confidence_level=level, replicates=199
    ).table.set_index("segment")
    assert set(found.index) == set(expected)
    for name, row in expected.items():
        seen = found.loc[name]
        for column in ("n", "mean_score", "accuracy", "gap", "noise_floor", "p_value"):
            assert seen[column] == pytest.approx(row[column], rel=1e-9), column
        for column in ("low", "high", "rows_needed"):
            assert seen[column] == pytest.approx(row[column], rel=5e-3, abs=1e-4), column
        assert (seen["finding"], seen["fault"]) == (row["finding"], row["fault"])
    order = sorted(expected, key=lambda name: (expected[name]["p_value"], -expected[name]["clear"]))
    assert list(found.index) == order
