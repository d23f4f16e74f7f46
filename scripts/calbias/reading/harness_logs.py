"""Logs of language model harnesses as records of score, hit, question, task and subject.

lm-eval (``samples_TASK_DATE.jsonl``) has an object for each question and filter. The score is the
largest softmax of the log-likelihoods in ``filtered_resps``, and the hit is ``acc``.

inspect (a log as JSON) has a list ``samples``. The hit is the value of the first scorer, and the
score is ``confidence`` in the scorer's metadata, or in the sample's.

HELM (``per_instance_stats.json`` in a folder with the run's name) has an object for each instance
and trial. The score is the mean of ``max_prob``, and the hit that of ``exact_match``.

lighteval (``details_TASK_DATE.parquet``) has a row for each question. The score is the largest
softmax of the choices' log-probabilities, and the hit is whether ``gold_index`` has that choice.

A hit is 0 or 1: partial credit is refused. Rows of one question, by several filters, in several
epochs or with perturbed words, depend on each other. A question is known by its text where the log
has one or a hash of it, since numbers start again in each task; else by the task and its number.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.special import softmax

from calbias.reading.output_file import Place

QUESTION, TASK, LOG = "question", "task", "the log"
"""The columns of the questions and the tasks, and the part that the place of a log names."""
_SUBJECTS = "subject", "category"
_FILE = re.compile(r"(?:samples|details)_(.+?)_\d{4}-\d\d-\d\dT.*")
_GRADES = {"c": 1, "i": 0, "n": 0, "yes": 1, "no": 0, "true": 1, "false": 0}


class _Sample(NamedTuple):
    """Score and hit of a sample, or None, its id, which run of the question it is, its contents."""

    score: float | None
    hit: int | None
    id: Any
    run: Any = None
    contents: Any = None
    subject: Any = None


class _Harness(NamedTuple):
    """The names by which a log is known, how samples are read, and what one needs."""

    names: set[str]
    read: Callable[[Mapping[str, Any]], _Sample]
    needs: str


class _Unusable(Exception):
    """What a sample lacks, in the words of its log."""


def flattened(
    records: Sequence[dict[str, Any]], location: Place
) -> tuple[list[dict[str, Any]], Place]:
    """Return records of score, hit and question, or the records themselves where they are no log.

    InputError for a log without confidences, with the sample of the first.
    """
    first, samples, task = records[0], records, _task_of(location.file)
    harness = next((each for each in _HARNESSES if each.names <= first.keys()), None)
    if harness is _INSPECT and len(records) == 1 and isinstance(first["samples"], list):
        samples = first["samples"]
        task = first["eval"].get("task") if isinstance(first["eval"], dict) else None
        location = location._replace(where=None)  # all samples may stand on one line
    elif harness is None or harness is _INSPECT:
        return list(records), location
    location = location._replace(part=LOG)
    if not samples:
        raise location.error("no samples; give the log of a finished run")
    read, faults = [], dict[int, str]()
    for row, sample in enumerate(samples):
        try:
            read.append(harness.read(sample))
        except _Unusable as fault:
            faults[row] = str(fault)
        except Exception:  # any other form
            faults[row] = f"it lacks {harness.needs}"
    is_there = any(each.score is not None and each.hit is not None for each in read)
    if not is_there:
        problem = next(iter(faults.values()), f"it lacks {harness.needs}")
        raise location.error(f"none of the {len(samples)} samples can be audited: {problem}")
    if faults:
        row, problem = next(iter(faults.items()))
        raise location.error(f"a sample cannot be audited: {problem}", row)
    return _records(read, task), location


def _records(samples: Iterable[_Sample], task: Any) -> list[dict[str, Any]]:
    records, runs = [], Counter[Any]()
    for sample in samples:
        key = [sample.id if task is None else f"{task}/{sample.id}"]
        if sample.contents is not None:
            key.append(_digest(sample.contents))
        else:  # the same number again is a question of another task
            runs[sample.id, sample.run] += 1
            key += [runs[sample.id, sample.run]] * (runs[sample.id, sample.run] > 1)
        record = {"score": sample.score, "hit": sample.hit, QUESTION: " ".join(map(str, key))}
        record |= {TASK: task} if task is not None else {}
        records.append(record | ({_SUBJECTS[0]: sample.subject} if sample.subject else {}))
    return records


def is_log(names: Iterable[str]) -> bool:
    """Return whether a table has the columns of a log with a row for each sample."""
    return any(each.names <= {*names} for each in _HARNESSES if each is not _INSPECT)


def _task_of(path: Path) -> str | None:
    """Return the task that a log's file, or its folder, is named after, if one is."""
    if match := _FILE.fullmatch(path.name):
        return match[1]
    folder = path.absolute().parent.name
    return folder if path.name.startswith("per_instance_stats") and ":" in folder else None


