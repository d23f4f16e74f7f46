"""The evidence's page: sentences by hand, studies that this run has not, links that exist."""

import pandas as pd
from html_page import Page

from evidence.report.evidence_page import evidence_page
from evidence.report.findings import coverage, monitor

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
    assert "1 claims: 1 reproduced" in text
    assert "results/tables/monitor.csv" in text
    assert "index.html" not in page.addresses
    assert {"tables/interval_coverage.csv", "figures/blind_cells.png"} <= set(page.addresses)
    assert "index.html" in Page(evidence_page(tables, {}, has_front_page=True)).addresses
