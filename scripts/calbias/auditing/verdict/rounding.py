"""What rounding can do to a score: by how much its hits may differ from what it says.

A calibrated score q that was rounded to s, in a cell of width h, has hits at the rate E(q | s).
The counts of the scores tell the cell and the density in it, exp(x q/h); no kind of rounding is
assumed.

step    The distance h ≤ 0.1 of the nearest pair of scores s ± h. A score without a pair was stated,
        and does not move, unless it is the last of a tail: a step from a score of more rows with
        a pair. A score with four times as many rows as the geometric mean of its
        neighbours has a step among such scores.
unit    A step that is a half to a fifth of a tenth, a hundredth, … may be of a mean of k = 2 to 5
        scores, and else k is 1.
tilt    E(q | s) is about s + k h x/12, x the mean of the slopes of log rows on both sides (beyond a
        tail three times the last one), and each score may differ from that by k h/24 of their
        difference, less two standard errors.
uneven  A score with ten rows whose neighbours, of a 16th of its rows or more, are at unequal
        distances a below and b above, at most 0.1, may stand for a cell around s + (b - a)/4.
ends    0 and 1 stand for at most half a step, up to the nearest score with many rows: a 16th of
        those of the end, else a 256th. A step of at most 0.01 counts for all of that half, a larger
        one for the half's mean under the density, coth(x/2)/2 - 1/x of it. In a mean of k scores
        0 and 1 stand for half a step k h of each of them, in the scores next to 0 and 1 too.
cut     Where 1 is rare, steps of at most 0.01 may have been cut off instead of rounded: all scores
        may be half a step higher, and the top score, a step from 1, up to 1.

The tilts, the uneven cells, each end, and all cuts have one share in [0, 1]: the one that is
closest to the hits.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calbias.samples.by_score import Floats

_MOST = 256  # scores, the ones with the most rows
_EXACT, _SINGLE = 1e-3, 2.5e-7  # equal: within a share of the step, and float32's precision
SAME = 1e-12  # scores that differ by this share are equal: a sum left them apart
_MANY, _PEAK = 10, 4.0  # rows, and how many times the neighbours' rows
_OF_NEIGHBOUR = 16
_OF_END, _OF_END_ALONE = 16, 256  # a score next to an end has its rows over this, if a peak; if not
_LARGEST_CUT, _COMMON = 0.01 + 1e-6, 0.25  # a step that was cut off is that of many scores
_LARGEST = 0.1 + 1e-6  # of steps that were not said
_MOST_IN_MEAN, _MOST_SCORES = 5, 0.75
_ROUNDS = 6


class Moves(NamedTuple):
    """The largest moves of scores: together (k, m), each k with one share; alone (m,), ±."""

    together: Floats
    alone: Floats

    @property
    def reach(self) -> Floats:
        """How far each score may move (m,)."""
        return np.abs(self.together).sum(axis=0) + self.alone


def moves_of(scores: Floats, rows: NDArray) -> Moves:
    """Return the Moves of scores (m,), ascending."""
    moves = Moves(np.zeros((6, scores.size)), np.zeros(scores.size))
    tied = np.flatnonzero(rows >= 2)
    tied = np.sort(tied[np.argsort(-rows[tied], kind="stable")[:_MOST]])
    values, count = scores[tied], rows[tied].astype(np.float64)
    inside = (values > 0.0) & (values < 1.0)
    if not inside.any():
        return moves
    (step, tilt, bend), is_peak = _steps_beside_peaks(values, count, inside)
    common_step = float(np.median(step[inside]))
    is_common = _is_near(step, common_step)
    n_in_mean = _scores_in_mean(common_step) if np.mean(is_common[inside]) >= _MOST_SCORES else 1
    times = np.where(is_common, n_in_mean, 1)
    moves.together[0, tied], moves.alone[tied] = times * tilt, times * bend
    for k, end in enumerate((0.0, 1.0), 1):
        at_end, distance = scores == end, np.abs(values - end)
        n, inwards = float(rows[at_end].sum()), 1.0 - 2.0 * end
        nearest = _next_to_end(n, distance, count, is_peak, inside)
        if nearest is None:
            continue
        end_step = distance[nearest]
        if n_in_mean > 1 and _is_near(end_step, common_step):
            reach = n_in_mean * common_step
            near_end = np.maximum(1.0 - distance / reach, 0.0)
            moves.together[k, tied] = inwards * 0.25 * reach * near_end
        else:
            slope = 0.5 * math.log(2.0 * n / count[nearest])
            share = 1.0 if end_step <= _LARGEST_CUT else 0.5 - _mean_in_cell(slope)
            moves.together[k, at_end] = inwards * 0.5 * share * min(end_step, _LARGEST)
        if _is_near(end_step, step[nearest]):
            moves.alone[at_end] = times[nearest] * bend[nearest]
    moves.together[3:5, tied] = _cuts(values, count, step, float(rows[scores == 1.0].sum()))
    moves.together[5, tied] = np.where(inside, _middles_of_uneven_cells(values, count), 0.0)
    return moves


def _middles_of_uneven_cells(values: Floats, count: Floats) -> Floats:
    """Return how far from a value (m,) the middle of its cell is, 0 of an even one."""
    distance = values - values[:, None]
    is_neighbour = count >= count[:, None] / _OF_NEIGHBOUR
    below, above = (
        np.where(is_neighbour & (side > 0.0), side, np.inf).min(axis=1)
        for side in (-distance, distance)
    )
    is_uneven = (count >= _MANY) & (np.maximum(below, above) <= _LARGEST)
    is_uneven[is_uneven] &= ~_is_near(below[is_uneven], above[is_uneven])
    middle = np.zeros_like(values)
    middle[is_uneven] = 0.25 * (above[is_uneven] - below[is_uneven])
    return middle


def _steps_beside_peaks(
    values: Floats, count: Floats, inside: NDArray[np.bool_]
) -> tuple[Floats, NDArray[np.bool_]]:
    """Return steps (3, m), of a peak between peaks and ends, and which scores are peaks (m,)."""
    steps = _steps_between_neighbours(values, count)
    beside = np.pad(count, 1, mode="reflect")
    is_peak = count >= np.maximum(_PEAK * np.sqrt(beside[:-2] * beside[2:]), _MANY)
    if is_peak.any():
        coarse = np.flatnonzero(is_peak | ~inside)
        wide = _steps_between_neighbours(values[coarse], count[coarse])
        steps[:, coarse] = np.where(wide[0] > 0.0, wide, steps[:, coarse])
    return steps, is_peak


def _next_to_end(
    n: float, distance: Floats, count: Floats, is_peak: NDArray[np.bool_], inside: NDArray[np.bool_]
) -> int | None:
    """Return the score next to an end of n rows that has many rows, or None."""
    for is_many in (is_peak & (count >= n / _OF_END), count >= max(2.0, n / _OF_END_ALONE)):
        candidates = np.flatnonzero(inside & is_many)
        if n and candidates.size:
            return int(candidates[np.argmin(distance[candidates])])
    return None


def _cuts(values: Floats, count: Floats, step: Floats, rows_at_1: float) -> Floats:
    """Return the moves (2, m) of scores that were cut off, and of the top one."""
    cuts = np.zeros((2, values.size))
    inner = np.flatnonzero(values < 1.0)[-2:]
    below, top = values[inner][0], values[inner][-1]
    if rows_at_1 < count[inner[-1]] / _OF_END:
        is_common = _is_near(step[:, None], step).mean(axis=1) >= _COMMON
        cuts[0] = np.where((step <= _LARGEST_CUT) & (values < 1.0) & is_common, 0.5 * step, 0.0)
        if np.any(cuts) and 1.0 - top <= (1.0 + _EXACT) * min(_LARGEST_CUT, top - below):
            cuts[1, inner[-1]] = 1.0 - top
    return cuts


def _mean_in_cell(slope: float) -> float:
    """Return coth(x/2)/2 - 1/x: the mean of a density exp(x q) on [-1/2, 1/2], x the slope."""
    if abs(slope) < 1e-3:
        return slope / 12.0
    return 0.5 / math.tanh(0.5 * slope) - 1.0 / slope


def _is_near(step: Floats | float, other: Floats | float) -> Any:
    """Return whether steps are equal."""
    return np.abs(step - other) <= _EXACT * np.asarray(step)


def _scores_in_mean(step: float) -> int:
    """Return the number of scores whose mean has this step: a power of 10 over it; or 1."""
    for unit in (0.1, 0.01, 0.001):
        number = round(unit / step) if step > unit / 10 else 0
        if 1 < number <= _MOST_IN_MEAN and _is_near(unit, number * step):
            return number
    return 1


def _steps_between_neighbours(values: Floats, count: Floats) -> Floats:
    """Return the steps of values (m,), 0 where there is none, their tilts and bends: (3, m)."""
    half_cells = count * np.where((values == 0.0) | (values == 1.0), 2.0, 1.0)
    distance = values - values[:, None]
    mirror = values[:, None] - distance
    tolerance = np.minimum(_EXACT * distance, _SINGLE)
    lower = np.searchsorted(values, mirror - tolerance).clip(0, values.size - 1)
    is_pair = np.abs(values[lower] - mirror) <= tolerance
    is_pair &= (distance > 0.0) & (distance <= _LARGEST)
    each, upper = np.arange(values.size), is_pair.argmax(axis=1)  # the nearest pair
    has_step = is_pair[each, upper]
    step = np.where(has_step, distance[each, upper], 0.0)
    below = np.where(has_step, half_cells[lower[each, upper]], count)
    above = np.where(has_step, half_cells[upper], count)
    slope_below, slope_above = np.log(count / below), np.log(above / count)
    noise = 2.0 * np.sqrt(4.0 / count + 1.0 / below + 1.0 / above)
    tilt = np.clip((slope_below + slope_above) / 24.0, -0.5, 0.5)
    bend = np.clip((np.abs(slope_above - slope_below) - noise) / 24.0, 0.0, 0.25)
    step, tilt = _extend_tails(values, count, step, tilt)
    return np.array([step, step * tilt, step * bend])


def _extend_tails(
    values: Floats, count: Floats, step: Floats, tilt: Floats
) -> tuple[Floats, Floats]:
    """Give the last score of a tail its neighbour's step, and a slope three times as steep."""
    has_step = step > 0.0
    for side in (-1, 1):
        neighbour = np.roll(np.arange(values.size), side)
        next_step, next_count = step[neighbour], count[neighbour]
        is_last = ~has_step & (next_step > 0.0) & (count < next_count)
        is_last &= _is_near(next_step, np.abs(values - values[neighbour]))
        is_last &= (values > 0.0) & (values < 1.0)
        step = np.where(is_last, next_step, step)
        tail_tilt = np.minimum(np.log(next_count / count) / 6.0, 0.5)
        tilt = np.where(is_last, -side * tail_tilt, tilt)
    return step, tilt


