"""The claims ledger: every claim of the paper with the verdict of its rule."""

import pandas as pd

from calbias.claims import (
    bias_by_error,
    bins,
    chosen_bins,
    data_sets_matter,
    detection,
    equal_mass,
    error_sweep,
    fits,
    introduction,
    perfect,
    realistic,
    recalibration,
    spread,
    t_test,
)
from calbias.claims.judgement import (
    NEEDS_REAL_LOGITS,
    NOT_JUDGED,
    Judgement,
    NotJudged,
    OtherNorm,
)
from calbias.errors import InputError
from calbias.io.table_schema import columns_of
from calbias.io.tables import read_rows

CLAIM_COLUMNS = ("id", "where", "claim", "published", "figures", "tables", "needs_real_logits")
MODULES = (
    introduction,
    bins,
    data_sets_matter,
    fits,
    equal_mass,
    realistic,
    t_test,
    spread,
    detection,
    perfect,
    bias_by_error,
    error_sweep,
    chosen_bins,
    recalibration,
)
RULES = {claim: rule for module in MODULES for claim, rule in module.RULES.items()}


def read_claims(path):
    """Return the rows of ``resources/claims.csv`` as dicts.

    Raises InputError for a missing column, a repeated id, or an id without a rule.
    """
    rows = read_rows(path, CLAIM_COLUMNS)
    seen = set()
    for line, row in rows:
        if row["id"] in seen:
            raise InputError(f"{path}, line {line}: {row['id']} is there already: renumber it")
        if row["id"] not in RULES:
            raise InputError(
                f"{path}, line {line}: no rule decides {row['id']!r}; add one to a module in "
                "scripts/calbias/claims or remove the line"
            )
        seen.add(row["id"])
    return [row for _, row in rows]


def judge_all(claims, evidence):
    """Return the table ``claims``: the rows of ``read_claims`` with their verdicts.

    Where the run did not compute what a rule compares, the verdict is ``not_judged`` and the note
    says what is absent; ``needs_real_logits`` where the claim rests on real logits anyway. Where
    the run used another norm than the paper, it is ``not_judged`` in any case.
    """
    return pd.DataFrame(
        [_row(claim, evidence) for claim in claims], columns=list(columns_of("claims"))
    )


def _row(claim, evidence):
    rule = RULES[claim["id"]]
    try:
        judgement = rule.judge(evidence)
    except OtherNorm as reason:
        judgement = Judgement(NOT_JUDGED, "", "", "", f"not comparable: {reason}")
    except NotJudged as reason:
        needs = claim["needs_real_logits"] == "yes"
        verdict = NEEDS_REAL_LOGITS if needs else NOT_JUDGED
        judgement = Judgement(verdict, "", "", "", f"not computed in this run: {reason}")
    values = {name: claim[name] for name in ("id", "where", "claim", "published")}
    return {**values, **judgement._asdict(), "rule": rule.words}
