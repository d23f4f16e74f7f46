"""What rounding can do to a score: by how much its hits may differ from what it says.

A calibrated score q that was rounded to s, in a cell of width h, has hits at the rate E(q | s).
The counts of the scores tell the cell and the density in it, exp(x q/h); no kind of rounding is
assumed.

step    The distance h of the nearest pair s ± h that both have a quarter of the rows of s, or else
        of the pair with the most rows. A score without such a pair was stated, and does not move.
        A score with four times the rows of both neighbours has a step among such scores.
tilt    E(q | s) = s + h (coth(x/2)/2 - 1/x), about s + h x/12. x is the smaller of twice the two
        slopes of log rows, or their mean, and 0 where these differ in sign.
ends    0 and 1 stand for half a step, up to the nearest score with many rows.
cut     Where 1 is rare, steps of at most 0.01 may have been cut off instead of rounded: all scores
        may be half a step higher, and the top score, a step from 1, up to 1.

Each end, all tilts, and all cuts have one share in [0, 1]: the one that is closest to the hits.
"""

import numpy as np

from calbias.scored import Floats, Ints

_MOST = 256  # scores, the ones with the most rows
_EXACT, _SINGLE = 1e-3, 2.5e-7  # equal: within a share of the step, and float32's precision
_MANY, _PEAK = 10, 4.0  # rows, and how many times the neighbours' rows
_LARGEST_CUT, _COMMON = 0.01 + 1e-6, 0.25  # a step that was cut off is that of many scores
_ROUNDS = 4


def moves_of(scores: Floats, rows: Ints) -> Floats:
    """Return the largest moves (k, m) of scores (m,), ascending; each k has one share."""
    moves = np.zeros((5, scores.size))
    tied = np.flatnonzero(rows >= 2)
    tied = np.sort(tied[np.argsort(-rows[tied], kind="stable")[:_MOST]])
    values, count = scores[tied], rows[tied].astype(np.float64)
    if not np.any((values > 0.0) & (values < 1.0)):
        return moves
    step, tilt = _steps(values, count)
    beside = np.pad(count, 1)
    peak = count >= np.maximum(_PEAK * np.maximum(beside[:-2], beside[2:]), _MANY)
    if peak.any():
        coarse = np.flatnonzero(peak | (values == 0.0) | (values == 1.0))
        wide = _steps(values[coarse], count[coarse])
        step[coarse], tilt[coarse] = np.where(wide[0] > 0.0, wide, (step[coarse], tilt[coarse]))
    moves[0, tied] = tilt
    for k, end in enumerate((0.0, 1.0), 1):
        at, away = scores == end, np.abs(values - end)
        n = float(rows[at].sum())
        for least in (peak & (count >= n / 16), count >= max(2.0, n / _MOST)):
            if n and np.any(near := (away > 0.0) & least):
                j = np.flatnonzero(near)[np.argmin(away[near])]
                x = 0.5 * np.log(2.0 * n / count[j])
                share = 1.0 if away[j] <= _LARGEST_CUT else 0.5 - float(_tilt(x))
                moves[k, at] = 0.5 * share * (values[j] - end)
                break
    inner = np.flatnonzero(values < 1.0)[-2:]
    below, top = values[inner][0], values[inner][-1]
    if rows[scores == 1.0].sum() < count[inner[-1]] / 16:
        alike = np.abs(step[:, None] - step) <= _EXACT * step[:, None]
        is_cut = (step <= _LARGEST_CUT) & (values < 1.0) & (alike.mean(axis=1) >= _COMMON)
        moves[3, tied] = np.where(is_cut, 0.5 * step, 0.0)
        is_step = 1.0 - top <= (1.0 + _EXACT) * min(_LARGEST_CUT, top - below)
        if is_step and np.any(moves[3]):
            moves[4, tied[inner[-1]]] = 1.0 - top
    return moves


def _tilt(x: Floats | float) -> Floats:
    """Return coth(x/2)/2 - 1/x: the mean of a density exp(x q) on [-1/2, 1/2]."""
    far = np.where(np.abs(x) < 1e-3, 1.0, x)
    return np.where(np.abs(x) < 1e-3, np.asarray(x) / 12.0, 0.5 / np.tanh(0.5 * far) - 1.0 / far)


def _steps(values: Floats, count: Floats) -> tuple[Floats, Floats]:
    """Return the steps (m,) of values, 0 where there is none, and their tilts."""
    half_cells = count * np.where((values == 0.0) | (values == 1.0), 2.0, 1.0)
    apart = values - values[:, None]
    mirror = values[:, None] - apart
    near = np.minimum(_EXACT * apart, _SINGLE)
    nearest = np.searchsorted(values, mirror - near).clip(0, values.size - 1)
    is_there = (np.abs(values[nearest] - mirror) <= near) & (apart > 0.0)
    below = np.where(is_there, half_cells[nearest], 0.0)
    fullest = np.minimum(np.minimum(below, half_cells), 0.25 * count[:, None])
    each, best = np.arange(values.size), fullest.argmax(axis=1)
    found = fullest[each, best] > 0.0
    step = np.where(found, apart[each, best], 0.0)
    low = np.log(count / np.where(found, below[each, best], count))
    high = np.log(np.where(found, half_cells[best], count) / count)
    x = np.minimum(2.0 * np.minimum(np.abs(low), np.abs(high)), 0.5 * np.abs(low + high))
    return step, step * _tilt(np.where(low * high > 0.0, np.sign(low) * x, 0.0))


def closest(scores: Floats, rows: Ints, hits: Ints, moves: Floats) -> Floats:
    """Return scores (m,) moved by the shares of the moves (k, m) that are closest to the hits."""
    moved, share = scores.copy(), np.zeros(len(moves))
    variance = np.maximum(scores * (1.0 - scores), 1e-9)
    for k in [*range(len(moves))] * _ROUNDS:
        weight = moves[k] / variance
        room = max(float(np.sum(weight * moves[k] * rows)), 1e-300)
        best = share[k] + float(np.sum(weight * (hits - rows * moved))) / room
        best = min(max(best, 0.0), 1.0)
        moved, share[k] = moved + (best - share[k]) * moves[k], best
    return moved


def moved_by_rounding(scores: Floats, rows: Ints, hits: Ints) -> Floats:
    """Return by how much each of scores (m,) is moved towards its hits."""
    return np.abs(closest(scores, rows, hits, moves_of(scores, rows)) - scores)
