"""What runs again after a change, by dry runs; what a new estimator and other replicates add."""

import os
import pickle
import re
import shutil

import numpy as np
import pytest
from checkout import ROOT, SMOKE, simulated
from command import read
from test_user_files import folds

from reproduction.replicates import read_replicates

SHOWN = {"fig4_realistic", "fig6_perfect", "join_tables bias", "compare_estimators"}
PAGES = {"write_pages"}


def steps(jobs):
    """Return the names of the rules in a plan."""
    return {job.split()[0] for job in jobs}


def test_a_comment_and_a_docstring_run_nothing_again(smoke, tmp_path):
    edited = smoke.copy(tmp_path / "edited")
    for file in ("calbias/estimators/kde", "calbias/engine/sampler", "reproduction/bias"):
        edited.append(f"scripts/{file}.py", "# a comment\n")
        path = edited / f"scripts/{file}.py"
        path.write_text(path.read_text("utf-8").replace('"""', '"""More words. ', 1), "utf-8")
    assert edited.planned(config=SMOKE) == []


def test_files_touched_without_change_and_texts_edited(finished):
    for text in ("README.md", "workflow/report/fig4_realistic.rst"):
        finished.append(text, "\n")
    for folder in ("scripts", "resources", "config", "workflow"):
        for path in (finished / folder).rglob("*.*"):
            os.utime(path)
    assert finished.planned() == []


def test_two_numbers_that_change_places(finished):
    """Snakemake compares the values of params without their names."""
    asked = "results/recalibration/resnet50_brier_c10.parquet"
    assert finished.planned(asked) == []
    swapped = ("--config", "seed=2", "bootstrap=2022")
    assert finished.planned(asked, *swapped) == ["recalibrate_model resnet50_brier_c10"]
    reason = finished.run("--dry-run", asked, *swapped).split("now: ")[1].split("\n")[0]
    assert sorted(reason.strip().split(",")) == ["'--bootstrap 2022'", "'--seed 2'"]


def test_an_estimator_that_changes(finished):
    """Its own simulations, their summaries and what shows them, and no other estimator's."""
    finished.append("scripts/calbias/estimators/kde.py", "CHANGED = True\n")
    planned = set(finished.planned())
    assert simulated("kde") | SHOWN | PAGES | {"judge_claims"} <= planned
    drawn = {job for job in planned if job.startswith("simulate_replicates")}
    assert drawn == {job for job in simulated("kde") if job.startswith("simulate_replicates")}
    assert not steps(planned) & {"define_scenarios", "compute_true_error", "fit_model"}
    assert {"recalibrate_model", "measure_model", "replicate_model"} <= steps(planned)


def test_a_claim_that_changes(finished):
    finished.append("scripts/reproduction/claims/section_4.py", "CHANGED = True\n")
    assert set(finished.planned()) == {"judge_claims", "judge_batches"} | PAGES


def test_a_fit_that_changes_draws_nothing_where_the_papers_fits_drive(finished):
    finished.append("scripts/pipeline/fits/beta.py", "CHANGED = True\n")
    planned = steps(finished.planned())
    assert {"fit_model", "fig3_fits"} | PAGES <= planned
    assert not planned & {"simulate_replicates", "summarise_bias", "fig4_realistic"}


def test_a_figure_that_changes_and_a_published_value(finished):
    """The figures of one module; the table that has the value, its figure and the claims."""
    finished.append("scripts/reproduction/figures/bias_by_n.py", "CHANGED = True\n")
    finished.edit("resources/published/roelofs2022_table4_ece_bin.csv", "6.67", "6.68")
    drawn = {"fig4_realistic", "fig6_perfect"}
    of_value = {"compare_ece_bin", "fig3_fits", "judge_claims", "judge_batches"}
    assert set(finished.planned()) == drawn | of_value | PAGES


def test_a_model_of_ones_own(finished):
    """It is fitted, recalibrated, measured and audited; the others' simulations stay."""
    (finished / "resources/logits").mkdir(exist_ok=True)
    (finished / "resources/logits/mine.p").write_bytes(pickle.dumps(folds()))
    finished.append("config/smoke_models.csv", "mine,own,10,mine.p\n")
    planned = finished.planned()
    own = {job.split()[0] for job in planned if job.endswith(" mine")}
    assert own >= {"read_logits", "fit_model", "recalibrate_model", "audit_model", "draw_audit"}
    drawn = {job for job in planned if job.startswith("simulate_replicates")}
    assert drawn == {"simulate_replicates fits ece_bin_ew 0 1"}


def test_figure_4_alone_plans_its_own_jobs(pristine, tmp_path):
    planned = pristine.planned("results/figures/fig4_realistic.png", config=None)
    assert len(planned) <= 25
    assert {job.split()[1] for job in planned if " " in job} == {"realistic"}


