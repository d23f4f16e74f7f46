"""The summaries' command lines, on replicates that the scripts before them made.

Those that only pass tables on run in tests/workflow/test_smoke.py.
"""

import shutil

import numpy as np
import pandas as pd
import pytest
from command import made, run

from pipeline.tables.files import read_table, write_table
from reproduction.replicates.store import Cell, read_replicates

DRAWN = {"n_replicates": 12, "seed": 1}


@pytest.fixture
def of_chain(chain):
    """Options that every summary of the chain's replicates has."""
    return {"scenarios": chain.scenarios, "true_errors": chain.true_errors, **DRAWN}


@pytest.fixture
def bias(chain, of_chain, tmp_path):
    replicates = [*chain.replicates.values()]
    return made(
        "bias", "summarise_bias", tmp_path, experiment="mine", replicates=replicates, **of_chain
    )


def test_bias(chain, bias):
    assert len(bias) == 2 * 2 * 2 + 2 * 2  # scenarios × sizes × bins, and the sweep's
    assert set(bias["n_bins"]) == {2, 15, -1}
    cells = read_replicates(chain.replicates["ece_bin_em"])[0]
    values = 100 * cells[Cell("beta_1_1_power_2", 100, 15)].estimate
    is_it = (bias["scenario"] == "beta_1_1_power_2") & (bias["n_samples"] == 100)
    row = bias[is_it & (bias["n_bins"] == 15)].iloc[0]
    assert row["mean_estimate_percent"] == pytest.approx(values.mean(), rel=1e-12)
    assert row["tce_percent"] == pytest.approx(100 / np.sqrt(30), rel=1e-8)
    assert row["bias_percent"] == pytest.approx(values.mean() - 100 / np.sqrt(30), rel=1e-6)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"seed": 2}, "0-of-1.parquet: it was made with other seed 1, not 2: delete it and run"),
        ({"n_replicates": 13}, "it was made with other replicates 12, not 13"),
        ({"scenarios": "others.csv"}, "it was made with other scenarios: delete it and run again"),
        ({"replicates": "ece_bin_em/copied.parquet"}, "other estimator ece_sweep_em, not ece_bin"),
        ({"true_errors": "one.csv"}, "error: true_calibration_error has no scenario beta"),
    ],
)
def test_files_of_another_configuration(chain, of_chain, tmp_path, refused, changed, message):
    (tmp_path / "ece_bin_em").mkdir()
    shutil.copy(chain.replicates["ece_sweep_em"], tmp_path / "ece_bin_em/copied.parquet")
    (tmp_path / "others.csv").write_text(chain.scenarios.read_text().replace("mine", "others"))
    pd.read_csv(chain.true_errors)[:1].to_csv(tmp_path / "one.csv", index=False)
    changed = {k: v if isinstance(v, int) else tmp_path / v for k, v in changed.items()}
    given = {"replicates": chain.replicates["ece_bin_em"], **of_chain, **changed}
    with refused(message):
        run("summarise_bias", experiment="mine", **given, output=tmp_path / "x.csv")
    assert not (tmp_path / "x.csv").exists()


def test_detection_without_the_nulls_estimator(chain, of_chain, tmp_path, refused):
    binned, sweep = chain.replicates.values()
    with refused("detection_null has no ece_sweep_em at n = 50"):
        run("summarise_detection", **of_chain, null_scenarios=chain.scenarios,
            null_replicates=binned, null_n_replicates=12, replicates=sweep,
            output_detection=tmp_path / "x.csv", output_limits=tmp_path / "y.csv")  # fmt: skip
    assert not list(tmp_path.iterdir())


def test_join_tables(bias, chain, tmp_path, refused):
    """Parquet or CSV; integers stay integers beside a part in which some are missing."""
    whole = tmp_path / "bias.csv"
    part = read_table(whole)
    write_table(tmp_path / "gaps.parquet", "bias", part.assign(n_bins=pd.array([7, None] * 6)))
    write_table(tmp_path / "whole.parquet", "bias", part)
    parts = [whole, tmp_path / "gaps.parquet", tmp_path / "whole.parquet"]
    run("join_tables", table="bias", parts=parts, output=tmp_path / "joined.csv")
    lines, own = ((tmp_path / n).read_text().splitlines() for n in ("joined.csv", "bias.csv"))
    assert (lines[: len(own)], lines[-len(own) + 1 :]) == (own, own[1:])
    assert [line.split(",")[3] for line in lines[len(own) :][:2]] == ["7", ""]
    with refused(f"error: {chain.true_errors}: it lacks the columns of table bias;"):
        run("join_tables", table="bias", parts=[whole, chain.true_errors], output=tmp_path / "x")
    assert not (tmp_path / "x").exists()
