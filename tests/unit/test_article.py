"""The article: no result is typed into it, its numbers are those of the tables, and it builds."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from checkout import ROOT
from claims_data import PAPER
from command import run
from made_up_tables import crossed, made_up_tables
from matplotlib.figure import Figure

import build_article
from calbias.errors import InputError
from pipeline.claims.evidence import Evidence
from pipeline.claims.ledger import judge_all
from pipeline.claims.measurements import measurement_table
from pipeline.tables.files import read_table
from reproduction.report import article_numbers
from reproduction.report.article import Results, fixed, power, render, span, words

TEMPLATES = sorted((ROOT / "article").glob("*.j2"))
RECORD = {
    "project": {"version": "0"},
    "packages": {"numpy": "0", "scipy": "0", "snakemake": "0"},
    "config": {
        "replicates": 7, "norm": 2, "predicted_bias": {"n_samples": [200, 12800]},
        "experiments": {name: {"n_bins": [15], "n_samples": [200]} for name in
                        ("realistic", "intro")},
    },
}  # fmt: skip
# What may have digits outside expressions: definitions, and places in the papers.
DEFINITIONS = (
    r"R\d\d|(Figure|Table) \d|P\(Y = 1 \||\(1 slash p\)|\$p = 1\$"
    r"|1fr|words: \d|\d\d%\)|1,\*|code: 1"
)
NAMED_TESTS = ("spiegelhalter", "hosmer_lemeshow_8df")
PUBLISHER = r"AISTATS 2022, PMLR 151|v151/roelofs22a|2430-3658|roelofs2022"


class AnyResults(Results):
    """Made-up tables, in which every cell is found; a claim's measurement is one that it makes."""

    def cell(self, table, column, **where):
        """Return a number."""
        if table == "measurements":
            super().cell(table, "name", **where)
        return 0.25


@pytest.fixture(scope="module")
def tables():
    """Tables of every kind that the article reads, with the verdicts that it discusses."""
    ids = [*(f"R{k:02}" for k in range(1, 27)), "G01"]
    claims = crossed("claims", {"id": ids}).astype(object).fillna("a_b*c# $d")
    failed = claims["id"].isin(["R12", "R15", "R19", "R21"])
    made = made_up_tables()
    measurements = pd.DataFrame(measurement_table(judge_all(Evidence({**PAPER, **made}))))
    # of tables that are not made up: the intro, and draws of the t-test
    more = [("R01", "mean ECE_bin at TCE 0, n = 200"),
            ("R11", "t of the paired test, range of 3 draws within rounding")]  # fmt: skip
    names = dict(zip(made["test_power"]["test"].unique(), NAMED_TESTS, strict=False))
    intervals = made["interval_coverage"]
    sun = intervals[intervals["method"] == "posterior_hull"].assign(method="sun2024")
    measures = crossed(
        "measures", {"measure": article_numbers.PRINTED}, model="m", method="uncalibrated",
        value=0.1, value_percent=10.0, published_percent=10.1,
        published_source="Gupta et al. 2021, Table 1",
    )  # fmt: skip
    return made | {
        "claims": claims.assign(verdict=np.where(failed, "not_reproduced", "reproduced")),
        "measurements": pd.concat([measurements, pd.DataFrame(more, columns=["id", "name"])]),
        "measures": measures,
        "peers": read_table(ROOT / "resources/peers/values.csv"),
        "settled": pd.DataFrame({"id": ["R17", "R17", "R24"]}),
        "test_power": made["test_power"].replace({"test": names}),
        "interval_coverage": pd.concat([intervals, sun]),
    }


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_no_result_is_typed(path):
    text = re.sub(r"\{#.*?#\}", "", path.read_text(encoding="utf-8"), flags=re.S)
    expressions = re.findall(r"\{[{%](.*?)[}%]\}", text, flags=re.S)
    prose = re.sub(r"\{[{%].*?[}%]\}", "", text, flags=re.S)
    prose = re.sub(rf"@\w+|<[\w-]+>|{DEFINITIONS}|{PUBLISHER}", "", prose)
    assert re.findall(r".*\d.*", prose) == []
    code = [re.sub(r'"[^"]*"', "", expression) for expression in expressions]
    assert [part for part in code if re.search(r"\d\.\d|\d{3,}(?! \*)", part)] == []


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_templates_render_and_a_missing_table_is_named(path, tables):
    text = render(path, AnyResults(tables, RECORD), "/figures")
    assert "{{" not in text
    for name in ("league_ranking", "claims"):
        rest = {key: value for key, value in tables.items() if key != name}
        with pytest.raises(InputError, match=f"no table {name}; make it with snakemake"):
            render(path, AnyResults(rest, RECORD), "/figures")


