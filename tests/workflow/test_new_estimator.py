"""A new estimator is one file: the README's example and a complete one outside the package."""

import re
import shutil

import numpy as np
from checkout import ROOT, simulated
from command import read

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
    section = (ROOT / "docs/extend.md").read_text("utf-8").split("## An estimator")[1]
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


def test_both_are_in_the_tables_and_in_the_figures_that_show_all(finished):
    """The docs' example in the package, the other one in a folder with a space in its name."""
    add(finished, "my_estimator", example_of_the_docs())
    shutil.copy(finished / "config/smoke_models.csv", finished / "my models.csv")
    names = [*NAMES, "my_estimator"]
    config = add(finished, "ks_error", KS_ERROR, "my estimators", names, models="my models.csv")
    figures = ["results/figures/fig4_realistic.png", "results/figures/fig6_perfect.png"]
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
