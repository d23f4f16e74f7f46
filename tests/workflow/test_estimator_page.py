"""The page of an estimator that a user adds: what is planned for it, and what it has."""

import json

import pandas as pd
import pytest
from checkout import SMOKE, errors
from test_isolation import example_of_the_docs

from pipeline.config import PAGE_EXPERIMENTS
from pipeline.table_schema import columns_of

JOBS = {
    "check_estimator", "measure_judging_cells", "select_by_estimator", "time_estimator",
    "judge_estimator", "draw_estimator", "write_estimator_page",
}  # fmt: skip
MINE = ("--config", "estimator=mine/my_estimator.py")


@pytest.fixture
def mine(fresh):
    (fresh / "mine").mkdir()
    (fresh / "mine/my_estimator.py").write_text(example_of_the_docs(), encoding="utf-8")
    return fresh


def test_one_command_makes_the_page_and_nothing_else(mine):
    """Its own simulations, scenarios, and the networks' logits."""
    planned = set(mine.planned(*MINE, config=SMOKE))
    expected = {f"{job} my_estimator" for job in JOBS}
    expected |= {f"simulate_replicates {name} my_estimator 0 1" for name in PAGE_EXPERIMENTS}
    expected |= {f"define_scenarios {name}" for name in PAGE_EXPERIMENTS}
    assert {job for job in planned if not job.startswith("read_logits")} == expected


@pytest.mark.nightly
def test_the_page_has_what_was_measured_and_a_wrong_estimator_has_none(mine):
    mine.run(*MINE, config=SMOKE)
    folder = mine / "results/estimators/my_estimator"
    comparison = pd.read_csv(folder / "comparison.csv")
    assert tuple(comparison.columns) == columns_of("estimator_comparison")
    assert {"ece_sweep_em", "ece_bin_ew", "averaged_posterior"} <= set(comparison["other"])
    assert {"bias", "rmse", "bias_perfect", "rmse_judging", "bias_networks"} <= set(
        comparison["quantity"]
    )
    bias = pd.read_csv(folder / "bias.csv")
    assert tuple(bias.columns) == columns_of("bias")
    assert set(bias["estimator"]) == {"my_estimator"}
    page = (folder / "index.html").read_text("utf-8")
    assert page.index("Is it less biased") < page.index("Where does it lose") < page.index(
        "In the paper's figures"
    )  # fmt: skip
    assert len(json.loads((folder / "row.json").read_text("utf-8"))["cells"]) == len(bias)
    assert mine.planned(*MINE, config=SMOKE) == []
    (mine / "mine/wrong.py").write_text(
        "def estimate(scores, hits, n_bins, norm):\n    return 50.0\n"
    )
    said = mine.run("--config", "estimator=mine", config=SMOKE, ok=False)
    [line] = errors(said)
    assert line.startswith("error: mine/wrong.py: wrong: one row, two rows")
    assert not (mine / "results/replicates/realistic/wrong").exists()
