"""What rounding can do to scores, score by score, by the rules of rounding.py."""

import math

import numpy as np
import pytest

from calbias.auditing.verdict.rounding import closest, moves_of, unrounded_scores

POINTS, WEIGHTS = np.polynomial.legendre.leggauss(40)


def mean_of_cell(x):
    """The mean of a density exp(x q) on [−½, ½], by Gauss's integration."""
    density = WEIGHTS * np.exp(x * POINTS / 2)
    return density @ POINTS / 2 / density.sum()


def is_near(step, other):
    return abs(step - other) <= 1e-3 * step


def textbook_cells(values, count):
    """The step, the tilt and the own move of each value, 0 where it has no step."""
    values, count = values.tolist(), count.tolist()
    half = [c * (2 if v in (0, 1) else 1) for v, c in zip(values, count, strict=True)]
    step, tilt, own = ([0.0] * len(values) for _ in range(3))
    for i, value in enumerate(values):
        sides = None
        for j in range(i + 1, len(values)):
            apart = values[j] - value
            if apart > 0.1 + 1e-6:
                break
            room = min(1e-3 * apart, 2.5e-7)
            below = [k for k in range(i) if abs(values[k] - (value - apart)) <= room]
            if below:  # the nearest pair
                step[i], sides = apart, (half[below[0]], half[j])
                break
        if sides:
            slopes = math.log(count[i] / sides[0]), math.log(sides[1] / count[i])
            tilt[i] = min(max(sum(slopes) / 24, -0.5), 0.5)
            noise = 2 * math.sqrt(4 / count[i] + 1 / sides[0] + 1 / sides[1])
            own[i] = min(max((abs(slopes[1] - slopes[0]) - noise) / 24, 0), 0.25)
    found = [h > 0 for h in step]
    for side in (1, -1):  # the last score of a tail below, and above
        before = list(step)
        for i, value in enumerate(values):
            j = (i + side) % len(values)
            h = before[j]
            if not found[i] and h > 0 and count[i] < count[j] and 0 < value < 1 and (
                is_near(h, abs(value - values[j]))
            ):  # fmt: skip
                step[i], tilt[i] = h, side * min(math.log(count[j] / count[i]) / 6, 0.5)
    return np.array([step, np.array(step) * tilt, np.array(step) * own])


def textbook_moves(scores, rows):
    """The moves of six kinds, each with one share, and the own moves; at most 256 scores."""
    m = scores.size
    together, alone = np.zeros((6, m)), np.zeros(m)
    most = sorted(sorted(np.flatnonzero(rows >= 2), key=lambda i: -rows[i])[:256])
    values, count = scores[most], rows[most] * 1.0
    inside = (values > 0) & (values < 1)
    if not inside.any():
        return together, alone
    found = textbook_cells(values, count)
    size = len(most)
    peak = []
    for i in range(size):
        left, right = (
            (count[i - 1] if i else count[1]),
            (count[i + 1] if i + 1 < size else count[-2]),
        )
        peak.append(count[i] >= max(4 * math.sqrt(left * right), 10))
    peak = np.array(peak)
    coarse = np.flatnonzero(peak | ~inside)
    if peak.any():
        wide = textbook_cells(values[coarse], count[coarse])
        for k, i in enumerate(coarse):
            if wide[0][k] > 0:
                found[:, i] = wide[:, k]
    step = found[0].copy()
    h, many = np.median(step[inside]), 1
    if np.mean([is_near(x, h) for x in step[inside]]) >= 0.75 and h > 0:
        for unit in (0.1, 0.01, 0.001):
            k = round(unit / h)
            if many == 1 and 2 <= k <= 5 and abs(unit - k * h) <= 1e-3 * unit:
                many = k
    for i, place in enumerate(most):
        times = many if is_near(step[i], h) else 1
        together[0, place], alone[place] = times * found[1:, i]
    for k, end in ((1, 0.0), (2, 1.0)):
        n = rows[scores == end].sum()
        inwards = 1 if end == 0 else -1
        for candidates in (inside & peak & (count >= n / 16), inside & (count >= max(2, n / 256))):
            if n and candidates.any():
                j = min(np.flatnonzero(candidates), key=lambda i: abs(values[i] - end))
                away = abs(values[j] - end)
                if many > 1 and is_near(away, h):
                    within = np.maximum(1 - abs(values - end) / (many * h), 0)
                    together[k, most] = inwards * many * h / 4 * within
                else:
                    share = 1 if away <= 0.01 + 1e-6 else (
                        0.5 - mean_of_cell(0.5 * math.log(2 * n / count[j])))  # fmt: skip
                    together[k, scores == end] = inwards * share / 2 * min(away, 0.1 + 1e-6)
                if is_near(away, step[j]):
                    alone[scores == end] = alone[most[j]]
                break
    below_1 = [i for i in range(size) if values[i] < 1]
    top, next_to = below_1[-1], below_1[-2:][0]
    if rows[scores == 1].sum() < count[top] / 16:
        for i in below_1:
            alike = np.mean([abs(step[i] - x) <= 1e-3 * step[i] for x in step])
            if step[i] <= 0.01 + 1e-6 and alike >= 0.25:
                together[3, most[i]] = step[i] / 2
        room = min(0.01 + 1e-6, values[top] - values[next_to])
        if 1 - values[top] <= 1.001 * room and together[3].any():
            together[4, most[top]] = 1 - values[top]
    for i in range(size):
        sides = [
            min((abs(v - values[i]) for v, c in zip(values, count, strict=True)
                 if (v - values[i]) * side > 0 and c >= count[i] / 16), default=1)
            for side in (-1, 1)
        ]  # fmt: skip
        if inside[i] and count[i] >= 10 and max(sides) <= 0.1 + 1e-6 and not is_near(*sides):
            together[5, most[i]] = (sides[1] - sides[0]) / 4
    return together, alone


