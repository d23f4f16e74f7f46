"""A user's configuration and files, through Snakemake: refused in one line, downloaded, fitted."""

import json
import os
import pickle
import shutil

import numpy as np
import pandas as pd
import pytest
import yaml
from checkout import GENUINE, TINY, errors
from command import read
from mirror import serving_folder


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"sede": 1}, "bad.yaml: top level: unknown key 'sede'. Did you mean seed?"),
        ({"models": "nowhere.csv"}, "nowhere.csv: there is no such table"),
    ],
)
def test_a_bad_configuration(fresh, change, expected):
    (fresh / "bad.yaml").write_text(yaml.safe_dump(change))
    text = fresh.run("--configfile", TINY, "bad.yaml", config=None, ok=False)
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
        values[0][3, 2] = change
    return tuple(zip(values, labels, strict=True))


BAD_FILES = {
    "lfs_pointer": b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n",
    "nan": pickle.dumps(folds(np.nan)),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_a_bad_logit_file(fresh, case):
    (fresh / "mine").mkdir()
    (fresh / "mine/mine.p").write_bytes(BAD_FILES[case])
    (fresh / "models.csv").write_text("model,group,n_classes,file\nmine,own,10,mine.p\n")
    config = ("logits_dir=mine", "models=models.csv", "experiments={}")
    text = fresh.run("--config", *config, "--", "results/top_labels/mine.parquet", ok=False)
    [line] = errors(text)
    assert "mine/mine.p" in line
    assert not list((fresh / "results").rglob("*.parquet"))
    assert not list((fresh / "results").rglob("*.npz"))
    before_any_job = case == "lfs_pointer"
    assert ("failed: read_logits" in text) != before_any_job


MODEL = "resnet110_c10"
FILE = f"probs_{MODEL}_logits.p"


def place(checkout, content=b"?" * 685390):
    """Put a file, as large as the published one, where the configuration looks; older than all."""
    folder = checkout / "my_logits"
    folder.mkdir()
    (folder / FILE).write_bytes(content)
    os.utime(folder / FILE, (1, 1))
    return folder / FILE


def test_a_present_file_is_never_planned_for_download(fresh):
    place(fresh)
    jobs = fresh.planned("--config", "download=True", "logits_dir=my_logits")
    assert "read_logits resnet110_c10" in jobs
    assert not [job for job in jobs if job.startswith("download_logits") and FILE in job]


@pytest.mark.parametrize(
    ("fits", "step"),
    [
        ("published", None),
        ("refitted", "fit_model"),
        ("real_or_published", "fit_model"),
        ("own_scores", "fit_own_scores"),
    ],
)
def test_whose_fits_are_simulated_from(fresh, fits, step):
    place(fresh)
    target = "results/scenarios/realistic.parquet"
    jobs = fresh.planned("--config", f"fits={fits}", "logits_dir=my_logits", "--", target)
    assert {job.split()[0] for job in jobs if job.startswith("fit")} == ({step} if step else set())


def test_a_refused_file_is_named_in_one_line_and_left_as_it_is(fresh):
    path = place(fresh)
    text = fresh.run("--config", "logits_dir=my_logits", ok=False)
    assert f"error: my_logits/{FILE}" in text
    assert path.read_bytes() == b"?" * 685390
    assert path.stat().st_mtime == 1


TARGET = "results/top_labels/resnet110_c10.parquet"


@pytest.fixture
def mirror(tmp_path):
    """The address of a server of the files in ``tmp_path``/mirror."""
    (tmp_path / "mirror").mkdir()
    with serving_folder(tmp_path / "mirror") as address:
        yield address


def download(checkout, *urls, ok=True):
    config = ("download=True", "logits_dir=my logits", f"mirrors={json.dumps(urls)}")
    environment = {"NO_PROXY": "127.0.0.1"}
    return checkout.run("--config", *config, "--", TARGET, ok=ok, environment=environment)


def test_the_file_comes_from_the_mirrors_of_the_config(fresh, mirror, tmp_path):
    (tmp_path / "mirror" / GENUINE.name).symlink_to(GENUINE)
    download(fresh, f"{mirror}/no/{{file}}?a=1&b=2", f"{mirror}/{{file}}")
    assert (fresh / "my logits" / GENUINE.name).read_bytes() == GENUINE.read_bytes()
    assert not (fresh / "my logits" / GENUINE.name).stat().st_mode & 0o222  # protected
    assert (fresh / TARGET).exists()


def test_when_no_mirror_has_it_one_line_says_so_and_ends_the_run(fresh, mirror):
    said = download(fresh, f"{mirror}/{{file}}", ok=False)
    [line] = errors(said)
    assert said.splitlines()[-1] == line
    assert f"{mirror}/{GENUINE.name} answered 404" in line
    assert "by hand, or set download: false to go on without it" in line
    assert not list((fresh / "my logits").glob("*"))


@pytest.mark.nightly
def test_the_genuine_file_is_fitted_and_its_fits_are_simulated_from(fresh):
    (fresh / "real").mkdir()
    shutil.copyfile(GENUINE, fresh / "real" / GENUINE.name)
    tables = ("beta_fits", "glm_fits", "scenarios")
    targets = [f"results/tables/{name}.csv" for name in tables]
    config = ("logits_dir=real", "softmax=float32_2020")
    fresh.run("--config", *config, "--", *targets)

    def of_model(name):
        table = read(fresh / f"results/tables/{name}.csv")
        return table[(table == "resnet110_c10").any(axis=1)]

    [beta] = of_model("beta_fits").to_dict("records")
    assert beta["source"] == "real_logits"
    assert (round(beta["alpha"], 4), round(beta["beta"], 4)) == (2.7752, 0.0478)
    assert len(of_model("glm_fits")) == 12
    assert set(of_model("scenarios")["source"]) == {"real_logits"}


@pytest.mark.nightly
def test_with_ten_files_all_ten_models_are_in_table_1(fresh):
    """Made-up files: the published ones are not at hand. A plan, which takes seconds."""
    models = pd.read_csv(fresh / "config/models.csv")
    (fresh / "ten").mkdir()
    for name, k in zip(models["model"], models["n_classes"], strict=True):
        folds = {"logits": np.zeros((2, k)), "labels": np.zeros(2, int)}
        both = {f"{x}_{name}": rows for name, rows in folds.items() for x in ("validation", "test")}
        np.savez(fresh / f"ten/{name}.npz", **both)
    models.assign(file=models["model"] + ".npz").to_csv(fresh / "ten.csv", index=False)
    config = ("logits_dir=ten", "models=ten.csv", "replication=[vgg16_c10]")
    target = "results/figures/table1_recalibration.png"
    planned = fresh.planned("--config", *config, "--", target)
    for step in ("read_logits", "recalibrate_model"):
        jobs = [job for job in planned if job.startswith(f"{step} ")]
        assert sorted(jobs) == sorted(f"{step} {model}" for model in models["model"])
