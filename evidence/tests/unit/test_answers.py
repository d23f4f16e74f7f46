"""Forecasts and answers of language models that ship, also by subject: printed numbers and rows."""

import os
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from checkout import ROOT
from curve_and_interval import check_the_curve
from nightly import daily
from refusals import refuses
from shipped import shipped, shipped_path

from calbias.auditing.audit import audit_data
from calbias.auditing.data import EVENT, Options
from calbias.auditing.inputs import read_data
from calbias.reading.columns import Columns
from calbias.samples.by_score import Scored
from evidence.steps import summarise_subjects as module
from evidence.steps.summarise_answers import (
    SIZES,
    benchmarks,
    ece,
    ece_of_deciles,
    leaderboard_rows,
    model_row,
    predicted_rows,
    read_answers,
)
from evidence.steps.summarise_subjects import (
    CONFIDENCES,
    compared_rows,
    consistency,
    printed_ece,
    printed_rows,
    subject_rows,
)
from pipeline.manifest import read_shipped_manifest, verify_shipped
from pipeline.table_schema import columns_of


@pytest.mark.parametrize(
    ("name", "ece", "mean", "rate", "miscalibrated"),
    daily([("nba_games", 0.0485, 0.619, 0.572, True), ("mlb_games", 0.0101, 0.0, 0.0, False)], 1),
)
def test_a_control_of_each_kind(name, ece, mean, rate, miscalibrated):
    entry = shipped("forecasts")[name]
    columns = Columns("score", label=entry["label"])
    data = read_data(shipped_path("forecasts", name), columns=columns)
    assert data.kind == EVENT
    assert data.scored.n == entry["rows"]
    audit = audit_data(data, Options(norm=1.0, seed=1), {"ece_bin_ew": None})
    assert audit.ece == pytest.approx(ece, abs=0.001)
    assert audit.miscalibrated == miscalibrated
    if miscalibrated:  # the home team wins less often than it is given
        assert np.mean(data.rows.score) == pytest.approx(mean, abs=0.001)
        assert np.mean(data.rows.hit) == pytest.approx(rate, abs=0.001)
        assert audit.p_value < 0.001
    else:
        assert audit.p_value > 0.1


def test_forecasts_during_a_game_are_clusters_of_rows():
    entry = shipped("forecasts")["march_madness_in_game_men"]
    columns = Columns("score", label=entry["label"], cluster=entry["clusters"])
    path = shipped_path("forecasts", "march_madness_in_game_men")
    data = read_data(path, columns=columns)
    assert len(np.unique(data.clusters)) == 401
    assert data.scored.n == entry["rows"] == 68_513


EVIDENCE = ROOT / "evidence"
ANSWERS = EVIDENCE / "resources/manifest.json"
PUBLISHED = EVIDENCE / "resources/published"
PRINTED = pd.read_csv(PUBLISHED / "plaut2024_ece.csv").set_index("model")["ece"]


@pytest.mark.parametrize(
    ("model", "usual", "of_deciles"),
    daily([
        ("falcon_7b", 0.0822, 0.0833),
        ("gpt_3_5_turbo", 0.2144, 0.2144),
        ("gpt_4_turbo", 0.1112, 0.1116),
        ("llama3_70b", 0.1741, 0.2161),
        ("llama_70b", 0.3153, 0.3153),
        ("mixtral", 0.3130, 0.3186),
        ("yi_34b", 0.0493, 0.0486),
    ], 2),
)  # fmt: skip
def test_both_formulas_give_what_an_independent_program_found(model, usual, of_deciles):
    row = model_row(model, read_answers(shipped_path("answers", model, ANSWERS)), PRINTED[model])
    assert row["n_samples"] == shipped("answers", ANSWERS)[model]["rows"]
    assert round(row["ece15_percent"] / 100, 4) == usual
    assert round(row["ece_of_deciles_percent"] / 100, 4) == of_deciles
    assert row["agrees"] == (model != "llama_70b")  # one unit of the last digit off


def test_the_formula_of_deciles_by_hand():
    """Ten deciles of two rows; the largest confidence, that of the last decile, is dropped."""
    k = np.repeat(np.arange(1, 11), 2)
    scores, hits = k / 16, (k > 5).astype(int)
    gaps = [1, 2, 3, 4, 5, 10, 9, 8, 7, 6]  # of 16
    assert ece_of_deciles(scores, hits) == pytest.approx(sum(gaps[:-1]) / 16 / 9)
    assert ece(scores, hits) == pytest.approx(sum(gaps) / 16 / 10)


def small(n=400, seed=0):
    rng = np.random.default_rng(seed)
    scores = rng.choice([0.5, 0.7, 0.9, 1.0], n)
    table = pd.DataFrame(
        {
            "dataset": np.where(np.arange(n) % 8 == 0, "few", "many"),
            "question": np.arange(n) // 2,
            "prompt": np.arange(n) % 2 + 1,
            "score": scores,
            "hit": rng.random(n) < scores - 0.1,
        }
    )
    return table.assign(hit=table["hit"].astype(int))


def test_one_row_for_each_question_of_benchmarks_with_enough_of_them():
    assert benchmarks(small()) == {}
    (top,) = benchmarks(small(600)).values()
    assert len(top.hit) == 225  # of 300 questions those of "many", the first prompt alone


