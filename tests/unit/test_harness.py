"""Logs of language model harnesses: scores by hand, questions as clusters, refusals."""

import json

import numpy as np
import pytest
from refusals import refuses_texts

from calbias.auditing.inputs import read_data
from calbias.logits.columns import Columns
from calbias.logits.table_files import read_table


def lm_eval(doc_id, likelihoods, acc, **more):
    choices = [[str(x), "False"] for x in likelihoods]
    return {"doc_id": doc_id, "doc": {"q": "?"}, "filtered_resps": choices, "acc": acc, **more}


SAMPLES = [
    lm_eval(0, [-1.0, -1.0], 1.0),
    lm_eval(1, [-5.0, -2.0, -2.0], 0.0, filter="none"),
    lm_eval(1, [0.0, -np.log(3)], 1.0, filter="strict"),
]


def lines(records):
    return "".join(json.dumps(record) + "\n" for record in records)


def test_the_largest_softmax_of_a_question_is_its_score(tmp_path):
    path = tmp_path / "samples_arc.jsonl"
    path.write_text(lines(SAMPLES))
    table, _ = read_table(path)
    assert table["hit"].tolist() == [1, 0, 1]
    expected = [0.5, 1 / (2 + np.exp(-3)), 0.75]
    assert table["score"].tolist() == pytest.approx(expected)
    assert table["question"].tolist() == ["0", "1", "1"]
    assert read_data(path, columns=Columns(cluster=("question",)))


def inspect_sample(key, value, epoch=1, **metadata):
    return {"id": key, "epoch": epoch, "scores": {"match": {"value": value, "metadata": metadata}}}


def inspect_log(*samples):
    return json.dumps({"version": 2, "eval": {"task": "t"}, "samples": samples}, indent=2)


def test_an_inspect_log_has_the_confidence_in_the_metadata(tmp_path):
    path = tmp_path / "log.json"
    samples = [
        inspect_sample("a", "C", confidence=0.9),
        inspect_sample("a", "I", 2, confidence=0.4),
    ]
    samples.append({**inspect_sample("b", 1), "metadata": {"confidence": 0.7}})
    path.write_text(inspect_log(*samples))
    table, _ = read_table(path)
    assert table["score"].tolist() == [0.9, 0.4, 0.7]
    assert table["hit"].tolist() == [1, 0, 1]
    assert table["question"].tolist() == ["a", "a", "b"]


def test_a_log_of_right_answers_alone_has_no_doubt_about_its_columns(tmp_path):
    """The columns are made by the reader. All scores are below 1/2, all answers are right."""
    path = tmp_path / "samples_arc.jsonl"
    path.write_text(lines(lm_eval(k, [0.0, -0.1, -0.2], 1.0) for k in range(40)))
    data = read_data(path)
    assert data.warnings[1:] == (
        "all 40 given samples are hits: they show how far the scores are off on average, and not "
        "the shape of a calibration curve",
    )
    assert data.notes[1:] == data.hints == ()
    assert data.clusters is None


def test_questions_with_several_rows_are_clusters(tmp_path):
    path = tmp_path / "samples_arc.jsonl"
    path.write_text(lines(lm_eval(k // 2, [0.0, -1.0], k % 3 == 0) for k in range(40)))
    data = read_data(path)
    assert data.clusters.max() == 19
    assert data.notes[1:] == ("rows of one question depend on each other: they are a cluster",)


test_lm_eval_refusals = refuses_texts(
    read_table,
    "samples.jsonl",
    (
        lines([*SAMPLES[:1], {**SAMPLES[1], "filtered_resps": ["text"]}]),
        "line 2: .* of multiple",
    ),
    (
        lines([*SAMPLES[:1], {**SAMPLES[0], "filtered_resps": [["-1", "True"]]}]),
        "line 2: a sample without log-likelihoods of two or more choices",
    ),
    (
        lines([{**SAMPLES[0], "filtered_resps": ["[invalid]"]}] * 3),
        "the log: none of the 3 samples has log-likelihoods",
    ),
    (lines([{k: v for k, v in SAMPLES[0].items() if k != "acc"}]), "and acc: audit a task of"),
)
test_inspect_refusals = refuses_texts(
    read_table,
    "log.json",
    (
        inspect_log(inspect_sample("b", "I", confidence=1), inspect_sample("a", "C")),
        "the log, row 1 .* without a scorer's value .* confidence",
    ),
    (inspect_log(inspect_sample("a", "P", confidence=1)), "none of the 1 samples has a scorer's"),
    (inspect_log(), "no samples; give the log of a finished run"),
)
