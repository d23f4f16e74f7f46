"""A claim, its verdict, and the thresholds that all rules share."""

from collections.abc import Callable
from typing import NamedTuple

from calbias.claims.measurements import NAN

REPRODUCED = "reproduced"
APPROXIMATE = "approximate"
NOT_REPRODUCED = "not_reproduced"
TIE = "tie"  # the simulation cannot tell on which side of a threshold a number lies
NEEDS_REAL_LOGITS = "needs_real_logits"
NOT_JUDGED = "not_judged"  # part of the paper's grid was not computed: smoke and partial runs
VERDICTS = (REPRODUCED, APPROXIMATE, NOT_REPRODUCED, TIE, NEEDS_REAL_LOGITS, NOT_JUDGED)

CLEAR = 3.0  # Monte Carlo standard errors beyond which a planned comparison counts as decided
SEARCHED = 4.0  # the same for "somewhere on the grid there is …": many places were looked at


class Judgement(NamedTuple):
    """A verdict with the numbers behind it.

    ``measurements`` are Measurements, ``source`` says where the data came from, ``notes`` are
    sentences that name causes and exceptions, and ``largest_error`` is the largest standard error
    behind the verdict, where the claim's ``uncertainty`` speaks of one.
    """

    verdict: str
    measurements: list
    source: str
    notes: tuple = ()
    largest_error: float = NAN


class Claim(NamedTuple):
    """A claim of a source, and the rule that decides it.

    ``where`` is its place, ``says`` its statement, ``published`` the printed numbers in words;
    ``figures`` and ``tables`` are what it rests on, several names joined by spaces; ``rule`` says
    how ``judge(evidence) -> Judgement`` decides and ``uncertainty`` what its errors are;
    ``settling`` how it is settled near a threshold (``claims/settling.py``).
    """

    id: str
    where: str
    says: str
    published: str
    rule: str
    uncertainty: str
    tables: str
    figures: str = ""
    needs_real_logits: bool = False
    settling: tuple | None = None
    judge: Callable = None


def claim(id, where, **words):
    """Decorate a ``judge(evidence)``: it becomes the ``judge`` of a Claim of these fields."""
    return lambda judge: Claim(id, where, judge=judge, **words)


class NotJudged(Exception):
    """Raised by a rule when result rows that it needs are absent; the message says which."""


class OtherNorm(NotJudged):
    """Raised where this run's numbers are of another norm than the paper's claims."""


def verdict_of(reproduced, approximate):
    """Return the verdict of two nested conditions, the strict and the loose one."""
    if reproduced:
        return REPRODUCED
    return APPROXIMATE if approximate else NOT_REPRODUCED


def worst_of(verdicts):
    """Return the worst of several of the verdicts reproduced, approximate and not_reproduced."""
    return max(verdicts, key=(REPRODUCED, APPROXIMATE, NOT_REPRODUCED).index)


def in_plain_words(verdict):
    """Return a verdict as words: ``not reproduced``."""
    return verdict.replace("_", " ")