def test_a_leaderboards_range_is_of_draws_of_questions():
    table = small(3000)
    rows = pd.DataFrame(leaderboard_rows("m", table, 20, seed=3))
    assert list(rows["n_samples"]) == [*SIZES, *SIZES][: len(rows)]
    assert (rows["low_percent"] <= rows["mean_estimate_percent"]).all()
    assert (rows["mean_estimate_percent"] <= rows["high_percent"]).all()


def test_rows_of_predicted_bias_are_named_like_model_and_benchmark():
    rows = pd.DataFrame(predicted_rows("m", small(1000), 4, 2, seed=0))
    assert set(rows["model"]) == {"m_many"}
    assert set(rows["n_samples"]) == set(SIZES)


def read(table, tmp_path):
    table.to_parquet(tmp_path / "a.parquet")
    return read_answers(tmp_path / "a.parquet")


test_refusals = refuses(
    read,
    (small().drop(columns="question"), "a.parquet: no column question: .*restore the file"),
    (small().drop(columns="prompt"), "no column prompt"),
    (small().assign(score=1.5), "a.parquet.*score 1.5 is not a probability"),
    (small().assign(hit=2), "hit 2 is neither 0 nor 1"),
)


def test_a_file_that_was_cut_is_refused(tmp_path):
    data = shipped_path("answers", "yi_34b", ANSWERS).read_bytes()
    (tmp_path / "a.parquet").write_bytes(data[:5000])
    with pytest.raises(Exception, match="not a whole Parquet file"):
        read_answers(tmp_path / "a.parquet")


SUBJECTS = EVIDENCE / "resources/subjects"


def test_files_are_those_of_the_manifest():
    listed = read_shipped_manifest(SUBJECTS / "manifest.json")
    files = sorted(SUBJECTS.rglob("*.parquet"))
    assert {path.relative_to(SUBJECTS).as_posix() for path in files} == set(listed)
    assert sum(path.stat().st_size for path in files) < 6e6
    for path in files:
        verify_shipped(path, SUBJECTS / "manifest.json")


def test_a_confidence_of_zero_is_in_no_bin_and_single_precision_moves_edges():
    scores, hits = np.array([0.0, 0.05, 0.95, 0.95]), np.array([1.0, 0.0, 1.0, 0.0])
    assert printed_ece(scores, hits) == pytest.approx((0.05 + 0.9) / 4)
    # float32(0.3) is above 0.3: it falls into the bin below
    both, hits = np.array([0.3, 0.31]), np.array([1.0, 0.0])
    assert printed_ece(both, hits) == pytest.approx((0.7 + 0.31) / 2)


def test_all_36_printed_errors_come_out_to_six_digits():
    files = {path.stem: pd.read_parquet(path) for path in (SUBJECTS / "printed").glob("*")}
    printed = pd.read_csv(PUBLISHED / "tao2025.csv")
    table = pd.DataFrame(printed_rows(files, printed))
    assert tuple(table) == columns_of("tao2025")
    assert table["agrees"].sum() == len(table) == 36
    assert table["agrees_in_double_precision"].sum() == 32
    assert table["dropped_rows_percent"].max() == pytest.approx(19.3, abs=0.1)


def test_one_model_by_subject(monkeypatch):
    table = pd.read_parquet(SUBJECTS / "claude-3-haiku-20240307.parquet")
    table = table[table["subject"].astype(str) < "engineering"]  # five of fourteen
    rows = pd.DataFrame(subject_rows("haiku", table, 1))
    assert tuple(rows) == columns_of("subjects")
    assert list(rows["stage"]) == ["as given", "recalibrated"] * 2  # it has no token confidence
    after = rows[rows["stage"] == "recalibrated"]
    assert (after["gap_percent"].abs() < 5).all()
    assert (after["n_wrong_subjects"] > 3).all()
    found = SimpleNamespace(difference=-0.02, p_value=0.01)
    calls = []
    monkeypatch.setattr(module, "compare", lambda *rows: calls.append(rows) or found)
    compared = pd.DataFrame(compared_rows("haiku", table))
    assert tuple(compared) == columns_of("verbal_confidence")
    assert list(compared["confidence"]) == [CONFIDENCES[1]]
    rows = table[table["answered"] & (table[["linguistic", "numerical"]] <= 1).all(axis=1)]
    for given, column in zip(*calls, ("linguistic", "numerical", "hit"), strict=True):
        assert np.asarray(given).tolist() == rows[column].tolist()
    assert consistency(compared) == (1, 0, 0)


EACH = 1 if os.environ.get("CALBIAS_NIGHTLY") else 3  # genuine file


@pytest.mark.nightly
@pytest.mark.slow
def test_the_curve_of_an_audit_on_all_confidences_of_language_models():
    for name in [*shipped("answers", ANSWERS)][::EACH]:
        rows = read_answers(shipped_path("answers", name, ANSWERS))
        check_the_curve(Scored.of(rows["score"].to_numpy(), rows["hit"].to_numpy()))
    for path in sorted(SUBJECTS.glob("*.parquet"))[::EACH]:
        table = pd.read_parquet(path)
        for confidence in CONFIDENCES:
            rows = module.judged(table, confidence)
            if len(rows) >= 50:
                check_the_curve(Scored.of(rows["score"].to_numpy(float), rows["hit"].to_numpy()))
