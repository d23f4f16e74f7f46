"""A user's own outputs: what is read, what is converted, and every refusal."""

import os
import pickle

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from refusals import refuses, refuses_texts

from calbias.errors import InputError
from calbias.io.files import file_digest
from calbias.reading.top_label import top_label
from pipeline.logits import two_folds
from pipeline.manifest import PublishedFile
from pipeline.steps.read_logits import checked_outputs

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


def frame(values, labels, names=("logit_a", "logit_b", "logit_c", "logit_d"), **columns):
    return pd.DataFrame({**dict(zip(names, values.T, strict=True)), "label": labels, **columns})


def read(path, model="mine", manifest=None, n_classes=None):
    return checked_outputs(path, model, manifest or {}, n_classes)


def save(path, **arrays):
    np.savez(path, **arrays)
    return path


def split_npz(path, **changes):
    arrays = {}
    for fold, of_fold in (("validation", model_outputs(20)), ("test", model_outputs(30, 1))):
        arrays[f"{fold}_logits"], arrays[f"{fold}_labels"] = of_fold
    arrays.update(changes)
    return save(path, **{name: array for name, array in arrays.items() if array is not None})


def read_split(tmp_path, **changes):
    return read(split_npz(tmp_path / "m.npz", **changes))


def refused(path, message, **options):
    with pytest.raises(InputError, match=message) as caught:
        read(path, **options)
    assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.float64, np.int32])
def test_npz_with_folds_comes_out_as_it_is_in_float32(tmp_path, dtype):
    logits, labels = model_outputs(30, 1)
    logits = (10 * logits).astype(dtype)
    found = read(split_npz(tmp_path / "m.npz", test_logits=logits))
    assert found.warnings == ()
    for fold, expected in (("validation", model_outputs(20)), ("test", (logits, labels))):
        for array, wanted, kind in zip(found.folds[fold], expected, ("f4", "i8"), strict=True):
            assert np.array_equal(array, wanted.astype(kind))
            assert array.dtype == kind
    assert two_folds(found.folds, seed=5)[:2] == (found.folds["validation"], found.folds["test"])


def test_labels_as_numbers_columns_or_one_hot(tmp_path):
    _, labels = model_outputs(30, 1)
    one_hot = [np.eye(K, dtype=dtype)[labels] for dtype in (np.int8, bool, float)]
    for same in (labels.astype(np.uint8)[:, None], labels.astype(float), *one_hot):
        found = read(split_npz(tmp_path / "m.npz", test_labels=same))
        assert np.array_equal(found.folds["test"].labels, labels)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("kind", ["plain", "one_hot", "fold"])
def test_tables(tmp_path, suffix, kind):
    logits, labels = model_outputs()
    table, test = frame(logits, labels), np.arange(60) % 3 > 0
    parts = {"test": test | True}
    if kind == "one_hot":
        hot = {f"label_{k}": (labels == k).astype(int) for k in range(K)}
        table = table.drop(columns="label").assign(**hot)
    if kind == "fold":
        table.insert(1, "fold", np.where(test, "test", "validation"))
        parts = {"validation": ~test, "test": test}
    path = tmp_path / f"m{suffix}"
    table.to_csv(path, index=False) if suffix == ".csv" else table.to_parquet(path)
    folds = read(path).folds
    assert set(folds) == set(parts)
    for name, rows in parts.items():
        assert np.array_equal(folds[name].logits, logits[rows])
        assert np.array_equal(folds[name].labels, labels[rows])


def test_a_saved_row_index_is_no_class_and_types_of_columns_do_not_matter(tmp_path):
    logits, labels = model_outputs()
    table, path = frame(logits, labels), tmp_path / "m.parquet"
    for same in (
        table.set_index(np.arange(60)[::-1]),
        table.set_index("label"),
        table.astype({"logit_a": str, "logit_b": "category"}),
    ):
        same.to_parquet(path)
        found = read(path).folds["test"]
        assert np.array_equal(found.logits, logits)
        assert np.array_equal(found.labels, labels)
    for column in (pd.to_datetime(["2020-01-01"] * 60), ["x"] * 60, list(np.ones((60, 50)))):
        table.assign(e=column).to_parquet(path)
        assert np.array_equal(read(path).folds["test"].logits, logits)
    table.assign(logit_e=["1"] * 59 + ["x"]).to_parquet(path)
    refused(path, "column logit_e.* not a number.*; write one, or drop")