def textbook_closest(scores, rows, hits, together, alone):
    """Scores moved by shares that are closest to the hits, one kind after the other, six times."""
    own, share = np.zeros(scores.size), np.zeros(len(together))
    at = (abs(together).sum(axis=0) + alone) > 0
    v = np.maximum(scores * (1 - scores), 1e-9)
    for _ in range(6):
        for k, move in enumerate(together):
            now = scores + share @ together + own
            if np.any(move):
                best = np.sum(move * (hits - rows * now) / v) / np.sum(move**2 * rows / v)
                share[k] = min(max(share[k] + best, 0), 1)
        left = hits / rows - scores - share @ together
        own = np.where(at, np.clip(left, -alone, alone), 0)
    return scores + share @ together + own


def studies():
    """Scores in steps of many kinds, and their rows."""
    generator = np.random.default_rng(0)
    for k in range(30):
        n = int(generator.choice([300, 3000]))
        s = generator.beta(*[(4, 1.2), (1, 3), (2, 2), (0.5, 0.5), (8, 0.3)][k % 5], n)
        rounded = [
            np.round(s, 2), np.round(s, 1), np.round(20 * s) / 20, np.floor(100 * s) / 100,
            np.where(generator.random(n) < 0.5, np.round(s, 2), np.round(s, 1)),
            np.round(s * 50) / 50, np.round(s * 30) / 30, np.round(np.clip(s, 0, 0.98), 3),
            np.where(generator.random(n) < 0.9, np.round(s, 2), s),
        ][k % 9]  # fmt: skip
        scores, rows = np.unique(rounded, return_counts=True)
        yield (
            scores,
            rows,
            generator.binomial(rows, np.clip(scores + generator.normal(0, 0.03), 0, 1)),
        )
    sixtieths = np.arange(1, 60)  # a step of which .1 has six: too many scores for a mean
    yield sixtieths / 60, 20 + sixtieths, (20 + sixtieths) // 2
    percent = np.arange(50, 101)
    for each, tens in ((10, 35), (10, 39), (10, 40), (10, 45), (2, 9), (2, 10), (1, 8), (160, 10)):
        rows = np.where(percent % 10 == 0, tens, each)
        yield percent / 100, rows, generator.binomial(rows, percent / 100)
    said = np.array([0, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.97, 0.99, 1])
    for rare in (90, 3):
        rows = np.array([8, 40, 40, 60, 90, 90, 120, 150, 9, rare, 400, 300])
        yield said, rows, generator.binomial(rows, said * 0.98)
    few = percent[percent < 100] / 100
    for last in (0, 1, 14, 20):  # rows of 1, where the others may have been cut off
        rows = np.r_[np.full(49, 400), 240, last]
        yield np.r_[few, 1.0][rows > 0], rows[rows > 0], (rows[rows > 0] * 0.7).astype(int)


def test_moves_by_the_rules():
    kinds = np.zeros(7, int)
    for scores, rows, _ in studies():
        moves = moves_of(scores, rows)
        together, alone = textbook_moves(scores, rows)
        reach = abs(together).sum(axis=0) + alone
        for one, other in zip((*moves, moves.reach), (together, alone, reach), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-9)
        kinds += [*together.any(axis=1), alone.any()]
    assert (kinds > 0).all()


def test_the_scores_closest_to_the_hits():
    for scores, rows, hits in studies():
        moves = moves_of(scores, rows)
        expected = textbook_closest(scores, rows, hits, *moves)
        for found in (closest(scores, rows, hits, moves), unrounded_scores(scores, rows, hits)):
            np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-12)


def test_scores_that_a_sum_left_apart_are_read_as_one():
    scores = np.array([0.1, 0.2, 0.3, 0.30000000000000004, 0.4])
    rows, hits = np.array([50, 60, 40, 40, 70]), np.array([9, 11, 20, 3, 30])
    together = unrounded_scores(
        scores[[0, 1, 2, 4]], np.array([50, 60, 80, 70]), np.array([9, 11, 23, 30])
    )
    assert unrounded_scores(scores, rows, hits) == pytest.approx(
        together[[0, 1, 2, 2, 3]], abs=1e-12
    )
