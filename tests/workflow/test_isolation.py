"""What runs again after a change: exactly what depends on it, told by dry runs in a copy."""

import os
import pickle

import jobs
import pytest
from jobs import BIAS, BIAS_FIGURES, LEDGER, MODELS, changed, simulated
from test_bad_input import folds


@pytest.mark.parametrize("file", jobs.AFTER_EDIT)
def test_an_edited_file(finished, file):
    finished.append(file, "# edited\n")
    assert set(finished.planned()) == jobs.AFTER_EDIT[file]


def test_a_published_value(finished):
    finished.edit("resources/published/roelofs2022_table4_ece_bin.csv", "6.67", "6.68")
    assert set(finished.planned()) == {"compare_ece_bin", "fig3_fits", *LEDGER}


def test_files_touched_without_change_and_texts_edited(finished):
    for text in ("README.md", "workflow/report/fig4_realistic.rst"):
        finished.append(text, "\n")
    for folder in ("scripts", "resources", "config", "workflow"):
        for path in (finished / folder).rglob("*.*"):
            os.utime(path)
    assert finished.planned() == []


def test_a_config_key(finished):
    planned = finished.planned(config=changed(finished, bootstrap=3))
    recalibrated = {f"recalibrate_model {model}" for model in jobs.TABLE_1}
    assert set(planned) == {*(*recalibrated, *jobs.RECALIBRATED, *jobs.PAPERS, *LEDGER)}


def test_an_estimator_that_is_removed_and_one_that_is_added(finished):
    names = ["ece_bin_ew", "ece_debias_em", "ece_sweep_em", "kde_unrooted"]
    expected = {*jobs.AFTER_KDE} - {*simulated("kde")} | {*simulated("kde_unrooted")}
    assert set(finished.planned(config=changed(finished, estimators=names))) == expected


def test_a_model_that_is_added(finished):
    new = "densenet40_c10"
    finished.append("config/smoke_models.csv", f"{new},CIFAR-10,10,\n")  # has scores
    planned = set(finished.planned())
    own = {job for job in planned if job.endswith(f" {new}")}
    steps = ("fit_model", "read_scores")
    steps += ("draw_audit", "audit_model", "measure_model")
    assert own == {f"{step} {new}" for step in steps}
    # the other models' logits, fits and judgements stay
    assert not {job for job in planned if job.endswith(MODELS)}
    assert not {job for job in planned if job.startswith("simulate") and " fits " not in job}


def test_a_model_of_ones_own(finished):
    """With a logits file; of the experiments only fits is on all models of the table."""
    (finished / "resources/logits").mkdir(exist_ok=True)
    (finished / "resources/logits/mine.p").write_bytes(pickle.dumps(folds()))
    finished.append("config/smoke_models.csv", "mine,own,10,mine.p\n")
    steps = ("read_logits", "fit_model", "recalibrate_model")
    steps += ("draw_audit", "audit_model", "measure_model")
    joined = ("beta_fits", "glm_fits", "scenarios")
    scenarios = {"define_scenarios fits", "compute_true_error"}
    # all true errors are in one table, so each summary is made again
    summaries = {f"summarise_bias {experiment}" for experiment in ("realistic", "perfect")}
    expected = {
        *(f"{step} mine" for step in steps),
        *(f"join_tables {table}" for table in joined),
        *jobs.AUDIT_TABLES,
        *(scenarios | summaries | jobs.FITS | BIAS | BIAS_FIGURES | jobs.RECALIBRATED | LEDGER),
        *(job for job in jobs.PAPERS if not job.endswith(MODELS)),
    }
    assert set(finished.planned()) == expected


NEW_CELLS = {
    "another sample size": {"n_samples": [100, 200, 400]},
    "other bins": {"n_bins": [15, 20]},
}


@pytest.mark.parametrize("what", NEW_CELLS)
def test_a_cell_that_is_added(finished, what):
    """Every estimator of this experiment, also one without bins, whose job then draws nothing."""
    realistic = {"models": [*MODELS], "n_samples": [100, 200], **NEW_CELLS[what]}
    names = ("ece_bin_ew", "ece_debias_em", "ece_sweep_em", "kde")
    expected = {*simulated(*names, experiments=["realistic"]), *BIAS, *BIAS_FIGURES, *LEDGER}
    planned = set(finished.planned(config=changed(finished, experiments={"realistic": realistic})))
    assert planned == expected


def test_another_number_of_replicates(finished):
    expected = {*jobs.ALL_SIMULATED, *jobs.FITS, *BIAS, *BIAS_FIGURES, *LEDGER}
    assert set(finished.planned(config=changed(finished, replicates=5))) == expected
