"""Claims about the ten real models: what may be said while some of their files are absent."""

from calbias.claims.evidence import REAL
from calbias.claims.judgement import NEEDS_REAL_LOGITS, NOT_REPRODUCED, Judgement


def real_rows(evidence, table):
    """Return the rows of the paper's models that come from real logits."""
    return table[table["model"].isin(evidence.published_models()) & (table["source"] == REAL)]


def until_complete(evidence, rows, verdict, measured, uncertainty, note="", failure_is_final=True):
    """Return the Judgement of a claim about all ten models from the ``rows`` of real ones.

    A success needs all ten; a failure stands whatever the absent models would show, unless the
    claim counts models (``failure_is_final=False``). The source is real_logits as soon as real
    rows were used.
    """
    complete = set(rows["model"]) == set(evidence.published_models())
    final = complete or (failure_is_final and verdict == NOT_REPRODUCED)
    if rows.empty or not final:
        verdict = NEEDS_REAL_LOGITS
    source = REAL if len(rows) else "surrogate_logits"
    return Judgement(verdict, measured, uncertainty, source, note)


def softmax_note(rows):
    """Return a note where real fits did not use the softmax of the published ones."""
    table = rows if "softmax" in rows else rows.assign(softmax="float32_2020")
    other = [name for name in dict.fromkeys(table["softmax"]) if name != "float32_2020"]
    if not other:
        return ""
    return (
        f"these fits used softmax {other[0]}; the published ones used the rounded float32 scores "
        "of softmax float32_2020, where scores equal to 1 were shifted or dropped: set it in the "
        "config to compare"
    )
