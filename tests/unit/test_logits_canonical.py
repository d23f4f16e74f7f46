"""The canonical logits file and the top-label table: round trips, constant bytes, bad files."""

import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calbias.errors import InputError
from calbias.logits.output_file import Fold
from calbias.logits.top_label import TopLabel, top_label
from pipeline.logits.store import (
    Logits,
    Origin,
    load_logits,
    read_top_labels,
    save_logits,
    top_labels_of,
    write_top_labels,
)


def same(found, expected):
    return all(
        a.dtype == b.dtype and np.array_equal(a, b) for a, b in zip(found, expected, strict=True)
    )


@pytest.fixture
def logits():
    rng = np.random.default_rng(0)
    folds = [
        Fold(rng.normal(size=(n, 3)).astype(np.float32), rng.integers(3, size=n)) for n in (4, 7)
    ]
    return Logits(*folds)


def test_logits_round_trip(tmp_path, logits):
    save_logits(tmp_path / "m.npz", logits)
    read = load_logits(tmp_path / "m.npz")
    assert same(read.validation, logits.validation)
    assert same(read.test, logits.test)


@pytest.mark.parametrize("softmax", ["exact", "float32_2020"])
def test_top_labels_round_trip(tmp_path, logits, softmax):
    path = tmp_path / "m.parquet"
    origin = Origin("my model", "real_logits", softmax, ("3 rows of „m.csv“ repeat", "so what"))
    write_top_labels(path, top_labels_of(logits, softmax), origin)
    read, read_back = read_top_labels(path)
    assert read_back == origin
    for fold in ("validation", "test"):
        assert same(read[fold], top_label(*getattr(logits, fold), softmax))


def test_a_table_without_validation_fold_has_an_empty_one(tmp_path, logits):
    path, test = tmp_path / "m.parquet", top_label(*logits.test)
    write_top_labels(path, {"test": test}, Origin("m", "real_logits", "exact"))
    read, origin = read_top_labels(path)
    assert same(read["test"], test)
    assert (read["validation"].score.shape, origin.warnings) == ((0,), ())


def test_same_input_same_bytes(tmp_path, logits):
    for name in ("a", "b"):
        save_logits(tmp_path / f"{name}.npz", logits)
        origin = Origin("m", "real_logits", "exact")
        write_top_labels(tmp_path / f"{name}.parquet", top_labels_of(logits, "exact"), origin)
    with zipfile.ZipFile(tmp_path / "a.npz") as archive:
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    for suffix in (".npz", ".parquet"):
        assert (tmp_path / f"a{suffix}").read_bytes() == (tmp_path / f"b{suffix}").read_bytes()


@pytest.mark.parametrize("content", [None, b"", b"garbage", "other"])
@pytest.mark.parametrize("name", ["m.npz", "m.parquet"])
def test_other_files_are_refused(tmp_path, name, content):
    path = tmp_path / name
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif content and name == "m.npz":
        np.savez(path, x=np.zeros(2))
    elif content:  # a table of the right columns without metadata
        columns = {"fold": ["test"], **{name: [0.5] for name in TopLabel._fields}}
        pq.write_table(pa.table(columns), path)
    read = load_logits if name == "m.npz" else read_top_labels
    with pytest.raises(InputError, match="delete it and rerun") as caught:
        read(path)
    assert str(caught.value).startswith(f"{path}: ")
