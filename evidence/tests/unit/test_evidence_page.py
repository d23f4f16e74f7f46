"""Kept tables of the evidence against pages and fresh runs; the evidence's page."""

import hashlib

import pandas as pd
import pytest
from checkout import ROOT
from conftest import EVIDENCE
from html_page import Page

from evidence.findings import coverage, monitor
from evidence.steps.compare_evidence import differences
from evidence.steps.write_evidence_page import evidence_page, write_evidence_page
from pipeline.table_schema import columns_of

FOLDER = EVIDENCE / "resources/binning"
PAGE = EVIDENCE / "docs/binning.md"
CELLS = [(name, n) for name in ("calibrated", "slope", "saturated", "rare") for n in (100, 10_000)]


def tables():
    """Return the lines of the page's tables, made of the study's tables."""
    error, curve, band = (
        pd.read_csv(FOLDER / f"{name}.csv", keep_default_na=False)
        for name in ("error", "curve", "band")
    )
    lines = []
    for kind, rule in (("ew", "5"), ("ew", "15"), ("ew", "cube_root"), ("em", "5"), ("em", "15"),
                       ("em", "cube_root"), ("em", "square_root")):  # fmt: skip
        lines.append(_line(
            f"{_WORDS[kind]}, {rule.replace('_', ' ')}",
            error[(error.estimator == f"ece_bin_{kind}") & (error.n_bins == rule)
                  & (error.norm == 1)],
            ("bias", "rmse"),
        ))  # fmt: skip
    sweep = error[(error.estimator == "ece_sweep_em") & (error.norm == 1)]
    lines.append(_line("sweep", sweep, ("bias", "rmse")))
    for name, rule in (("ece_bin_em", "15"), ("ece_debias_em", "15")):
        rows = error[(error.estimator == name) & (error.n_bins == rule) & (error.norm == 2)]
        lines.append(_line(f"`{name}`, {rule}", rows, ("bias", "rmse")))
    cells = [(s, r) for s in ("uniform", "quantile") for r in ("5", "cube_root", "square_root")]
    for strategy, rule in (*cells, ("sweep", ""), ("isotonic", "")):
        rows = curve[(curve.strategy == strategy) & (curve.n_bins == rule)]
        label = f"{strategy}, {rule.replace('_', ' ')}" if rule else strategy
        lines.append(_line(label, rows, ("rmse",)))
    for method in ("clopper_pearson", "bootstrap", "consistency_band"):
        rows = band[(band.method == method) & (band.strategy == "quantile")]
        lines.append(_line(method.replace("_", " "), rows, ("share_inside",), 1))
    return lines


_WORDS = {"ew": "uniform", "em": "quantile"}


def _line(label, rows, columns, digits=2):
    values = rows.set_index(["scenario", "n_samples"])[list(columns)]
    cells = [
        " / ".join(f"{100 * x:.{digits}f}" for x in values.loc[cell]).replace("-0.00", "0.00")
        for cell in CELLS
    ]
    return "| " + " | ".join([label, *cells]).replace("-", "−") + " |"


def test_the_page_has_the_studys_numbers():
    page = PAGE.read_text(encoding="utf-8")
    assert [line for line in tables() if line not in page] == []


@pytest.mark.parametrize("folder", [FOLDER.parent, ROOT / "resources/evidence"])
def test_recorded_tables_have_their_checksums(folder):
    lines = (folder / "SHA256SUMS").read_text().splitlines()
    recorded = {name: digest for digest, name in map(str.split, lines)}
    assert recorded == {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*.csv")
    }


KEPT = pd.DataFrame({"name": ["a", "b"], "n": [1, 2], "x": [0.5, float("nan")]})


def test_equal_tables_have_no_differences():
    assert list(differences("t", KEPT, KEPT.iloc[::-1])) == []


def test_a_number_a_row_and_a_column_that_differ_are_named():
    fresh = pd.DataFrame({"name": ["a", "c"], "n": [1, 2], "x": [0.75, 1.0]})
    found = [tuple(row.values()) for row in differences("t", KEPT, fresh)]
    assert found == [
        ("t", "b 2", "", "row", ""), ("t", "c 2", "", "", "row"), ("t", "a 1", "x", 0.5, 0.75),
    ]  # fmt: skip
    without = differences("t", KEPT, KEPT.drop(columns="x"))
    assert [row["column"] for row in without] == ["x"]


CLAIM = {
    "id": "C01", "verdict": "reproduced", "claim": "A promise", "measured": "7 %", "rule": "r",
    "note": "",
}  # fmt: skip
COVERED = [
    ("uniform_wave", "calbias", 0.9, 0.85, 0.95),
    ("judging_beta", "calbias", 0.98, 0.95, 1.0),
    ("judging_beta", "calbias_l2", 1.0, 0.95, 1.0),
    ("judging_blind26_a", "calbias", 0.96, 0.9, 1.0),
    ("judging_blind26_broken_b", "calbias", 0.5, 0.4, 0.6),
    ("clusters_c", "calbias_clusters", 0.94, 0.9, 0.97),
]
COLUMNS = ["scenario", "method", "coverage", "low", "high"]


def test_coverage_in_words():
    sentences = list(coverage({"interval_coverage": pd.DataFrame(COVERED, columns=COLUMNS)}))
    assert [sentence.partition(" the ")[0] for sentence in sentences[:2]] == [
        "On cells that it was made on", "On cells that it was not made on",
    ]  # fmt: skip
    assert "98.0 % of the ℓ1 errors (0 of 1 cells clearly below 90%) and 100.0 %" in sentences[1]
    assert "50.0 % of the ℓ1 errors (1 of 1 cells" in sentences[3]
    assert "by clusters holds 94.0 %" in sentences[4]


def test_false_alarms_and_delays_in_words():
    rows = [
        ("calibrated", "none", 20, 1, None),
        ("verdict every 200 rows", "none", 20, 7, None),
        ("judging", "slope", 20, 20, 2.0),
    ]
    columns = ["part", "stream", "n_streams", "alarms", "delay_ratio"]
    calibrated, verdict, delay = monitor({"monitor": pd.DataFrame(rows, columns=columns)})
    assert "5.0 % ring" in calibrated
    assert "7 of 20" in verdict
    assert "2.0 times" in delay


def test_a_study_that_was_not_made_says_how_and_no_link_is_dead():
    tables = {
        "own_claims": pd.DataFrame([CLAIM]),
        "interval_coverage": pd.DataFrame(COVERED, columns=COLUMNS),
    }
    page = Page(text := evidence_page(tables, {"blind_cells": "blind_cells.png"}))
    assert "1 claim: 1 holds" in text
    assert "results/tables/monitor.csv" in text
    assert {"tables/interval_coverage.csv", "figures/blind_cells.png"} <= set(page.addresses)


def test_the_front_page_leads_to_the_papers(tmp_path):
    claims, page = tmp_path / "own_claims.csv", tmp_path / "evidence.html"
    row = pd.DataFrame([CLAIM], columns=list(columns_of("claims")))
    row.replace("", "x").astype(object).fillna("x").assign(stated_by="").to_csv(claims, index=False)
    tables = {"own_claims": claims}
    write_evidence_page(tables=tables, figures={}, audits=[], page="evidence", output=page)
    assert "index.html" in Page(page.read_text("utf-8")).addresses
