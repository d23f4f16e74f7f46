"""Logs of language model harnesses as rows of score, hit and question.

lm-eval (``samples_*.jsonl``) has an object for each question and filter, with ``filtered_resps``:
[log-likelihood, …] of each choice. The score is the largest softmax of the log-likelihoods, and the
hit is ``acc``, whether the likeliest choice is the target.

inspect (a log as JSON) has a list ``samples``. The hit is the value of the first scorer, C or I, or
1 or 0. The score is ``confidence`` in the scorer's metadata, or in the sample's.

Rows of one question, by several filters or in several epochs, depend on each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import softmax

from calbias.logits.checks import Place

QUESTION = "question"
"""The column of the questions."""
_HITS = {"c": 1, "i": 0, "1": 1, "0": 0, "1.0": 1, "0.0": 0, "true": 1, "false": 0}


def flattened(records: Sequence[dict[str, Any]], place: Place) -> list[dict[str, Any]]:
    """Return records of score, hit and question, or the records themselves where they are no log.

    InputError for a log without confidences, with the row of the first.
    """
    first = records[0]
    if "doc_id" in first and "filtered_resps" in first:
        return [_of_lm_eval(record, row, place) for row, record in enumerate(records)]
    if len(records) == 1 and "eval" in first and isinstance(first.get("samples"), list):
        samples = first["samples"]
        return [_of_inspect(sample, row, place) for row, sample in enumerate(samples)]
    return list(records)


def _of_lm_eval(record: dict[str, Any], row: int, place: Place) -> dict[str, Any]:
    try:
        likelihoods = np.array([float(choice[0]) for choice in record["filtered_resps"]])
        hit = int(record["acc"])
    except (KeyError, TypeError, ValueError, IndexError):
        raise place.error(
            "an lm-eval sample without log-likelihoods of choices and acc: audit a task of "
            "multiple choice, or write the columns score and hit",
            row,
        ) from None
    if likelihoods.size < 2:
        raise place.error("an lm-eval sample with a single choice; give two or more", row)
    return {"score": float(softmax(likelihoods).max()), "hit": hit, QUESTION: str(record["doc_id"])}


def _of_inspect(sample: dict[str, Any], row: int, place: Place) -> dict[str, Any]:
    try:
        scorer = next(iter(sample["scores"].values()))
        hit = _HITS[str(scorer["value"]).casefold()]
        of_scorer, of_sample = scorer.get("metadata") or {}, sample.get("metadata") or {}
        confidence: Any = of_scorer.get("confidence", of_sample.get("confidence"))
        return {"score": float(confidence), "hit": hit, QUESTION: str(sample["id"])}
    except (KeyError, TypeError, ValueError, AttributeError, StopIteration):
        raise place.error(
            "an inspect sample needs a scorer's value C or I (or 1 or 0), and its confidence, 0 to "
            "1, in the metadata of the scorer or of the sample",
            row,
        ) from None
