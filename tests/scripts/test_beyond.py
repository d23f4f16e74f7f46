"""The command lines beyond the paper: predicted bias, league, power of tests."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import measure_power
import predict_bias
import run_league
import time_league
from calbias.errors import InputError
from calbias.estimation.registry import FOLDER
from calbias.io.table_schema import tables

ROOT = Path(__file__).parents[2]
CONTRACTS = tables()
FITS = (
    "--beta-fits", ROOT / "resources/published/roelofs2022_table2_beta_fits.csv",
    "--glm-fits", ROOT / "resources/published/roelofs2022_table3_glm_fits.csv",
)  # fmt: skip


def run(script, *arguments):
    script.main([str(argument) for argument in arguments])


@pytest.fixture
def scores(tmp_path):
    generator = np.random.default_rng(0)
    score = generator.beta(3, 0.8, 600)
    hit = (generator.random(600) < score**1.3).astype(int)
    pd.DataFrame({"score": score, "hit": hit}).to_csv(tmp_path / "mine.csv", index=False)
    return tmp_path / "mine.csv"


def test_predict_bias(scores, tmp_path):
    output = tmp_path / "rows.csv"
    run(
        predict_bias, "--scores", scores, "--estimators", "ece_bin_ew", "ece_sweep_em",
        "--n-samples", 100, 200, 900, "--subsamples", 4, "--refits", 2, "--seed", 1,
        "--output", output,
    )  # fmt: skip
    table = pd.read_csv(output)
    assert list(table) == CONTRACTS["predicted_bias"]["columns"]
    assert len(table) == 4  # n = 900 is more than the file has
    assert set(table["model"]) == {"mine"}


def test_run_league(tmp_path):
    output = tmp_path / "rows.csv"
    run(
        run_league, "--estimator-files", FOLDER / "ece_bin.py", *FITS, "--models", "resnet110_c10",
        "--n-samples", 50, "--replicates", 3, "--seed", 1, "--output", output,
    )  # fmt: skip
    table = pd.read_csv(output)
    assert list(table) == CONTRACTS["league"]["columns"]
    assert set(table["estimator"]) == {"ece_bin_ew", "ece_bin_em"}
    assert set(table["target"]) == {"l1", "l2"}
    assert len(table) == 13 * 2 * 2


def test_measure_power(tmp_path):
    power, detection = tmp_path / "power.csv", tmp_path / "detection.csv"
    run(
        measure_power, "--tests", "cox_score", "redraw_ks", "--slow-tests", "redraw_smce",
        "--n-samples", 120, 60, "--replicates", 20, "--seed", 1, "--output-power", power,
        "--output-detection", detection,
    )  # fmt: skip
    table, detected = pd.read_csv(power), pd.read_csv(detection)
    assert list(table) == CONTRACTS["test_power"]["columns"]
    assert table["rejection_rate"].between(0, 1).all()
    assert list(detected) == CONTRACTS["test_detection"]["columns"]
    for rows, n_scenarios in ((table, 15), (detected, 1)):
        counts = rows.groupby("test")["n_samples"].value_counts().to_dict()
        assert counts == {
            ("cox_score", 60): n_scenarios, ("cox_score", 120): n_scenarios,
            ("redraw_ks", 60): n_scenarios, ("redraw_ks", 120): n_scenarios,
            ("redraw_smce", 60): n_scenarios,
        }  # fmt: skip


def test_time_league(tmp_path):
    output = tmp_path / "times.csv"
    run(
        time_league, "--estimators", "ks", "beta_kernel", "--estimator-folders", FOLDER,
        "--n-samples", 100, 1200, "--output", output,
    )  # fmt: skip
    table = pd.read_csv(output)
    assert list(table) == CONTRACTS["league_times"]["columns"]
    assert set(zip(table["estimator"], table["n_samples"], strict=True)) == {
        ("ks", 100), ("ks", 1200), ("beta_kernel", 100),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("script", "arguments", "message"),
    [
        (measure_power, ["--tests", "cox", "--n-samples", "60", "--replicates", "20"],
         "unknown test 'cox'"),
        (measure_power, ["--tests", "cox_lrt", "--n-samples", "60", "--replicates", "2"],
         "--replicates must be at least 20"),
        (run_league, ["--estimator-files", str(FOLDER / "ks.py"), *map(str, FITS),
                      "--models", "nobody", "--n-samples", "60", "--replicates", "2"],
         "model nobody has no fit"),
        (predict_bias, ["--scores", "no.csv", "--estimators", "kde", "--n-samples", "100",
                        "--subsamples", "3", "--refits", "2"], "no.csv: no such file"),
    ],
)  # fmt: skip
def test_refusals(script, arguments, message, tmp_path, capsys):
    names = (
        ["--output"] if script is not measure_power else ["--output-power", "--output-detection"]
    )
    outputs = [word for name in names for word in (name, tmp_path / "x.csv")]
    with pytest.raises((SystemExit, InputError)) as error:
        run(script, *arguments, "--seed", 1, *outputs)
    assert message in f"{error.value}{capsys.readouterr().err}"
    assert not (tmp_path / "x.csv").exists()
