"""A user's own outputs: what is read, what is converted, and every refusal with its words."""

import pickle
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calbias.errors import InputError
from calbias.io.checksums import file_digest
from calbias.logits import checks
from calbias.logits.manifest import PublishedFile
from calbias.logits.read_logits import read_logits
from calbias.logits.top_label import top_label

SHARED = Path(__file__).parents[3] / "shared" / "logits"
K = 4


def model_outputs(n=60, seed=0):
    """Logits of a model that is right about two times in three, and labels of every class."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(K, size=n)
    labels[:K] = range(K)
    logits = rng.normal(size=(n, K)) + 2 * np.eye(K)[labels]
    return logits.astype(np.float32), labels


def probabilities(logits):
    e = np.exp(logits.astype(float))
    return e / e.sum(axis=1, keepdims=True)


def frame(values, labels, names=("a", "b", "c", "d"), **columns):
    return pd.DataFrame({**dict(zip(names, values.T, strict=True)), "label": labels, **columns})


def quietly(path, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return read_logits(
            path, options.pop("model", "mine"), options.pop("manifest", {}), **options
        )


def save(path, **arrays):
    np.savez(path, **arrays)
    return path


def split_npz(path, **changes):
    (v, vy), (t, ty) = model_outputs(20), model_outputs(30, 1)
    arrays = {
        "validation_logits": v, "validation_labels": vy, "test_logits": t, "test_labels": ty
    }  # fmt: skip
    arrays.update(changes)
    return save(path, **{name: array for name, array in arrays.items() if array is not None})


# What is read


def test_npz_with_a_split_comes_out_as_it_is(tmp_path):
    read = quietly(split_npz(tmp_path / "m.npz"))
    for fold, n, seed in (("validation", 20, 0), ("test", 30, 1)):
        logits, labels = model_outputs(n, seed)
        assert np.array_equal(getattr(read, fold).logits, logits)
        assert np.array_equal(getattr(read, fold).labels, labels)
        assert getattr(read, fold).logits.dtype == np.float32
        assert getattr(read, fold).labels.dtype == np.int64
    assert read.source == "real_logits"


@pytest.mark.parametrize("dtype", [np.float16, np.float64, np.int32])
def test_values_of_any_numeric_type_become_float32(tmp_path, dtype):
    logits, labels = model_outputs()
    logits = (10 * logits).astype(dtype)
    read = quietly(split_npz(tmp_path / "m.npz", test_logits=logits, test_labels=labels))
    assert np.array_equal(read.test.logits, logits.astype(np.float32))


@pytest.mark.parametrize(
    "write",
    [
        lambda labels: labels.astype(np.uint8)[:, None],
        lambda labels: labels.astype(float),
        lambda labels: np.eye(K, dtype=np.int8)[labels],
        lambda labels: np.eye(K, dtype=bool)[labels],
        lambda labels: np.eye(K)[labels],
    ],
)
def test_labels_as_numbers_columns_or_one_hot(tmp_path, write):
    _, labels = model_outputs(30, 1)
    read = quietly(split_npz(tmp_path / "m.npz", test_labels=write(labels)))
    assert np.array_equal(read.test.labels, labels)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("kind", ["plain", "one_hot", "fold"])
def test_tables(tmp_path, suffix, kind):
    logits, labels = model_outputs()
    table = frame(logits, labels)
    if kind == "one_hot":
        hot = {f"label_{k}": (labels == k).astype(int) for k in range(K)}
        table = table.drop(columns="label").assign(**hot)
    if kind == "fold":
        table.insert(1, "fold", np.where(np.arange(60) % 3 == 0, "validation", "test"))
    path = tmp_path / f"m{suffix}"
    table.to_csv(path, index=False) if suffix == ".csv" else table.to_parquet(path)
    read = quietly(path)
    if kind == "fold":
        assert np.array_equal(read.validation.logits, logits[::3])
        assert np.array_equal(read.test.labels, np.delete(labels, np.s_[::3]))
    else:
        both = np.concatenate([read.validation.logits, read.test.logits])
        assert np.array_equal(np.unique(both, axis=0), np.unique(logits, axis=0))
        assert len(read.validation.labels) == len(read.test.labels) == 30


def test_a_saved_row_index_is_no_class(tmp_path):
    logits, labels = model_outputs()
    table = frame(logits, labels, fold=["validation", "test"] * 30)
    table.set_index(np.arange(60)[::-1]).to_parquet(tmp_path / "a.parquet")
    table.set_index("label").to_parquet(tmp_path / "b.parquet")
    for name in ("a", "b"):
        read = quietly(tmp_path / f"{name}.parquet")
        assert np.array_equal(read.test.logits, logits[1::2])
        assert np.array_equal(read.test.labels, labels[1::2])


def test_parquet_columns_that_are_no_numbers(tmp_path):
    logits, labels = model_outputs()
    for column in (list(np.ones((60, 50))), pd.to_datetime(["2020-01-01"] * 60)):
        frame(logits, labels).assign(e=column).to_parquet(tmp_path / "m.parquet")
        with pytest.raises(InputError, match=r"column e.* no number") as caught:
            quietly(tmp_path / "m.parquet")
        assert "\n" not in str(caught.value)


def test_numbered_columns_are_put_in_the_order_of_their_numbers(tmp_path):
    logits, labels = model_outputs()
    order = [2, 0, 3, 1]
    path = tmp_path / "m.csv"
    names = [f"class_{k}" for k in order]
    frame(logits[:, order], labels, names, fold=["validation", "test"] * 30).to_csv(
        path, index=False
    )
    assert np.array_equal(quietly(path).validation.logits, logits[::2])


def test_csv_with_a_byte_order_mark_and_windows_line_ends(tmp_path):
    path = tmp_path / "m.csv"
    path.write_bytes(
        b"\xef\xbb\xbflabel,a,b,fold\r\n0,2,-1.5,test\r\n1,-1,3,test\r\n"
        b"0,1,-1,validation\r\n1,0,2,validation\r\n"
    )
    assert quietly(path).test.logits.tolist() == [[2, -1.5], [-1, 3]]


def test_pickle_of_the_published_form(tmp_path):
    content = (model_outputs(20), model_outputs(30, 1))
    (tmp_path / "m.pkl").write_bytes(pickle.dumps(content))
    read = quietly(tmp_path / "m.pkl")
    assert np.array_equal(read.validation.logits, content[0][0])
    assert np.array_equal(read.test.labels, content[1][1])


# Probabilities


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_probabilities_are_recognised_converted_and_announced(tmp_path, dtype):
    logits, labels = model_outputs(30, 1)
    p = probabilities(logits).astype(dtype)
    v = probabilities(model_outputs(20)[0]).astype(dtype)
    path = split_npz(tmp_path / "m.npz", validation_logits=v, test_logits=p)
    with pytest.warns(UserWarning, match="values are probabilities; their logarithms"):
        read = read_logits(path, "mine", {})
    top = top_label(read.test.logits, labels)
    assert top.score == pytest.approx(
        top_label(logits, labels).score, abs=2 * float(np.finfo(dtype).eps) + 1e-6
    )


def test_many_classes_in_float16_still_sum_to_one(tmp_path):
    rng = np.random.default_rng(0)
    p = probabilities(rng.normal(size=(50, 1000)) * 2).astype(np.float16)
    labels = rng.integers(1000, size=50)
    read = quietly(save(tmp_path / "m.npz", probabilities=p, labels=labels))
    assert read.test.logits.shape == (25, 1000)


def test_a_zero_probability_gets_a_finite_logarithm_and_leaves_the_score_alone(tmp_path):
    p = np.array([[1, 0, 0], [0.998, 0.002, 0], [0.2, 0.3, 0.5]])
    path = split_npz(
        tmp_path / "m.npz",
        validation_logits=p,
        validation_labels=[0, 1, 2],
        test_logits=p,
        test_labels=[0, 1, 2],
    )
    read = quietly(path)
    top = top_label(*read.test)
    assert top.score == pytest.approx([1, 0.998, 0.5], abs=5e-4)
    # The zeros of a row together stay below half of the smallest probability written, capped.
    assert np.exp(top.log1m_score[0]) == pytest.approx(2 * 0.001 / 6, rel=1e-3)


def test_confident_float32_probabilities_keep_log_miss(tmp_path):
    logits = np.array([[40, 0, -5], [0, 30, 1], [-3, 0, 25], [1, 0, -1]], dtype=np.float32)
    p = probabilities(logits).astype(np.float32)
    labels = [0, 1, 2, 0]
    path = split_npz(
        tmp_path / "m.npz",
        validation_logits=p, validation_labels=labels, test_logits=p, test_labels=labels,
    )  # fmt: skip
    top, expected = top_label(*quietly(path).test), top_label(logits, labels)
    assert top.log1m_score == pytest.approx(expected.log1m_score, rel=1e-6)


def test_logits_are_not_taken_for_probabilities(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_logits(split_npz(tmp_path / "m.npz"), "mine", {})


# The split


def test_without_a_split_half_is_drawn_by_seed_alone(tmp_path):
    logits, labels = model_outputs(61)
    path = save(tmp_path / "m.npz", logits=logits, labels=labels)
    with pytest.warns(
        UserWarning, match="no split; 30 of 61 rows, drawn with seed 5, serve as val"
    ):
        read = read_logits(path, "mine", {}, seed=5)
    again, other_seed = quietly(path, seed=5), quietly(path, seed=6)
    other_model = quietly(path, seed=5, model="yours")
    assert np.array_equal(read.validation.logits, again.validation.logits)
    assert not np.array_equal(read.validation.logits, other_seed.validation.logits)
    assert np.array_equal(read.validation.logits, other_model.validation.logits)
    rows = {row.tobytes() for fold in read[:2] for row in fold.logits}
    assert rows == {row.tobytes() for row in logits}
    position = {row.tobytes(): k for k, row in enumerate(logits)}
    for fold in read[:2]:
        order = [position[row.tobytes()] for row in fold.logits]
        assert order == sorted(order)
        assert np.array_equal(fold.labels, labels[order])


# The real files


@pytest.mark.skipif(not SHARED.exists(), reason="../shared/logits is absent")
@pytest.mark.parametrize("name", ["lenet5_c10", "vgg16_c10", "wrn16_c100"])
def test_shared_files_reproduce_their_own_top_labels(name):
    """The files carry the top labels of their makers, from the probabilities before rounding."""
    path = SHARED / f"{name}.npz"
    read = quietly(path)
    assert [len(fold.labels) for fold in read[:2]] == [5000, 5000]
    stored = np.load(path)
    position = {row.tobytes(): k for k, row in enumerate(stored["logits"].astype(np.float32))}
    rows = [position[row.tobytes()] for row in read.test.logits]
    top = top_label(*read.test)
    tolerance = 1e-2 if stored["logits"].dtype == np.float16 else 1e-5
    assert top.log_score == pytest.approx(stored["log_s"][rows], abs=tolerance)
    assert top.log1m_score == pytest.approx(stored["log1m_s"][rows], rel=tolerance, abs=tolerance)
    assert np.mean(top.hit == stored["hit"][rows]) > 0.999


@pytest.mark.skipif(not SHARED.exists(), reason="../shared/logits is absent")
def test_genuine_file():
    path = SHARED / "probs_resnet110_c10_logits.p"
    entry = PublishedFile("m", path.name, file_digest(path), path.stat().st_size, 10, 5000, 10000)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read = read_logits(path, "m", {"m": entry})
    assert read.validation.logits.shape == (5000, 10)
    assert read.test.logits.shape == (10000, 10)
    assert top_label(*read.test).hit.mean() == 0.9356


# Refusals


LOGITS, LABELS = model_outputs(20)


def changed(array, where, value):
    array = np.array(array, dtype=float)
    array[where] = value
    return array


P = probabilities(LOGITS)
ONE_HOT = np.eye(K)[LABELS]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"test_labels": None}, "no array test_labels, only validation_logits, .*; name"),
        ({"validation_logits": None}, "no array validation_logits"),
        (
            {"validation_logits": changed(LOGITS, (7, 2), np.nan)},
            r"validation_logits, row 7 \(counted from 0\): column 2 .* is nan; drop the row",
        ),
        ({"validation_logits": changed(LOGITS, (3, 0), -np.inf)}, "row 3 .* is -inf"),
        ({"validation_logits": changed(LOGITS, (3, 0), 1e39)}, r"row 3 .* is 1e\+39"),
        ({"validation_labels": LABELS[:-1]}, "20 rows of logits but 19 labels; give one per row"),
        ({"validation_labels": np.int64(3)}, "20 rows of logits but 1 labels"),
        ({"validation_labels": LABELS + 1}, r"labels are counted from 1 \(1 to 4\); subtract 1"),
        ({"validation_labels": changed(LABELS, 6, 9)}, "row 6 .*label 9 is out of range; number"),
        ({"validation_labels": changed(LABELS, 6, -1)}, "row 6 .*label -1 is out of range"),
        ({"validation_labels": changed(LABELS, 6, 1.5)}, "row 6 .*label 1.5 is no class number"),
        ({"validation_labels": changed(LABELS, 6, np.nan)}, "row 6 .*label nan is no class number"),
        ({"validation_labels": LABELS.astype(str)}, "labels of type <U21; give class numbers"),
        ({"validation_labels": np.zeros((20, 3))}, r"labels of shape \(20, 3\); give class"),
        ({"validation_labels": LABELS * 0 + 2}, "one class only: every label is 2; give samples"),
        ({"validation_labels": ONE_HOT * 0 + ONE_HOT[0]}, "one class only: every label is"),
        ({"validation_labels": changed(ONE_HOT, (5, slice(None)), 1)}, "row 5 .* a single 1"),
        ({"validation_labels": changed(ONE_HOT, 5, 0)}, "row 5 .* a single 1"),
        ({"validation_logits": LOGITS[:, :1]}, "one class only; give a column for every class"),
        ({"validation_logits": LOGITS[:, 0]}, r"shape \(20,\); give one row per sample"),
        ({"validation_logits": LOGITS[:0]}, "no rows; give at least one"),
        ({"validation_logits": LOGITS.astype(str)}, "are no numbers; save floats"),
        ({"validation_logits": LOGITS.astype(complex)}, "are no numbers; save floats"),
        (
            {"validation_logits": LOGITS[:, :3], "validation_labels": LABELS % 3},
            "3 classes for validation but 4 for test; give both folds the same",
        ),
        ({"validation_labels": np.array([None] * 20)}, "no readable NPZ file: an array of Python"),
    ],
)  # fmt: skip
def test_npz_refusals(tmp_path, changes, message):
    path = split_npz(tmp_path / "m.npz", **changes)
    with pytest.raises(InputError, match=message) as caught:
        quietly(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            changed(P, (4, 1), -0.2),
            r"row 4 \(counted from 0\): -0.2 is no probability; give",
        ),
        (changed(P, (4, 1), 1.3), "row 4 .*1.3 is no probability"),
        (P * changed(np.ones((20, 1)), 11, 0.9), r"row 11 .*sum to 0.9, not 1; normalise the row"),
        (P / 2, "row 0 .*sum to 0.5, not 1; normalise"),
        (changed(P, 3, 0.0), "row 3 .*sum to 0, not 1"),
    ],
)
@pytest.mark.parametrize("key", ["logits", "probabilities"])
def test_probabilities_that_are_none(tmp_path, values, message, key):
    changes = {"validation_logits": None, f"validation_{key}": values}
    changes |= {"test_logits": None, f"test_{key}": P, "test_labels": LABELS}
    with pytest.raises(InputError, match=f"validation_{key}, {message}"):
        quietly(split_npz(tmp_path / "m.npz", **changes))


@pytest.mark.parametrize("factor", [100, 1.2])
def test_percentages_are_no_logits(tmp_path, factor):
    path = save(tmp_path / "m.npz", logits=factor * P, labels=LABELS)
    message = f"rows sum to {factor}: if these are probabilities, .* divide them by {factor}"
    with pytest.raises(InputError, match=message):
        quietly(path)


def test_another_number_of_classes_than_the_models_table_says(tmp_path):
    path = save(tmp_path / "m.npz", logits=LOGITS, labels=LABELS)
    n = LOGITS.shape[1]
    assert quietly(path, n_classes=n).test.logits.shape[1] == n
    with pytest.raises(InputError, match=f"{n} columns of classes, but the models table says n_cl"):
        quietly(path, n_classes=n - 1)


def test_a_csv_that_is_not_utf_8(tmp_path):
    path = tmp_path / "m.csv"
    path.write_bytes("á,b,label\n1,2,0\n2,1,1\n".encode("latin-1"))
    with pytest.raises(InputError, match="not in UTF-8; save it as such"):
        quietly(path)


def test_values_called_probabilities_are_held_to_it(tmp_path):
    with pytest.raises(InputError, match="is no probability"):
        quietly(save(tmp_path / "m.npz", probabilities=LOGITS, labels=LABELS))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n", "needs a column label .*, found a, b; the first line names the columns"),
        ("0.1;0.9;1\n0.2;0.8;0\n", "has a single column; separate its cells by commas"),
        (",a,b,label\n0,1,2,0\n", r"column 1 has no name \(a saved row index\?\); drop it"),
        ("a,b,label\n1,2,0\n1,x,1\n", r"row 1 \(counted from 0\): column b: 'x' is no number"),
        ("a,b,label\n1,2,0\n1,,1\n", "row 1 .*: column b is empty or NaN; mend the value or drop"),
        ("a,b,label\n1,2,0\n1,3\n", "row 1 .*: column label is empty or NaN"),
        (
            "a,b,label\n1,2,0\n\n1,3,1,7\n",
            r"row 1 \(counted from 0\) has more cells than the first line has names; separate",
        ),
        ("\na,b,a,label\n1,2,3,0\n", "two columns are called a; rename one, or drop it"),
        ("a,b,label,label\n1,2,1,0\n", "two columns are called label; rename one"),
        (
            "a,b,label\n1,2,0,7\n1,3,1,7\n",
            r"row 0 \(counted from 0\) has more cells than the first",
        ),
        (
            "a;b;label\n1,5;2,5;0\n",
            r"row 0 \(counted from 0\) has more cells .* decimals with points",
        ),
        ("a\tb\tlabel\n1\t2\t0\n", "has a single column; separate its cells by commas"),
        ("a,b,label\n1,2,cat\n1,3,dog\n", "row 0 .*: column label: 'cat' is no number"),
        ("a,b,label\n1,2,0\ninf,3,1\n", r"row 1 .*: column 0 \(counted from 0\) is inf"),
        ("a,b,label\n", "no rows; give at least one"),
        ("", "no readable CSV table: No columns to parse"),
        ("a,label\n1,0\n2,1\n", "one class only; give a column for every class"),
        ("a,b,label,label_0,label_1\n1,2,0,1,0\n", "needs a column label"),
        ("a,b,label,fold\n1,2,0,train\n2,1,1,test\n", "row 0 .*: fold 'train' is unknown; write"),
        ("a,b,label,fold\n1,2,0,test\n2,1,1,test\n", "no row of fold validation; drop the fold"),
        ("a,b,label,fold\n1,2,0,test\n2,1,1,\n", "row 1 .*: fold 'nan' is unknown"),
        (
            "a,b,label,fold\n1,2,0,test\n1,2,0,validation\n2,1,1,validation\n1,2,9,test\n2,1,1,test",
            r"fold test, row 3 \(counted from 0\): label 9 is out of range",
        ),
    ],
)
def test_csv_refusals(tmp_path, text, message):
    path = tmp_path / "m.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=message) as caught:
        quietly(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 720341\n"


@pytest.mark.parametrize("suffix", [".p", ".npz", ".csv", ".parquet"])
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (POINTER, "is a git-LFS pointer, not the file itself; download"),
        ("\n<!DOCTYPE html>\n<html><body>quota</body></html>", "is an HTML page, not the file"),
    ],
)
def test_stand_ins_are_recognised_before_anything_is_parsed(tmp_path, suffix, content, message):
    path = tmp_path / f"m{suffix}"
    path.write_text(content)
    with pytest.raises(InputError, match=message):
        quietly(path)


@pytest.mark.parametrize(
    ("name", "kind"),
    [("m.npz", "NPZ file"), ("m.parquet", "Parquet table"), ("m.p", "pickle of arrays")],
)
def test_truncated_and_garbled_files(tmp_path, name, kind):
    path = tmp_path / name
    whole = frame(LOGITS, LABELS).to_parquet() if "parquet" in name else None
    if whole is None:
        split_npz(tmp_path / "whole.npz")
        whole = (tmp_path / "whole.npz").read_bytes()
    for content in (whole[: len(whole) // 2] if name != "m.p" else b"\x80", b"garbage", b""):
        path.write_bytes(content)
        with pytest.raises(InputError, match=f"no readable {kind}: ") as e:
            quietly(path)
        assert "\n" not in str(e.value)


def test_a_text_under_the_name_of_an_npz(tmp_path):
    (tmp_path / "m.npz").write_text("logits, labels")
    message = r"no readable NPZ file: not one by its first bytes; write it again with numpy.savez$"
    with pytest.raises(InputError, match=message):
        quietly(tmp_path / "m.npz")


def test_parquet_columns_of_one_name(tmp_path):
    arrays = [pa.array([0, 1]), pa.array([0.5, 1.5]), pa.array([0.5, 1.5])]
    pq.write_table(pa.table(arrays, names=["label", "a", "a"]), tmp_path / "m.parquet")
    with pytest.raises(InputError, match=r"m\.parquet: two columns are called a; rename one"):
        quietly(tmp_path / "m.parquet")


def test_single_npy_array_under_the_name_of_an_npz(tmp_path):
    with open(tmp_path / "m.npz", "wb") as file:
        np.save(file, LOGITS)
    with pytest.raises(InputError, match="one array, no NPZ"):
        quietly(tmp_path / "m.npz")


def test_missing_file_folder_and_suffix(tmp_path):
    with pytest.raises(InputError, match=r"m\.csv: no such file; check the path"):
        quietly(tmp_path / "m.csv")
    with pytest.raises(InputError, match="is a folder"):
        quietly(tmp_path)
    (tmp_path / "m.mat").write_bytes(b"x")
    with pytest.raises(InputError, match=r"suffix '.mat' is unknown; give one of .p, .pkl, "):
        quietly(tmp_path / "m.mat")


def test_a_published_model_is_verified_before_it_is_parsed(tmp_path):
    path = split_npz(tmp_path / "m.npz")
    entry = PublishedFile("m", "m.npz", file_digest(path), path.stat().st_size, K, 20, 30)
    assert len(quietly(path, model="m", manifest={"m": entry}).test.labels) == 30
    for wrong in (entry._replace(sha256="0" * 64), entry._replace(n_bytes=17)):
        with pytest.raises(InputError, match=r"the published m .*; download it again, or give"):
            quietly(path, model="m", manifest={"m": wrong})
    path.write_bytes(b"cos\nsystem\n(S'x'\ntR.")  # never parsed: the size is wrong
    with pytest.raises(InputError, match="has 20 bytes, the published m has"):
        quietly(path, model="m", manifest={"m": entry})


def test_three_decimals_are_probabilities_enough(tmp_path):
    logits, labels = model_outputs(400)
    read = quietly(
        save(tmp_path / "m.npz", logits=np.round(probabilities(logits), 3), labels=labels)
    )
    assert np.exp(read.test.logits).sum(axis=1) == pytest.approx(np.ones(200), abs=3e-3)


@pytest.mark.parametrize("probable", ["validation", "test"])
def test_folds_of_two_kinds_are_refused(tmp_path, probable):
    content = {}
    for seed, fold in enumerate(("validation", "test")):
        logits, labels = model_outputs(100 * (1 + 9 * seed))
        content[f"{fold}_logits"] = probabilities(logits) if fold == probable else logits
        content[f"{fold}_labels"] = labels
    other = "test" if probable == "validation" else "validation"
    what = rf"{other}_logits: logits, but {probable}_logits has probabilities; give both"
    with pytest.raises(InputError, match=what):
        quietly(save(tmp_path / "m.npz", **content))


def test_zero_floor_never_matters_to_a_score():
    for values in (np.eye(3), np.array([[0.5, 0.5, 0.0]]), np.array([[1 - 1e-30, 1e-30, 0]])):
        fold = checks.RawFold(values, None, None)
        assert 0 < checks.zero_floor([fold]) * 3 <= checks.COARSEST / 2
