"""The command line of draw_surrogate_logits.py."""

import hashlib

import draw_surrogate_logits
from calbias.logits.store import load_fold, load_source
from calbias.logits.top_label_table import read_origin, read_top_labels


def run(folder, *options, model="resnet110_c10", n_classes=10):
    outputs = folder / "logits.npz", folder / "top.parquet"
    required = ["--model", model, "--n-classes", n_classes, "--seed", 1]
    required += ["--logits", outputs[0], "--top-labels", outputs[1]]
    draw_surrogate_logits.main([*map(str, required), *options])
    return outputs


def test_sizes_source_and_metadata(tmp_path, capsys):
    logits, top_labels = run(tmp_path)
    assert capsys.readouterr().out.startswith("resnet110_c10: surrogate logits; ")
    assert load_source(logits) == "surrogate_logits"
    assert load_fold(logits, "validation").logits.shape == (5000, 10)
    assert load_fold(logits, "test").logits.shape == (10000, 10)
    assert read_origin(top_labels)[:3] == ("resnet110_c10", "surrogate_logits", "exact")
    top, _ = read_top_labels(top_labels, "test")
    assert len(top.score) == 10000
    assert top.score.min() > 0.1


def test_same_seed_same_bytes(tmp_path):
    sums = [
        [hashlib.sha256(path.read_bytes()).hexdigest() for path in run(tmp_path / folder)]
        for folder in ("a", "b")
    ]
    assert sums[0] == sums[1]


def test_sizes_and_softmax_can_be_set(tmp_path):
    logits, top_labels = run(
        tmp_path,
        *("--n-validation", "20", "--n-test", "30", "--softmax", "float32_2020"),
        model="resnet152_imgnet",
        n_classes=1000,
    )
    assert load_fold(logits, "validation").logits.shape == (20, 1000)
    assert load_fold(logits, "test").logits.shape == (30, 1000)
    assert read_origin(top_labels).softmax == "float32_2020"


def test_a_model_without_published_fit_is_one_line(tmp_path, refused):
    with refused("model mine has no fit in ", "give it logits in logits_dir"):
        run(tmp_path / "out", model="mine")
    assert not (tmp_path / "out").exists()
