"""Top-label scores: by hand, against slow sums; a user's files of them, and every refusal."""

import math

import numpy as np
import pandas as pd
import pytest
from checkout import GENUINE
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from refusals import refuses, refuses_texts

from calbias.reading import top_label as scores
from calbias.reading.top_label import REDUCTION_2020, top_label
from pipeline.logits import read_scores
from pipeline.pickles import read_pickle


def test_rows_by_hand():
    """Of tied classes the first is the top class; labels may be a column."""
    p = [[0.7, 0.2, 0.1], [0.25, 0.25, 0.5], [0.4, 0.4, 0.2], [0.4, 0.4, 0.2]]
    top = top_label(np.log(p), [[0], [1], [0], [1]])
    assert top.score == pytest.approx([0.7, 0.5, 0.4, 0.4], rel=1e-15)
    assert top.log_score == pytest.approx(np.log([0.7, 0.5, 0.4, 0.4]), rel=1e-15)
    assert top.log1m_score == pytest.approx(np.log([0.3, 0.5, 0.6, 0.6]), rel=1e-14)
    assert top.hit.tolist() == [1, 0, 1, 0]
    assert [array.dtype for array in top] == [np.float64] * 3 + [np.uint8]


def test_log_miss_survives_where_the_score_rounds_to_one():
    top = top_label(np.array([[800.0, 0.0, 0.0], [-1000.0, -1000.0, -900.0]]), [0, 2])
    assert top.score.tolist() == [1.0, 1.0]
    assert top.log1m_score == pytest.approx([math.log(2) - 800, math.log(2) - 100], rel=1e-15)
    assert top.log_score[1] == pytest.approx(-2 * math.exp(-100), rel=1e-12, abs=0)


def test_other_logits_of_minus_infinity_leave_no_nan():
    top = top_label(np.array([[1.0, -np.inf, -np.inf], [1.0, 1.0, -np.inf]]), [0, 0])
    assert (top.log1m_score[0], top.score[0], top.score[1]) == (-np.inf, 1, pytest.approx(0.5))


@given(arrays(np.float32, (3, 4), elements=st.floats(-30, 30, width=32)))
def test_exact_agrees_with_a_slow_sum(logits):
    top = top_label(logits, [0] * 3)
    for row, log_score, log1m_score in zip(logits, top.log_score, top.log1m_score, strict=True):
        *others, _ = e = sorted(math.exp(float(z) - float(row.max())) for z in row)
        assert log_score == pytest.approx(-math.log1p(math.fsum(others)), rel=1e-13)
        miss = math.log(math.fsum(others)) - math.log(math.fsum(e))
        assert log1m_score == pytest.approx(miss, rel=1e-12, abs=1e-13)


@pytest.mark.parametrize("softmax", ["exact", "float32_2020"])
def test_blocks_of_rows_do_not_show(monkeypatch, softmax):
    rng = np.random.default_rng(1)
    logits, labels = rng.normal(size=(103, 7)).astype(np.float32), rng.integers(7, size=103)
    whole = top_label(logits, labels, softmax)
    monkeypatch.setattr(scores, "_ELEMENTS", 70)
    for a, b in zip(whole, top_label(logits, labels, softmax), strict=True):
        assert np.array_equal(a, b)


def test_float32_2020_rounds_and_reduces():
    top = top_label(np.array([[30.0, 0.0], [0.0, 0.0]]), [0, 0], "float32_2020")
    assert top.score.tolist() == [1.0 - REDUCTION_2020, 0.5 - 1e-16]
    assert top.log1m_score[0] == pytest.approx(math.log(2.0**-53), rel=1e-12)
    assert top.score[0] < 1


test_refusals = refuses(
    top_label,
    ([[0.0, 1.0], [0.0, np.nan]], [0, 0], "exact", "row 1 .* NaN or infinite"),
    ([[0.0, np.inf]], [0], "float32_2020", "row 0 .* NaN or infinite"),
)


def test_the_published_softmax_of_the_genuine_file():
    """Its fit: test_replication.py."""
    _, fold = read_pickle(GENUINE)
    exact, rounded = top_label(*fold, "exact"), top_label(*fold, "float32_2020")
    assert np.mean(rounded.score == 1.0 - REDUCTION_2020) == pytest.approx(0.483, abs=5e-4)
    assert rounded.score.max() < 1
    assert exact.hit.mean() == 0.9356  # Gupta et al. 2021, Table 5


SCORES = np.array([0.5, 0.9, 1.0, 0.75, 0.6, 1.0])
LABELS = np.array([0, 1, 2, 0, 1, 2])
PREDICTIONS = np.array([1, 1, 2, 0, 0, 2])
HITS = (LABELS == PREDICTIONS).astype(int)
FOLDS = ["validation", "test", "test"] * 2


def saved(path, **arrays):
    np.savez(path, **arrays)
    return path


