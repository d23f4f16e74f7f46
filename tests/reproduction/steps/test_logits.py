"""Logits of a user and of a mirror: outputs, options, one-line errors."""

import hashlib

import numpy as np
import pytest
from checkout import PUBLISHED
from command import run
from mirror import CONTENT, serving, urls

from pipeline.logits import load_logits, read_top_labels

MANIFEST = PUBLISHED / "nn_calibration_logits_manifest.csv"


def written(step, folder, model="mine", **options):
    """Return the paths of the logits and the top labels that a step writes."""
    outputs = {"output_logits": folder / "logits.npz", "output_top_labels": folder / "top.parquet"}
    run(step, model=model, **{"manifest": MANIFEST, **options}, **outputs)
    return [*outputs.values()]


@pytest.fixture
def own(tmp_path):
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=90)
    path = tmp_path / "mine.csv"
    e = np.exp(rng.normal(size=(90, 3)) + 2 * np.eye(3)[labels])
    rows = np.column_stack([labels, e / e.sum(axis=1, keepdims=True)])
    np.savetxt(path, rows, delimiter=",", header="label,p_0,p_1,p_2", comments="", fmt="%.9g")
    return path


def test_a_strangers_csv_of_probabilities(own, tmp_path, capsys):
    logits, top_labels = written("read_logits", tmp_path / "out", file=own, seed=3)
    folds, origin = read_top_labels(top_labels)
    assert origin[:3] == ("mine", "real_logits", "exact")
    assert [text.split(";")[0] for text in origin.warnings] == [
        "no validation fold", "the values are probabilities"
    ]  # fmt: skip
    errors = capsys.readouterr().err.splitlines()
    assert errors == [f"warning: {own}: {text}" for text in origin.warnings]
    assert len(folds["test"].score) == 90
    found = load_logits(logits)
    assert found.test.logits.shape == (45, 3)
    names = sorted(path.name for path in (tmp_path / "out").glob("[!.]*"))
    assert names == ["logits.npz", "top.parquet"]


def test_the_models_table_says_how_many_classes(own, tmp_path, refused):
    with refused("3 columns of classes, but the models table says n_classes 4"):
        written("read_logits", tmp_path / "out", file=own, n_classes=4)


def test_a_strangers_csv_of_scores(tmp_path, capsys, refused):
    file, output = tmp_path / "mine.csv", tmp_path / "top.parquet"
    file.write_text("image,score,hit\n" + "a.png,0.75,1\nb.png,0.5,0\n" * 10)
    run("read_scores", model="mine", file=file, output_top_labels=output)
    [line] = capsys.readouterr().err.splitlines()
    assert line == f"warning: {file}: no validation fold; all 20 rows are judged"
    folds, origin = read_top_labels(output)
    assert origin[:3] == ("mine", "real_scores", "none")
    assert folds["test"].score.tolist() == [0.75, 0.5] * 10
    file.write_text("score,hit\n0.75,1\n0.5,maybe\n")
    with refused(f"error: {file}, line 3: column hit is 'maybe': write 1 where"):
        run("read_scores", model="m", file=file, output_top_labels=output)


def test_same_seed_same_bytes(own, tmp_path):
    def contents(folder, seed):
        paths = written("read_logits", tmp_path / folder, seed=seed, file=own)
        return [path.read_bytes() for path in paths]

    assert contents("a", 1) == contents("b", 1) != contents("c", 2)


def test_a_bad_file_is_one_line_and_nothing_is_written(tmp_path, refused):
    file = tmp_path / "bad.csv"
    file.write_text("label,0,1\n0,1,2\n1,nan,2\n")
    with refused(f"error: {file}, line 3: column 0 is empty or NaN"):
        written("read_logits", tmp_path / "out", file=file)
    assert not (tmp_path / "out").exists()


@pytest.fixture
def mirrors(monkeypatch):
    """The URL templates of a server that has ``m.p``, and of one that has not."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with serving() as server:
        yield urls(server, "right", "missing")


@pytest.fixture
def published(tmp_path):
    """Options that name the published file ``m.p`` and where it goes."""
    path = tmp_path / "manifest.csv"
    sha256 = hashlib.sha256(CONTENT).hexdigest()
    path.write_text(
        "model,file,sha256,bytes,dataset,n_classes,n_validation,n_test\n"
        f"m,m.p,{sha256},{len(CONTENT)},CIFAR-10,10,5000,10000\n"
    )
    return {"model": "m", "manifest": path, "output": tmp_path / "out/m.p"}


def test_a_published_file_comes_from_the_first_mirror_that_has_it(mirrors, published, tmp_path):
    right, missing = mirrors
    (tmp_path / "mirrors.csv").write_text(f"url,note\n{missing},\n{right},loopback\n")
    run("download_logits", **published, mirrors_file=tmp_path / "mirrors.csv")
    assert published["output"].read_bytes() == CONTENT
    published["output"].unlink()
    run("download_logits", **published, mirrors=right)
    assert published["output"].read_bytes() == CONTENT


def test_failed_downloads_are_one_line(mirrors, published, refused):
    with refused("m.p could not be downloaded: http://127.0.0.1:"):
        run("download_logits", **published, mirrors=mirrors[1])
    with refused("--mirrors: mirror 'no-url' is no http(s) URL"):
        run("download_logits", **published, mirrors="no-url")
    assert not published["output"].exists()
