"""Whom does the model fail? One test over all subgroups, and an interval of the gap of each.

In a segment with scores s, hits y and log odds l there are two statistics,

    S₁ = Σ (y − s),    S₂ = Σ (y − s)(l − l̄),

with l̄ the mean of l under the weights s(1 − s), so that both are uncorrelated under calibration.
Each is put on the scale of a normal variable by the signed root of its Chernoff exponent,

    w = sign(S) √(2 max_a (a S − K(a))),    K(a) = log E exp(a S),

which is S over its standard deviation unless misses, or hits, are rare. T, the largest |w| of all
segments, is compared with T of hits redrawn from the scores. So the p-value is exact over all
segments, and the p-value of one segment is corrected for all (Westfall and Young 1993).

The interval of a gap, mean score minus share of hits, holds the shifts of the segment's log odds
whose deviance is at most ρ q², with half a hit more on each side. q is the quantile of T, at least
the one of Bonferroni for the gaps alone. ρ is the squared error of the fitted shift over its
variance, at least 1: the width rests neither on calibration nor on the shape of the curve.

With clusters S₁ and S₂ get random signs too, one per cluster (``auditing.verdict.redraws``). Each
p-value is the larger of both, ρ is summed over clusters, and q is of Student's distribution.

Westfall, Young, *Resampling-based multiple testing* (1993).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, ndtr, ndtri, stdtrit

from calbias.auditing.segment_rows import SegmentRows
from calbias.auditing.segments import LEAST_ROWS, By, Segments, segments_of
from calbias.auditing.verdict.clusters import LEAST_CLUSTERS, VERY_FEW_UNLIKELY
from calbias.auditing.verdict.redraws import widening
from calbias.auditing.verdict.rows import groups_of_rows
from calbias.conventions import (
    CONFIDENCE_LEVEL,
    ENOUGH_POWER,
    MISCALIBRATED,
    NONE_FOUND,
    SIGNIFICANT,
    TOO_SMALL,
)
from calbias.engine.seeding import stream
from calbias.scored import Floats, Ints

if TYPE_CHECKING:
    import pandas as pd

REPLICATES = 1999
TELLABLE = 0.05
"""A segment is too small to tell if a shift of 5 points is found with less than 80 % power."""
_SLOPE_PAYS = 0.3
"""Less than |w| of a slope, so that three quarters of the level are for gaps."""
_BLOCK, _DIGITS = 1 << 22, 9
_LISTED = 3  # subgroups that are too small, in a sentence
_TINY = 1e-300


class Subgroups(NamedTuple):
    """What the test over all segments found.

    Attributes
    ----------
    p_value : float
        Of the hypothesis that the model is calibrated in every segment; exact over all of them.
    table : DataFrame
        A row for each segment, the clearest first: ``segment`` in words, ``n``, ``mean_score``,
        ``accuracy``, ``gap`` (mean score minus accuracy) with ``low`` and ``high`` (an interval
        that holds for all segments at once), ``noise_floor`` (the mean absolute gap of a calibrated
        model), ``p_value`` (corrected for all segments), ``finding`` ("miscalibrated", "none
        found" or "too small to tell"), ``fault`` (in words; empty where none was found) and
        ``rows_needed`` (to find a shift of 5 points with 80 % probability). Shares are fractions.
    small : tuple of str
        The values with too few rows or clusters to be judged.
    what : str
        "scores", or "risks" of an event.
    cut : tuple of str
        The columns of numbers that were cut at their quartiles.
    """

    p_value: float
    table: pd.DataFrame
    small: tuple[str, ...]
    what: str = "scores"
    cut: tuple[str, ...] = ()

    @property
    def miscalibrated(self) -> bool:
        """Whether the p-value is at most 5 %."""
        return self.p_value <= SIGNIFICANT

    @property
    def faulty(self) -> pd.DataFrame:
        """The rows of miscalibrated subgroups, the clearest first; none above 5 % over all."""
        is_bad = (self.table["segment"] != ALL) & (self.table["finding"] == MISCALIBRATED)
        return self.table[is_bad & self.miscalibrated]

    @property
    def clearest_apart(self) -> str:
        """The clearest subgroup whose fault is not the one of all rows, in words, or ""."""
        whole = self.table[self.table["segment"] == ALL].iloc[0]
        bad = self.faulty
        is_other = bad["fault"] != whole["fault"]
        is_other |= (bad["low"] > whole["gap"]) | (bad["high"] < whole["gap"])
        return str(bad[is_other].iloc[0]["segment"]) if is_other.any() else ""

    @property
    def failing(self) -> str:
        """How many subgroups are miscalibrated, in words; "" where none is."""
        bad, n = len(self.faulty), len(self.table) - 1
        are = f"{'is' if bad == 1 else 'are'} miscalibrated (p = {self.p_value:.2g})"
        return f"{bad} of {n} subgroups {are}" if bad else ""

    @property
    def sentence(self) -> str:
        """What was found, for readers who do not know the method."""
        n = len(self.table) - 1
        if not n:
            more = len(self.small) - _LISTED
            few = ", ".join(self.small[:_LISTED]) + (f" and {more} more" if more > 0 else "")
            return f"No subgroup has enough rows and clusters to be judged: {few}."
        parts = self.table[self.table["segment"] != ALL]
        small = int((parts["finding"] == TOO_SMALL).sum()) + len(self.small)
        rest = f"; {small} {'is' if small == 1 else 'are'} too small to tell" if small else ""
        if self.cut:
            rest += (
                f"; {', '.join(self.cut)}: numbers, cut at their quartiles (codes go as texts, or "
                "with --codes)"
            )
        if not self.miscalibrated:
            return f"No fault was found in {n} subgroups (p = {self.p_value:.2g}){rest}."
        bad = self.faulty
        if not len(bad):
            return (
                f"The {self.what} are wrong on the whole, and no subgroup of {n} shows it alone"
                f"{rest}."
            )
        first = bad.iloc[0]
        size = ""
        if "extreme" not in first["fault"]:
            ends = sorted(100 * abs(first[name]) for name in ("low", "high"))
            size = f" by {100 * abs(first['gap']):.1f} points ({ends[0]:.1f} to {ends[1]:.1f})"
        return (
            f"The {self.what} are wrong for {len(bad)} of {n} subgroups (p = {self.p_value:.2g}), "
            f"most clearly where {first['segment']} ({first['n']} rows): {first['fault']}{size}"
            f"{rest}."
        )


ALL = "all rows"


def subgroups(
    scores: ArrayLike,
    hits: ArrayLike,
    by: By,
    clusters: Ints | None = None,
    *,
    log_scores: Floats | None = None,
    log1m_scores: Floats | None = None,
    confidence_level: float = CONFIDENCE_LEVEL,
    replicates: int = REPLICATES,
    seed: int = 0,
    what: str = "scores",
) -> Subgroups:
    """Return the Subgroups of scores (n,), hits (n,) and one or several columns ``by`` (n,).

    ``clusters`` (n,) are numbers from 0; ``log_scores`` and ``log1m_scores`` are as of ``judge``;
    ``what`` names the scores in sentences.
    Nothing depends on the order of the rows. InputError as of ``segments_of``.
    """
    scores, hit = np.asarray(scores, np.float64), np.asarray(hits).astype(np.float64)
    found = segments_of(by, scores.size)
    groups, group = groups_of_rows(scores, hit, log_scores, log1m_scores)
    keys = (hit, group, found.cell) if clusters is None else (clusters, hit, group, found.cell)
    order = np.lexsort(keys)
    log_odds, sign, chance = (x[group[order]] for x in (groups.x, groups.sign, groups.chance))
    unlikely = np.where(sign > 0, hit[order], 1.0 - hit[order])
    codes = None if clusters is None else np.asarray(clusters)[order]
    cells = np.searchsorted(found.cell[order], np.arange(found.members.shape[1] + 1))
    place = _places(found, cells)
    if codes is not None:
        found = _with_enough_clusters(found, _flat(place, -np.abs(log_odds), sign, unlikely, codes))
        place = _places(found, cells)
    rows = _flat(place, -np.abs(log_odds), sign, unlikely, codes)
    of_rows = log_odds[np.concatenate(place)]
    middle = rows.total(rows.variance * of_rows) / rows.total(rows.variance)
    weights = np.stack([np.ones(of_rows.size), of_rows - middle[rows.segment]])

    def sums(residuals: Floats) -> Floats:
        """Return both statistics (2, b, m) of residuals y − s (b, n)."""
        weighted = (residuals, residuals * log_odds)
        first, second = (
            (found.members @ np.add.reduceat(each, cells[:-1], axis=1).T).T for each in weighted
        )
        return np.round(np.stack([first, second - middle * first]), _DIGITS)

    residual = (sign * (unlikely - chance))[None]
    generator, block = stream(seed, "subgroups", str(scores.size)), max(_BLOCK // scores.size, 1)
    counts = np.diff([*range(0, replicates, block), replicates])
    draws = (generator.random((k, scores.size)) < chance for k in counts)
    pool = np.concatenate([sums(residual), *(sums(sign * (x - chance)) for x in draws)], axis=1)
    roots = np.stack([rows.roots(*each) for each in zip(weights, pool, strict=True)])
    p_values, clear, critical = _corrected(np.abs(roots), confidence_level)
    number = np.full(len(place), np.inf)
    if codes is not None:
        number = np.bincount(rows.pairs[0]).astype(np.float64)
        flips = (2.0 * generator.integers(0, 2, (k, codes.max() + 1)) - 1.0 for k in counts)
        pool = np.concatenate([sums(residual), *(sums(w[:, codes] * residual) for w in flips)], 1)
        scale = np.sqrt([rows.spread(each) for each in weights * rows.residual])[:, None]
        ratios = np.abs(pool) / np.maximum(scale, _TINY)
        ratios[:, 1:] *= np.array([widening(int(k)) for k in number])
        of_signs = _corrected(ratios, confidence_level)
        p_values, clear = np.maximum(p_values, of_signs[0]), np.minimum(clear, of_signs[1])
        critical = max(critical, of_signs[2])
    tail = min(ndtr(-critical), (1.0 - confidence_level) / (2 * len(place)))
    reach = np.array([-stdtrit(k - 1, tail) if k < np.inf else -ndtri(tail) for k in number])
    said = rows.total(scores[order][np.concatenate(place)]) / rows.size
    return _told(found, rows, roots[:, 0], p_values, clear, reach, said, what)


def _places(found: Segments, cells: Ints) -> list[Ints]:
    """Return the rows of each segment, where rows are sorted by cell."""
    members = found.members
    return [
        np.concatenate([np.arange(cells[c], cells[c + 1]) for c in np.sort(inside)])
        for inside in np.split(members.indices, members.indptr[1:-1])
    ]


def _flat(
    place: list[Ints], x: Floats, sign: Floats, unlikely: Floats, codes: Ints | None
) -> SegmentRows:
    size, at = np.array([part.size for part in place]), np.concatenate(place)
    return SegmentRows(
        x[at], sign[at], unlikely[at], np.repeat(np.arange(size.size), size),
        np.cumsum(size) - size, None if codes is None else codes[at],
    )  # fmt: skip


def _with_enough_clusters(found: Segments, rows: SegmentRows) -> Segments:
    """Return the segments with ten clusters, and five in which a miss, or a hit, is expected."""
    segment, pair = rows.pairs
    hits = np.bincount(segment, np.bincount(pair, rows.score) / np.bincount(pair))
    number = np.bincount(segment)
    enough = (number >= LEAST_CLUSTERS) & (np.minimum(hits, number - hits) >= VERY_FEW_UNLIKELY)
    enough[0] = True
    few = [
        f"{found.words[k]} ({number[k]} cluster{'s' if number[k] != 1 else ''})"
        for k in np.flatnonzero(~enough)
    ]
    words = tuple(found.words[k] for k in np.flatnonzero(enough))
    return found._replace(words=words, members=found.members[enough], small=(*found.small, *few))


def _corrected(pool: Floats, level: float) -> tuple[Floats, Floats, float]:
    """Return p-values and statistics (m,) of a pool (2, R + 1, m), and the quantile of its T."""
    pool = pool - np.array([0.0, _SLOPE_PAYS])[:, None, None]
    largest = np.sort(pool.max(axis=(0, 2)))
    observed = pool[:, 0].max(axis=0)
    as_large = largest.size - np.searchsorted(largest, observed, side="left")
    rank = min(int(np.ceil(level * largest.size)), largest.size) - 1
    return as_large / largest.size, observed, float(largest[rank])


def _told(
    found: Segments,
    rows: SegmentRows,
    roots: Floats,
    p_values: Floats,
    clear: Floats,
    reach: Floats,
    said: Floats,
    what: str,
) -> Subgroups:
    """Return the result of observed roots (2, m), with intervals of reach and mean scores (m,)."""
    import pandas as pd

    size = rows.size
    excess = rows.total(rows.residual)
    gap, best = -excess / size, rows.shift_to(excess)
    chance = expit(rows.shifted(best)[0])
    variance = np.maximum(rows.total(chance * (1.0 - chance)), _TINY)
    ratio = np.maximum(rows.spread(rows.sign * (rows.unlikely - chance)) / variance, 1.0)
    high, low = (-rows.shifted(rows.shift_at(side, ratio * reach**2))[1] / size for side in (-1, 1))
    effect = np.ones(size.size) if rows.clusters is None else ratio
    mean = rows.total(rows.score) / size  # as rounding may have moved it
    gap, low, high = (x + said - mean for x in (gap, low, high))
    table = pd.DataFrame(
        {
            "segment": found.words,
            "n": size,
            "mean_score": said,
            "accuracy": said - gap,
            "gap": gap,
            "low": low,
            "high": high,
            "noise_floor": np.sqrt(2.0 / np.pi * effect * rows.total(rows.variance)) / size,
            "p_value": p_values,
        }
    )
    is_bad = p_values <= SIGNIFICANT
    needed = _rows_needed(rows, mean, reach, effect)
    unfound = np.where(size < needed, TOO_SMALL, NONE_FOUND)
    table["finding"] = np.where(is_bad, MISCALIBRATED, unfound)
    is_level = (low > 0) | (high < 0) | (np.abs(roots[0]) >= np.abs(roots[1]))
    of_level = np.where(gap > 0, f"{what} too high", f"{what} too low")
    of_slope = np.where(roots[1] < 0, f"{what} too extreme", f"{what} not extreme enough")
    table["fault"] = np.where(is_bad, np.where(is_level, of_level, of_slope), "")
    table["rows_needed"] = needed
    order = np.lexsort((np.arange(size.size), -clear, p_values))
    table = table.iloc[order].reset_index(drop=True)
    return Subgroups(float(p_values.min()), table, found.small, what, found.cut)


def _rows_needed(rows: SegmentRows, mean: Floats, reach: Floats, effect: Floats) -> Ints:
    """Return with how many rows a shift of 5 points towards 1/2 is found with 80 % probability."""
    target = np.where(mean > 0.5, -TELLABLE, TELLABLE) * rows.size.astype(np.float64)
    shift = rows.shift_to(target)
    deviance = 2.0 * (shift * target - rows.cumulant(shift)) / rows.size
    needed = (reach + ndtri(ENOUGH_POWER)) ** 2 * effect / np.maximum(deviance, _TINY)
    return np.maximum(np.ceil(needed), LEAST_ROWS).astype(np.int64)
