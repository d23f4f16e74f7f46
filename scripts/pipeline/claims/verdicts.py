"""A claim, the ruling on it, and the thresholds that all rules share."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pipeline.claims.measurements import NAN, Measurement

if TYPE_CHECKING:
    from pipeline.claims.evidence import Evidence

Truth = bool | np.bool_


class Verdict(StrEnum):
    """What a rule says of a claim."""

    REPRODUCED = "reproduced"
    APPROXIMATE = "approximate"
    NOT_REPRODUCED = "not_reproduced"
    NEEDS_REAL_LOGITS = "needs_real_logits"
    NOT_JUDGED = "not_judged"  # part of the paper's grid was not computed: smoke and partial runs

    @classmethod
    def of(cls, reproduced: Truth, approximate: Truth) -> Verdict:
        """Return the verdict of two nested conditions, the strict and the loose one."""
        if reproduced:
            return cls.REPRODUCED
        return cls.APPROXIMATE if approximate else cls.NOT_REPRODUCED

    @classmethod
    def all_or_some(cls, conditions: Collection[Truth]) -> Verdict:
        """Return the verdict of conditions: reproduced if all hold, approximate if some do."""
        return cls.of(all(conditions), any(conditions))

    @classmethod
    def worst(cls, verdicts: Iterable[Verdict]) -> Verdict:
        """Return the worst of verdicts that are reproduced, approximate or not_reproduced."""
        return max(verdicts, key=[*cls].index)

    @property
    def words(self) -> str:
        """The verdict in plain words: ``not reproduced``."""
        return self.replace("_", " ").replace("real logits", "the models' outputs")


CLEAR = 3.0  # Monte Carlo standard errors beyond which a planned comparison counts as decided
SEARCHED = 4.0  # the same for "somewhere on the grid there is …": many places were looked at
RARE = 0.05  # share of clear exceptions that "consistently" still admits
FEW = 0.25  # the same for an approximate verdict
CONSISTENTLY = (
    f"reproduced if more than half of the cells clearly agree (by {CLEAR:g} standard errors) and "
    f"at most {RARE:.0%} clearly disagree; approximate if more than half agree and at most "
    f"{FEW:.0%} disagree"
)


class Ruling(NamedTuple):
    """What the rule of a claim returns: a verdict with the numbers behind it.

    ``source`` says where the data came from and ``notes`` name causes and exceptions.
    ``largest_error`` is the largest standard error behind the verdict, where the claim's
    ``uncertainty`` speaks of one. ``models`` is "2 of 10" where a claim about models was judged on
    some of them. ``reason`` says in one line, for somebody who reads nothing else, why the verdict
    is not "reproduced"; of a reproduced claim it is not shown.
    """

    verdict: Verdict
    measurements: Sequence[Measurement] = ()
    source: str = ""
    notes: Sequence[str] = ()
    largest_error: float = NAN
    models: str = ""
    reason: str = ""


Rule = Callable[["Evidence"], Ruling]


class Claim(NamedTuple):
    """A claim of a source, and the rule that decides it.

    ``where`` is its place, ``says`` its statement, ``published`` the printed numbers in words;
    ``figures`` and ``tables`` are what it rests on, several names joined by spaces; ``rule`` says
    how ``judge`` decides and ``uncertainty`` what its errors are.
    """

    id: str
    where: str
    says: str
    published: str
    rule: str
    uncertainty: str
    tables: str
    figures: str
    needs_real_logits: bool
    judge: Rule


def claim(
    id: str,
    where: str,
    tables: str,
    figures: str = "",
    *,
    says: str,
    published: str,
    rule: str,
    errors: str,
    real: bool = False,
) -> Callable[[Rule], Claim]:
    """Make a Claim of the function below, which reads tables and returns a Ruling.

    ``errors`` is what the uncertainty is. ``real``: the claim needs the real logits.
    """
    return lambda judge: Claim(
        id, where, says, published, rule, errors, tables, figures, real, judge
    )


class NotJudged(Exception):
    """Raised by a rule when result rows that it needs are absent; the message says which."""


class OtherNorm(NotJudged):
    """Raised where this run's numbers are of another norm than the paper's claims."""
