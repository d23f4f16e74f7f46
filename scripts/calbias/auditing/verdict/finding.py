"""What the verdict found, as numbers; ``words`` has the sentence."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy.special import xlog1py, xlogy

from calbias.auditing.verdict.groups import Groups
from calbias.auditing.verdict.statistics import Statistics
from calbias.defaults import Z_95
from calbias.recalibration.logistic import newton_line
from calbias.samples.by_score import Floats, dot

Kind = Literal["level", "line", "shape", "local", "atoms", "certain"]
HalfWidth = Callable[[slice], float]
"""Half of the interval of the mean gap of some groups, by sums over clusters."""

_OF_ALL_ROWS: tuple[Kind, Kind] = ("level", "line")
_CLEAR = 2.8  # standard errors of a second finding
_ERRORS = 2.0  # standard errors that tell a slope from 1, or from 0
_TINY = 1e-12
_SHARE = 0.4  # of a fault's standard errors that a shift and a slope may leave


@dataclass(frozen=True)
class Finding:
    """One fault of the scores, with the rows that it concerns.

    Attributes
    ----------
    kind : str
        "level" (a shift), "line" (a slope), "shape", "local", "atoms" or "certain".
    rows, hits : int
        The rows concerned: all of them, an interval of scores, or one score.
    low, high : float
        Their least and greatest score.
    mean_score, rate : float
        Their mean score and their share of hits.
    gap, gap_low, gap_high : float
        Mean score minus rate, with its 95 % interval, by sums over clusters where rows have these;
        it does not allow for the choice of an interval of scores. No rate outside 0 and 1 is in it.
    intercept, slope : float or None
        Of logit P(hit) = intercept + slope · logit s, of greatest likelihood over all rows, with
        scores of 0 and 1 as far from there as the verdict takes them, ``Groups.x``; None
        for other kinds than "level" and "line", and where the likelihood has no maximum. Where both
        outcomes occur the slope is infinite then: a threshold separates hits from misses, and below
        0 the hits are below it.
    is_reversed : bool
        Whether the slope is below 0 by two standard errors of independent rows: rows of higher
        scores have fewer hits.
    """

    kind: Kind
    rows: int
    hits: int
    low: float
    high: float
    mean_score: float
    rate: float
    gap: float
    gap_low: float
    gap_high: float
    intercept: float | None = None
    slope: float | None = None
    is_reversed: bool = False


def finding_of(
    kind: Kind, groups: Groups, statistics: Statistics, half: HalfWidth | None = None
) -> Finding:
    """Return the Finding of a kind; ``half`` is for clusters."""
    if kind not in ("level", "line"):
        return _numbers(kind, groups, slice(*_rows_of(kind, groups, statistics)), half)
    line = line_of(groups) or (None, _limit_of_slope(groups))
    is_reversed = line[1] is not None and line[1] < -_ERRORS * _slope_error(groups, *line)
    return replace(_numbers(kind, groups, slice(None), half, *line), is_reversed=is_reversed)


def kinds_of(part: str, groups: Groups, statistics: Statistics) -> tuple[Kind, Kind | None]:
    """Return the kind of fault that the smallest part shows, and a second clear one or None.

    A wrong shape, interval or value that a shift and a slope explain is named by these. Next to a
    wrong interval or value, a shift or slope counts where the other rows show it; next to a wrong
    shape the shift comes first. A slope that its error does not tell from 1 is not named next to
    another fault.
    """
    line = line_of(groups)
    kind, other = _kinds_of(part, groups, statistics, _rates_of(line, groups))
    if "line" not in (kind, other) or _is_slope_clear(line, groups):
        return kind, other
    return other if kind == "line" and other else kind, None


def _kinds_of(
    part: str, groups: Groups, statistics: Statistics, rates: Floats
) -> tuple[Kind, Kind | None]:
    """Return the kinds of ``kinds_of``, whatever the slope is; ``rates`` (g,) are of the line."""
    first = statistics.starts[:-1]
    terms = statistics.weights[:-1] * np.add.reduceat(groups.residual, first)
    z = np.sum(terms, axis=1)
    kind: Kind | None = "certain" if part == "certain" else None
    if part == "shape":  # its best order, less 1, is ``order``
        k = np.arange(1, z.size + 1)
        beside = _z_beside_the_line(groups, statistics, rates)
        remaining = np.cumsum(np.where(k > 2, beside**2, 0.0))
        order = np.argmax((np.cumsum(z**2) - k) / np.sqrt(2 * k))
        if remaining[order] > max(_CLEAR**2 + order, _SHARE**2 * np.sum(z[: order + 1] ** 2)):
            return "shape", next(
                (k for k, x in zip(_OF_ALL_ROWS, z, strict=False) if abs(x) > _CLEAR), None
            )
    if part in ("local", "atoms"):
        low, high = _rows_of(part, groups, statistics)
        is_atom = part == "atoms" or (high - low == 1 and groups.size[low] > 1)
        if not _is_of_line(low, high, groups, rates):
            kind = "atoms" if is_atom else "local"
    if kind is None and part in ("shape", "local"):
        low, high = _rows_of("local", groups, statistics)
        if _is_likelier_than_line(low, high, groups, rates):
            # no second slope: outside of the interval it is mostly the end of the same gap
            return "atoms" if high - low == 1 and groups.size[low] > 1 else "local", None
    if kind:
        low, high = _rows_of(kind, groups, statistics)
        elsewhere = np.sum(np.where((first < low) | (first >= high), terms, 0.0)[:2], axis=1)
        return kind, _clearer(elsewhere) if np.abs(elsewhere).max() > _CLEAR else None
    if min(_outcomes(groups)) == 0:  # the rows tell no slope
        return "level", None
    main: Kind = "level" if part == "level" else _clearer(z)
    other: Kind = "line" if main == "level" else "level"
    is_clear = z.size > 1 and abs(z[0 if other == "level" else 1]) > _CLEAR
    return main, other if is_clear else None


def _z_beside_the_line(groups: Groups, statistics: Statistics, rate: Floats) -> Floats:
    """Return the statistics z_k (K,) of the residuals of the fitted line, each of variance 1."""
    first, weights = statistics.starts[:-1], statistics.weights[:-1]
    residual = np.add.reduceat(groups.hits - groups.size * rate, first)
    variance = np.add.reduceat(groups.size * rate * (1.0 - rate), first)
    return np.sum(weights * residual, axis=1) / np.sqrt(np.sum(weights**2 * variance, axis=1))


def _is_of_line(low: int, high: int, groups: Groups, rate: Floats) -> bool:
    """Return whether the fitted line explains the residual of the groups from low up to high."""
    inside = slice(low, high)
    variance = groups.size * rate * (1.0 - rate)
    line = np.stack([np.ones_like(groups.x), groups.x])
    shared = np.sum((line * variance)[:, inside], axis=1)  # what the fit of the line takes away
    total = np.sum(variance[inside])
    taken = shared @ np.linalg.pinv((line * variance) @ line.T, hermitian=True) @ shared
    left = np.sum((groups.hits - groups.size * rate)[inside])
    left /= np.sqrt(max(float(total - taken), 1e-9 * float(total), 1e-300))
    observed = np.sum(groups.residual[inside]) / np.sqrt(np.sum(groups.variance[inside]))
    return bool(abs(left) < max(_CLEAR, _SHARE * abs(observed)))


def _is_likelier_than_line(low: int, high: int, groups: Groups, rate: Floats) -> bool:
    """Return whether a gap in the groups from low up to high alone clearly fits better than a line.

    Next to 0 and 1 a line follows a gap there, since nearly all the variance that a calibrated
    model has is elsewhere.
    """
    if high - low == groups.size.size:
        return False  # a shift
    inside = slice(low, high)
    calibrated = np.where(groups.sign > 0, groups.chance, 1.0 - groups.chance)
    with_gap = calibrated.copy()
    with_gap[inside] += groups.residual[inside].sum() / groups.size[inside].sum()
    fits = (
        np.sum(xlogy(groups.hits, p) + xlog1py(groups.size - groups.hits, -p))
        for p in (np.clip(with_gap, _TINY, 1.0 - _TINY), rate)
    )
    return bool(next(fits) > next(fits) + 0.5 * _CLEAR**2)


def _clearer(z: Floats) -> Kind:
    return "line" if z.size > 1 and abs(z[1]) > abs(z[0]) else "level"


def line_of(groups: Groups) -> tuple[float, float] | None:
    """Return (a, b) of greatest likelihood of logit P(hit) = a + b·logit s: Cox's of a risk model.

    None where the likelihood has no maximum.
    """
    return newton_line(groups.x, groups.hits, groups.size)


def _is_slope_clear(line: tuple[float, float] | None, groups: Groups) -> bool:
    """Return whether the slope differs from 1 by two standard errors of independent rows."""
    return line is None or abs(line[1] - 1.0) > _ERRORS * _slope_error(groups, *line)


def _slope_error(groups: Groups, a: float | None, b: float) -> float:
    """Return the standard error of the slope of a line, of independent rows; 0 of a limit."""
    if a is None:
        return 0.0
    x = groups.x
    p = 0.5 + 0.5 * np.tanh(0.5 * (a + b * x))
    v = groups.size * p * (1.0 - p)
    middle = dot(v, x) / float(v.sum())
    return 1.0 / math.sqrt(max(dot(v, (x - middle) ** 2), 1e-300))


def _limit_of_slope(groups: Groups) -> float | None:
    """Return ±∞, the slope's limit where no line is likeliest; None where all outcomes agree."""
    n_hits, n_misses = _outcomes(groups)
    if min(n_hits, n_misses) == 0:
        return None
    hits, misses = groups.hits, groups.size - groups.hits
    gap = np.sum(hits * groups.x) / n_hits - np.sum(misses * groups.x) / n_misses
    return float(np.copysign(np.inf, gap))


