"""The logits that a file becomes, and what is odd in them."""

import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calbias.errors import InputError
from calbias.reading.output_file import Fold
from calbias.reading.top_label import TopLabel, top_label
from pipeline.logits import (
    Logits,
    Origin,
    load_logits,
    read_top_labels,
    save_logits,
    write_top_labels,
)
from pipeline.steps.read_logits import checked_outputs


def same(found, expected):
    return all(
        a.dtype == b.dtype and np.array_equal(a, b) for a, b in zip(found, expected, strict=True)
    )


def top_labels_of(logits, softmax):
    return {fold: top_label(*getattr(logits, fold), softmax) for fold in ("validation", "test")}


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


K = 5


def outputs(seed, n=200):
    """Return logits of a model that is mostly right, and labels."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(K, size=n)
    return rng.normal(size=(n, K)) + 3 * np.eye(K)[labels], labels


def changed(array, where, values):
    array = array.copy()
    array[where] = values
    return array


V, VY = outputs(3)
T, TY = outputs(4)
SHUFFLED = np.random.default_rng(0).permutation(TY)
THIRD, FIRST = np.s_[:, 3], np.s_[:, 0]


def probabilities(logits):
    e = np.exp(8 * logits)
    return (e / e.sum(axis=1, keepdims=True)).astype(np.float32)


@pytest.mark.parametrize(
    ("arrays", "expected"),
    [
        ((V, VY, T, TY), []),
        ((changed(V, THIRD, VY), VY, changed(T, THIRD, TY), TY),
         ["column 3 (counted from 0) of the logits holds whole numbers from 0 to 4"]),
        ((np.rint(4 * V), VY, np.rint(4 * T), TY), []),
        # the reference class of a multinomial model
        ((changed(V, FIRST, 0), VY, changed(T, FIRST, 0), TY), []),
        ((V, VY, T, SHUFFLED), ["is at chance (20.0 %)"]),
        # too few to tell
        ((V, VY, T[:4], changed(TY[:4], 0, (T[0].argmax() + 1) % K)), []),
        ((V, VY, T, T.argmax(axis=1)), ["all 200 test samples are hits"]),
        # equal rows with other labels, as of a forest, and with the same ones
        ((changed(V, np.s_[10:13], V[0]), VY, changed(T, 5, V[77]), TY), []),
        ((np.tile(V, (4, 1)), np.tile(VY, 4), np.r_[V, T], np.r_[VY, TY]),
         ["600 of 800 validation rows repeat", "200 of 400 test rows are validation rows"]),
        ((np.tile(V, (2, 1)), np.r_[VY, np.roll(VY, 1)], T, TY), []),
        ((V, VY, np.r_[T, T, V], np.r_[TY, np.roll(TY, 1), VY]),
         ["200 of 600 test rows are validation rows"]),
        ((60 * V, VY, 60 * T, TY),
         ["validation scores are exactly 1: ", "test scores are exactly 1: "]),
        ((probabilities(V), VY, probabilities(T), TY),
         ["values are probabilities", "validation scores are exactly 1: ",
          "test scores are exactly 1: "]),
    ],
)  # fmt: skip
def test_suspicions(tmp_path, arrays, expected):
    names = ("validation_logits", "validation_labels", "test_logits", "test_labels")
    np.savez(tmp_path / "m.npz", **dict(zip(names, arrays, strict=True)))
    found = checked_outputs(tmp_path / "m.npz", "mine", {}).warnings
    assert len(found) == len(expected), found
    for text, part in zip(found, expected, strict=True):
        assert part in text
        assert "\n" not in text