def closest(scores: Floats, rows: NDArray, hits: NDArray, moves: Moves) -> Floats:
    """Return scores (m,) moved by the shares of the moves that are closest to the hits."""
    movable = moves.reach > 0.0
    stated, n = scores[movable], rows[movable]
    together, alone_limit = moves.together[:, movable], moves.alone[movable]
    rate, weight = hits[movable] / n, n / np.maximum(stated * (1.0 - stated), 1e-9)
    moved, alone, shares = stated.copy(), np.zeros(stated.size), np.zeros(len(together))
    sizes = np.maximum(together**2 @ weight, 1e-300)
    for _ in range(_ROUNDS):
        for k, move in enumerate(together):
            share = shares[k] + float((move * weight) @ (rate - moved)) / sizes[k]
            share = min(max(share, 0.0), 1.0)
            moved, shares[k] = moved + (share - shares[k]) * move, share
        new_alone = np.clip(alone + rate - moved, -alone_limit, alone_limit)
        moved, alone = moved + new_alone - alone, new_alone
    result = scores.copy()
    result[movable] = moved
    return result


def unrounded_scores(scores: Floats, rows: NDArray, hits: NDArray) -> Floats:
    """Return the scores (m,), ascending, before rounding that fit the hits best."""
    begins = np.diff(scores, prepend=-1.0) > SAME * np.minimum(scores, 1.0 - scores)
    starts = np.flatnonzero(begins)
    stated = scores[starts]
    size, count = (np.add.reduceat(each, starts) for each in (rows, hits))
    moved = closest(stated, size, count, moves_of(stated, size))
    return scores + (moved - stated)[np.cumsum(begins) - 1]
