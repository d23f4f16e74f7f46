"""Which subgroups have a fault beyond the one of all rows? They are found one after the other.

Each step asks which segments differ from the curve of the rows outside the subgroups found so far,
inside which a curve of their own is expected (``segment_test``); the clearest is found next. Where
all rows have no fault, the curve of the rows outside is calibration.

Each curve has a stratum of neighbouring scores for each ten units of variance, at most 50.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit

from calbias.auditing.subgroups.segment_test import Ordered, Tested, tested
from calbias.auditing.subgroups.segments import Segments
from calbias.auditing.verdict.groups import Groups
from calbias.defaults import SIGNIFICANT
from calbias.recalibration.logistic import fit_cox
from calbias.samples.by_score import Floats, Ints

MOST_STEPS = 5
_PER_STRATUM, _MOST_STRATA = 10.0, 50
_ROUNDS = 20  # of Newton's method


class GroupedRows(NamedTuple):
    """Rows (n,): group, chance of the unlikely outcome as rounding may have moved it, and hit."""

    groups: Groups
    group: Ints
    chance: Floats
    hits: Floats

    @property
    def log_odds(self) -> Floats:
        """The log odds of a hit of each row in a calibrated model."""
        return self.groups.sign[self.group] * logit(self.chance)

    def curve(self, inside: Floats) -> tuple[Floats, Ints]:
        """Return the log odds of a hit (n,) by the curve of the rows inside, and strata (n,).

        The curve is a line of the log odds with a step in each stratum, of greatest likelihood with
        a standard normal prior of the steps.
        """
        groups, group = self.groups, self.group
        x = groups.sign * logit(groups.chance)
        size = np.bincount(group, inside, x.size)
        hits = np.bincount(group, inside * self.hits, x.size)
        intercept, slope = 0.0, 1.0
        if 0 < hits.sum() < size.sum():
            intercept, slope = fit_cox(x, hits, size)
        line = intercept + slope * x
        variance = size * expit(line) * expit(-line)
        total = float(variance.sum())
        number = np.clip(total / _PER_STRATUM, 1, _MOST_STRATA)
        share = (np.cumsum(size) - size / 2) / size.sum()
        share += (np.cumsum(variance) - variance / 2) / total
        _, stratum = np.unique(np.floor(0.5 * number * share), return_inverse=True)
        step = np.zeros(int(stratum.max()) + 1)
        for _ in range(_ROUNDS):
            rate = expit(line + step[stratum])
            slack = np.bincount(stratum, hits - size * rate) - step
            move = slack / (1.0 + np.bincount(stratum, size * rate * (1.0 - rate)))
            step += np.clip(move, -1.0, 1.0)
        return intercept + slope * self.log_odds + step[stratum][group], stratum[group]


class Apart(NamedTuple):
    """What is beyond a shared fault, of m segments.

    first      the numbers of the segments found, in their order
    p_value    that no segment differs: the least of the first step, which decides
    p_values   (m,) that decided on the segment: in the step that found it, else in the last one
    roots      (2, m) the statistics of the same step
    others     (n,) the log odds of a hit by the curve of the rows outside
    """

    first: list[int]
    p_value: float
    p_values: Floats
    roots: Floats
    others: Floats


def apart(
    ordered: Ordered,
    segments: Segments,
    rows: GroupedRows,
    calibration_test: Tested,
    options: tuple[float, int, np.random.Generator],
    *,
    is_shared: bool,
) -> Apart:
    """Return what is Apart from the fault of all rows, if it ``is_shared``, or from calibration.

    ``calibration_test`` says which segments are miscalibrated; where no fault is shared it is the
    first step. Of two segments that share all rows one is found, the one that fails if the other
    does not.
    """
    is_failing = calibration_test.found.p_values <= SIGNIFICANT
    m, n = len(segments.words), rows.group.size
    first, p_values, roots = list[int](), np.ones(m), np.zeros((2, m))
    p_value = 1.0
    others = rows.log_odds
    for _ in range(MOST_STEPS):
        members = segments.members[first].toarray() > 0
        code = (2 ** np.arange(len(first)) @ members)[segments.cell].astype(np.int64)
        log_odds, strata = rows.log_odds, np.zeros(n, np.int64)
        for k in np.unique(code):
            if k == 0 and not is_shared:
                continue
            inside = code == k
            curve, stratum = rows.curve(inside.astype(np.float64))
            log_odds = np.where(inside, curve, log_odds)
            strata = np.where(inside, strata.max() + 1 + stratum, strata)
            others = curve if k == 0 else others
        test = calibration_test
        if is_shared or first:
            test = tested(ordered.beyond(log_odds, strata), segments, *options)
        later = np.setdiff1d(np.arange(m), first)
        p_values[later], roots[:, later] = test.found.p_values[later], test.roots[:, later]
        best = later[np.lexsort((-test.found.clear[later], test.found.p_values[later]))[0]]
        p_value = p_value if first else float(p_values[best])
        if p_values[best] > SIGNIFICANT:
            break
        clearest = best if is_failing[best] else _failing_rest(best, later, segments, is_failing)
        p_values[clearest] = p_values[best]
        first.append(int(clearest))
    return Apart(first, p_value, p_values, roots, others)


def _failing_rest(best: int, later: Ints, segments: Segments, is_failing: np.ndarray) -> int:
    """Return the failing one of the segments ``later`` that has all other rows, or ``best``."""
    both = segments.members + segments.members[[best] * segments.members.shape[0]]
    rests = [k for k in later if is_failing[k] and (both[k].toarray() == 1).all()]
    return rests[0] if rests else best
