"""The law of debias and sweep: kept tables are what the programs write, pages what tables say."""

import re

import pandas as pd
import pytest
from checkout import ROOT

from networks.law import biases, judged

LAW = ROOT / "networks/law"


@pytest.mark.parametrize(
    ("make", "file"), [(biases.predicted, "predicted"), (biases.measured, "measured")]
)
def test_kept_tables_are_what_the_program_writes(make, file, monkeypatch):
    monkeypatch.setattr(biases, "SIZES", (400,))
    law = next(x for x in biases.new_laws() if x.name == "law03")
    [row] = getattr(biases, file)("new law", law)
    kept = pd.read_csv(LAW / f"{file}.csv").set_index(judged.KEYS).loc["new law", "law03", 400]
    for name, value in kept.items():
        assert row[name] == pytest.approx(value, abs=2e-4), name


def test_pages_state_what_the_tables_say():
    both = judged.biases(LAW)
    rows, page = judged.judge(both), (LAW / "README.md").read_text("utf-8")
    for column, form in (("rms error of d", "{:.3f}"), ("slope", "{:.2f}")):
        pictures, laws = (form.format(rows.at[x, column]) for x in ("picture network", "new law"))
        assert re.search(rf"\b{pictures}[,| ].*\b{laws} \|", page)
    for column in ("sign right where large", "sign right at one n"):
        pictures, laws = (rows.at[x, column] for x in ("picture network", "new law"))
        assert f"| {pictures} | {laws} |" in page
    d = judged.differences(both)
    d = d[(d["truth_percent"] > judged.LEAST) & (d["d_measured"].abs() > judged.LARGE)]
    new = d[d["kind"].isin(("picture network", "new law"))]
    assert (new["d"] * new["d_measured"] > 0).all()
    for document in ("README.md", "docs/tool/debias_or_sweep.md"):
        assert str(len(new)) in (ROOT / document).read_text("utf-8")


def test_agreement_counts_signs_of_large_differences_only():
    rows = pd.DataFrame({
        "kind": "a", "name": ["x", "y", "z", "small"], "n_samples": 200,
        "truth_percent": [5.0, 5.0, 5.0, 3.0], "unseen_percent": 0.1,
        "difference_se_percent": 0.01,
        "debias_percent": -1.0, "debias_percent_measured": -1.0,
        "sweep_percent": [0.5, 1.5, 0.9, 0.0], "sweep_percent_measured": [0.6, 0.4, 0.98, 0.0],
        "d": [0.5, -0.5, 0.1, 1.0], "d_measured": [0.4, 0.6, 0.02, 1.0],
    })  # fmt: skip
    [row] = judged.judge(rows).to_dict("records")
    assert row["populations"] == 3
    assert row["sign right where large"] == row["sign right at one n"] == "1 of 2"
    assert row["rms error of d"] == pytest.approx(((0.1**2 + 1.1**2 + 0.08**2) / 3) ** 0.5)


def test_saturation_is_what_a_share_adds_to_the_law():
    names = ["a", "b", "c", "d"]
    d = pd.DataFrame({
        "kind": "picture network", "name": names, "d": [0.0, 0.1, 0.0, 0.3],
        "d_measured": [0.0, 0.2, 0.1, 0.4],
    })  # fmt: skip
    factors = {"sharpness": 9.0, "n_train": 1000, "width": [30, 30, 300, 300]}
    design = pd.DataFrame({"name": names, "share_above_99": [0.65, 0.85] * 2, **factors})
    result = judged.saturation(d, design)
    assert result["pairs"] == 2
    assert result["change of d"] == pytest.approx(0.2)
    assert result["rest"] == pytest.approx(0.05)