def test_numbered_columns_are_put_in_the_order_of_their_numbers(tmp_path):
    logits, labels = model_outputs()
    order = [2, 0, 3, 1]
    path = tmp_path / "m.csv"
    frame(logits[:, order], labels, [f"class_{k}" for k in order]).to_csv(path, index=False)
    assert np.array_equal(read(path).folds["test"].logits, logits)


def test_pickle_of_the_published_form(tmp_path):
    content = (model_outputs(20), model_outputs(30, 1))
    (tmp_path / "m.pkl").write_bytes(pickle.dumps(content))
    folds = read(tmp_path / "m.pkl").folds
    assert np.array_equal(folds["validation"].logits, content[0][0])
    assert np.array_equal(folds["test"].labels, content[1][1])


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_probabilities_are_recognised_converted_and_announced(tmp_path, dtype):
    logits, labels = model_outputs(30, 1)
    p, v = (probabilities(z).astype(dtype) for z in (logits, model_outputs(20)[0]))
    found = read(split_npz(tmp_path / "m.npz", validation_logits=v, test_logits=p))
    assert found.warnings == ("the values are probabilities; their logarithms serve as logits",)
    score, off = top_label(logits, labels).score, 2 * float(np.finfo(dtype).eps) + 1e-6
    assert top_label(found.folds["test"].logits, labels).score == pytest.approx(score, abs=off)


@pytest.mark.parametrize(
    "write",
    [lambda p: p.astype(np.float16), lambda p: np.round(p, 3), lambda p: p.astype(np.float32)],
)
def test_rounded_probabilities_still_sum_to_one(tmp_path, write):
    n_classes = 1000 if write(np.ones(1)).dtype == np.float16 else K
    logits, labels = np.random.default_rng(0).normal(size=(400, n_classes)) * 2, np.arange(400) % K
    p = write(probabilities(logits))
    found = read(save(tmp_path / "m.npz", probabilities=p, labels=labels)).folds["test"]
    assert np.exp(found.logits).sum(axis=1) == pytest.approx(np.ones(400), abs=5e-3)


def test_a_zero_probability_gets_a_finite_logarithm_and_leaves_the_score_alone(tmp_path):
    p = np.array([[1, 0, 0], [0.998, 0.002, 0], [0.2, 0.3, 0.5]])
    top = top_label(*read(save(tmp_path / "m.npz", logits=p, labels=[0, 1, 2])).folds["test"])
    assert top.score == pytest.approx([1, 0.998, 0.5], abs=5e-4)
    # The zeros of a row together stay below half of the smallest probability written, capped.
    assert np.exp(top.log1m_score[0]) == pytest.approx(2 * 0.001 / 6, rel=1e-3)


def test_confident_float32_probabilities_keep_log1m_score(tmp_path):
    logits = np.array([[40, 0, -5], [0, 30, 1], [-3, 0, 25], [1, 0, -1]], dtype=np.float32)
    p, labels = probabilities(logits).astype(np.float32), [0, 1, 2, 0]
    top = top_label(*read(save(tmp_path / "m.npz", logits=p, labels=labels)).folds["test"])
    assert top.log1m_score == pytest.approx(top_label(logits, labels).log1m_score, rel=1e-6)


@pytest.mark.parametrize("names", [("logits", "labels"), ("test_logits", "test_labels")])
def test_a_file_without_validation_fold_is_judged_whole_and_split_for_recalibration(
    tmp_path, names
):
    logits, labels = model_outputs(61)
    found = read(save(tmp_path / "m.npz", **dict(zip(names, (logits, labels), strict=True))))
    [warning] = found.warnings
    assert warning.startswith("no validation fold; all 61 rows are judged; recalibration draws ")
    assert list(found.folds) == ["test"]
    assert np.array_equal(found.folds["test"].logits, logits)
    halves, again, other = (two_folds(found.folds, seed=seed) for seed in (5, 5, 6))
    assert len(halves.validation.labels) == 30
    assert np.array_equal(halves.validation.logits, again.validation.logits)
    assert not np.array_equal(halves.validation.logits, other.validation.logits)
    rows = [(z.tobytes(), y) for fold in halves[:2] for z, y in zip(*fold, strict=True)]
    assert sorted(rows) == sorted((z.tobytes(), y) for z, y in zip(logits, labels, strict=True))


LOGITS, LABELS = model_outputs(20)


def changed(array, where, value):
    array = np.array(array, dtype=float)
    array[where] = value
    return array


P = probabilities(LOGITS)
ONE_HOT = np.eye(K)[LABELS]

