"""What rounding can do to a score: by how much its hits may differ from what it says.

A calibrated score q that was rounded to s, in a cell of width h, has hits at the rate E(q | s).
The counts of the scores tell the cell and the density in it, exp(x q/h); no kind of rounding is
assumed.

step    The distance h ≤ 0.1 of the nearest pair s ± h that both have a quarter of the rows of s,
        or else of the pair with the most rows. A score without such a pair was stated, and does not
        move, unless it is the last of a tail: a step from a score of more rows with such a pair.
        A score with four times as many rows as the geometric mean of its neighbours has a step
        among such scores.
unit    A step that is a half to a fifth of a tenth, a hundredth, … may be of a mean of k = 2 to 5
        scores, and else k is 1.
tilt    E(q | s) = s + k h (coth(x/2)/2 - 1/x), about s + k h x/12. x is the mean of the slopes of
        log rows on both sides (beyond a tail three times the last one), and each score may differ
        from that by k h/24 of their difference, less two standard errors.
ends    0 and 1 stand for at most half a step, up to the nearest score with many rows: a 16th of
        those of the end, else a 256th. A step of at most 0.01 counts for all of that half, a larger
        one for the half's mean under the density. In a mean of k scores 0 and 1 stand for half a
        step k h of each of them, in the scores next to 0 and 1 too.
cut     Where 1 is rare, steps of at most 0.01 may have been cut off instead of rounded: all scores
        may be half a step higher, and the top score, a step from 1, up to 1.

The tilts, each end, and all cuts have one share in [0, 1]: the one that is closest to the hits.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calbias.scored import Floats, Ints

_MOST = 256  # scores, the ones with the most rows
_EXACT, _SINGLE = 1e-3, 2.5e-7  # equal: within a share of the step, and float32's precision
SAME = 1e-12  # scores that differ by this share are equal: a sum left them apart
_MANY, _PEAK = 10, 4.0  # rows, and how many times the neighbours' rows
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


def moves_of(scores: Floats, rows: Ints) -> Moves:
    """Return the Moves of scores (m,), ascending."""
    moves = Moves(np.zeros((5, scores.size)), np.zeros(scores.size))
    tied = np.flatnonzero(rows >= 2)
    tied = np.sort(tied[np.argsort(-rows[tied], kind="stable")[:_MOST]])
    values, count = scores[tied], rows[tied].astype(np.float64)
    inside = (values > 0.0) & (values < 1.0)
    if not inside.any():
        return moves
    found, peak = _cells_beside_peaks(values, count, inside)
    step = found[0]
    h = float(np.median(step[inside]))
    alike = _near(step, h)
    many = _scores_in_mean(h) if np.mean(alike[inside]) >= _MOST_SCORES else 1
    found[1:] *= np.where(alike, many, 1)
    moves.together[0, tied], moves.alone[tied] = found[1:]
    for k, end in enumerate((0.0, 1.0), 1):
        at, away = scores == end, np.abs(values - end)
        n, inwards = float(rows[at].sum()), 1.0 - 2.0 * end
        j = _next_to_end(n, away, count, peak, inside)
        if j is None:
            continue
        if many > 1 and _near(away[j], h):
            within = np.maximum(1.0 - away / (many * h), 0.0)
            moves.together[k, tied] = inwards * 0.25 * many * h * within
        else:
            x = 0.5 * np.log(2.0 * n / count[j])
            share = 1.0 if away[j] <= _LARGEST_CUT else 0.5 - float(_tilt(x))
            moves.together[k, at] = inwards * 0.5 * share * min(away[j], _LARGEST)
        if _near(away[j], step[j]):
            moves.alone[at] = found[2, j]
    moves.together[3:, tied] = _cuts(values, count, step, float(rows[scores == 1.0].sum()))
    return moves


def _cells_beside_peaks(
    values: Floats, count: Floats, inside: NDArray[np.bool_]
) -> tuple[Floats, NDArray[np.bool_]]:
    """Return ``_cells`` (3, m), of a peak among peaks and ends, and which scores are peaks (m,)."""
    found = _cells(values, count)
    beside = np.pad(count, 1, mode="reflect")
    peak = count >= np.maximum(_PEAK * np.sqrt(beside[:-2] * beside[2:]), _MANY)
    if peak.any():
        coarse = np.flatnonzero(peak | ~inside)
        wide = _cells(values[coarse], count[coarse])
        found[:, coarse] = np.where(wide[0] > 0.0, wide, found[:, coarse])
    return found, peak


def _next_to_end(
    n: float, away: Floats, count: Floats, peak: NDArray[np.bool_], inside: NDArray[np.bool_]
) -> int | None:
    """Return the score next to an end of n rows that has many rows, or None."""
    for is_many in (peak & (count >= n / _OF_END), count >= max(2.0, n / _OF_END_ALONE)):
        near = np.flatnonzero(inside & is_many)
        if n and near.size:
            return int(near[np.argmin(away[near])])
    return None


def _cuts(values: Floats, count: Floats, step: Floats, ones: float) -> Floats:
    """Return the moves (2, m) of scores that were cut off, and of the top one, by rows at 1."""
    cuts = np.zeros((2, values.size))
    inner = np.flatnonzero(values < 1.0)[-2:]
    below, top = values[inner][0], values[inner][-1]
    if ones < count[inner[-1]] / _OF_END:
        alike = _near(step[:, None], step).mean(axis=1) >= _COMMON
        cuts[0] = np.where((step <= _LARGEST_CUT) & (values < 1.0) & alike, 0.5 * step, 0.0)
        if np.any(cuts) and 1.0 - top <= (1.0 + _EXACT) * min(_LARGEST_CUT, top - below):
            cuts[1, inner[-1]] = 1.0 - top
    return cuts


def _tilt(x: Floats | float) -> Floats:
    """Return coth(x/2)/2 - 1/x: the mean of a density exp(x q) on [-1/2, 1/2]."""
    far = np.where(np.abs(x) < 1e-3, 1.0, x)
    return np.where(np.abs(x) < 1e-3, np.asarray(x) / 12.0, 0.5 / np.tanh(0.5 * far) - 1.0 / far)


def _near(step: Floats | float, other: Floats | float) -> Any:
    """Return whether steps are equal."""
    return np.abs(step - other) <= _EXACT * np.asarray(step)


def _scores_in_mean(step: float) -> int:
    """Return of how many scores a step may be the mean's: a power of 10 over it; or 1."""
    for unit in (0.1, 0.01, 0.001):
        many = round(unit / step) if step else 0
        if 1 < many <= _MOST_IN_MEAN and _near(unit, many * step):
            return many
    return 1


