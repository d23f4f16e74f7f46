"""A user's mistakes, through Snakemake: one clear line, nothing written, no traceback."""

import pickle

import numpy as np
import pytest
import yaml

FILE = "probs_resnet110_c10_logits.p"


def errors(text):
    """The lines by which a user learns what is wrong."""
    lines = [line for line in text.splitlines() if line.startswith(("error: ", "config"))]
    return list(dict.fromkeys(lines))  # the end of the output repeats them


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"sede": 1}, "unknown key 'sede'. Did you mean seed?"),
        ({"estimators": ["ece_swep_em"]}, "unknown estimator 'ece_swep_em'. Did you mean ece_sw"),
        ({"shards": 0}, "shards: 0 is less than the minimum of 1"),
        ({"replicates": "many"}, "bad.yaml: replicates: 'many' must be a whole number"),
        ({"norm": float("nan")}, "norm: must be a finite number"),
        (
            {"experiments": {"two": {"scores": [[1, 1]], "powers": [2, 2.0], "n_samples": [9]}}},
            "experiments.two: beta_1_1_power_2 is there twice",
        ),
        ({"softmax": "float16"}, "softmax: 'float16' is not one of"),
        ({"models": "nowhere.csv"}, "nowhere.csv: there is no such table"),
        ({"experiments": {"fits": {"models": "all", "curve": "fitted", "n_samples": [-5]}}}, "-5"),
        ({"experiments": {"realistic": {"models": ["resnet11_c10"]}}}, "resnet110_c10?"),
    ],
)
def test_a_bad_configuration(fresh, change, expected):
    (fresh / "bad.yaml").write_text(yaml.safe_dump(change))
    tiny = str(fresh / "tests/workflow/tiny.yaml")
    text = fresh.run("--configfile", tiny, "bad.yaml", config=None, ok=False)
    [line] = [line for line in text.splitlines() if expected in line]
    assert len(line) < 400
    assert not (fresh / "results/tables").exists()
    assert not (fresh / "results/logits").exists()


def folds(change=None):
    """Logits and labels of a small CIFAR-10-like file as the published pickles hold them."""
    generator = np.random.default_rng(1)
    values = [generator.normal(size=(40, 10)).astype(np.float32) for _ in range(2)]
    labels = [generator.integers(0, 10, size=(40, 1)) for _ in range(2)]
    if change:
        change(values, labels)
    return tuple(zip(values, labels, strict=True))


def first(values, labels, value):
    values[0][3, 2] = value


BAD_ARRAYS = {
    "nan": lambda values, labels: first(values, labels, np.nan),
    "infinite": lambda values, labels: first(values, labels, np.inf),
    "label_out_of_range": lambda values, labels: labels[1].__setitem__((5, 0), 10),
    "rows_differ": lambda values, labels: labels.__setitem__(0, labels[0][:-1]),
    "one_class": lambda values, labels: values.__setitem__(
        slice(None), [value[:, :1] for value in values]
    ),
}
BAD_FILES = {
    "lfs_pointer": b"version https://git-lfs.github.com/spec/v1\noid sha256:"
    + b"0" * 64
    + b"\nsize 1\n",
    "html": b"<!DOCTYPE html><html><body>Quota exceeded</body></html>",
    "code": pickle.dumps(print),
    "cut_short": pickle.dumps(folds())[:500],
}


@pytest.mark.parametrize("case", [*BAD_FILES, *BAD_ARRAYS])
def test_a_bad_logit_file(fresh, case):
    content = BAD_FILES.get(case) or pickle.dumps(folds(BAD_ARRAYS[case]))
    published = case == "code"  # else a name of one's own: published files have known checksums
    model, name = ("resnet110_c10", FILE) if published else ("mine", "mine.p")
    (fresh / "mine").mkdir()
    (fresh / "mine" / name).write_bytes(content)
    (fresh / "models.csv").write_text(f"model,group,n_classes,file\n{model},own,10,{name}\n")
    config = ("logits_dir=mine", "models=models.csv", "experiments={}")
    text = fresh.run("--config", *config, "--", f"results/top_labels/{model}.parquet", ok=False)
    [line] = errors(text)
    assert f"mine/{name}" in line
    assert not list((fresh / "results").rglob("*.parquet"))
    assert not list((fresh / "results").rglob("*.npz"))
    if case in ("lfs_pointer", "html"):  # seen before any job starts
        assert "rule " not in text


def test_a_published_file_with_another_checksum(fresh):
    (fresh / "mine").mkdir()
    (fresh / "mine" / FILE).write_bytes(pickle.dumps(folds()))
    text = fresh.run("--config", "logits_dir=mine", ok=False)
    [line] = errors(text)
    assert "sha256" in line or "size" in line or "bytes" in line
    assert FILE in line
    assert not (fresh / "results/tables").exists()
    assert not (fresh / "results/replicates").exists()