test_npz_arrays_that_do_not_fit_together = refuses(
    read_split,
    ({"test_labels": None}, "no array test_labels, only validation_logits, .*; name"),
    ({"validation_logits": None}, "no array validation_logits"),
    ({"test_labels": None, "test_logits": None}, "no array test_logits; the test fold is"),
    ({"validation_logits": LOGITS[:, :3], "validation_labels": LABELS % 3},
     "3 classes for validation but 4 for test; give both folds the same"),
)  # fmt: skip

test_bad_logits = refuses(
    lambda logits, tmp_path: read_split(tmp_path, validation_logits=logits),
    (changed(LOGITS, (7, 2), np.nan),
     r"validation_logits, row 7 \(counted from 0\): column 2 .* is nan; correct"),
    (changed(LOGITS, (3, 0), 1e39), r"row 3 .* is 1e\+39"),
    (LOGITS[:, :1], "one class only; give a column for every class"),
    (LOGITS[:, 0], r"shape \(20,\); give one row per sample"),
    (LOGITS[:0], "no rows; give at least one"),
    (LOGITS.astype(str), "are not numbers; save floats"),
)  # fmt: skip

test_bad_labels = refuses(
    lambda labels, tmp_path: read_split(tmp_path, validation_labels=labels),
    (LABELS[:-1], "20 rows of logits but 19 labels; give one per row"),
    (LABELS + 1, r"labels are counted from 1 \(1 to 4\); subtract 1"),
    (changed(LABELS, 6, 9), "row 6 .*label 9 is out of range; number"),
    (changed(LABELS, 6, 1.5), "row 6 .*label 1.5 is not a class number"),
    (changed(LABELS, 6, np.nan), "row 6 .*label nan is not a class number"),
    (LABELS.astype(str), "labels of type <U21; give class numbers"),
    (np.zeros((20, 3)), r"labels of shape \(20, 3\); give class"),
    (changed(ONE_HOT, (5, slice(None)), 1), "row 5 .* a single 1"),
    (np.array([None] * 20), "no readable NPZ file: an array of Python"),
)


@pytest.mark.parametrize("key", ["logits", "probabilities"])
def test_probabilities_that_are_none(tmp_path, key):
    changes = {"validation_logits": None, "test_logits": None, f"test_{key}": P}
    for values, message in (
        (changed(P, (4, 1), -0.2), r"row 4 \(counted from 0\): -0.2 is not a probability; give"),
        (changed(P, (4, 1), 1.3), "row 4 .*1.3 is not a probability"),
        (P * changed(np.ones((20, 1)), 11, 0.9), r"row 11 .*sum to 0.9, not 1; normalise the row"),
        (changed(P, 3, 0.0), "row 3 .*sum to 0, not 1"),
    ):
        arrays = {**changes, f"validation_{key}": values, "test_labels": LABELS}
        refused(split_npz(tmp_path / "m.npz", **arrays), f"validation_{key}, {message}")


test_sums_that_two_forms_have_and_logits_that_are_no_probabilities = refuses(
    lambda tmp_path, **of: read(save(tmp_path / "m.npz", labels=LABELS, **of)),
    ({"logits": 1.2 * P}, "rows sum to 1.2: --values counts divides each row by its sum"),
    ({"probabilities": LOGITS}, "is not a probability"),
)


@pytest.mark.parametrize("probable", ["validation", "test"])
def test_folds_of_two_kinds_are_refused(tmp_path, probable):
    values = {fold: model_outputs(n)[0] for fold, n in (("validation", 20), ("test", 30))}
    values[probable] = probabilities(values[probable])
    other = "test" if probable == "validation" else "validation"
    what = rf"{other}_logits: logits, but {probable}_logits has probabilities; give both"
    arrays = {f"{fold}_logits": array for fold, array in values.items()}
    refused(split_npz(tmp_path / "m.npz", **arrays), what)


def test_another_number_of_classes_than_the_models_table_says(tmp_path):
    path = save(tmp_path / "m.npz", logits=LOGITS, labels=LABELS)
    assert read(path, n_classes=K).folds["test"].logits.shape[1] == K
    refused(path, f"{K} columns of classes, but the models table says n_cl", n_classes=K - 1)


