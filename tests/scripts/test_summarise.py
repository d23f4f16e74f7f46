"""The summaries' command lines, on replicates that the scripts before them made."""

import importlib
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from calbias.io.table_schema import tables
from calbias.io.tables import read_table, write_table
from calbias.simulation.replicates import Cell, read_replicates
from calbias.truth.scenario_tables import read_scenarios

ROOT = Path(__file__).parents[2]
CONTRACTS = tables()
DRAWN = ("--n-replicates", 12, "--seed", 1)


def run(script, *arguments):
    importlib.import_module(script).main([str(argument) for argument in arguments])


@pytest.fixture
def bias(chain, tmp_path):
    path = tmp_path / "bias.csv"
    run(
        "summarise_bias", "--experiment", "mine", "--scenarios", chain.scenarios,
        "--true-errors", chain.true_errors, "--replicates", *chain.replicates.values(), *DRAWN,
        "--output", path,
    )  # fmt: skip
    return path


def test_bias(chain, bias):
    table = pd.read_csv(bias)
    assert list(table) == CONTRACTS["bias"]["columns"]
    assert len(table) == 2 * 2 * 2 + 2 * 2  # scenarios × sizes × bins, and the sweep's
    assert set(table["n_bins"]) == {2, 15, -1}
    cells = read_replicates(chain.replicates["ece_bin_em"])[0]
    values = 100 * cells[Cell("beta_1_1_power_2", 100, 15)].estimate
    is_it = (table["scenario"] == "beta_1_1_power_2") & (table["n_samples"] == 100)
    row = table[is_it & (table["n_bins"] == 15)].iloc[0]
    assert row["mean_estimate_percent"] == pytest.approx(values.mean(), rel=1e-12)
    assert row["tce_percent"] == pytest.approx(100 / np.sqrt(30), rel=1e-8)
    assert row["bias_percent"] == pytest.approx(values.mean() - 100 / np.sqrt(30), rel=1e-6)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"--seed": 2}, "0-of-1.parquet: it was made with other seed 1, not 2: delete it and run"),
        ({"--n-replicates": 13}, "it was made with other replicates 12, not 13"),
        ({"--scenarios": "other"}, "it was made with other scenarios: delete it and run again"),
        ({"--replicates": "copied"}, "made with other estimator ece_sweep_em, not ece_bin_em"),
    ],
)
def test_replicates_of_another_configuration(chain, tmp_path, refused, changed, message):
    (tmp_path / "ece_bin_em").mkdir()
    copied = shutil.copy(chain.replicates["ece_sweep_em"], tmp_path / "ece_bin_em")
    other = tmp_path / "scenarios.csv"
    other.write_text(chain.scenarios.read_text().replace("mine", "others"))
    options = {
        "--experiment": "mine", "--scenarios": chain.scenarios, "--true-errors": chain.true_errors,
        "--replicates": chain.replicates["ece_bin_em"], "--n-replicates": 12, "--seed": 1,
        "--output": tmp_path / "x.csv", **changed,
    }  # fmt: skip
    places = {"other": other, "copied": copied}
    with refused(message):
        run("summarise_bias", *(places.get(x, x) for pair in options.items() for x in pair))
    assert not (tmp_path / "x.csv").exists()


def test_bias_of_a_scenario_without_true_error(chain, tmp_path, refused):
    table = pd.read_csv(chain.true_errors)
    table.iloc[:1].to_csv(tmp_path / "tce.csv", index=False)
    with refused("error: true_calibration_error has no scenario beta"):
        run(
            "summarise_bias", "--experiment", "mine", "--scenarios", chain.scenarios,
            "--true-errors", tmp_path / "tce.csv", "--replicates", *chain.replicates.values(),
            *DRAWN, "--output", tmp_path / "x.csv",
        )  # fmt: skip
    assert not (tmp_path / "x.csv").exists()


def test_chosen_bins(bias, tmp_path):
    run("summarise_chosen_bins", "--bias", bias, "--output", tmp_path / "x.csv")
    table = pd.read_csv(tmp_path / "x.csv")
    assert list(table) == CONTRACTS["chosen_bins"]["columns"]
    assert len(table) == 8
    assert table["mean_n_bins_sweep"].between(1, 100).all()


