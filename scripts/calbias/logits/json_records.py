"""JSON as records: an object a line, a list of objects, or the log of a language model harness.

A log becomes records of score, hit and question.

lm-eval (``samples_*.jsonl``) has an object for each question and filter, with ``filtered_resps``:
[log-likelihood, …] of each choice. The score is the largest softmax of the log-likelihoods, and the
hit is ``acc``, whether the likeliest choice is the target.

inspect (a log as JSON) has a list ``samples``. The hit is the value of the first scorer, C or I, or
1 or 0. The score is ``confidence`` in the scorer's metadata, or in the sample's.

Rows of one question, by several filters or in several epochs, depend on each other: where a
question has several rows, the questions are the clusters.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import softmax

from calbias.errors import InputError
from calbias.io.files import not_utf8
from calbias.logits.output_file import Place

QUESTION, LOG = "question", "the log"
"""The column of the questions, and the part that the place of a log names."""
_Reader = Callable[[dict[str, Any]], dict[str, Any]]
_HITS = {"c": 1, "i": 0, "1": 1, "0": 0, "1.0": 1, "0.0": 0, "true": 1, "false": 0}


def read_records(path: Path, data: bytes) -> tuple[list[dict[str, Any]], Place]:
    """Return (records, Place) of the bytes of a file; InputError, with its line, for no JSON."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise not_utf8(path, data) from None
    lines = [(k, line) for k, line in enumerate(text.split("\n"), start=1) if line.strip()]
    if not lines:
        raise InputError(f"{path}: the file is empty; write one JSON object a line")
    records = _array(path, text)
    if records is not None:
        place = Place(path, "the table")
    else:
        numbers = [k for k, _ in lines]
        place = Place(path, "the table", None, numbers.__getitem__)
        records = [_object(path, *line) for line in lines]
    return _flattened(records, place)


def _array(path: Path, text: str) -> list[Any] | None:
    """Return the objects of a list, or the one object of many lines; None for an object a line."""
    is_list = text.lstrip().startswith("[")
    if not is_list and not text.lstrip().startswith("{\n"):
        return None
    try:
        records = json.loads(text)
    except ValueError as error:
        if not is_list:
            return None
        raise InputError(f"{path}: no JSON ({error}); write one object a line") from None
    if not is_list:
        return [records]
    if not records or not all(isinstance(record, dict) for record in records):
        raise InputError(f"{path}: no list of JSON objects; write one object a line")
    return records


def _object(path: Path, number: int, line: Any) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except ValueError as error:
        reason = getattr(error, "msg", error)
        raise InputError(
            f"{path}, line {number}: no JSON ({reason}); write one object a line"
        ) from None
    if not isinstance(record, dict):
        raise InputError(
            f"{path}, line {number}: no JSON object; write one object a line, such as "
            '{"score": 0.9, "hit": 1}'
        )
    return record


def _flattened(
    records: Sequence[dict[str, Any]], place: Place
) -> tuple[list[dict[str, Any]], Place]:
    """Return records of score, hit and question, or the records themselves where they are no log.

    InputError for a log without confidences, with the row of the first.
    """
    first, needs, samples = records[0], _LM_EVAL, records
    if len(records) == 1 and first and all(isinstance(v, list | dict) for v in first.values()):
        raise place.error(
            "one object with all rows in it; write one object a row, as pandas does by "
            "to_json(orient='records', lines=True)"
        )
    read: _Reader = _of_lm_eval
    if len(records) == 1 and "eval" in first and isinstance(first.get("samples"), list):
        read, needs, samples = _of_inspect, _INSPECT, first["samples"]
    elif not ("doc_id" in first and "filtered_resps" in first):
        return list(records), place
    place = place._replace(part=LOG)
    if not samples:
        raise place.error("no samples; give the log of a finished run")
    made = [_read(sample, read) for sample in samples]
    if not any(made):
        raise place.error(f"none of the {len(samples)} samples has {needs}")
    if None in made:
        raise place.error(f"a sample without {needs}", made.index(None))
    return [each for each in made if each], place


def _read(sample: dict[str, Any], read: _Reader) -> dict[str, Any] | None:
    """Return the record of a sample, or None where it holds no score and hit."""
    try:
        return read(sample)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, StopIteration):
        return None


_LM_EVAL = (
    "log-likelihoods of two or more choices, and acc: audit a task of multiple choice, or write "
    "the columns score and hit"
)
_INSPECT = (
    "a scorer's value C or I (or 1 or 0), and its confidence, 0 to 1, in the metadata of the "
    "scorer or of the sample"
)


def _of_lm_eval(record: dict[str, Any]) -> dict[str, Any]:
    likelihoods = np.array([float(choice[0]) for choice in record["filtered_resps"]])
    if likelihoods.size < 2:
        raise ValueError
    score = float(softmax(likelihoods).max())
    return {"score": score, "hit": int(record["acc"]), QUESTION: str(record["doc_id"])}


def _of_inspect(sample: dict[str, Any]) -> dict[str, Any]:
    scorer = next(iter(sample["scores"].values()))
    hit = _HITS[str(scorer["value"]).casefold()]
    of_scorer, of_sample = scorer.get("metadata") or {}, sample.get("metadata") or {}
    confidence: Any = of_scorer.get("confidence", of_sample.get("confidence"))
    return {"score": float(confidence), "hit": hit, QUESTION: str(sample["id"])}