test_csv_refusals = refuses_texts(
    read,
    "m.csv",
    ("a,b\n1,2\n", "needs a column label .*; found a, b; the first line names the columns"),
    ("c_0,c_1,label\n1,2,0\n1,x,1\n", "m.csv, line 3: column c_1: 'x' is not a number"),
    ("c_0,c_1,label\n-1,2,0\n\n1,,1\n", "m.csv, line 4: column c_1 is empty or NaN; fill it, or "),
    (
        "a;b;label\n1,5;2,5;0;1\n",
        "line 2: 4 cells, but 3 columns; .* semicolons, .* decimals",
    ),
    ("\nc_0,c_1,c_0,label\n1,2,3,0\n", "two columns are called c_0; rename one, or drop it"),
    ("c_0,c_1,label\n1,2,0\ninf,3,1\n", r"m.csv, line 3: column 0 .*\(counted from 0\) is inf"),
    ("a,b,label\n", "no rows, only the names of the columns; give at least two"),
    ("a,b,label,label_0,label_1\n1,2,0,1,0\n", "label may be the outcome"),
    (
        "c_0,c_1,label,fold\n-1,2,0,test\n1,2,0,val\n1,2,1,val\n1,2,9,test\n",
        "--missing 9: c_0, c_1",
    ),
    ("score,hit\n0.5,1\n0.7,0\n", "top-label scores, no logits; read it by step read_scores"),
    ("á,b,label\n1,2,0\n2,1,1\n".encode("latin-1"), "line 1: not in UTF-8 .*; save the file"),
)


@pytest.mark.parametrize(
    ("name", "kind"),
    [("m.npz", "NPZ file"), ("m.parquet", "Parquet table"), ("m.p", "pickle"), ("m.csv", None)],
)
def test_placeholders_and_truncated_and_garbled_files(tmp_path, name, kind):
    """Other placeholders: test_logits_download.py; CSV: above."""
    path = tmp_path / name
    path.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 720341\n")
    refused(path, "is a git-LFS pointer, not the file itself; download")
    whole = {
        "m.npz": split_npz(tmp_path / "whole.npz").read_bytes(),
        "m.parquet": frame(LOGITS, LABELS).to_parquet(),
    }.get(name, b"\x80\x80")
    for content in (whole[: len(whole) // 2], b"garbage", b"") if kind else ():
        path.write_bytes(content)
        refused(path, f"no readable {kind}")


def test_other_contents_under_the_name_of_an_npz_or_parquet(tmp_path):
    (tmp_path / "m.npz").write_text("logits, labels")
    refused(tmp_path / "m.npz", "not one by its first bytes; write it again with numpy.savez$")
    with open(tmp_path / "m.npz", "wb") as file:
        np.save(file, LOGITS)
    refused(tmp_path / "m.npz", "one array, no NPZ")
    arrays = [pa.array([0, 1]), pa.array([0.5, 1.5]), pa.array([0.5, 1.5])]
    pq.write_table(pa.table(arrays, names=["label", "p_0", "p_0"]), tmp_path / "m.parquet")
    refused(tmp_path / "m.parquet", "two columns are called p_0; rename one")


def test_missing_file_folder_link_and_suffix(tmp_path):
    os.symlink("n.csv", tmp_path / "n.csv")
    (tmp_path / "m.mat").write_bytes(b"x")
    for name, message in {
        "m.csv": r"m\.csv: no such file; check the path",
        ".": "a folder, not a file",
        "n.csv": "a link to n.csv, which leads to no file; check",
        "m.mat": r"suffix '.mat' is not read; give one of .npz, .csv",
    }.items():
        refused(tmp_path / name, message)


def test_a_file_of_the_published_name_is_verified_before_it_is_parsed(tmp_path):
    path = tmp_path / "m.p"
    path.write_bytes(pickle.dumps((model_outputs(20), model_outputs(30, 1))))
    entry = PublishedFile("m", "m.p", file_digest(path), path.stat().st_size)
    assert len(read(path, "m", {"m": entry}).folds["test"].labels) == 30
    for wrong, message in (
        (entry._replace(sha256="0" * 64), f"sha256 is {entry.sha256[:12]}…, and of the published"),
        (entry._replace(n_bytes=17), "bytes, the published m has 17; download it again"),
    ):
        refused(path, message, model="m", manifest={"m": wrong})
    path.write_bytes(b"cos\nsystem\n(S'x'\ntR.")  # never parsed: the size is wrong
    refused(path, "has 20 bytes, the published m has", model="m", manifest={"m": entry})


def test_another_file_of_a_published_model_is_ones_own_and_says_so(tmp_path):
    entry = PublishedFile("m", "m.p", "0" * 64, 17)
    warnings = read(split_npz(tmp_path / "m.npz"), "m", {"m": entry}).warnings
    assert warnings[0].startswith("not the published file m.p of m")
