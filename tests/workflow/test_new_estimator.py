"""A new estimator is one file: the README's example and a complete one outside the package."""

import csv
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
from checkout import ROOT
from jobs import AFTER_SUMMARIES, changed, simulated

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
LEGEND = """
import sys
import pandas as pd
from calbias.figures import bias_by_n
tables = {name: pd.read_csv(f"../results/tables/{name}.csv") for name in bias_by_n.TABLES}
figure = bias_by_n.draw(tables, experiment="realistic")
for text in figure.findobj(lambda artist: hasattr(artist, "get_text")):
    print(text.get_text())
"""


def example_of_the_docs():
    section = (ROOT / "docs/extend.md").read_text("utf-8").split("## An estimator")[1]
    return re.search(r"```python\n(.*?)```", section, flags=re.DOTALL)[1]


def add(checkout, name, text, folder=None, **keys):
    """Add an estimator to the package or to a folder of one's own; return the configuration."""
    path = checkout / (folder or "scripts/calbias/estimators") / f"{name}.py"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    own = {"estimator_dir": folder} if folder else {}
    return changed(checkout, estimators=[*NAMES, name], **own, **keys)


@pytest.mark.parametrize("folder", [None, "my_estimators"])
def test_only_its_jobs_and_what_aggregates_them(finished, folder):
    config = add(finished, "ks_error", KS_ERROR, folder)
    expected = {*simulated("ks_error"), *AFTER_SUMMARIES}
    assert set(finished.planned(config=config)) == expected


def test_a_file_that_no_configuration_names_runs_nothing(finished):
    add(finished, "ks_error", KS_ERROR)
    assert finished.planned() == []


def test_it_is_in_the_tables_and_in_the_figures_that_show_all(finished):
    """With spaces in the paths of one's own."""
    shutil.copy(finished / "config/smoke_models.csv", finished / "my models.csv")
    config = add(finished, "ks_error", KS_ERROR, "my estimators", models="my models.csv")
    before = finished.bytes("figures")
    finished.run(config=config)
    with open(finished / "results/tables/bias.csv", newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["estimator"] == "ks_error"]
    assert {(row["experiment"], row["n_bins"]) for row in rows} == {
        ("realistic", ""),
        ("perfect", ""),
    }
    assert all(np.isfinite(float(row["bias_percent"])) for row in rows)
    after = finished.bytes("figures")
    changed_figures = {name for name in after if after[name] != before[name]}
    assert {
        f"results/figures/fig{name}.png" for name in ("4_realistic", "6_perfect")
    } < changed_figures
    legend = subprocess.run(
        [sys.executable, "-c", LEGEND],
        cwd=finished / "scripts",
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "KS error" in legend


def test_the_example_of_the_readme(finished):
    config = add(finished, "my_estimator", example_of_the_docs())
    finished.run("--", "results/tables/bias.csv", config=config)
    with open(finished / "results/tables/bias.csv", newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["estimator"] == "my_estimator"]
    assert len(rows) == 4
    assert all(0 < float(row["mean_estimate_percent"]) < 100 for row in rows)
