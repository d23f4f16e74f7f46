"""What runs again after a change, told by dry runs in a copy of a finished run."""

import os
import pickle

import pytest
from checkout import simulated
from test_bad_input import folds

SHOWN = {"fig4_realistic", "fig6_perfect", "join_tables bias", "compare_estimators"}
PAGES = {"write_ledger_page", "write_front_page"}


def steps(jobs):
    """Return the names of the rules in a plan."""
    return {job.split()[0] for job in jobs}


@pytest.mark.parametrize(
    "file", ["calbias/estimators/kde.py", "calbias/engine/sampler.py", "pipeline/tables/files.py"]
)
def test_a_comment_and_a_docstring_run_nothing_again(finished, file):
    finished.append(f"scripts/{file}", "# a comment\n")
    path = finished / "scripts" / file
    path.write_text(path.read_text("utf-8").replace('"""', '"""More words. ', 1), "utf-8")
    assert finished.planned() == []


def test_files_touched_without_change_and_texts_edited(finished):
    for text in ("README.md", "workflow/report/fig4_realistic.rst"):
        finished.append(text, "\n")
    for folder in ("scripts", "resources", "config", "workflow"):
        for path in (finished / folder).rglob("*.*"):
            os.utime(path)
    assert finished.planned() == []


def test_an_estimator_that_changes(finished):
    """Its own simulations, their summaries and what shows them, and no other estimator's."""
    finished.append("scripts/calbias/estimators/kde.py", "CHANGED = True\n")
    planned = set(finished.planned())
    assert simulated("kde") | SHOWN | PAGES | {"judge_claims"} <= planned
    drawn = {job for job in planned if job.startswith("simulate_replicates")}
    assert drawn == {job for job in simulated("kde") if job.startswith("simulate_replicates")}
    assert not steps(planned) & {"define_scenarios", "compute_true_error", "fit_model"}


def test_a_fit_that_changes_draws_nothing_where_the_papers_fits_drive(finished):
    finished.append("scripts/pipeline/fits/beta.py", "CHANGED = True\n")
    planned = steps(finished.planned())
    assert {"fit_model", "fig3_fits"} | PAGES <= planned
    assert not planned & {"simulate_replicates", "summarise_bias", "fig4_realistic"}


def test_a_figure_that_changes_is_drawn_alone(finished):
    finished.append("scripts/reproduction/figures/bias_by_n.py", "CHANGED = True\n")
    assert set(finished.planned()) == {"fig4_realistic", "fig6_perfect", *PAGES}


def test_a_published_value(finished):
    finished.edit("resources/published/roelofs2022_table4_ece_bin.csv", "6.67", "6.68")
    expected = {"compare_ece_bin", "fig3_fits", "judge_claims", *PAGES}
    assert set(finished.planned()) == expected


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


def test_a_sample_size_that_is_added(finished):
    realistic = {"models": ["resnet110_c10", "resnet110_c100"], "n_samples": [100, 200, 400]}
    planned = finished.planned(config=finished.changed(experiments={"realistic": realistic}))
    drawn = {job.split()[1] for job in planned if job.startswith("simulate_replicates")}
    assert drawn == {"realistic"}
    assert "fig6_perfect" not in planned


def test_figure_4_alone_plans_its_own_jobs(pristine, tmp_path):
    planned = pristine.planned("results/figures/fig4_realistic.png", config=None)
    assert len(planned) <= 25
    assert {job.split()[1] for job in planned if " " in job} == {"realistic"}
