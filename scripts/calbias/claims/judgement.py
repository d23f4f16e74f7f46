"""What a rule of the ledger returns, and the thresholds that all rules share."""

from collections.abc import Callable
from typing import NamedTuple

REPRODUCED = "reproduced"
APPROXIMATE = "approximate"
NOT_REPRODUCED = "not_reproduced"
NEEDS_REAL_LOGITS = "needs_real_logits"
NOT_JUDGED = "not_judged"  # part of the paper's grid was not computed: smoke and partial runs
VERDICTS = (REPRODUCED, APPROXIMATE, NOT_REPRODUCED, NEEDS_REAL_LOGITS, NOT_JUDGED)

CLEAR = 3.0  # Monte Carlo standard errors beyond which a planned comparison counts as decided
SEARCHED = 4.0  # the same for "somewhere on the grid there is …": many places were looked at


class Judgement(NamedTuple):
    """A verdict with the numbers behind it, as text for readers.

    ``source`` is where the data came from, ``note`` names the cause where a claim fails.
    """

    verdict: str
    measured: str
    uncertainty: str
    source: str
    note: str = ""


class Rule(NamedTuple):
    """How a claim is decided: in words, and as ``judge(evidence) -> Judgement``."""

    words: str
    judge: Callable


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