def write(path, **columns):
    if path.suffix == ".npz":
        saved(path, **{name if name == "fold" else f"{name}s": v for name, v in columns.items()})
    else:
        table = pd.DataFrame(columns)
        table.to_csv(path, index=False) if path.suffix == ".csv" else table.to_parquet(path)
    return path


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".npz"])
@pytest.mark.parametrize(
    "columns",
    [
        {"hit": HITS},
        {"hit": HITS.astype(bool)},
        {"hit": HITS.astype(float), "label": LABELS, "prediction": PREDICTIONS},
        {"label": LABELS, "prediction": PREDICTIONS},
        {"label": LABELS.astype("U4"), "prediction": PREDICTIONS.astype("U2")},
        {"label": [["cat", "dog", "cow"][k] for k in LABELS],
         "prediction": [["cat", "dog", "cow"][k] for k in PREDICTIONS]},
    ],
)  # fmt: skip
def test_scores_with_hits_or_with_labels_and_predictions(tmp_path, suffix, columns):
    folds, warnings = read_scores(write(tmp_path / f"m{suffix}", score=SCORES, **columns))
    assert list(folds) == ["test"]
    top = folds["test"]
    assert np.array_equal(top[0:2], [SCORES, np.log(SCORES)])
    assert (top.hit.tolist(), top.hit.dtype) == (HITS.tolist(), np.uint8)
    assert (top.log1m_score[:2], top.log1m_score[2]) == (pytest.approx(np.log([0.5, 0.1])), -np.inf)
    assert warnings[0] == "no validation fold; all 6 rows are judged"


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".npz"])
def test_a_fold_column(tmp_path, suffix):
    folds, _ = read_scores(write(tmp_path / f"m{suffix}", score=SCORES, hit=HITS, fold=FOLDS))
    assert np.array_equal(folds["validation"].score, SCORES[::3])
    assert np.array_equal(folds["test"].hit, np.delete(HITS, np.s_[::3]))


def test_spaces_and_other_columns_do_not_matter(tmp_path):
    (tmp_path / "m.csv").write_text(",image, score, hit\n0,a.png, 0.5, 1\n1,b.png, 0.7, 0\n")
    top = read_scores(tmp_path / "m.csv")[0]["test"]
    assert (top.score.tolist(), top.hit.tolist()) == ([0.5, 0.7], [1, 0])


def test_npz_with_a_fold_in_front_and_columns_of_one(tmp_path):
    arrays = {"test_scores": SCORES[:, None], "test_hits": HITS[:, None]}
    np.savez(tmp_path / "m.npz", **arrays)
    assert np.array_equal(read_scores(tmp_path / "m.npz")[0]["test"].score, SCORES)


def test_float32_scores_keep_their_distance_from_one(tmp_path):
    score = np.array([1 - 2.0**-24, 0.3, 1 + 1e-7], dtype=np.float32)
    top = read_scores(write(tmp_path / "m.parquet", score=score, hit=[1, 0, 1]))[0]["test"]
    assert top.score.tolist() == [1 - 2.0**-24, float(np.float32(0.3)), 1.0]
    assert top.log1m_score[0] == -24 * np.log(2)


test_csv_refusals = refuses_texts(
    read_scores,
    "m.csv",
    ("score,label\n0.4,1\n0.6,0\n", "no columns score and hit"),
    ("score,x\n0.5,1\n0.6,0\n", "--hit x"),
    ("score,hit\n0.5,1\n0.7,2\n", "m.csv, line 3: hit 2 is neither 0 nor 1; give 1 for"),
    ("score,hit\n0.5,1\n0.7,maybe\n", "m.csv, line 3: column hit is 'maybe': write 1 where"),
    ("c_0,c_1,label\n-1,2,0\n2,1,1\n", r"no columns score and hit \(or score, label and predic"),
)

test_npz_refusals = refuses(
    lambda tmp_path, **arrays: read_scores(saved(tmp_path / "m.npz", **arrays)),
    ({"scores": SCORES}, "no array hits, only scores"),
    ({"scores": SCORES, "hits": HITS[:-1]}, r"of one length .*\(6,\) and \(5,\)"),
    ({"scores": np.ones((6, 2)) / 2, "hits": HITS}, r"one-dimensional, .*\(6, 2\) and"),
    ({"scores": SCORES.astype(str), "hits": HITS}, "scores must be numbers"),
    ({"scores": SCORES, "labels": LABELS, "predictions": LABELS[:2]}, "6 labels but 2 pred"),
    ({"scores": SCORES * 2, "hits": HITS}, r"row 1 \(counted from 0\): score 1.8 is no"),
    ({"scores": SCORES, "hits": HITS, "fold": ["test"] * 5}, "6 rows .*and 5 fold names"),
    ({"test_scores": SCORES, "test_hits": HITS, "validation_logits": np.eye(6),
      "validation_labels": LABELS}, "scores in one fold and logits in the other"),
)  # fmt: skip


def test_suspicions(tmp_path):
    rng = np.random.default_rng(0)
    score = rng.uniform(0.5, 1, 400)
    hit = rng.random(400) < score
    for given_score, given_hit, expected in (
        (score, hit, []),
        (score, ~hit, ["is hit 1 where the prediction was correct?"]),
        (np.minimum(1.1 * score, 1), hit, []),  # of a forest, or in half precision
        (np.round(score, 1), hit, []),  # few values are chosen, not rounded
        (score, np.ones(400), ["all 400 given samples are hits"]),
    ):
        path = write(tmp_path / "m.parquet", score=given_score, hit=given_hit)
        for text, part in zip(read_scores(path)[1][1:], expected, strict=True):
            assert part in text
