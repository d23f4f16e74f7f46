"""The papers with their report, as ``config/smoke.yaml`` runs them; the contracts of tables."""

import json
import re
import subprocess
import sys
from functools import cache

import pandas as pd
import pytest
from checkout import SMOKE
from command import read
from html_page import Page, axe_violations
from nightly import daily

from pipeline.catalogue import figures
from pipeline.table_schema import tables

ON_ITS_OWN = {  # of an estimator's page, `snakemake league`, `multiclass`
    *(f"estimator_{what}" for what in ("comparison", "selection", "cost")),
    *("fit_times", "own_score_fits"),  # of key `fits`
}
AUDITS = {name for name in tables() if name.startswith("audit_")}  # of a model that a user adds
HEATMAPS_OF_MODELS_LEFT_OUT = re.compile(r"fig\d+_(bias|sd)_(resnet_wide32_c100|resnet152_imgnet)")


@pytest.fixture
def made(smoke):
    """A checkout after a run, and the tables that it has not made."""
    return smoke, ON_ITS_OWN | AUDITS


def test_every_table_has_rows_and_the_columns_of_its_contract(made):
    checkout, missing = made
    folder = checkout / "results/tables"
    found = {path.stem: read(path) for path in folder.glob("[!R]*.csv")}
    described = pd.concat(pd.read_csv(path) for path in folder.glob("README*.csv"))
    assert set(described["table"]) == set(tables())
    assert set(found) == set(tables()) - missing
    assert {name for name, table in found.items() if table.empty} == set()


def test_without_a_terminal_a_run_prints_few_lines(smoke):
    lines = (smoke / "screen.txt").read_text("utf-8").splitlines()
    assert len(lines) < 60
    assert any(re.match(r"(\d+) of \1 jobs done in", line) for line in lines)


def test_every_figure_is_drawn_for_screens_and_for_papers(made):
    checkout, missing = made
    expected = {
        name
        for name, entry in figures().items()
        if not set(entry.tables) & missing and not HEATMAPS_OF_MODELS_LEFT_OUT.match(name)
    }
    for kind, beginning in (("png", b"\x89PNG"), ("pdf", b"%PDF")):
        drawn = {path.stem: path for path in (checkout / "results/figures").glob(f"*.{kind}")}
        assert set(drawn) == expected
        assert all(path.read_bytes().startswith(beginning) for path in drawn.values())


def test_no_link_of_a_page_is_dead(made):
    results = made[0] / "results"
    page_of = cache(lambda path: Page(path.read_text("utf-8")))
    for page in (*results.glob("*.html"), *(results / "audit").glob("*.html")):
        if page.name == "report.html":
            continue
        for address in page_of(page).addresses:
            if not re.match(r"data:|https?:|mailto:", address):
                file, _, anchor = address.partition("#")
                target = (page.parent / file).resolve() if file else page
                assert target.exists(), (page.name, address)
                if anchor and target.suffix == ".html":
                    assert anchor in page_of(target).ids, (page.name, address)


def test_genuine_logits_fill_the_rows_of_their_models(smoke):
    """KS of Gupta et al.: 4.750, 0.916, 0.643; top-2 3.011 and 0.947; within-top-2 1.805, 0.097."""
    names = ("measures", "calibration_graphs", "printed_tables", "replication")
    table, graphs, papers, others = (read(smoke / f"results/tables/{n}.csv") for n in names)
    mine = table[table["model"] == "resnet110_c10"]
    assert mine["needs"].isna().all()
    assert mine["value_percent"].notna().all()
    assert (graphs["model"] == "resnet110_c10").sum() == 5 * 3 * 200
    rows = papers[(papers["model"] == "resnet110_c10") & (papers["row"] == "computed")]
    found = rows.set_index("measure").round(3).rename(columns=lambda c: c.removesuffix("_percent"))
    assert set(found["source"]) == {"real_logits"}
    for measure, expected in {
        "ks_top1": {"uncalibrated": 4.75, "temperature_scaling": 0.917, "spline": 0.65},
        "ks_top2": {"uncalibrated": 3.012, "temperature_scaling": 0.948},
        "ks_within_top2": {"uncalibrated": 1.805, "temperature_scaling": 0.097},
        "ece25": {"uncalibrated": 4.75, "temperature_scaling": 1.224},
        "accuracy": {"uncalibrated": 93.56, "vector_scaling": 93.5},
    }.items():
        assert found.loc[measure, list(expected)].to_dict() == expected
    printed = others.dropna(subset="published_percent")
    off = (printed["value_percent"] - printed["published_percent"]).abs()
    assert len(off) == 4  # of Mukhoti et al. (2020)
    assert off.max() < 0.006


def test_a_second_run_has_nothing_to_do(made):
    guests = [x for x in ("evidence", "networks") if (made[0] / f"results/{x}.html").exists()]
    assert made[0].planned("--", "all", *guests, config=SMOKE) == []


def test_nothing_temporary_is_left(made):
    names = {path.name for path in (made[0] / "results").rglob(".*")}
    lasting = r"\.kept-\d+-of-\d+\.parquet|\..*\.sha256"
    assert all(re.fullmatch(lasting, name) for name in names)


def test_the_report_holds_every_figure_with_its_caption(smoke):
    report = (smoke / "results/report.html").read_text("utf-8")
    for path in (smoke / "results/figures").glob("*.png"):
        assert path.stem in report
    assert "Figure 4" in report


def test_the_first_screen_of_the_report_opens_the_ledger_and_counts_its_verdicts(smoke):
    report = (smoke / "results/report.html").read_text("utf-8")
    assert "contentPath:results['results/ledger.html'].data_uri" in report
    claims = read(smoke / "results/tables/claims.csv")
    verdicts = claims.loc[claims["id"].str.startswith("R"), "verdict"].value_counts()
    counts = re.findall(r"<li><strong>(\d+)</strong> [^<]+</li>", report)
    assert sorted(map(int, counts)) == sorted(verdicts)


@pytest.mark.parametrize("page", daily(["index", "ledger"], 0))
def test_axe_finds_nothing_wrong_in_a_page(page, smoke, tmp_path):
    assert axe_violations((smoke / f"results/{page}.html").read_text("utf-8"), tmp_path) == []


def test_the_report_can_show_the_ledgers_page(smoke):
    """There the page is a data: address, 4 characters for 3 bytes; Chromium shows up to 2 MiB."""
    assert len((smoke / "results/ledger.html").read_bytes()) * 4 / 3 < 0.99 * 2 * 1024**2


def test_the_record_of_provenance_lists_every_table_and_figure(smoke):
    text = (smoke / "results/provenance.json").read_text("utf-8")
    record = json.loads(text)
    assert set(record["files"]) == set(smoke.bytes("tables", "figures"))
    assert record["sources"]["beta_fits"] == ["real_logits", "real_scores"]
    assert record["config"]["replicates"] == 8
    assert {"fit_model", "draw_figure", "judge_claims"} < set(record["cost"])
    least = 1000  # MB that any job may have, see workflow/profiles/slurm
    assert max(used["peak_mb"] for used in record["cost"].values()) < least
    assert "provenance.json" in (smoke / "results/report.html").read_text("utf-8")
    command = [sys.executable, "scripts/run.py", "check_provenance"]
    command += ["--record", "results/provenance.json"]
    subprocess.run(command, cwd=smoke.path, check=True)