def _digest(contents: Any) -> str:
    text = json.dumps(contents, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:12]


def _subject(doc: Any) -> Any:
    values = (doc.get(name) for name in _SUBJECTS) if isinstance(doc, dict) else ()
    return next((value for value in values if isinstance(value, str)), None)


def _credit(value: Any, name: str) -> int:
    """Return 0 or 1; _Unusable for partial credit, and for what is no credit."""
    grade = _GRADES.get(str(value).strip().casefold(), value)
    grade = float(grade)
    if grade not in (0.0, 1.0):
        what = "partial credit" if 0 < grade < 1 else "neither 0 nor 1"
        raise _Unusable(f"{name} is {value!r:.40}, {what}: leave it out, or write score and hit")
    return int(grade)


def _top(likelihoods: Sequence[float], name: str) -> float:
    """Return the largest softmax of two or more log-likelihoods."""
    if len(likelihoods) < 2:
        raise ValueError
    if any(math.isnan(x) or x == math.inf for x in likelihoods) or max(likelihoods) == -math.inf:
        raise _Unusable(f"{name} has no finite log-likelihood, or NaN: leave it out")
    return float(softmax(np.array(likelihoods)).max())


def _of_lm_eval(record: Mapping[str, Any]) -> _Sample:
    likelihoods = [float(choice[0]) for choice in record["filtered_resps"]]
    contents = record.get("doc_hash") or record.get("doc")
    return _Sample(
        _top(likelihoods, "filtered_resps"), _credit(record["acc"], "acc"), record["doc_id"],
        record.get("filter"), contents, _subject(record.get("doc")),
    )  # fmt: skip


def _of_inspect(sample: Mapping[str, Any]) -> _Sample:
    scorer, value = next(iter(sample["scores"].items()))
    if str(value["value"]).casefold() == "p":
        raise _Unusable(f"scorer {scorer} gives 'P', partial credit: leave it out")
    metadata = (value.get("metadata") or {}, sample.get("metadata") or {})
    confidence: Any = metadata[0].get("confidence", metadata[1].get("confidence"))
    score = None
    if confidence is not None:
        try:
            score = float(str(confidence))  # True is no number
        except ValueError:
            problem = f"confidence is {confidence!r:.40}: write a number from 0 to 1"
            raise _Unusable(problem) from None
    hit = _credit(value["value"], f"the value of scorer {scorer}")
    contents = sample.get("input")
    subject = _subject(metadata[1])
    return _Sample(score, hit, sample["id"], sample.get("epoch"), contents, subject)


def _of_helm(instance: Mapping[str, Any]) -> _Sample:
    means = dict[str, Any]()
    for stat in instance["stats"]:
        mean = stat["mean"] if "mean" in stat else stat["sum"] / stat["count"]
        means.setdefault(stat["name"]["name"], mean)
    run = instance.get("train_trial_index"), str(instance.get("perturbation"))
    match, score = means.get("exact_match"), means.get("max_prob")
    hit = None if match is None else _credit(match, "exact_match")
    score = None if score is None else float(score)
    return _Sample(score, hit, instance["instance_id"], run)


def _of_lighteval(row: Mapping[str, Any]) -> _Sample:
    doc = row.get("doc") or row
    answers = row["model_response"]["logprobs"] if "model_response" in row else row["predictions"]
    likelihoods = [float(x[0] if isinstance(x, list | tuple) else x) for x in answers]
    gold = doc["gold_index"]
    top = likelihoods.index(max(likelihoods))
    is_hit = top in (gold if isinstance(gold, list | tuple) else [gold])
    text = [doc.get(name) for name in ("query", "example", "full_prompt")] + [doc.get("choices")]
    if all(part is None for part in text):
        raise KeyError("query")
    score = _top(likelihoods, "logprobs")
    return _Sample(score, int(is_hit), doc.get("id", ""), None, text, _subject(doc.get("specific")))


_INSPECT = _Harness(
    {"eval", "samples"},
    _of_inspect,
    "a scorer's value C or I (or 1 or 0), or its confidence, 0 to 1, in the metadata of the scorer "
    "or of the sample",
)
_OF_CHOICES = "logprobs of two or more choices, or gold_index: audit a task of choices"
_HARNESSES = (
    _Harness(
        {"doc_id", "filtered_resps"},
        _of_lm_eval,
        "log-likelihoods of two or more choices in filtered_resps, or acc: audit a task of "
        "multiple choice, or write the columns score and hit",
    ),
    _INSPECT,
    _Harness(
        {"instance_id", "stats"},
        _of_helm,
        "the statistics max_prob and exact_match: audit a task of choices",
    ),
    _Harness({"predictions", "gold_index"}, _of_lighteval, _OF_CHOICES),  # of old releases
    _Harness({"doc", "model_response"}, _of_lighteval, _OF_CHOICES),
)
