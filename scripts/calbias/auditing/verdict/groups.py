"""The rows of a verdict: groups of equal scores, and cells of neighbouring groups.

The unlikely outcome of a row is a miss at a score above 1/2, a hit at a score of at most 1/2.
Counting these loses nothing where scores are near 0 or 1: the residual of a row is
y - s = ± (unlikely - chance), with the chance min(s, 1 - s).

Cells make the redraws cheap: the statistics weight the rows of a cell equally, and the number of
unlikely outcomes in a cell is drawn at once. Groups of equal scores are never cut. A group with at
least max(5, n/200) rows is an atom, and a separate cell.

``Groups`` are no ``Scored``: scores of equal log odds are one group, and its chance is not always
its score, but one that a rounded score may stand for.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from calbias.auditing.verdict.rounding import SAME, closest, moves_of
from calbias.recalibration.logistic import ENDS
from calbias.samples.by_score import Floats, Ints, Scored, order_of

CELLS = 512
"""Cells, in equal steps of half the share of ranks and half the share of the variance."""
ATOM_ROWS, ATOM_SHARE = 5, 200
_LEAST, _LEAST_32 = 2.0**-55, 2.0**-26  # chances at 0 and 1: a quarter of the type's last step


class Groups(NamedTuple):
    """Groups of equal scores, ascending; arrays (g,).

    score, x   the score and its log odds, finite
    chance     of the unlikely outcome if calibrated: min(s, 1 - s), or moved as rounding may do
    sign       +1 where the unlikely outcome is a hit, -1 where it is a miss
    size       rows, or the sum of their weights
    hits       of these rows
    reach      how far rounding may have moved the chance
    """

    score: Floats
    x: Floats
    chance: Floats
    sign: Floats
    size: NDArray
    hits: NDArray
    reach: Floats

    @property
    def unlikely(self) -> NDArray:
        """How many rows of each group have the unlikely outcome."""
        return np.where(self.sign > 0, self.hits, self.size - self.hits)

    @property
    def variance(self) -> Floats:
        """The variance of the residual of each group in a calibrated model."""
        return self.size * self.chance * (1.0 - self.chance)

    @property
    def residual(self) -> Floats:
        """Σ (hit - score) of each group."""
        return self.sign * (self.unlikely - self.size * self.chance)

    def only(self, kept: NDArray[np.bool_]) -> Groups:
        """Return the kept groups."""
        return Groups._make(column[kept] for column in self)

    @property
    def is_atom(self) -> NDArray[np.bool_]:
        """Which groups have at least max(5, n/200) rows."""
        return self.size >= max(ATOM_ROWS, self.size.sum() / ATOM_SHARE)


def groups_of(scored: Scored) -> tuple[Groups, Ints]:
    """Return the Groups of a Scored, and the group of each of its scores (m,).

    A score is judged as it was said, within what rounding can do: see ``rounding``.
    """
    upper = scored.log_scores > scored.log1m_scores
    chance = np.exp(np.where(upper, scored.log1m_scores, scored.log_scores))
    x, sign = scored.log_scores - scored.log1m_scores, np.where(upper, -1.0, 1.0)
    order = np.argsort(x)
    with np.errstate(invalid="ignore"):  # equal ends
        starts = np.flatnonzero(np.append(True, np.diff(x[order]) > SAME))
    group = np.empty(x.size, np.int64)
    group[order] = np.repeat(np.arange(starts.size), np.diff(np.append(starts, x.size)))
    first = order[starts]
    counts = scored.rows[order], scored.hits[order]
    size, hits = (np.add.reduceat(each, starts) for each in counts)
    score, x, chance, sign = (each[first] for each in (scored.scores, x, chance, sign))
    is_end = ~np.isfinite(x) | (chance <= 0.0)
    stated = np.where(is_end, np.rint(score), np.where(sign < 0, 1.0 - chance, chance))
    moves = moves_of(stated, size)
    reach = moves.reach
    if is_end.any():
        inner, next_to = score[~is_end], chance[~is_end].min(initial=0.5)
        is_single = inner.size > 0 and bool((inner.astype(np.float32) == inner).all())
        least = _LEAST_32 if is_single else _LEAST
        chance = np.where(is_end, np.maximum(0.5 * np.minimum(reach, next_to), least), chance)
        x = np.where(is_end, sign * (np.log(chance) - np.log1p(-chance)), x)
    if reach.any():
        moved = closest(stated, size, hits, moves)
        moved = np.where(sign < 0, 1.0 - moved, moved)
        chance = np.where(reach > 0.0, np.clip(moved, 1e-15, 1.0 - 1e-15), chance)
    return Groups(score, x, chance, sign, size, hits, reach), group


def ends_of(scored: Scored) -> tuple[float, float]:
    """Return where scores of 0 and of 1 are taken to have finite log odds: ``Groups.x``.

    Votes, tenths and percentages stand for a part of their step, others for a float's last step.
    """
    low, high = ENDS
    if scored.scores[0] > 0.0 and scored.scores[-1] < 1.0:
        return low, high
    groups, _ = groups_of(scored)
    if groups.score[0] == 0.0:
        low = max(low, float(expit(groups.x[0])))
    if groups.score[-1] == 1.0:
        high = min(high, float(expit(groups.x[-1])))
    return low, high


def groups_of_rows(
    scores: Floats,
    hits: NDArray,
    log_scores: Floats | None = None,
    log1m_scores: Floats | None = None,
) -> tuple[Groups, Ints]:
    """Return the Groups of rows (n,) in any order, and each row's group (n,).

    The hits may be outcomes that are right on average.
    """
    scored = Scored.of(scores, np.zeros(scores.size), log_scores, log1m_scores)
    order = order_of(scores, log1m_scores)
    score = np.repeat(np.arange(scored.scores.size), scored.rows)
    groups, group = groups_of(replace(scored, hits=np.bincount(score, hits[order])))
    group_of_row = np.empty(order.size, np.int64)
    group_of_row[order] = np.repeat(group, scored.rows)
    return groups, group_of_row


def cell_starts(groups: Groups) -> Ints:
    """Return the first group of each cell and, last, the number of groups: (c + 1,)."""
    size, variance = groups.size, groups.variance
    n_groups = size.size
    if n_groups <= CELLS:
        return np.arange(n_groups + 1)
    ranks, time = np.cumsum(size) - size / 2, np.cumsum(variance) - variance / 2
    share = 0.5 * ranks / size.sum() + 0.5 * time / variance.sum()
    step = np.floor(CELLS * share)
    atom = groups.is_atom
    begins = np.append(True, (step[1:] != step[:-1]) | (groups.sign[1:] != groups.sign[:-1]))
    begins |= atom
    begins[1:] |= atom[:-1]
    return np.append(np.flatnonzero(begins), n_groups).astype(np.int64)