def _cells(values: Floats, count: Floats) -> Floats:
    """Return the steps of values (m,), 0 where there is none, tilts and own moves: (3, m)."""
    half_cells = count * np.where((values == 0.0) | (values == 1.0), 2.0, 1.0)
    apart = values - values[:, None]
    mirror = values[:, None] - apart
    near = np.minimum(_EXACT * apart, _SINGLE)
    nearest = np.searchsorted(values, mirror - near).clip(0, values.size - 1)
    is_there = (np.abs(values[nearest] - mirror) <= near) & (apart > 0.0) & (apart <= _LARGEST)
    below = np.where(is_there, half_cells[nearest], 0.0)
    fullest = np.minimum(np.minimum(below, half_cells), 0.25 * count[:, None])
    each, best = np.arange(values.size), fullest.argmax(axis=1)
    found = fullest[each, best] > 0.0
    step = np.where(found, apart[each, best], 0.0)
    sides = np.where(found, [below[each, best], half_cells[best]], count)
    slopes = np.log(count / sides[0]), np.log(sides[1] / count)
    noise = 2.0 * np.sqrt(4.0 / count + np.sum(1.0 / sides, axis=0))
    own = np.clip((np.abs(slopes[1] - slopes[0]) - noise) / 24.0, 0.0, 0.25)
    tilt = _tilt(0.5 * (slopes[0] + slopes[1]))
    for side in (-1, 1):  # the last score of a tail, which goes on three times as steeply
        next_to = np.roll(each, side)
        h, n = step[next_to], count[next_to]
        is_last = ~found & (h > 0.0) & (count < n) & _near(h, np.abs(values - values[next_to]))
        is_last &= (values > 0.0) & (values < 1.0)
        step = np.where(is_last, h, step)
        tilt = np.where(is_last, -side * _tilt(2.0 * np.log(n / count)), tilt)
    return np.array([step, step * tilt, step * own])


def closest(scores: Floats, rows: Ints, hits: Ints, moves: Moves) -> Floats:
    """Return scores (m,) moved by the shares of the moves that are closest to the hits."""
    at = moves.reach > 0.0
    said, n, together, most = scores[at], rows[at], moves.together[:, at], moves.alone[at]
    rate, weight = hits[at] / n, n / np.maximum(said * (1.0 - said), 1e-9)
    moved, own, share = said.copy(), np.zeros(said.size), np.zeros(len(together))
    room = np.maximum(together**2 @ weight, 1e-300)
    for _ in range(_ROUNDS):
        for k, move in enumerate(together):
            best = share[k] + float((move * weight) @ (rate - moved)) / room[k]
            best = min(max(best, 0.0), 1.0)
            moved, share[k] = moved + (best - share[k]) * move, best
        nearest = np.clip(own + rate - moved, -most, most)
        moved, own = moved + nearest - own, nearest
    found = scores.copy()
    found[at] = moved
    return found


def read(scores: Floats, rows: Ints, hits: Ints) -> Floats:
    """Return scores (m,), ascending, moved towards their hits as far as rounding may do it."""
    begins = np.diff(scores, prepend=-1.0) > SAME * np.minimum(scores, 1.0 - scores)
    starts = np.flatnonzero(begins)
    said = scores[starts]
    size, count = (np.add.reduceat(each, starts) for each in (rows, hits))
    moved = closest(said, size, count, moves_of(said, size))
    return scores + (moved - said)[np.cumsum(begins) - 1]
