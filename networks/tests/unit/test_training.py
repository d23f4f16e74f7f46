"""Networks of known truth: configurations, the generators' laws, the measured truth, what ships."""

import csv
import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import yaml

NETWORKS = Path(__file__).parents[2]
ROOT = NETWORKS.parent
SHIPPED, PICTURES = NETWORKS / "resources", NETWORKS / "law/resources"
sys.path.insert(0, str(NETWORKS))

# ruff: noqa: E402
import calbias
from networks.kept import read_networks
from trained import factorial
from trained.configuration import read_configuration
from trained.judging import write_configurations
from trained.populations import outputs_of, sketch
from trained.ship import named, write_joined
from trained.tasks import Rows, load_task
from trained.truth import measure_truth

CONFIGURATIONS = sorted((NETWORKS / "configs").glob("*.yaml"))


def test_judging_networks_are_those_that_were_drawn(tmp_path):
    write_configurations(tmp_path)
    judging = [path for path in CONFIGURATIONS if read_configuration(path).role == "judging"]
    assert [path.name for path in judging] == sorted(path.name for path in tmp_path.iterdir())
    assert all((tmp_path / path.name).read_text() == path.read_text() for path in judging)


def test_picture_networks_are_the_factorial_that_was_drawn():
    drawn = dict(factorial.configurations())
    files = {path.stem: path for path in (NETWORKS / "law/configs").iterdir()}
    assert {name: yaml.safe_load(path.read_text()) for name, path in files.items()} == drawn
    assert all(read_configuration(path).role == "judging" for path in files.values())


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("role: judge", "role is 'judge'; give one of design, judging, control"),
        ("depth: -1", "depth is -1; give a int of at least 0"),
        ("epochs: true", "epochs is True; give a int of at least 0"),
        ("layers: 2", "unknown key 'layers'"),
    ],
)
def test_wrong_configuration_is_refused(tmp_path, line, problem):
    path = tmp_path / "wrong.yaml"
    path.write_text(f"{line}\n")
    with pytest.raises(ValueError, match=problem):
        read_configuration(path)


@pytest.mark.parametrize("name", ["uncertain10", "pictures10"])
def test_labels_of_an_uncertain_task_follow_its_chances(name):
    task = load_task(name)
    rows = task.draw(50_000, np.random.default_rng(1))
    outputs = outputs_of(task.logits(rows.inputs), rows)
    scores = 1 / (1 + np.exp(-outputs.log_odds.astype(float)))
    assert np.allclose(scores, outputs.chances, atol=1e-5)
    excess = outputs.hits - outputs.chances
    assert abs(excess.mean()) < 4 * excess.std() / len(excess) ** 0.5
    high = outputs.chances > 0.9
    assert abs(excess[high].mean()) < 4 * excess[high].std() / high.sum() ** 0.5


def test_log_odds_are_of_the_top_class_and_do_not_round():
    logits = np.array([[200.0, 0.0, 0.0], [1.0, 3.0, 1.0]], np.float32)
    outputs = outputs_of(logits, Rows(logits, np.array([0, 2]), None))
    assert np.allclose(outputs.log_odds, [200 - np.log(2), 2 - np.log(2)])
    assert outputs.hits.tolist() == [True, False]
    assert np.allclose(outputs.losses, [0, 2 + np.log(1 + 2 * np.exp(-2))], atol=1e-6)


def test_sketch_counts_rows_and_hits_by_hundredths():
    table = sketch(np.array([-0.005, 0.0, 0.0099, 0.01, 400.0]), np.array([1, 1, 0, 1, 1]))
    assert table.to_pydict() == {"cell": [-1, 0, 1, 32767], "n": [1, 2, 1, 1], "hits": [1, 1, 1, 1]}


def test_networks_that_the_build_folder_lacks_stay_in_what_ships(tmp_path):
    path = tmp_path / "sketches.parquet"
    tables = {value: sketch(np.array([value]), np.array([1])) for value in (0.0, 1.0, 2.0)}
    write_joined(path, [named("b", tables[0.0]), named("c", tables[1.0])])
    write_joined(path, [named("a", tables[2.0]), named("c", tables[2.0])])
    rows = pq.read_table(path).to_pydict()
    assert (rows["name"], rows["cell"]) == (["a", "b", "c"], [200, 0, 200])


