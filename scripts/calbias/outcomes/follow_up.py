"""A risk by a horizon, judged by follow-up that may end before it.

The outcome is the row's pseudo-observation (``incidence``) within a stratum: at most ten strata of
neighbouring scores with fifty rows or more, equal scores in one. Inside a stratum censoring may not
depend on the event; between strata it may. One stratum for all rows is wrong where censoring
depends on the score.

A stratum is left out where its follow-up says too little: nobody is followed to the horizon, or a
row that counts had less than a tenth of a chance to be seen. It is never joined to a neighbour,
whose rows would then stand for it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from calbias.errors import InputError
from calbias.outcomes.checks import column_of, first_wrong
from calbias.outcomes.incidence import (
    CENSORED,
    Floats,
    Ints,
    incidence,
    inverse_weights,
    still_followed,
)
from calbias.outcomes.mean_outcomes import MeanOutcomes

BY_RISK, MARGINAL = "by-risk", "marginal"
MOST_STRATA, LEAST_ROWS = 10, 50
LEAST_FOLLOWED = 0.1
"""The least chance of being followed so far with which a row counts."""
_FEW_FOLLOWED, _FEW_EVENTS, _UNITS = 0.2, 20, ("day", "week", "month", "year")
_ROUNDING = 1e-12


class Stratum(NamedTuple):
    """Rows that are compared with each other.

    lowest, highest  of their scores
    rows             of which ``events`` had the event by the horizon, ``others`` another one, and
                     ``censored`` were not followed to it
    followed         the least chance of being followed so far, of a row that counts
    mean_score, risk the mean score, and the risk by Kaplan–Meier or Aalen–Johansen
    judged           whether the follow-up is enough
    """

    lowest: float
    highest: float
    rows: int
    events: int
    others: int
    censored: int
    followed: float
    mean_score: float
    risk: float
    judged: bool


@dataclass(frozen=True)
class FollowUp:
    """Times and causes of rows, and the horizon of their risks.

    Attributes
    ----------
    times : ndarray (n,)
        Follow-up, of at least 0, in any unit.
    causes : ndarray (n,) of int
        0 where follow-up ended without an event, else which event it was.
    horizon : float
        Above 0, in the same unit.
    event : int
        The cause whose risk the scores are; others are competing events.
    strata : "by-risk", "marginal" or ndarray (n,)
        Strata of the score, one stratum, or strata of the score within each value of a column.
    unit : str
        Of the times, for sentences.
    """

    times: Floats
    causes: Ints
    horizon: float
    event: int = 1
    strata: Any = BY_RISK
    unit: str = ""

    @classmethod
    def of(
        cls,
        times: ArrayLike,
        events: ArrayLike,
        horizon: Any,
        *,
        event: Any = 1,
        censored: Any = CENSORED,
        censoring: Any = BY_RISK,
        names: tuple[str, str] = ("times", "events"),
        error: Any = None,
    ) -> FollowUp:
        """Return the checked FollowUp; ``names`` and ``error`` are for messages on a file."""
        time, cause = column_of(names[0], times, error), column_of(names[1], events, error)
        if time.size != cause.size:
            raise InputError(
                f"{names[0]} and {names[1]} need one length: they have {time.size} and {cause.size}"
            )
        if not time.size:
            raise InputError(f"{names[0]} and {names[1]} are empty: give rows of follow-up")
        end = _positive("horizon", horizon)
        first_wrong(time < 0, time, names[0], "a time of follow-up is at least 0", error)
        is_code = (cause >= 0) & (cause == np.floor(cause)) & (cause < 2**31)
        remedy = "0 is censored, 1 the event, further whole numbers are competing events"
        first_wrong(~is_code, cause, names[1], remedy, error)
        codes = cause.astype(np.int64)
        event, censored = _code("event", event), _code("censored", censored)
        if event == censored:
            raise InputError(f"{event} cannot be both the event and what is censored")
        values = np.unique(codes).tolist()
        if censored not in values and censored == CENSORED and values == [1, 2]:
            raise InputError(
                f"{names[1]} are 1 and 2, and 0 would be censored: where 1 is censored and 2 the "
                "event, say --censored 1 --event 2 (Python: censored=1, event=2); where all had "
                "an event, 1 or a competing one, give hits without follow-up"
            )
        named = {event: "the event"}
        if censored != CENSORED:
            named[censored] = "the code of censored rows"
        for code, meaning in named.items():
            if code not in values:
                listed = ", ".join(map(str, values[:9]))
                raise InputError(f"{names[1]} are never {code}, {meaning}: they are {listed}")
        coded = np.where(codes == censored, -1, codes)
        coded = np.where(coded == CENSORED, codes.max() + 1, coded)  # 0 was an event then
        coded = np.where(coded == -1, CENSORED, coded)
        if event == CENSORED:
            event = int(codes.max()) + 1
        unit = next((each for each in _UNITS if each in names[0].casefold()), "")
        return cls(time, coded, end, event, _strata(censoring, error), unit and f" {unit}s")

    def outcomes(self, scores: Floats) -> MeanOutcomes:
        """Return the outcomes of rows with these scores (n,); InputError where none is judged."""
        if scores.size != self.times.size:
            raise InputError(f"times: {self.times.size} for {scores.size} scores")
        self._validate_reach()
        n, values, strata = scores.size, np.full(scores.size, np.nan), list[Stratum]()
        weights, number = np.zeros(n), self._strata_of(scores)
        for k in range(int(number.max()) + 1):
            rows = np.flatnonzero(number == k)
            stratum, pseudo, weight = self._judged(rows, scores[rows])
            strata.append(stratum)
            if stratum.judged:
                values[rows], weights[rows] = pseudo, weight
        if not any(stratum.judged for stratum in strata):
            raise InputError(
                f"no stratum of the score is followed to the horizon {self.horizon:g}: "
                f"{self._longest(number)}"
            )
        occurred = (self.causes == self.event) & (self.times <= self.horizon)
        is_known = (self.times >= self.horizon) | (self.causes != CENSORED)
        if is_known.all():
            values = occurred.astype(np.float64)
        marginal = incidence(self.times, self.causes, self.horizon, self.event).risk
        return MeanOutcomes(
            values, occurred, is_known & ~occurred, is_exact=bool(is_known.all()),
            inverse=weights, words=self._words(values, strata),
            warnings=tuple(self._warnings(strata, values, marginal)),
            notes=tuple(self._notes()), strata=tuple(strata),
        )  # fmt: skip

    def _strata_of(self, scores: Floats) -> Ints:
        """Return the number (n,) of each row's stratum, from 0."""
        if isinstance(self.strata, str):
            most = 1 if self.strata == MARGINAL else MOST_STRATA
            return strata_of_scores(scores, most)
        column = np.asarray(self.strata)
        if column.shape != scores.shape:
            raise InputError(f"censoring has {column.size} rows, and the scores have {scores.size}")
        texts = column.astype(str)
        values, value = np.unique(texts, return_inverse=True)
        if values.size > MOST_STRATA:
            raise InputError(
                f"the column of censoring has {values.size} values: give one of at most "
                f"{MOST_STRATA}"
            )
        number, last = np.zeros(scores.size, np.int64), 0
        for k in range(values.size):
            rows = np.flatnonzero(value == k)
            number[rows] = last + strata_of_scores(scores[rows], MOST_STRATA // values.size)
            last = int(number[rows].max()) + 1
        return number

    def _judged(self, rows: Ints, scores: Floats) -> tuple[Stratum, Floats, Floats]:
        """Return a stratum, its pseudo-observations and weights."""
        times, causes = self.times[rows], self.causes[rows]
        curve = incidence(times, causes, self.horizon, self.event)
        weights = inverse_weights(times, causes, self.horizon)
        followed = 1.0 / max(float(weights.max()), 1.0) if weights.any() else 0.0
        has_end = bool((times >= self.horizon).any()) or curve.free <= 0.0
        by_end = times <= self.horizon
        stratum = Stratum(
            float(scores.min()), float(scores.max()), rows.size,
            int(np.sum(by_end & (causes == self.event))),
            int(np.sum(by_end & (causes != CENSORED) & (causes != self.event))),
            int(np.sum((times < self.horizon) & (causes == CENSORED))),
            followed if has_end else 0.0, math.fsum(scores) / scores.size, curve.risk,
            has_end and followed >= LEAST_FOLLOWED - _ROUNDING,
        )  # fmt: skip
        return stratum, curve.pseudo, weights

    def _validate_reach(self) -> None:
        """Raise InputError where no row at all is followed to the horizon."""
        if (self.times >= self.horizon).any() or (self.causes != CENSORED).all():
            return
        if incidence(self.times, self.causes, self.horizon).free <= 0.0:
            return
        last = float(self.times.max())
        if last == 0.0:
            raise InputError("all times are 0: no row was followed")
        unit = "; are times and horizon in one unit?" if last < self.horizon / 10 else ""
        longest = self._longest(np.zeros(self.times.size, np.int64))
        raise InputError(
            f"no row is followed to the horizon {self.horizon:g}, the last follow-up is at "
            f"{last:g}: {longest}{unit}"
        )

    def _longest(self, number: Ints) -> str:
        """Return in words the longest horizon that the strata carry."""
        longest = 0.0
        for k in range(int(number.max()) + 1):
            times, causes = self.times[number == k], self.causes[number == k]
            moments = np.unique(times)
            enough = still_followed(times, causes, moments) >= LEAST_FOLLOWED
            longest = max(longest, float(moments[enough].max()))
        return f"give one of at most {longest:g}, which these rows carry"

    def _words(self, values: Floats, strata: list[Stratum]) -> str:
        """Return what the outcome is, as the first line of an audit says it."""
        judged = [stratum for stratum in strata if stratum.judged]
        events, others, censored = (
            sum(getattr(each, name) for each in judged) for name in ("events", "others", "censored")
        )
        risk = float(np.nanmean(values))
        by = "Aalen–Johansen" if others else "Kaplan–Meier"
        where = f" in {len(judged)} strata" if len(judged) > 1 else ""
        competing = f", {others} with a competing event" if others else ""
        return (
            f"risk at {self.horizon:g}{self.unit}: {events} event{'s' * (events != 1)}{competing}, "
            f"{censored} censored before, {100 * risk:.3g} % by {by}{where}"
        )

    def _warnings(self, strata: list[Stratum], values: Floats, marginal: float) -> list[str]:
        texts, n = [], self.times.size
        gone = [stratum for stratum in strata if not stratum.judged]
        if gone:
            rows = sum(stratum.rows for stratum in gone)
            where = ", ".join(f"{each.lowest:.3g} to {each.highest:.3g}" for each in gone)
            texts.append(
                f"{rows} of {n} rows are not judged: at risks of {where} less than a tenth is "
                f"followed to {self.horizon:g}"
            )
        censored = int(np.sum((self.times < self.horizon) & (self.causes == CENSORED)))
        if censored > n / 2:
            texts.append(f"{censored} of {n} rows are censored before {self.horizon:g}")
        if any(each.judged and each.followed < _FEW_FOLLOWED for each in strata):
            texts.append(f"in a stratum less than a fifth is followed to {self.horizon:g}")
        events = sum(each.events for each in strata if each.judged)
        if events < _FEW_EVENTS:
            texts.append(f"events by {self.horizon:g}: {events}, which are few")
        kept = values[~np.isnan(values)]
        error = float(kept.std() / np.sqrt(kept.size))
        if not gone and abs(kept.mean() - marginal) > 2 * error > 0:
            texts.append(
                f"censoring depends on the risk: {100 * marginal:.3g} % by one Kaplan–Meier curve, "
                f"{100 * kept.mean():.3g} % in strata"
            )
        if float(np.median(self.times)) > 10 * self.horizon:
            texts.append(
                f"half of the times are above {10 * self.horizon:g}: are they in the unit of the "
                "horizon?"
            )
        return texts

    def _notes(self) -> list[str]:
        at_zero = int(np.sum((self.times == 0) & (self.causes == CENSORED)))
        return [f"rows without follow-up (time 0, no event): {at_zero}"] * bool(at_zero)


def strata_of_scores(scores: Floats, most: int) -> Ints:
    """Return the stratum (n,) of each row: equal shares of the ranks, at least fifty rows each.

    Equal scores are never cut. It depends on the scores alone.

    >>> np.bincount(strata_of_scores(np.repeat([0.1, 0.2, 0.9], [70, 60, 20]), 10))
    array([70, 80])
    """
    n = scores.size
    number = max(min(most, n // LEAST_ROWS), 1)
    distinct, value, rows = np.unique(scores, return_inverse=True, return_counts=True)
    middle = (np.cumsum(rows) - 0.5 * rows) / n
    step = np.minimum((number * middle + _ROUNDING).astype(np.int64), number - 1)
    stratum, size, last = np.zeros(distinct.size, np.int64), 0, 0
    for k in range(distinct.size):
        if k and step[k] != step[k - 1] and size >= LEAST_ROWS:
            last, size = last + 1, 0
        stratum[k], size = last, size + int(rows[k])
    if last and size < LEAST_ROWS:
        stratum[stratum == last] = last - 1
    return stratum[value]


def _strata(censoring: Any, error: Any) -> Any:
    """Return the checked ``censoring``: a word, or a column (n,) of objects without a gap."""
    import pandas as pd

    if isinstance(censoring, str) and censoring in (BY_RISK, MARGINAL):
        return censoring
    column = np.asarray(censoring, object)  # texts with a NaN would become texts
    if not column.ndim:
        raise InputError(
            f"censoring must be {BY_RISK}, {MARGINAL} or a column, not {censoring!r:.60}"
        )
    gone = pd.isna(column.reshape(-1))
    nothing = np.full(gone.size, np.nan)
    first_wrong(gone, nothing, "censoring", "give every row a value", error)
    return column


def _code(name: str, value: Any) -> int:
    if not isinstance(value, Real) or not float(value).is_integer():
        raise InputError(f"{name} must be a whole number, a code of events, not {value!r:.60}")
    return int(float(value))


def _positive(name: str, value: Any) -> float:
    if isinstance(value, (bool, np.bool_)):
        raise InputError(f"{name} must be a number above 0, not {value!r:.60}")
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be a number above 0, not {value!r:.60}") from None
    if not 0.0 < number < np.inf:
        raise InputError(f"{name} must be a number above 0, not {number:g}")
    return number
