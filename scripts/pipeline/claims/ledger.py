"""The claims ledger: every claim with the ruling of its rule, in the words of table ``claims``.

And the statements of the four texts, ``resources/statements.csv``, with what judges each.
"""

import csv
import importlib
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from calbias.errors import InputError
from pipeline import CHECKOUT
from pipeline.claims.claim import Claim
from pipeline.claims.run_tables import RunTables
from pipeline.claims.verdicts import NotJudged, OtherNorm, Ruling, Verdict, in_words, number
from pipeline.guests import workflows
from pipeline.table_schema import columns_of

THEOREM = ", theorem"
"""Ends column ``where`` of a claim that holds by a proof."""
DECIDED = (Verdict.REPRODUCED, Verdict.APPROXIMATE, Verdict.NOT_REPRODUCED)
STABLE = 0.8  # share of batches that have the verdict of all data sets
AT_LIMIT = "at the limit"
SHOWN_BY = {"claims": "a claim", "figures": "a figure", "tables": "a table", "proof": "a proof"}
"""Columns that name what judges or shows a statement, most important first."""
REASONS = {
    "definition": "it defines a quantity, a method or a setting, which the code has",
    "opinion": "advice or an intuition, which no number decides",
    "cited": "a result of another paper, reported",
    "contradiction": "the paper contradicts itself",
    "networks": "networks would have to be trained for it",
    "outputs": "outputs of its networks are not public",
    "not tried": "it could be judged, and is not",
}
"""Why nothing judges a statement, by the name in column ``reason``."""


class Judged(NamedTuple):
    """A claim and the ruling on it."""

    claim: Claim
    ruling: Ruling


def all_claims(*packages: str) -> list[Claim]:
    """Return the Claims of packages, by default of all workflows', R… first.

    InputError where ids repeat or a claim lacks its words.
    """
    claims: dict[str, Claim] = {}
    for name in (
        f"{path.parts[-3]}.claims.{path.stem}"
        for workflow in workflows()
        for path in workflow.files("claims")
        if not packages or path.parts[-3] in packages
    ):
        try:
            module = importlib.import_module(name)
        except (InputError, TypeError) as error:
            raise InputError(f"{name}: {error}") from error
        for claim in (value for value in vars(module).values() if isinstance(value, Claim)):
            if claims.setdefault(claim.id, claim) is not claim:
                raise InputError(f"{name}: {claim.id} is there already: renumber")
    return sorted(claims.values(), key=lambda claim: (claim.id[0] != "R", claim.id))


def judge_all(run: RunTables, *packages: str) -> list[Judged]:
    """Return the claims of packages, by default of all workflows', each with its ruling."""
    return [Judged(claim, judge(claim, run)) for claim in all_claims(*packages)]


def judge(claim: Claim, run: RunTables) -> Ruling:
    """Return the Ruling on one claim, also where its rule finds nothing to judge."""
    try:
        ruling: object = claim.judge(run)
    except OtherNorm as reason:
        return Ruling(Verdict.NOT_JUDGED, reason=f"not comparable: {reason}")
    except NotJudged as reason:
        verdict = Verdict.NEEDS_REAL_LOGITS if claim.needs_real_logits else Verdict.NOT_JUDGED
        return Ruling(verdict, reason=f"not computed in this run: {reason}")
    if not isinstance(ruling, Ruling):
        file = claim.judge.__code__.co_filename
        raise InputError(f"{file}: claim {claim.id}: its rule must return a Ruling")
    if claim.experiment and not ruling.source:
        return ruling._replace(source=run.source(claim.experiment))
    return ruling


def ledger_table(judged: list[Judged], batches: pd.DataFrame | None = None) -> pd.DataFrame:
    """Return the table ``claims``, numbers put in words; ``batches`` is table batch_verdicts."""
    rows = []
    for claim, ruling in judged:
        verdicts = [] if batches is None else batches.loc[batches["id"] == claim.id, "verdict"]
        stability, limit = stability_of(ruling.verdict, [*verdicts])
        rows.append(
            (
                *(claim.id, claim.where + THEOREM * claim.theorem, claim.says, claim.published),
                *(in_words(ruling.measurements), uncertainty_in_words(claim, ruling)),
                *(claim.rule, ruling.source, ruling.verdict, stability, ruling.models),
                *(ruling.reason, _note(ruling, limit), claim.stated_by),
            )
        )
    return pd.DataFrame(rows, columns=list(columns_of("claims")))


def stability_of(verdict: Verdict, batch_verdicts: list[str]) -> tuple[str, str]:
    """Return how many independent batches of the data sets have a verdict, as "9 of 10".

    And a note, which begins with AT_LIMIT, where fewer than STABLE of them have it. Both are empty
    where no batch was judged, or there is no verdict.
    """
    if verdict not in DECIDED or not batch_verdicts:
        return "", ""
    total, agree = len(batch_verdicts), batch_verdicts.count(verdict)
    stability = f"{agree} of {total}"
    if agree >= STABLE * total:
        return stability, ""
    others = Counter(Verdict(x).words for x in batch_verdicts if x != verdict).most_common()
    words = ", ".join(f"{n} {other}" for other, n in others)
    return stability, f"{AT_LIMIT}: of {total} batches of the data sets {words}"


def _note(ruling: Ruling, limit: str) -> str:
    """Return column ``note``: the reason of a verdict that is not "reproduced", then the notes."""
    reasons = [ruling.reason] if ruling.reason and ruling.verdict != Verdict.REPRODUCED else []
    return "; ".join([*reasons, *filter(None, [limit]), *ruling.notes])


def measurement_table(judged: list[Judged]) -> pd.DataFrame:
    """Return the table ``measurements``: a row for each number."""
    rows = [
        (claim.id, claim.where, *measurement, ruling.source)
        for claim, ruling in judged
        for measurement in ruling.measurements
    ]
    return pd.DataFrame(rows, columns=list(columns_of("measurements")))


def uncertainty_in_words(claim: Claim, ruling: Ruling) -> str:
    """Return what the errors of a claim's numbers are, with the largest where it counts."""
    if not ruling.measurements:
        return ""
    if not np.isfinite(ruling.largest_error):
        return claim.uncertainty
    largest = number(ruling.largest_error, ruling.largest_error)
    return f"{claim.uncertainty}; the largest standard error is {largest}"


def read_statements() -> list[dict[str, str]]:
    """Return the rows of the list, in the order of the texts."""
    with open(CHECKOUT / "resources/statements.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def statement_counts(rows: Iterable[Mapping[str, str]]) -> dict[str, int]:
    """Return {what judges or shows statements, or why nothing does: number of them}."""
    counts = dict.fromkeys([*SHOWN_BY.values(), *REASONS.values()], 0)
    for row in rows:
        column = next((name for name in SHOWN_BY if row[name]), None)
        counts[SHOWN_BY[column] if column else REASONS[row["reason"]]] += 1
    return counts
