"""Samples as counts: by hand, in parts, and the audit of many rows on cells."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nightly import daily
from scipy.special import expit, log_expit

import calbias
from calbias import InputError, Sketch, audit, file_audit
from calbias.auditing.audit import audit_data
from calbias.auditing.data import Data, Options
from calbias.auditing.inputs import prepared, prepared_means
from calbias.auditing.verdict.judge import judge
from calbias.auditing.verdict.words import HEIGHT
from calbias.command import main
from calbias.outcomes.given import Given
from calbias.reading import parquet
from calbias.reading.columns import Columns
from calbias.samples.by_score import Scored
from calbias.samples.cells import in_cells

ROWS = st.lists(
    st.tuples(st.sampled_from([0.0, 0.1, 0.5, 1.0]), st.integers(0, 1), st.sampled_from("abc")),
    min_size=1,
    max_size=30,
)


def of(rows, with_clusters=True):
    scores, hits, ids = map(np.array, zip(*rows, strict=True))
    return Scored.of(scores, hits, clusters=ids if with_clusters else None)


def same(a, b):
    for name in ("scores", "rows", "hits", "log_scores", "log1m_scores"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
    if a.clusters is not None:
        for one, other in zip(a.clusters, b.clusters, strict=True):
            np.testing.assert_array_equal(one, other)
    return a.width == b.width and (a.clusters is None) == (b.clusters is None)


def test_counts_by_hand():
    sample = Scored.of([0.8, 0.2, 0.8, 0.8], [1, 0, 0, 1], clusters=["b", "a", "a", "b"])
    assert sample.scores.tolist() == [0.2, 0.8]
    assert sample.rows.tolist() == [1, 3]
    assert sample.hits.tolist() == [0, 2]
    assert sample.clusters.ids.tolist() == ["a", "b"]
    assert [column.tolist() for column in sample.clusters[1:]] == [
        [0, 0, 1], [0, 1, 1], [1, 1, 2], [0, 0, 2], [0, 0, 2], [1, 1, 0]
    ]  # fmt: skip
    assert sample.n == 4
    assert sample.mean(sample.scores) == pytest.approx(0.65)
    assert sample.gaps == pytest.approx([0.2, 0.4])
    place, hits, clusters = sample.of_rows
    assert place.tolist() == [0, 1, 1, 1]
    assert hits.tolist() == [0, 0, 1, 1]
    assert clusters.tolist() == [0, 0, 1, 1]


@given(ROWS, st.integers(0, 30), st.randoms())
def test_neither_order_nor_parts_matter(rows, cut, random):
    whole, shuffled = of(rows), random.sample(rows, len(rows))
    parts = [part for part in (shuffled[:cut], shuffled[cut:]) if part]
    assert same(whole, sum(map(of, parts)))
    assert same(of(rows, False), sum(of(part, False) for part in parts))


@given(ROWS)
def test_rows_come_back(rows):
    place, hits, clusters = of(rows).of_rows
    scores, ids = of(rows).scores[place], of(rows).clusters.ids[clusters]
    assert sorted(zip(scores, hits, ids, strict=True)) == sorted(rows)


def test_scores_that_round_to_one_are_told_apart_by_log1m():
    log1m = np.array([-40.0, -50.0, -40.0, -1.0])
    scores = np.array([1.0, 1.0, 1.0, 1 - np.exp(-1)])
    sample = Scored.of(scores, [1, 1, 0, 0], np.log1p(-np.exp(log1m)), log1m)
    assert sample.scores.tolist() == [1 - np.exp(-1), 1.0, 1.0]
    assert sample.log1m_scores.tolist() == [-1.0, -40.0, -50.0]
    assert sample.rows.tolist() == [1, 2, 1]


def test_samples_with_and_without_clusters_are_not_added():
    with pytest.raises(ValueError, match="with and without clusters"):
        Scored.of([0.1], [1]) + Scored.of([0.1], [1], clusters=[1])


@pytest.mark.parametrize("with_clusters", daily([True, False], 1))
def test_the_audit_of_parts_is_the_audit_of_all_rows(with_clusters):
    generator = np.random.default_rng(3)
    log_odds = generator.normal(8, 12, 600)  # a third of the scores rounds to 1
    hits = (generator.random(600) < expit(0.3 * log_odds)).astype(np.uint8)
    columns = np.array([expit(log_odds), hits, log_expit(log_odds), log_expit(-log_odds)])
    ids = np.arange(600) // 6 if with_clusters else None
    order = generator.permutation(600)
    parts = [
        Scored.of(*columns[:, rows], clusters=None if ids is None else ids[rows])
        for rows in np.split(order, [50, 51, 400])
    ]
    whole = audit_data(Data(Scored.of(*columns, clusters=ids)), Options())
    assert audit_data(Data(sum(parts)), Options()) == whole
    assert whole.miscalibrated


def test_the_audit_of_a_sketch_is_that_of_rows_where_cells_hold_one_score():
    generator = np.random.default_rng(4)
    scores = generator.choice([0.0, 0.25, 0.5, 0.75, 0.9375], 900)
    hits = generator.random(900) < 0.9 * scores
    sketch = Sketch()
    sketch.add(scores, hits)
    found, expected = sketch.audit().to_dict(), audit(scores, hits).to_dict()
    for name in ("error", "interval", "p_value", "verdict", "ece", "noise_floor", "curve", "bins",
                 "recalibration"):  # fmt: skip
        assert found[name] == expected[name], name


def test_what_is_exact_is_exact_and_the_rest_is_near():
    generator = np.random.default_rng(0)
    scores = generator.beta(4, 1.2, 3000)
    scores[:400] = np.round(scores[:400] * 15) / 15  # on the edges of bins
    rows = scores, (generator.random(3000) < scores**1.2).astype(float)
    sketch = Sketch()
    sketch.add(*rows)
    small, found = audit(*rows), sketch.audit()
    assert "rounded by at most 2e-05" in found.warnings[0]
    assert found.ece == pytest.approx(small.ece, rel=1e-12)
    for key in ("accuracy", "mean_score", "mean_gap", "mean_gap_se", "brier", "scores_of_one"):
        assert found.description[key] == pytest.approx(small.description[key], rel=1e-7), key
    assert found.noise_floor == pytest.approx(small.noise_floor, rel=0.01)
    assert found.error == pytest.approx(small.error, rel=1e-3)
    assert found.interval == pytest.approx(small.interval, rel=0.01)
    for name in ("level", "line", "spread"):
        one, other = (
            next(part for part in each.verdict.parts if part.name == name)
            for each in (found, small)
        )
        assert one.statistic == pytest.approx(other.statistic, rel=1e-3), name
    assert found.n == small.n == found.bins.n_in_bin.sum()


def test_bad_rows_are_named(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet, "_BATCH", 5)
    monkeypatch.setattr(file_audit, "MOST_SCORES", 6)
    for column, value in (("score", np.nan), ("hit", 2.0)):
        table = {"score": np.full(9, 0.5), "hit": np.ones(9)}
        table[column][7] = value
        pq.write_table(pa.table(table), tmp_path / "bad.parquet")
        with pytest.raises(InputError, match=r"bad.parquet: the table, row 7 \(counted from 0\)"):
            file_audit.audit_file(tmp_path / "bad.parquet")


def test_a_parquet_folder_of_events_by_command(tmp_path, monkeypatch):
    generator = np.random.default_rng(5)
    risk = generator.beta(1, 9, 1500)
    label = (generator.random(1500) < 0.4 * risk).astype(int)
    (tmp_path / "many").mkdir()
    for k in range(3):
        table = pa.table({"score": risk[k::3], "label": label[k::3]})
        pq.write_table(table, tmp_path / "many" / f"{k}.parquet")
    monkeypatch.setattr(file_audit, "MOST_SCORES", 1000)
    monkeypatch.chdir(tmp_path / "many")
    main(["audit", ".", "--quiet"])
    found = json.loads((tmp_path / "many.json").read_text(encoding="utf-8"))
    assert (found["n"], found["kind"]) == (1500, "event")
    assert found["verdict"]["sentence"].startswith(f"risks {HEIGHT[0]}")
    assert found["p_value"] == pytest.approx(judge(Scored.of(risk, label)).p_value, abs=0.01)
    assert (tmp_path / "many.html").read_text(encoding="utf-8").count("<svg") >= 1
    pq.write_table(pa.table({"a": [1.0]}), tmp_path / "other.parquet")
    with pytest.raises(InputError, match="needs a column label"):
        file_audit.audit_file(tmp_path / "other.parquet")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="a folder without Parquet files"):
        file_audit.audit_file(tmp_path / "empty")


def test_empty_labels_of_many_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(file_audit, "MOST_SCORES", 10)
    label, path = pa.array([1, 0, 1, None, *[0, 1] * 5]), tmp_path / "risks.parquet"
    for more in ({}, {"prediction": np.ones(14, int)}):
        pq.write_table(pa.table({"score": np.full(14, 0.5), "label": label, **more}), path)
        with pytest.raises(InputError, match=r"risks.parquet: the table, row 3 \(counted from 0\)"):
            file_audit.audit_file(path)


def test_an_audit_of_very_many_scores_is_in_cells(monkeypatch):
    generator = np.random.default_rng(5)
    scores = np.append(generator.beta(3, 0.2, 4000), [0.0, 1.0, 1.0])
    hits = generator.random(4003) < scores**1.2
    exact = calbias.audit(scores, hits)
    monkeypatch.setattr("calbias.auditing.audit.MOST_SCORES", 1000)
    cells = calbias.audit(scores, hits)
    words = "were audited in"
    assert (words in cells.warnings[-1], words in str(exact.warnings)) == (True, False)
    for key in ("accuracy", "mean_score", "mean_gap"):
        assert cells.description[key] == pytest.approx(exact.description[key], rel=1e-12)
    assert cells.ece == pytest.approx(exact.ece, rel=1e-12)
    assert [cells.error, *cells.interval] == pytest.approx([exact.error, *exact.interval], abs=1e-3)
    assert cells.p_value == pytest.approx(exact.p_value, abs=0.01)
    ends = in_cells(Scored.of(scores, hits), 100)
    assert (ends.scores[0], ends.log1m_scores[-1]) == (0, -np.inf)
    assert np.exp(ends.log1m_scores) == pytest.approx(1 - ends.scores, abs=1e-12)
    assert (ends.rows.sum(), ends.hits.sum()) == (4003, hits.sum())


LARGE = {
    "plain": ({}, lambda rows: rows.score > 0),
    "fold": ({}, lambda rows: rows.fold == "test"),
    "rows": ({"rows": ("site=b", "fold=test")}, lambda r: (r.site == "b") & (r.fold == "test")),
    "missing": ({"missing": "-1"}, lambda rows: rows.label >= 0),
    "event": ({"event": "0"}, lambda rows: rows.score > 0),
    "percent": ({"values": "percent"}, lambda rows: rows.score > 0),
}


@pytest.mark.parametrize("kind", LARGE)
def test_what_a_table_means_does_not_depend_on_its_size(tmp_path, monkeypatch, kind):
    """A folder that is read in parts of seven rows is judged as a small CSV file of these rows."""
    options, is_judged = LARGE[kind]
    generator = np.random.default_rng(3)
    rows = pd.DataFrame({"score": generator.beta(2, 2, 60), "site": [*"ab"] * 30})
    rows["label"] = (generator.random(60) < rows.score).astype(int)
    if kind in ("fold", "rows"):
        rows["fold"] = np.where(np.arange(60) % 3, "test", "train")
    if kind == "missing":
        rows.loc[::7, "label"] = -1
    rows.score *= 100 if kind == "percent" else 1
    (tmp_path / "many").mkdir()
    for k in range(2):
        rows[30 * k : 30 * k + 30].to_parquet(tmp_path / "many" / f"{k}.parquet", index=False)
    rows.to_csv(tmp_path / "one.csv", index=False)
    monkeypatch.setattr(parquet, "_BATCH", 7)
    one = file_audit.audit_file(tmp_path / "one.csv", columns=Columns(**options))
    whole = file_audit.audit_file(tmp_path / "many", columns=Columns(**options))
    monkeypatch.setattr(file_audit, "MOST_SCORES", 10)
    large = file_audit.audit_file(tmp_path / "many", columns=Columns(**options))
    assert one.n == whole.n == large.n == is_judged(rows).sum()
    for key in ("mean_score", "accuracy", "brier"):
        assert large.description[key] == pytest.approx(one.description[key], abs=1e-5), key
        assert whole.description[key] == one.description[key]
    assert one.notes[0] == large.notes[0]


def test_options_that_need_rows_read_a_folder_whole(tmp_path):
    generator = np.random.default_rng(2)
    scores = generator.beta(3, 1, 300)
    hits = (generator.random(300) < scores).astype(int)
    columns = {"p": scores, "score": 1 - scores, "hit": hits, "of": np.arange(300) // 6}
    (tmp_path / "rows").mkdir()
    for k in range(2):
        part = {name: values[k::2] for name, values in columns.items()}
        pq.write_table(pa.table(part), tmp_path / "rows" / f"{k}.parquet")
    chosen = Columns("p", "hit", cluster="of")
    found = file_audit.audit_file(tmp_path / "rows", columns=chosen)
    whole = Scored.of(scores, hits, clusters=columns["of"])
    assert found.p_value == judge(whole).p_value
    assert found.n_clusters == 50


@pytest.mark.parametrize("decimals", [1, 2, 9])
def test_equal_weights_of_outcomes_give_the_bins_of_rows_in_any_order(decimals):
    rng = np.random.default_rng(decimals)
    scores, hits = rng.random(150).round(decimals), rng.integers(0, 2, 150)
    weighted = np.full(150, 7.7)
    options = Given.of("audit", {"weights": weighted})
    sample = prepared_means(scores, hits, None, None, None, None, options).scored
    plain = prepared(scores, hits).scored
    for n_bins in (5, 15, 40):
        firsts = (x.by_score.starts(n_bins, "equal_mass").tolist() for x in (plain, sample))
        assert next(firsts) == next(firsts)
    weights, order = rng.random(150), rng.permutation(150)
    first, second = (
        calbias.audit(scores[x], hits[x], weights=weights[x]) for x in (slice(None), order)
    )
    assert first == second
