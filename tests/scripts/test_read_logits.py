"""read_logits.py and read_scores.py: outputs, options, one-line errors, nothing half written."""

import hashlib
from pathlib import Path

import numpy as np
import pytest

import read_logits
import read_scores
from calbias.logits.store import load_fold, load_source
from calbias.logits.top_label_table import Origin, read_origin, read_top_labels

SHARED = Path(__file__).parents[3] / "shared" / "logits"


@pytest.fixture
def own(tmp_path):
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=90)
    path = tmp_path / "mine.csv"
    e = np.exp(rng.normal(size=(90, 3)) + 2 * np.eye(3)[labels])
    rows = np.column_stack([labels, e / e.sum(axis=1, keepdims=True)])
    np.savetxt(path, rows, delimiter=",", header="label,p_0,p_1,p_2", comments="", fmt="%.9g")
    return path


def run(file, folder, *options, model="mine"):
    outputs = folder / "logits.npz", folder / "top.parquet"
    required = ["--model", model, "--file", file, "--logits", outputs[0]]
    read_logits.main([*map(str, required), "--top-labels", str(outputs[1]), *options])
    return outputs


def test_a_strangers_csv_of_probabilities(own, tmp_path, capsys):
    logits, top_labels = run(own, tmp_path / "out", "--seed", "3")
    warnings = (
        "no validation fold; all 90 rows are judged; recalibration draws half of them as "
        "validation fold",
        "the values are probabilities; their logarithms serve as logits",
    )
    errors = capsys.readouterr().err.splitlines()
    assert errors == [f"warning: {own}: {text}" for text in warnings]
    assert load_source(logits) == "real_logits"
    assert load_fold(logits, "test").logits.shape == (45, 3)
    top, origin = read_top_labels(top_labels, "test")
    assert origin == Origin("mine", "real_logits", "exact", warnings)
    assert len(top.score) == 90
    names = sorted(path.name for path in (tmp_path / "out").glob("[!.]*"))
    assert names == ["logits.npz", "top.parquet"]


def test_a_strangers_csv_of_scores(tmp_path, capsys, refused):
    file, output = tmp_path / "mine.csv", tmp_path / "top.parquet"
    file.write_text("image,score,hit\n" + "a.png,0.75,1\nb.png,0.5,0\n" * 10)
    read_scores.main(["--model", "mine", "--file", str(file), "--top-labels", str(output)])
    [line] = capsys.readouterr().err.splitlines()
    assert line == f"warning: {file}: no validation fold; all 20 rows are judged"
    top, origin = read_top_labels(output, "test")
    assert origin[:3] == ("mine", "real_scores", "none")
    assert top.score.tolist() == [0.75, 0.5] * 10
    file.write_text("score,hit\n0.75,1\n0.5,maybe\n")
    with refused(f"error: {file}, line 3: column hit: 'maybe' is no number"):
        read_scores.main(["--model", "m", "--file", str(file), "--top-labels", str(output)])


def test_same_seed_same_bytes(own, tmp_path):
    def sums(folder, seed):
        paths = run(own, tmp_path / folder, "--seed", seed)
        return [hashlib.sha256(path.read_bytes()).hexdigest() for path in paths]

    assert sums("a", "1") == sums("b", "1")
    assert sums("a", "1") != sums("c", "2")


@pytest.mark.skipif(not SHARED.exists(), reason="../shared/logits is absent")
def test_genuine_file_under_the_published_convention(tmp_path, capsys):
    file = SHARED / "probs_resnet110_c10_logits.p"
    paths = run(file, tmp_path, "--softmax", "float32_2020", model="resnet110_c10")
    assert capsys.readouterr().err == ""
    assert read_origin(paths[1]) == Origin("resnet110_c10", "real_logits", "float32_2020")
    top, _ = read_top_labels(paths[1], "test")
    assert top.hit.shape == (10000,)
    assert top.hit.mean() == 0.9356
    assert top.log1m_score.min() == pytest.approx(-36.7368, abs=1e-4)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "no such file; check the path"),
        (b"version https://git-lfs.github.com/spec/v1\n", "is a git-LFS pointer, not the file"),
        (b"label,a,b\n0,1,2\n1,nan,2\n", "bad.csv, line 3: column a is empty or NaN"),
        (b"label,a,b\n1,1,2\n2,3,2\n", "labels are counted from 1 (1 to 2); subtract 1"),
    ],
)
def test_a_mistake_is_one_line_and_nothing_is_written(tmp_path, refused, content, message):
    file = tmp_path / "bad.csv"
    if content is not None:
        file.write_bytes(content)
    with refused(f"error: {file}", message):
        run(file, tmp_path / "out")
    assert not (tmp_path / "out").exists()
