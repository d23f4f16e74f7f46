"""The risk of an event by a horizon under censoring, and each row's pseudo-observation of it.

The risk is that of Aalen and Johansen, which without competing events is 1 − Kaplan–Meier: with r
rows at risk at the time t, of which d have any event and c the one in question,

    F = Σ_{t ≤ horizon} S(t−) c/r,    S(t) = Π_{u ≤ t} (1 − d/r)

An event comes before a censoring at the same time, and an event at the horizon is by the horizon.
The pseudo-observation of a row is n F − (n − 1) F₋, with F₋ of the other rows. It is right on
average: its mean given the score is the risk given the score, where censoring says nothing of the
event (Andersen, Klein and Rosthøj, *Biometrika* 2003). Rows without a censored one have 0 and 1.

F₋ takes no loop. Before the time of the row, one row fewer is at risk; at this time its event is
missing; after it nothing changes, so that what follows is (F − F(t))/S(t).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
CENSORED = 0


class Incidence(NamedTuple):
    """The risk F of the event by the horizon, S there, and pseudo-observations of F (n,)."""

    risk: float
    free: float
    pseudo: Floats


def incidence(times: Floats, causes: Ints, horizon: float, event: int = 1) -> Incidence:
    """Return the Incidence of times (n,) and causes (n,): 0 is censored, others are events.

    >>> incidence(np.array([1.0, 2.0, 3.0]), np.array([1, 0, 1]), 3.0).pseudo.round(6)
    array([1., 1., 2.])
    """
    n = times.size
    by_horizon = (causes != CENSORED) & (times <= horizon)
    at, moment = np.unique(times[by_horizon], return_inverse=True)
    any_event = np.bincount(moment, minlength=at.size).astype(np.float64)
    this_event = np.bincount(moment, causes[by_horizon] == event, at.size)
    at_risk = n - np.searchsorted(np.sort(times), at, side="left").astype(np.float64)
    risk, free = _upto(any_event / at_risk, this_event / at_risk)
    others = np.maximum(at_risk - 1.0, 1.0)  # with nobody left there is no event either
    risk_before, free_before = _upto(any_event / others, this_event / others)
    passed = np.searchsorted(at, times, side="right")  # the times at which a row was at risk
    passed[by_horizon] -= 1  # the last one is that of its event
    without = risk_before[passed]
    alive = free_before[passed]
    with_event = np.flatnonzero(by_horizon)
    if with_event.size:
        k = passed[with_event]
        is_event = causes[with_event] == event
        without[with_event] += alive[with_event] * (this_event[k] - is_event) / others[k]
        alive[with_event] *= 1.0 - (any_event[k] - 1.0) / others[k]
        passed[with_event] += 1
    later = np.divide(risk[-1] - risk, free, out=np.zeros_like(risk), where=free > 0.0)
    without += alive * later[passed]
    return Incidence(float(risk[-1]), float(free[-1]), n * risk[-1] - (n - 1.0) * without)


def _upto(any_event: Floats, this_event: Floats) -> tuple[Floats, Floats]:
    """Return F and S after the first 0, 1, … times, (k + 1,), of the hazards (k,) there."""
    free = np.append(1.0, np.cumprod(1.0 - any_event))
    return np.append(0.0, np.cumsum(free[:-1] * this_event)), free


def still_followed(times: Floats, causes: Ints, at: Floats) -> Floats:
    """Return the probability (m,) that censoring has not come before the times ``at`` (m,).

    It is Kaplan and Meier's of the censoring; rows with an event at a time are not at risk of
    censoring there.
    """
    is_censored = causes == CENSORED
    moments, moment = np.unique(times[is_censored], return_inverse=True)
    ordered, events = np.sort(times), np.sort(times[~is_censored])
    at_risk = times.size - np.searchsorted(ordered, moments, side="left")
    at_risk = at_risk - (
        np.searchsorted(events, moments, side="right")
        - np.searchsorted(events, moments, side="left")
    )
    share = np.append(1.0, np.cumprod(1.0 - np.bincount(moment, minlength=moments.size) / at_risk))
    return share[np.searchsorted(moments, at, side="left")]


def inverse_weights(times: Floats, causes: Ints, horizon: float) -> Floats:
    """Return the weights (n,) of rows whose status at the horizon is known, 0 of the others.

    A row is known where it had any event by the horizon, or was followed to it: one over the
    probability of being followed so far. A row that ends at the horizon was followed to it.
    """
    reached = np.minimum(times, horizon)
    is_known = (times >= horizon) | (causes != CENSORED)
    share = still_followed(times, causes, reached)
    return np.where(is_known, 1.0 / np.maximum(share, 1e-300), 0.0)
