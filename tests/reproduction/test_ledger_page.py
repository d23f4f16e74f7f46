"""The ledger's page: escaped, whole, accessible, with a way to figure, table, rule and script."""

import re

import numpy as np
import pandas as pd
import pytest
from checkout import ROOT
from claims_data import PAPER, authors, by_name, correlations, experiment
from command import crossed
from html_page import Page
from PIL import Image

from pipeline.claims.ledger import all_claims, judge_all, ledger_table, measurement_table
from pipeline.claims.run_tables import RunTables
from pipeline.report import MOST_ROWS, compared_places, counted, papers_tables, shown, theorems
from pipeline.table_schema import columns_of, tables
from reproduction.steps.write_pages import front_page, ledger_page
from reproduction.verdict_summary import CORE, FAILING, OPEN, sentences


def results(**given):
    given["correlations"] = correlations(given["bias"])
    judged = judge_all(RunTables({**PAPER, **given}), "reproduction")
    return {
        "claims": ledger_table(judged),
        "measurements": measurement_table(judged),
        "comparison": pd.DataFrame(columns=columns_of("comparison")),
    }


@pytest.fixture(scope="module")
def found():
    """The tables of a run that computed little: a paired test and its verdict."""
    bias = {"ece_debias_em": 0.6}
    bias = experiment("realistic", by_name(bias), [*bias, "ece_sweep_em"])
    return results(bias=bias, **authors())


@pytest.fixture(scope="module")
def picture(tmp_path_factory):
    path = tmp_path_factory.mktemp("figures") / "f.png"
    Image.new("RGB", (40, 20), "white").save(path)
    return path


LONG = crossed("bias", {"n_samples": range(2 * MOST_ROWS)}, bias_percent=0.5)


@pytest.fixture(scope="module")
def plain(found):
    return ledger_page(found, {})


@pytest.fixture(scope="module")
def whole(found, picture):
    """The page with a figure, two more tables, and a user's own model."""
    rows = pd.DataFrame({"model": ["resnet110_c10", "mine"]})
    rows = rows.reindex(columns=columns_of("audit_verdicts"), fill_value=1.0)
    more = {
        "audit_verdicts": rows.assign(source="real_logits"),
        "bias": LONG,
        "paired_t_test": pd.DataFrame(columns=columns_of("paired_t_test")),
    }
    drawn = ["fig4_realistic", "models/mine", "models/resnet110_c10"]
    return ledger_page({**found, **more}, dict.fromkeys(drawn, picture), ["mine"])


def test_the_page_is_whole_accessible_and_needs_nothing_from_outside(whole):
    checker = Page(whole)
    assert not re.search(r"https?://", whole)
    known = r"#|index.html|(audit|figures|tables|\.\./scripts|\.\./workflow)/"
    assert [address for address in checker.addresses if not re.match(known, address)] == []
    anchors = [address[1:] for address in checker.addresses if address.startswith("#")]
    assert set(anchors) <= set(checker.ids)
    resting = [claim for claim in all_claims("reproduction") if "fig4_realistic" in claim.figures]
    assert anchors.count("fig4_realistic") == len(resting)  # one click from each of these claims
    assert '<html lang="en">' in whole
    assert (checker.headings[0], np.diff(checker.headings).max()) == (1, 1)
    assert "Figure 4: " in [image["alt"][:10] for image in checker.images]


def card(text, claim, following):
    """Return the part of the page that is a claim's."""
    return text[text.index(f'<article id="{claim}"') : text.index(f'<article id="{following}"')]


def test_every_claim_leads_to_its_figures_tables_rules_and_scripts(whole, plain):
    step = "scripts/reproduction/steps/compare_estimators.py"
    for name in ("Figure 4", "tables/paired_t_test.csv", step):
        assert name in card(whole, "R11", "R12")
    assert "tables/paired_t_test.csv" not in card(plain, "R11", "R12")  # no dead link
    needed = {name for claim in all_claims("reproduction") for name in claim.tables.split()}
    assert needed - {*tables()} == {"fit_times"}  # recorded, in resources
    for table in (tables()[name] for name in needed - {"fit_times"}):
        assert (ROOT / table["script"]).is_file()
        assert f"rule {table['rule']}:" in (ROOT / table["rule_file"]).read_text(encoding="utf-8")


def test_a_figure_of_other_tables_says_so_and_its_numbers_are_linked(found, picture):
    words, link = "Drawn from other tables than those next to it", 'href="figures/fig1_intro.csv"'
    text = front_page(found, {"fig1_intro": picture})
    assert words not in text
    assert link not in text
    picture.with_suffix(".csv").write_text("a\n1\n")
    assert words in front_page(found, {"fig1_intro": picture}, outdated=["fig1_intro"])
    assert link in ledger_page(found, {"fig1_intro": picture})
    picture.with_suffix(".csv").unlink()