def test_detection(chain, tmp_path):
    null = tmp_path / "ece_sweep_em/0-of-1.parquet"
    run(
        "define_scenarios", "--experiment", "null", "--scores", "1,1", "--curves", "identity",
        "--output", tmp_path / "null.csv",
    )  # fmt: skip
    run(
        "simulate_replicates", "--scenarios", tmp_path / "null.csv", "--estimator", "ece_sweep_em",
        "--n-samples", 50, 100, "--replicates", 40, "--seed", 1,
        "--output", null,
    )  # fmt: skip
    arguments = [
        "--scenarios", chain.scenarios, "--true-errors", chain.true_errors,
        "--null-scenarios", tmp_path / "null.csv", "--null-replicates", null,
        "--null-n-replicates", 40, *DRAWN,
    ]  # fmt: skip
    sweep = chain.replicates["ece_sweep_em"]
    run("summarise_detection", *arguments, "--replicates", sweep, "--output", tmp_path / "x.csv")
    table = pd.read_csv(tmp_path / "x.csv")
    assert list(table) == CONTRACTS["detection"]["columns"]
    assert table["exponent"].tolist() == [1, 1.5, 2] * 2
    assert table["miss_rate"].between(0, 1).all()


def test_detection_without_the_nulls_estimator(chain, tmp_path, refused):
    binned, sweep = chain.replicates.values()
    with refused("detection_null has no ece_sweep_em at n = 50"):
        run(
            "summarise_detection", "--scenarios", chain.scenarios,
            "--true-errors", chain.true_errors, "--null-scenarios", chain.scenarios,
            "--null-replicates", binned, "--null-n-replicates", 12, "--replicates", sweep, *DRAWN,
            "--output", tmp_path / "x.csv",
        )  # fmt: skip
    assert not list(tmp_path.iterdir())


def test_intro(chain, tmp_path):
    run(
        "summarise_intro", "--scenarios", chain.scenarios,
        "--replicates", chain.replicates["ece_bin_em"], "--n-samples", 50, "--n-bins", 15,
        *DRAWN, "--histogram", tmp_path / "h.csv", "--diagram", tmp_path / "d.csv",
    )  # fmt: skip
    histogram, diagram = (pd.read_csv(tmp_path / name) for name in ("h.csv", "d.csv"))
    assert list(histogram) == CONTRACTS["estimate_histogram"]["columns"]
    assert list(diagram) == CONTRACTS["reliability_diagram"]["columns"]
    assert diagram["n_in_bin"].sum() == 50
    assert diagram["scenario"].unique() == [read_scenarios(chain.scenarios)[0][0].name]
    assert (histogram.groupby(["scenario", "n_samples"])["count"].sum() == 24).all()


def test_compare_estimators(bias, tmp_path):
    run("compare_estimators", "--bias", bias, "--experiments", "mine", "other",
        "--output", tmp_path / "x.csv")  # fmt: skip
    table = pd.read_csv(tmp_path / "x.csv")
    assert list(table) == CONTRACTS["paired_t_test"]["columns"]
    assert table["n_pairs"].tolist() == [4]
    assert table["experiment"].tolist() == ["mine"]


def test_join_tables(bias, tmp_path):
    """Parquet or CSV; integers stay integers beside a part in which some are missing."""
    part = read_table(bias)
    write_table(tmp_path / "gaps.parquet", "bias", part.assign(n_bins=pd.array([7, None] * 6)))
    write_table(tmp_path / "whole.parquet", "bias", part)
    joined = tmp_path / "joined.csv"
    parts = (bias, tmp_path / "gaps.parquet", tmp_path / "whole.parquet")
    run("join_tables", "--table", "bias", "--inputs", *parts, "--output", joined)
    lines, own = joined.read_text().splitlines(), bias.read_text().splitlines()
    assert lines[: len(own)] == own
    assert lines[-len(own) + 1 :] == own[1:]
    assert [line.split(",")[3] for line in lines[len(own) :][:2]] == ["7", ""]


def test_join_tables_of_different_columns(bias, chain, tmp_path, refused):
    parts = ("--inputs", bias, chain.true_errors)
    with refused(f"error: {chain.true_errors}: its columns are not those of table bias;"):
        run("join_tables", "--table", "bias", *parts, "--output", tmp_path / "x.csv")
    assert not (tmp_path / "x.csv").exists()


def test_a_missing_table(tmp_path, refused):
    with refused("there is no such table"):
        run("summarise_chosen_bins", "--bias", tmp_path / "no.csv", "--output", tmp_path / "x.csv")