def test_it_is_set_as_a_pdf(tables, tmp_path, monkeypatch):
    pytest.importorskip("typst", reason="Typst is not installed: make article")
    monkeypatch.setattr(build_article, "Results", AnyResults)
    record, figures = tmp_path / "record.json", tmp_path / "figures"
    record.write_text(json.dumps({**RECORD, "files": {}}))
    figures.mkdir()
    for name in re.findall(r'figure\("(\w+)"\)', (ROOT / "article/article.typ.j2").read_text()):
        Figure((2, 1)).savefig(figures / f"{name}.pdf")
    for name, table in tables.items():
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    given = {name: tmp_path / f"{name}.csv" for name in tables}
    output = tmp_path / "out/article.pdf"
    run("build_article", table=given, record=record, figures=figures, output=output)
    assert output.read_bytes().startswith(b"%PDF")


def test_a_failure_that_is_not_discussed_stops_the_article(tables):
    claims = tables["claims"].replace({"verdict": {"reproduced": "not_reproduced"}})
    with pytest.raises(InputError, match="it discusses the failures R12 R15 R19 R21, but this run"):
        render(TEMPLATES[0], AnyResults(tables | {"claims": claims}, RECORD), "/figures")


def test_a_number_is_one_cell():
    rows = [("R01", "a", "x", 1.0), ("R01", "a", None, 2.0), ("R02", "b", None, 3.0)]
    table = pd.DataFrame(rows, columns=["id", "name", "case", "value"])
    results = Results({"measurements": table}, RECORD)
    assert (results.value("R01", "a", "x"), results.value("R01", "a")) == (1, 2)  # 2: no case
    with pytest.raises(InputError, match="0 rows"):
        results.value("R01", "b")
    with pytest.raises(InputError, match="2 rows"):
        results.cell("measurements", "value", id="R01")


def test_numbers_computed_from_rows():
    of_one = {"experiment": ["heatmaps"], "estimator": ["e"], "scenario": ["m"]}
    cells = {**of_one, "n_samples": [1, 2], "n_bins": [2, 4, -1]}
    bias = crossed("bias", cells, sd_percent=[2, 3, 4, 1, 1.5, 1.5])
    columns = ["model", "n_samples", "observed_bias_percent", "predicted_bias_percent",
               "observed_bias_se_percent", "predicted_bias_se_percent"]  # fmt: skip
    rows = [("a", 10, 3.0, 1.0, 0.1, 0.1), ("a", 20, -1, -1, 0.1, 0.1), ("b", 10, 1, 1.2, 1, 1)]
    predicted = pd.DataFrame(rows, columns=columns)
    names = ["good", "bad", "ece_bin_em"]
    cells = {"estimator": names, "law": ["saturated", "spread"], "n_samples": [5, 50]}
    errors = [*[0.1, 0.2] * 2, *[5.0, 0.05], *[5.0, 4.0], *[1.0] * 4]  # the worse law counts
    league = crossed("league_ranking", cells, target="l2", error=errors)
    results = Results({"bias": bias, "predicted_bias": predicted, "league_ranking": league}, RECORD)
    effect = article_numbers.bins_effect(results)  # the sweep's rows are left out
    assert effect == {"factor": {"e": 1.5}, "n_cells": 2, "n_steps": 2}
    found = article_numbers.prediction(results)
    assert found["by_n"] == [(10, 2.0, pytest.approx(1.1)), (20, 1.0, 0.0)]
    assert (found["worst"], found["within_percent"]) == (("a", 1.0), pytest.approx(200 / 3))
    ranks = article_numbers.league_ranks(results, 1, 0)
    best, other = ranks["rows"]
    assert (best["rank"], best["estimator"]) == (1, "good")
    assert (other["rank"], other["estimator"]) == (2, "ece_bin_em")
    assert best["shares"] == pytest.approx([0.1, 0.2, 0.1, 0.2])
    assert (ranks["n"], ranks["n_beyond"]) == (3, 1)


def test_the_coverage_of_a_method_is_of_all_its_cells():
    cells = {"method": ["m"], "scenario": ["a_calibrated", "b_wave"], "n_samples": [200, 1000]}
    more = {"nominal": 0.95, "mean_length": [0.1, 0.2, 0.3, 0.4]}
    table = crossed("interval_coverage", cells, coverage=[0.9, 0.94, 0.5, 0.7], **more)
    found = article_numbers.coverage(Results({"interval_coverage": table}, RECORD), "m")
    assert found.pop("lengths") == pytest.approx({200: 20, 1000: 30})
    assert found == pytest.approx(
        {"mean": 76, "least": 50, "calibrated": 92, "nominal": 95, "n_cells": 4}
    )


def test_numbers_in_words_and_figures():
    assert (fixed(-1.254, 2), words(3), words(13)) == ("−1.25", "three", "13")
    assert span([12800, 200]) == "200 to 12\u202f800"
    assert power(5.2e-05) == "$5.2 dot 10^(-5)$"
