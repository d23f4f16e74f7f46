"""What a user gives beside scores and hits, and the outcomes that it makes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypedDict

import numpy as np
from numpy.typing import ArrayLike

from calbias.engine.scores_and_hits import array_error
from calbias.errors import InputError
from calbias.outcomes.checks import RowError, column_of, first_wrong
from calbias.outcomes.follow_up import BY_RISK, FollowUp
from calbias.outcomes.incidence import CENSORED
from calbias.outcomes.judges import judged
from calbias.outcomes.mean_outcomes import Floats, MeanOutcomes


class GivenOptions(TypedDict, total=False):
    """The keywords of Python functions that take such outcomes."""

    times: ArrayLike
    events: ArrayLike
    horizon: float
    event: int
    censored: int
    censoring: ArrayLike | str
    weights: ArrayLike
    judge: ArrayLike
    labelled: ArrayLike | float


_FEWEST, _FEW = 10, 30  # outcomes: a share among fewer is taken for a mistake


@dataclass(frozen=True)
class Given:
    """Columns (n,), each None where it is not given; ``names`` are theirs in a file.

    times, events, horizon   follow-up: see ``FollowUp``; with event, censored and censoring
    weights                  of at least 0
    judge, labelled          a judge's labels, and the chance that a human labelled the row too
    """

    times: Any = None
    events: Any = None
    horizon: Any = None
    event: Any = 1
    censored: Any = CENSORED
    censoring: Any = BY_RISK
    weights: Any = None
    judge: Any = None
    labelled: Any = None
    names: dict[str, str] = field(default_factory=dict)
    error: RowError | None = None

    def __post_init__(self) -> None:
        together = {name: getattr(self, name) for name in ("times", "events", "horizon")}
        missing = [name for name, value in together.items() if value is None]
        if 0 < len(missing) < len(together):
            given = [name for name in together if name not in missing]
            raise InputError(
                f"{' and '.join(self._names(given))} need {' and '.join(self._names(missing))} too"
            )
        for name in ("weights", "judge"):
            if self.is_follow_up and getattr(self, name) is not None:
                raise InputError(f"follow-up goes without {self._names([name])[0]}")
        if not self.is_follow_up:
            usual = {"event": 1, "censored": CENSORED, "censoring": BY_RISK}
            changed = [
                name
                for name, value in usual.items()
                if not np.isscalar(x := getattr(self, name)) or x != value
            ]
            if changed:
                raise InputError(f"{self._names(changed)[0]} goes with follow-up: give its horizon")
        if self.labelled is not None and self.judge is None:
            raise InputError("the chance of being labelled goes with a judge")

    @classmethod
    def of(cls, function: str, options: Mapping[str, Any]) -> Given:
        """Return what keywords of a function give; TypeError, as of Python, for another one."""
        for name in options:
            if name not in GivenOptions.__annotations__:
                raise TypeError(f"{function}() got an unexpected keyword argument {name!r}")
        return cls(**options)

    def _names(self, names: list[str]) -> list[str]:
        return [self.names.get(name, name) for name in names]

    @property
    def is_follow_up(self) -> bool:
        """Whether the outcomes are those of follow-up."""
        return self.horizon is not None

    def __bool__(self) -> bool:
        return any(x is not None for x in (self.horizon, self.times, self.weights, self.judge))

    def outcomes(self, scores: Floats, hits: Floats) -> MeanOutcomes:
        """Return the outcomes of rows with these scores and hits (n,).

        Hits are 0, 1 or a share between; NaN where a human gave no label.
        """
        if self.is_follow_up:
            names = self._names(["times", "events"])
            return FollowUp.of(
                self.times, self.events, self.horizon, event=self.event, censored=self.censored,
                censoring=self.censoring, names=(names[0], names[1]), error=self.error,
            ).outcomes(scores)  # fmt: skip
        if self.judge is not None:
            name = self.names.get("judge", "judge")
            outcomes = judged(scores, self.judge, hits, self.labelled, name=name, error=self.error)
        else:
            outcomes = of_shares(hits)
            is_share = not outcomes.is_exact
            if is_share and (((scores == 0) | (scores == 1)).all() or np.array_equal(scores, hits)):
                raise (self.error or array_error)(
                    "the hits are the scores, or scores are all 0 or 1 and hits between: give the "
                    "scores first, then the hits"
                )
        return outcomes if self.weights is None else self._weighted(outcomes)

    def _weighted(self, outcomes: MeanOutcomes) -> MeanOutcomes:
        name = self.names.get("weights", "weights")
        weights = column_of(name, self.weights, self.error, size=outcomes.values.size)
        first_wrong(weights < 0, weights, name, "a weight is at least 0", self.error)
        if not weights.any():
            raise InputError(f"all {name} are 0: give positive ones")
        weights = np.ldexp(weights, -int(np.frexp(weights.max())[1]))  # squares have room
        like = weights.sum() ** 2 / (weights @ weights)
        if like < _FEWEST:
            raise InputError(
                f"by their {name} {weights.size} rows count like {like:.1f}: give rows that count "
                f"like at least {_FEWEST}"
            )
        warnings = outcomes.warnings
        if like < _FEW:
            few = f"by their {name} {weights.size} rows count like {like:.0f}, which are few"
            warnings = (*warnings, f"{few}: p-value and interval are approximate")
        words = f"weights, of which {weights.size} rows count like {like:.0f}"
        return outcomes._replace(
            values=np.where(weights > 0, outcomes.values, np.nan), weights=weights, is_exact=False,
            warnings=warnings,
            words=f"{outcomes.words}; {words}" if outcomes.words else words,
        )  # fmt: skip


def has_shares(hits: Any) -> bool:
    """Return whether these are numbers from 0 to 1, or NaN, of which some are between."""
    try:
        values = np.asarray(hits, np.float64)
    except (TypeError, ValueError):
        return False
    values = values[~np.isnan(values)]
    inside = (values >= 0.0) & (values <= 1.0)
    return values.size >= _FEWEST and bool(inside.all() and ((values > 0.0) & (values < 1.0)).any())


def shares_of(
    hits: ArrayLike, name: str, *, may_be_missing: bool = False, error: RowError | None = None
) -> Floats:
    """Return hits (n,) of 0, 1 or shares between, float64; NaN for missing ones if they may be."""
    values = column_of(name, hits, error, may_be_missing=may_be_missing)
    first_wrong((values < 0) | (values > 1), values, name, "give 0, 1 or a share between", error)
    return values


def of_shares(hits: Floats) -> MeanOutcomes:
    """Return the outcomes of hits of 0 and 1, or of shares between."""
    between = int(np.sum((hits > 0) & (hits < 1)))
    words = f"shares, {between} of {hits.size} between 0 and 1" if between else ""
    return MeanOutcomes(hits, hits > 0, hits < 1, is_exact=not between, words=words)
