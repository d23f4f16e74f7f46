"""The audit of many rows on cells: exact where it says so, within its bound elsewhere."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calbias import InputError, Sketch, audit, file_audit
from calbias.command import main
from calbias.logits.columns import Columns

N = 60_000


@pytest.fixture(scope="module")
def rows():
    generator = np.random.default_rng(0)
    scores = generator.beta(4, 1.2, N)
    scores[:3000] = np.round(scores[:3000] * 15) / 15  # on the edges of bins
    return scores, (generator.random(N) < scores**1.2).astype(float)


def test_what_is_exact_is_exact_and_the_rest_is_near(rows):
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
    monkeypatch.setattr(file_audit, "_BATCH", 5)
    for column, value in (("score", np.nan), ("hit", 2.0)):
        table = {"score": np.full(9, 0.5), "hit": np.ones(9)}
        table[column][7] = value
        pq.write_table(pa.table(table), tmp_path / "bad.parquet")
        with pytest.raises(InputError, match=r"bad.parquet: row 7 \(counted from 0\)"):
            file_audit.read_sketch(tmp_path / "bad.parquet")


def test_a_parquet_folder_by_command(rows, tmp_path, monkeypatch):
    folder = tmp_path / "many"
    folder.mkdir()
    for k in range(3):
        part = slice(k * 20_000, (k + 1) * 20_000)
        table = pa.table({"score": rows[0][part], "hit": rows[1][part].astype(np.uint8)})
        pq.write_table(table, folder / f"{k}.parquet")
    monkeypatch.chdir(folder)
    main(["audit", ".", "--quiet"])
    found = json.loads((tmp_path / "many.json").read_text(encoding="utf-8"))
    assert found["n"] == N
    assert (tmp_path / "many.html").read_text(encoding="utf-8").count("<svg") >= 1
    pq.write_table(pa.table({"a": [1.0]}), tmp_path / "other.parquet")
    with pytest.raises(InputError, match="needs columns score"):
        file_audit.read_sketch(tmp_path / "other.parquet")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="a folder without Parquet files"):
        file_audit.read_sketch(tmp_path / "empty")


def test_which_files_are_large(tmp_path, monkeypatch):
    monkeypatch.setattr(file_audit, "LARGEST_IN_MEMORY", 10)
    for n, large in ((10, False), (11, True)):
        file = tmp_path / f"{n}.parquet"
        pq.write_table(pa.table({"score": np.full(n, 0.5), "hit": np.arange(n) % 2}), file)
        assert file_audit.is_large(file) == large


def test_options_that_need_rows_read_a_folder_whole(tmp_path):
    generator = np.random.default_rng(2)
    scores = generator.beta(3, 1, 600)
    hits = (generator.random(600) < scores).astype(int)
    columns = {"p": scores, "score": 1 - scores, "hit": hits, "of": np.arange(600) // 6}
    for k in range(2):
        part = {name: values[k::2] for name, values in columns.items()}
        (tmp_path / "rows").mkdir(exist_ok=True)
        pq.write_table(pa.table(part), tmp_path / "rows" / f"{k}.parquet")
    chosen = Columns("p", "hit", cluster="of")
    found = file_audit.audit_file(tmp_path / "rows", tmp_path / "out", columns=chosen)
    expected = audit(scores, hits, clusters=columns["of"])
    assert found.interval == expected.interval
    assert (found.n_clusters, found.p_value) == (100, expected.p_value)
    few = file_audit.audit_file(tmp_path / "rows", tmp_path / "out", estimators=["ks"])
    assert few.estimates.loc["ks", "noise_floor"] > 0


def test_events_of_many_rows_and_empty_labels(tmp_path, monkeypatch):
    monkeypatch.setattr(file_audit, "LARGEST_IN_MEMORY", 10)
    generator = np.random.default_rng(5)
    risk = generator.beta(1, 9, 4000)
    label = (generator.random(4000) < 0.6 * risk).astype(int)
    path = tmp_path / "risks.parquet"
    pq.write_table(pa.table({"score": risk, "label": label}), path)
    found = file_audit.audit_file(path)
    assert found.kind == "event"
    assert found.verdict.sentence.startswith("risks too high")
    assert found.p_value == pytest.approx(audit(probabilities=risk, labels=label).p_value, abs=0.01)
    empty = pa.array([None if k == 3 else int(y) for k, y in enumerate(label)])
    for columns in ({"label": empty}, {"label": empty, "prediction": label}):
        pq.write_table(pa.table({"score": risk, **columns}), path)
        with pytest.raises(InputError, match=r"risks.parquet: row 3 \(counted from 0\)"):
            file_audit.audit_file(path, force=True)