def _recalibrated(n: int, power: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return log odds of scores c^power, hits of probability c, and the true gaps c^power - c."""
    rng = np.random.default_rng(2)
    chances = rng.beta(3.0, 0.6, n)
    scores = chances**power
    return np.log(scores / (1 - scores)), rng.random(n) < chances, scores - chances


@pytest.mark.parametrize("power", [1.0, 1.1, 2.0])
def test_measured_truth_is_that_of_a_recalibrated_curve(power):
    log_odds, hits, gaps = _recalibrated(400_000, power)
    truth = measure_truth(log_odds, hits)
    assert abs(truth.l1 - np.abs(gaps).mean()) < 4 * truth.l1_se
    assert abs(truth.l2**2 - (gaps**2).mean()) < 4 * max(2 * truth.l2 * truth.l2_se, 2e-6)
    assert truth.l1_se < 0.002


def test_shipped_files_are_complete_and_agree_with_the_table():
    with (SHIPPED / "networks.csv").open() as file:
        rows = {row["name"]: row for row in csv.DictReader(file)}
    sketches, top_labels = (
        pq.read_table(SHIPPED / f"{file}.parquet").to_pandas()
        for file in ("sketches", "top_labels")
    )
    for path in CONFIGURATIONS:
        configuration = read_configuration(path)
        if path.stem not in rows:
            continue
        row = rows.pop(path.stem)
        cells = sketches[sketches.name == path.stem]
        n, hits = cells.n.to_numpy(), cells.hits.to_numpy()
        assert (top_labels.name == path.stem).sum() == 10_000
        assert int(n.sum()) == int(row["n_rows"])
        assert abs(100 * (1 - hits.sum() / n.sum()) - float(row["error_percent"])) < 1e-3
        assert row["role"] == configuration.role
        assert (SHIPPED / "folds" / f"{path.stem}.npz").exists() == configuration.folds
    assert not rows


@pytest.mark.parametrize("folder", [SHIPPED, PICTURES], ids=["networks", "pictures"])
def test_checksums_of_shipped_files(folder):
    lines = (folder / "SHA256SUMS").read_text().splitlines()
    listed = dict(reversed(line.split("  ")) for line in lines)
    files = {str(p.relative_to(folder)): p for p in folder.rglob("*") if p.is_file()}
    assert set(listed) == set(files) - {"README.md", "SHA256SUMS"}
    for name, digest in listed.items():
        assert hashlib.sha256(files[name].read_bytes()).hexdigest() == digest, name
    assert sum(path.stat().st_size for path in files.values()) < 12 * 2**20


@pytest.mark.slow
def test_the_curve_of_the_counts_has_the_stated_error():
    networks = read_networks(
        *(SHIPPED / f"{x}" for x in ("networks.csv", "sketches.parquet", "top_labels.parquet"))
    )
    assert len(networks) >= 39
    for population, about, log_odds, hits, *_ in networks[::4]:
        for norm in (1, 2):
            if about[f"l{norm}_percent"] > 1:  # the kept values of lesser ones are cut off at 0
                error = 100 * calbias.true_calibration_error(population, norm=norm)
                error -= about[f"l{norm}_percent"]
                assert abs(error) < 2 * about[f"l{norm}_se_percent"]
        rate = population.hits.sum() / population.n.sum()
        spread = 4 * (rate * (1 - rate) / len(hits)) ** 0.5
        assert 100 * rate == pytest.approx(100 - about["error_percent"], abs=0.001)
        assert abs(hits.mean() - rate) < spread
        middle = population.log_odds(np.array([0.5]), upper=False)
        assert abs((log_odds < middle).mean() - 0.5) < 4 * 0.5 / len(hits) ** 0.5


@pytest.mark.slow
def test_smoke_networks_are_trained_and_measured(tmp_path):
    environment = ROOT / ".venv-networks"
    if os.environ.get("CALBIAS_NIGHTLY"):
        subprocess.run(["make", ".venv-networks/installed"], cwd=ROOT, check=True)
    if not (environment / "installed").exists():
        pytest.skip("JAX is not installed: make train-networks, or CALBIAS_NIGHTLY=1, installs it")
    names = ("mlp2x100_u10", "res1x16_s10", "bayes_u10")
    files = [str(NETWORKS / "configs" / f"{name}.yaml") for name in names]
    variables = {**os.environ, "PYTHONPATH": str(ROOT / "scripts")}
    for command in (["make", "--smoke"], ["ship", "--output", str(tmp_path / "shipped")]):
        words = ["-m", f"trained.{command[0]}", *command[1:], "--build", str(tmp_path / "build")]
        subprocess.run(
            [str(environment / "bin/python"), *words, *files],
            cwd=NETWORKS,
            env=variables,
            check=True,
        )
    with (tmp_path / "shipped/networks.csv").open() as file:
        rows = {row["name"]: row for row in csv.DictReader(file)}
    assert set(rows) == set(names)
    assert float(rows["bayes_u10"]["l2_by_chances_percent"]) < 1e-4
    assert float(rows["mlp2x100_u10"]["error_percent"]) < 85
