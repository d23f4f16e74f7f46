"""Logs of language model harnesses: scores by hand, questions as clusters, refusals."""

import json

import numpy as np
import pandas as pd
import pytest
from refusals import refuses_texts

from calbias.auditing.inputs import read_data
from calbias.errors import InputError
from calbias.reading.columns import Columns
from calbias.reading.table_files import read_table


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
    first, second, third = table["question"]
    assert first != second == third
    assert read_data(path, columns=Columns(cluster=("question",)))


def inspect_sample(key, value, epoch=1, **metadata):
    return {"id": key, "epoch": epoch, "scores": {"match": {"value": value, "metadata": metadata}}}


def inspect_log(*samples):
    return json.dumps({"version": 2, "eval": {"task": "t"}, "samples": samples}, indent=2)


def test_an_inspect_log_has_the_confidence_in_the_metadata(tmp_path):
    path = tmp_path / "log.json"
    first = inspect_sample("a", "C", confidence=0.9)
    second = inspect_sample("a", "I", 2, confidence=0.4)
    third = inspect_sample("b", 1) | {"metadata": {"confidence": 0.7}}
    path.write_text(inspect_log(first, second, third))
    table, _ = read_table(path)
    assert table["score"].tolist() == [0.9, 0.4, 0.7]
    assert table["hit"].tolist() == [1, 0, 1]
    assert table["question"].tolist() == ["t/a", "t/a", "t/b"]
    assert table["task"].tolist() == ["t"] * 3


def test_samples_without_a_confidence_are_left_out_and_percentages_are_read(tmp_path):
    path = tmp_path / "log.json"
    said = [inspect_sample(k, "CI"[k % 2], confidence=20 * k) for k in range(1, 5)]
    path.write_text(inspect_log(*said, inspect_sample("a", "C")))
    with pytest.raises(InputError, match=r"row 4 .*column score is empty.* --missing drop"):
        read_data(path)
    with pytest.raises(InputError, match=r"score 20 is not a probability: --values percent"):
        read_data(path, columns=Columns(missing="drop"))
    data = read_data(path, columns=Columns(missing="drop", values="percent"))
    assert data.rows.score.tolist() == [0.2, 0.4, 0.6, 0.8]
    assert "--missing drop: 1 of 5 rows left out: 1 without score" in data.notes


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


def test_questions_of_tasks_put_together_stay_apart(tmp_path):
    """Numbers start again in each task: by the text, its hash, or the order of the rows."""
    for contents in ({"doc": {"q": "?", "subject": "a"}}, {"doc_hash": "h"}, {}):
        tasks = []
        for task in "ab":
            more = {key: {"q": task, "subject": task} if key == "doc" else value + task
                    for key, value in contents.items()}  # fmt: skip
            records = [lm_eval(k, [0.0, -1.0], 1.0) for k in (0, 1)]
            tasks += [{**record, "doc": None, **more} for record in records]
        path = tmp_path / "samples.jsonl"
        path.write_text(lines(tasks))
        table, _ = read_table(path)
        assert len({*table["question"]}) == 4, contents
        assert ("subject" in table) == ("doc" in contents)
        both = [lines(tasks[:2]), lines(tasks[2:])]
        paths = [tmp_path / f"samples_{name}_2025-01-02T03-04-05.jsonl" for name in "ab"]
        for file, text in zip(paths, both, strict=True):
            file.write_text(text)
        data = read_data(paths, ["task"])
        assert data.by["task"].tolist() == ["a", "a", "b", "b"]
        assert data.clusters is None


def helm(number, score, hit, trial=0, **more):
    means = {"max_prob": score, "exact_match": hit, "num_references": 4}
    stats = [{"name": {"name": name}, "count": 1, "sum": x, "mean": x} for name, x in means.items()]
    return {"instance_id": f"id{number}", "train_trial_index": trial, "stats": stats, **more}


def test_helm_has_the_confidence_and_the_match_of_each_instance(tmp_path):
    folders = [tmp_path / f"mmlu:subject={name},model=m" for name in ("law", "art")]
    for folder in folders:
        folder.mkdir()
        stats = [helm(1, 0.75, 1.0), helm(1, 0.5, 0.0, 1), helm(2, 0.25, 1)]
        (folder / "per_instance_stats.json").write_text(json.dumps(stats, indent=2))
    data = read_data([folder / "per_instance_stats.json" for folder in folders], ["task"])
    assert data.rows.score.tolist() == [0.75, 0.5, 0.25] * 2
    assert data.rows.hit.tolist() == [1, 0, 1] * 2
    assert data.clusters.max() == 3
    assert data.by["task"][3] == "mmlu:subject=art,model=m"


@pytest.mark.parametrize("release", ["old", "new"])
def test_details_of_lighteval(tmp_path, release):
    rows = []
    for k, (likelihoods, gold) in enumerate([([0.0, -np.log(3)], [0]), ([-2.0, -2.0, -1.0], [1])]):
        choices = [*"abc"[: len(likelihoods)]]
        if release == "old":
            row = {"example": f"q{k}", "choices": choices, "gold_index": gold}
            rows.append({**row, "predictions": [[x, 0.0] for x in likelihoods]})
        else:
            doc = {"query": f"q{k}", "choices": choices, "gold_index": gold}
            rows.append({"doc": doc, "model_response": {"logprobs": likelihoods}})
    path = tmp_path / "details_arc|0_2025-01-02T03-04-05.parquet"
    pd.DataFrame(rows).to_parquet(path)
    table, _ = read_table(path)
    assert table["score"] == pytest.approx([0.75, 1 / (1 + 2 / np.e)])
    assert table["hit"].tolist() == [1, 0]
    assert {*table["task"]} == {"arc|0"}
    assert len({*table["question"]}) == 2


test_lm_eval_refusals = refuses_texts(
    read_table,
    "samples.jsonl",
    (lines([SAMPLES[0], {**SAMPLES[1], "filtered_resps": ["text"]}]), "line 2: .* of multiple"),
    (lines([SAMPLES[0], lm_eval(3, [-1], 1)]), "line 2: a sample cannot be audited: it lacks log-"),
    (lines([{**SAMPLES[0], "filtered_resps": ["[invalid]"]}] * 3), "none of the 3 samples can be"),
    (lines([{k: v for k, v in SAMPLES[0].items() if k != "acc"}]), "or acc: audit a task of"),
    (lines([SAMPLES[0], {**SAMPLES[0], "acc": 0.7}]), "line 2: .*acc is 0.7, partial credit"),
    (lines([SAMPLES[0], {**SAMPLES[0], "acc": np.inf}]), "line 2: .*acc is inf, neither 0 nor 1"),
    (lines([SAMPLES[0], lm_eval(3, [np.nan, 0], 1)]), "line 2: .*filtered_resps has .* NaN"),
)
test_inspect_refusals = refuses_texts(
    read_table,
    "log.json",
    (inspect_log(inspect_sample("a", "P", confidence=1)), "scorer match gives 'P', partial"),
    (inspect_log(inspect_sample("a", 0.5, confidence=1)), "scorer match is 0.5, partial credit"),
    (inspect_log(inspect_sample("a", "C", confidence="high")), "confidence is 'high': write a"),
    (json.dumps([helm(1, 0.5, 0.5)]), "exact_match is 0.5, partial credit"),
    (inspect_log(), "no samples; give the log of a finished run"),
)