def test_text_is_escaped_and_verdicts_are_counted(found):
    words = {"claim": "<script>alert(1)</script>", "verdict": "reproduced"}
    text = ledger_page({**found, "claims": found["claims"].assign(**words)}, {})
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    # each paper is counted alone, and what it quotes, or compares without a sentence
    for paper, words in {
        "R": "38 claims: 37 hold, 1 is a theorem", "G": "12 claims: 12 hold",
        "S": "11 claims: 11 hold", "K": "2 claims: 1 holds, 1 is a theorem",
        "none": "1 claim: 1 holds",
    }.items():  # fmt: skip
        group = text[text.index(f'id="paper-{paper}"') :]
        assert f"{words}." in group[: group.index("</ol>")]
    assert text.count('data-verdict="reproduced"') == 2 * len(all_claims("reproduction"))


def test_measurements_stand_beside_the_published_numbers(plain):
    cells = re.findall(r"<td[^>]*>(.*?)</td>", card(plain, "R11", "R12"))
    place = cells.index("mean |bias| of ece_debias_em")
    assert re.fullmatch(r"0\.\d+ ± 0\.0012 %", cells[place + 1])
    assert cells[place + 2] == "0.504 %"
    measured, distance = (float(cells[place + k].split()[0]) for k in (1, 3))
    assert distance == pytest.approx(measured - 0.504, abs=1e-3)
    assert cells[place + 3].endswith(" %")


def test_own_models_are_shown_and_the_papers_are_not(whole, plain):
    section = whole[whole.index('id="own"') : whole.index('id="claims"')]
    assert section.count("mine</td>") == section.count('<figure id="models/mine">') == 1
    assert "resnet110_c10" not in section
    assert 'href="audit/mine.html"' in whole
    assert 'id="own"' not in plain


def test_a_long_table_is_cut_and_its_columns_are_explained(whole):
    table = shown("bias", LONG)
    assert (len(table.rows), table.n_rows) == (MOST_ROWS, len(LONG))
    (column,) = [c for c in table.columns if c.name == "bias_percent"]
    meaning = "mean estimate minus true calibration error (percent)"
    assert (column.numeric, column.meaning) == (True, meaning)
    assert f"The first {MOST_ROWS} of {len(LONG)} rows" in whole


def test_comparison_is_one_table_for_each_place():
    rows = [
        ("Table 4", "simulated", "m", "published_fits", 1.0, 1.5, 0.5, 0.5, 1.0),
        ("Table 4", "other", "m", "published_fits", 1.0, 2.25, 1.25, 0.5, 2.5),
        ("§7.1", "t", None, "published_fits", 5.1, 4.9, -0.2, None, None),
    ]
    table = pd.DataFrame(rows, columns=columns_of("comparison"))
    first, second = compared_places(table)
    assert first["count"].endswith("of which 1 within two and the farthest 2.5")
    assert second["count"] == "1 number, none with a standard error"


def test_tables_of_other_papers_have_computed_and_printed_values():
    keys = {"model": ["a", "b"], "method": ["uncalibrated", "spline"], "measure": ["ks_top1"]}
    measures = crossed(
        "measures", keys, source="real_scores", value=0.05, value_percent=5.0, low_percent=4.0,
        high_percent=6.0, published_percent=5.1, published_source="x", needs="",
    )  # fmt: skip
    measures.loc[0, ["value_percent", "published_percent"]] = float("nan"), 0.9
    [table] = papers_tables(measures)
    assert [column.name for column in table.columns] == ["model", *measures["method"].unique()]
    assert table.rows[0][:2] == [measures["model"][0], "– / 0.9"]
    assert table.rows[1][1] == "5.000 (4.00–6.00) / 5.1"
    assert papers_tables(None) == []