def test_coverage_is_judged_on_all_cells_or_not_at_all(pristine):
    target = "results/tables/own_claims.csv"
    few, every = "[judging,blind26]", "[clusters,judging,blind26,saturated,uniform]"
    planned = [
        steps(pristine.planned(target, "--config", f"coverage_of={cells}"))
        for cells in (few, every)
    ]
    assert ["measure_coverage" in jobs for jobs in planned] == [False, True]


FILE = "results/replicates/realistic/kde/0-of-1.parquet"
LOG = "results/logs/simulate_replicates/kde/realistic/0/1.log"
MODELS = ["resnet110_c10", "resnet110_c100"]
TABLE = "results/bias/realistic.parquet"


@pytest.mark.nightly
def test_raised_replicates_extend_the_existing_ones(finished, fresh):
    before, _, _ = read_replicates(finished / FILE)
    more = ("--config", "replicates=12", "estimators=[kde]", "--", TABLE)
    finished.run(*more)
    said = (finished / LOG).read_text("utf-8")
    assert "n = 100: 4 replicates" in said
    assert "12 replicates" not in said
    after, _, _ = read_replicates(finished / FILE)
    for cell, estimates in before.items():
        assert after[cell].first(8).estimate.tolist() == estimates.estimate.tolist()
    fresh.run(*more)
    for name in (FILE, TABLE):
        assert (fresh / name).read_bytes() == (finished / name).read_bytes()


@pytest.mark.nightly
def test_lowered_replicates_are_the_first_ones_and_a_new_cell_keeps_the_others(finished):
    before, _, _ = read_replicates(finished / FILE)
    experiments = {"realistic": {"models": MODELS, "n_samples": [100, 150, 200]}}
    config = finished.changed(replicates=5, experiments=experiments)
    finished.run("--", FILE, config=config)
    said = (finished / LOG).read_text("utf-8")
    assert "n = 150: 5 replicates" in said
    assert said.count("replicates in") == 2  # one a model: no other was drawn
    after, _, _ = read_replicates(finished / FILE)
    for cell, estimates in before.items():
        assert after[cell].estimate.tolist() == estimates.first(5).estimate.tolist()


KS_ERROR = '''"""Kolmogorov-Smirnov calibration error (Gupta et al. 2021, Eq. 10): no bins.

    KS = max_i | 1/n * sum_{j <= i} (score_j - hit_j) |
"""

import numpy as np

BINS = "none"


def estimate(scores, hits, n_bins, norm):
    """Return the estimate, a fraction, for scores (n,) in ascending order and hits (n,)."""
    return np.abs(np.cumsum(scores - hits)).max() / scores.size
'''
NAMES = ["ece_bin_ew", "ece_debias_em", "ece_sweep_em", "kde"]
MINE = ("ks_error", "my_estimator")


def example_of_the_docs():
    section = (ROOT / "docs/workflow/extend.md").read_text("utf-8").split("## An estimator")[1]
    return re.search(r"```python\n(.*?)```", section, flags=re.DOTALL)[1]


def add(checkout, name, text, folder=None, others=NAMES, **keys):
    """Add an estimator to the package or to a folder of one's own; return the configuration."""
    path = checkout / (folder or "scripts/calbias/estimators") / f"{name}.py"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    own = {"estimator_dir": folder} if folder else {}
    return checkout.changed(estimators=[*others, name], **own, **keys)


def test_only_its_jobs_and_what_aggregates_them(finished):
    config = add(finished, "ks_error", KS_ERROR)
    assert finished.planned() == []  # no configuration names it
    planned = set(finished.planned(config=config))
    assert simulated("ks_error") <= planned
    assert not {job for job in planned if job.startswith("simulate")} - simulated("ks_error")


def test_both_are_in_the_tables_and_in_a_figure_that_shows_all(finished):
    """The docs' example in the package, the other one in a folder with a space in its name."""
    add(finished, "my_estimator", example_of_the_docs())
    shutil.copy(finished / "config/smoke_models.csv", finished / "my models.csv")
    names = [*NAMES, "my_estimator"]
    config = add(finished, "ks_error", KS_ERROR, "my estimators", names, models="my models.csv")
    figures = ["results/figures/fig4_realistic.png"]
    before = finished.bytes("figures")
    finished.run("--", "results/tables/bias.csv", *figures, config=config)
    bias = read(finished / "results/tables/bias.csv")
    rows = bias[bias["estimator"].isin(MINE)]
    assert set(zip(rows["estimator"], rows["experiment"], strict=True)) == {
        (name, experiment) for name in MINE for experiment in ("realistic", "perfect")
    }
    assert np.isfinite(rows["bias_percent"]).all()
    assert rows["mean_estimate_percent"].between(0, 100, inclusive="neither").all()
    assert rows.loc[rows["estimator"] == "ks_error", "n_bins"].isna().all()
    after = finished.bytes("figures")
    assert set(figures) <= {name for name in after if after[name] != before[name]}
