"""A claim, its verdict, and the thresholds that all rules share."""

import inspect
from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple

from calbias.errors import InputError
from pipeline.claims.measurements import NAN, Measurement


class Verdict(StrEnum):
    """What a rule says of a claim."""

    REPRODUCED = "reproduced"
    APPROXIMATE = "approximate"
    NOT_REPRODUCED = "not_reproduced"
    NEEDS_REAL_LOGITS = "needs_real_logits"
    NOT_JUDGED = "not_judged"  # part of the paper's grid was not computed: smoke and partial runs

    @classmethod
    def of(cls, reproduced, approximate):
        """Return the verdict of two nested conditions, the strict and the loose one."""
        if reproduced:
            return cls.REPRODUCED
        return cls.APPROXIMATE if approximate else cls.NOT_REPRODUCED

    @classmethod
    def all_or_some(cls, conditions):
        """Return the verdict of conditions: reproduced if all hold, approximate if some do."""
        return cls.of(all(conditions), any(conditions))

    @classmethod
    def worst(cls, verdicts):
        """Return the worst of verdicts that are reproduced, approximate or not_reproduced."""
        return max(verdicts, key=[*cls].index)

    @property
    def words(self):
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


class Judgement(NamedTuple):
    """A verdict with the numbers behind it.

    ``models`` is "2 of 10" where a claim about models was judged on some of them.
    ``measurements`` are Measurements, ``source`` says where the data came from, ``notes`` are
    sentences that name causes and exceptions, and ``largest_error`` is the largest standard error
    behind the verdict, where the claim's ``uncertainty`` speaks of one.
    """

    verdict: str
    measurements: list
    source: str
    notes: tuple = ()
    largest_error: float = NAN
    models: str = ""


class Claim(NamedTuple):
    """A claim of a source, and the rule that decides it.

    ``where`` is its place, ``says`` its statement, ``published`` the printed numbers in words;
    ``figures`` and ``tables`` are what it rests on, several names joined by spaces; ``rule`` says
    how ``judge(evidence) -> Judgement`` decides and ``uncertainty`` what its errors are.
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
    judge: Callable


def worded(*, says="", published="", rule="", errors=""):
    """Decorate the function of a ``claim`` with the claim's words.

    ``says`` is the statement, ``published`` the printed numbers, ``rule`` how the verdict is
    decided, ``errors`` what the uncertainty is.
    """

    def with_words(judging):
        judging.words = {"says": says, "published": published, "rule": rule, "errors": errors}
        return judging

    return with_words


def claim(id, where, tables, figures="", *, real=False):
    """Decorate the ``worded`` function that judges a claim, which becomes a Claim.

    The function yields Measurements and notes (str; empty ones are left out) and returns (verdict,
    source), (verdict, source, largest error), or these and "2 of 10" (``evidence.on_genuine``).
    ``real``: it needs the real logits.
    """

    def claim_of(judging):
        place = f"{judging.__code__.co_filename}: claim {id}"
        ends = f"{place}: its rule must yield what it measured and return (verdict, source)"
        if not hasattr(judging, "words"):
            raise InputError(f"{place}: put @worded with the claim's words below @claim")
        words = judging.words
        if missing := [name for name, text in words.items() if not text]:
            raise InputError(f"{place}: give @worded its words {missing[0]}=")

        def judge(evidence):
            found, parts = judging(evidence), []
            if not inspect.isgenerator(found):
                raise InputError(ends)
            try:
                while True:
                    parts.append(next(found))
            except StopIteration as end:
                if not (isinstance(end.value, tuple) and len(end.value) in (2, 3, 4)):
                    raise InputError(ends) from None
                verdict, source, *more = end.value
            notes = tuple(part for part in parts if part and isinstance(part, str))
            measurements = [part for part in parts if isinstance(part, Measurement)]
            return Judgement(verdict, measurements, source, notes, *more)

        return Claim(id, where, *words.values(), tables, figures, real, judge)

    return claim_of


class NotJudged(Exception):
    """Raised by a rule when result rows that it needs are absent; the message says which."""


class OtherNorm(NotJudged):
    """Raised where this run's numbers are of another norm than the paper's claims."""