def _outcomes(groups: Groups) -> tuple[int, int]:
    """Return the numbers of hits and of misses."""
    hits = round(float(groups.hits.sum()))
    return hits, round(float(groups.size.sum())) - hits


def fitted_rates(groups: Groups) -> Floats:
    """Return the rate (g,) of the fitted line, or else of a calibrated model."""
    return _rates_of(line_of(groups), groups)


def _rates_of(line: tuple[float, float] | None, groups: Groups) -> Floats:
    if line is None:
        return np.where(groups.sign > 0, groups.chance, 1.0 - groups.chance)
    return 0.5 + 0.5 * np.tanh(0.5 * (line[0] + line[1] * groups.x))


def _numbers(
    kind: Kind,
    groups: Groups,
    part: slice,
    half: HalfWidth | None,
    intercept: float | None = None,
    slope: float | None = None,
) -> Finding:
    size, chance, score = groups.size[part], groups.chance[part], groups.score[part]
    unlikely, hits = groups.unlikely[part], groups.hits[part]
    n = float(size.sum())
    mean_score = float(np.sum(size * score) / n)
    residual = float(np.sum(hits - size * score))
    square = np.sum(unlikely * (1.0 - chance) ** 2 + (size - unlikely) * chance**2)
    null = np.sum(size * chance * (1.0 - chance))
    reach = Z_95 * np.sqrt(max(float(square) - residual**2 / n, float(null))) / n
    reach = max(reach, half(part)) if half else reach
    gap = -residual / n
    return Finding(
        kind, round(n), round(float(hits.sum())), float(score[0]), float(score[-1]),
        mean_score, float(hits.sum() / n), gap,
        float(max(gap - reach, mean_score - 1.0)), float(min(gap + reach, mean_score)),
        intercept, slope,
    )  # fmt: skip


def _rows_of(kind: str, groups: Groups, statistics: Statistics) -> tuple[int, int]:
    """Return the first group, and one past the last, that a local fault concerns."""
    if kind == "atoms":
        square = groups.residual**2 / groups.variance
        worst = np.argmax(np.where(groups.is_atom, square, -1.0))
    elif kind == "certain":
        certain = np.flatnonzero((groups.score == 0.0) | (groups.score == 1.0))
        worst = certain[np.argmax(groups.unlikely[certain])]
    else:
        return _worst_interval(groups, statistics)
    return int(worst), int(worst) + 1


def _worst_interval(groups: Groups, statistics: Statistics) -> tuple[int, int]:
    """Return the first group, and one past the last, of the scan's largest interval."""
    grid = statistics.starts[statistics.grid]
    walk = np.append(0.0, np.cumsum(groups.residual))[grid]
    value = np.abs(walk[None, :] - walk[:, None]) * statistics.scale - statistics.penalty
    value[np.tril_indices(grid.size)] = -np.inf
    i, j = np.unravel_index(np.argmax(value), value.shape)
    return int(grid[i]), int(grid[j])
