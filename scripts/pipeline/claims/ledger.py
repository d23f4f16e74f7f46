"""The claims ledger: every claim with the verdict of its rule, in the words of table ``claims``."""

import importlib
import pkgutil

import numpy as np
import pandas as pd

from calbias.errors import InputError
from pipeline.claims.measurements import in_words, number
from pipeline.claims.verdicts import Claim, Judgement, NotJudged, OtherNorm, Verdict
from pipeline.tables.schema import columns_of

HOUSES = ("reproduction", "evidence")


def all_claims(*houses):
    """Return the Claims of houses, by default of both, R… first; InputError where ids repeat."""
    claims = {}
    packages = [importlib.import_module(f"{house}.claims") for house in houses or HOUSES]
    modules = [(x.__name__, y.name) for x in packages for y in pkgutil.iter_modules(x.__path__)]
    for package, module in modules:
        values = vars(importlib.import_module(f"{package}.{module}")).values()
        for claim in (value for value in values if isinstance(value, Claim)):
            if claims.setdefault(claim.id, claim) is not claim:
                raise InputError(f"{package}.{module}: {claim.id} is there already: renumber")
    return sorted(claims.values(), key=lambda claim: (claim.id[0] != "R", claim.id))


def judge_all(evidence, *houses):
    """Return [(Claim, Judgement)] of the claims of houses, by default of both."""
    return [(claim, judge(claim, evidence)) for claim in all_claims(*houses)]


def judge(claim, evidence):
    """Return the Judgement of one Claim, also where its rule finds nothing to judge."""
    try:
        return claim.judge(evidence)
    except OtherNorm as reason:
        return Judgement(Verdict.NOT_JUDGED, [], "", (f"not comparable: {reason}",))
    except NotJudged as reason:
        verdict = Verdict.NEEDS_REAL_LOGITS if claim.needs_real_logits else Verdict.NOT_JUDGED
        return Judgement(verdict, [], "", (f"not computed in this run: {reason}",))


def ledger_table(judged):
    """Return the table ``claims`` of [(Claim, Judgement)], numbers put in words."""
    rows = [
        (
            *(claim.id, claim.where, claim.says, claim.published),
            *(in_words(judgement.measurements), uncertainty_in_words(claim, judgement)),
            *(claim.rule, judgement.source, judgement.verdict, judgement.models),
            "; ".join(filter(None, judgement.notes)),
        )
        for claim, judgement in judged
    ]
    return pd.DataFrame(rows, columns=list(columns_of("claims")))


def uncertainty_in_words(claim, judgement):
    """Return what the errors of a claim's numbers are, with the largest where it counts."""
    if not judgement.measurements:
        return ""
    if not np.isfinite(judgement.largest_error):
        return claim.uncertainty
    largest = number(judgement.largest_error, judgement.largest_error)
    return f"{claim.uncertainty}; the largest standard error is {largest}"