def test_the_front_page_says_where_the_paper_fails_and_why_and_leads_everywhere(found, picture):
    claims = found["claims"].assign(verdict="reproduced", models="", note="").set_index("id")
    claims.loc["R12", ["verdict", "reason"]] = "not_reproduced", "the root is missing"
    claims.loc["R06", "models"] = "2 of 10"
    claims.loc["G01", "verdict"] = "not_reproduced"  # another paper's
    n = claims.index.str.startswith("R").sum() - 2  # quoted
    holds = n - 2  # without R12 and a theorem
    cost = {"fit_model": {"jobs": 10, "cpu_seconds": 12.5, "peak_mb": 321}}
    found = {**found, "claims": claims.reset_index()}
    text = front_page(found, {"fig1_intro": picture}, ["mine", "resnet110_c10"], cost)
    checker = Page(text)
    counts = f"{holds} hold (1 on some of the models), 1 does not, 1 is a theorem"
    assert f"{n} claims: {counts}" in text
    first = text[text.index("What is not borne out") : text.index(" What holds")]
    assert 'href="ledger.html#R12"' in first
    assert "the root is missing" in first
    assert not {"R13", "G01"} & {*re.findall(r"ledger.html#(\w+)", first)}
    assert "What holds approximately" not in text
    assert "10 jobs used 12 s of CPU" in text
    assert "<td>321</td>" in text
    assert [image["src"] for image in checker.images] == ["figures/fig1_intro.png"]
    doors = {"ledger.html#paper-G", "ledger.html#tables", "audit/mine.html", "provenance.json"}
    assert doors <= set(checker.addresses)
    assert (checker.headings[0], np.diff(checker.headings).max()) == (1, 1)


def claims(default="reproduced", **verdicts):
    """Table claims: those of the topics, and R99 beyond them, which is a theorem."""
    ids = [*(name for topic in (*CORE, *FAILING, *OPEN) for name in topic.ids), "R99"]
    table = pd.DataFrame({"id": ids, "claim": "its own words", "where": "here", "models": ""})
    table.loc[table["id"] == "R99", "where"] += ", theorem"
    return table.assign(verdict=[verdicts.get(name, default) for name in ids])


NOTHING = pd.DataFrame(columns=["id", "name", "case", "value"])


def said(table, measurements=NOTHING):
    return {x.head: [point.ids for point in x.points] for x in sentences(table, measurements)}


def test_the_core_holds_strictly_and_approximately_and_the_rest_is_not_told():
    found = said(claims(R09="approximate"))
    assert found == {
        "The core holds": [("R01",), ("R20",), ("R10",), ("R16",), ("R11",)],
        "Approximately": [("R09",)],
    }


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        ({"R19": "not_reproduced"}, {"Not borne out": [("R12", "R19")]}),  # the worst of two
        ({"R26": "needs_real_logits"}, {"Open": [("R26", "R30")]}),
        ({"R99": "not_reproduced"}, {"Not borne out": [("R99",)]}),
    ],
)
def test_what_fails_and_what_is_open(verdicts, expected):
    table = claims(**verdicts)
    found = {k: v for k, v in said(table).items() if k in ("Not borne out", "Open")}
    assert found == expected
    last = sentences(claims(R99="not_reproduced"), NOTHING)[-1]
    assert (last.head, last.text) == ("Not borne out", "its own words (R99)")


def test_a_core_that_fails_is_not_said_to_hold():
    found = said(claims(R01="not_reproduced"))
    assert "The core holds" not in found
    assert found["Of the core holds"] == [("R09",), ("R20",), ("R10",), ("R16",), ("R11",)]
    assert found["Not borne out"] == [("R01",)]


def test_claims_that_were_not_judged_are_left_out():
    assert said(claims("not_judged")) == {}
    assert said(claims("not_judged", R12="approximate", R01="reproduced")) == {
        "The core holds": [("R01",)]
    }


@pytest.mark.parametrize(("sweep", "lean"), [(3, "against it"), (9, "for it"), (8, "level")])
def test_numbers_stand_behind_a_topic_and_say_where_the_evidence_points(sweep, lean):
    name = "selects as the TCE, all networks"
    rows = [("R26", name, "ece_sweep_em", sweep), ("R26", name, "ece_bin_ew", 8),
            ("R09", "em less biased, cells of 21 clearly so", "bin", 20.0),
            ("R09", "em less biased, cells of 21 clearly so", "sweep", 21.0),
            ("R09", "em less biased, cells of 21 the other way round", None, 2.0)]  # fmt: skip
    table = pd.DataFrame(rows, columns=["id", "name", "case", "value"])
    found = {x.head: x.text for x in sentences(claims(R26="needs_real_logits"), table)}
    assert f"so far the evidence is {lean} (R26, R30: " in found["Open"]
    assert f"the best method for {sweep}, ECE_bin for 8" in found["Open"]
    assert "(R09: 41 of 63 cells, 2 the other way)" in found["The core holds"]


def test_theorems_are_counted_apart():
    table = claims(R01="not_reproduced")
    n = len(table) - 2
    assert counted(table) == f"{n} hold, 1 does not, 1 is a theorem"
    assert theorems(table[:3]) == ""
