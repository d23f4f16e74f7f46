"""The ledger's page: escaped, self-contained, with a way to figure, table, rule and script."""

import importlib
import re
from html.parser import HTMLParser

import pandas as pd
import pytest
from claims_data import MODELS, ROOT, TABLES
from made_up_tables import made_up_tables
from PIL import Image

from calbias.claims.evidence import Evidence
from calbias.claims.ledger import judge_all, read_claims
from calbias.figures import style
from calbias.pipeline.figure_catalogue import figures
from calbias.pipeline.workflow_index import figure_makers, table_makers
from calbias.report.comparison_page import comparison_section, number
from calbias.report.ledger_page import ledger_page
from calbias.report.ledger_pictures import MOST_CHARACTERS

COMPARED = (
    *("where", "quantity", "model", "source", "published", "recomputed", "difference"),
    *("standard_error", "n_standard_errors"),
)
RULES = """
JOINED = {
    "bias": [f"results/bias/{experiment}.csv" for experiment in SIMULATED],
}

rule summarise_bias:
    input:
        script=program("summarise_bias"),
        other="results/tables/not_mine.csv",
    output:
        "results/bias/{experiment}.csv",
    shell:
        "python"


rule compare_estimators:
    input:
        script=program("compare_estimators"),
    output:
        test="results/tables/paired_t_test.csv",
        more=tabled("more"),
    shell:
        "python"
"""


class Checker(HTMLParser):
    """Notes unbalanced tags and addresses."""

    def __init__(self):
        super().__init__()
        self.open, self.addresses, self.ids = [], [], []

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.addresses += [attrs[name] for name in ("src", "href") if name in attrs]
        self.ids += [attrs["id"]] if "id" in attrs else []
        if tag not in ("meta", "img", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture
def makers(tmp_path):
    (tmp_path / "x.smk").write_text(RULES, "utf-8")
    return table_makers(tmp_path)


def page(makers=None, pictures=None, comparison=None, **changes):
    claims = read_claims(ROOT / "resources/claims.csv")
    ledger = judge_all(claims, Evidence({}, MODELS, TABLES)).assign(**changes)
    return ledger_page(ledger, claims, comparison, makers or {}, figure_makers(), pictures or {})


def test_makers_are_read_from_the_rule_files(makers):
    assert makers["bias"] == ("summarise_bias", "workflow/rules/x.smk", "scripts/summarise_bias.py")
    assert makers["more"].rule == makers["paired_t_test"].rule == "compare_estimators"
    assert "not_mine" not in makers


def test_every_table_that_a_claim_rests_on_has_its_rule_and_script():
    makers = {**table_makers(ROOT / "workflow/rules"), **figure_makers()}
    for claim in read_claims(ROOT / "resources/claims.csv"):
        for name in (*claim["tables"].split(), *claim["figures"].split()):
            assert name in makers, f"{claim['id']}: no rule found that makes {name}"
            assert (ROOT / makers[name].script).is_file()
            assert (ROOT / makers[name].rule_file).is_file()


def test_the_page_is_whole_and_needs_nothing_from_outside(makers, tmp_path):
    picture = tmp_path / "f.png"
    Image.new("RGB", (40, 20), "white").save(picture)
    text = page(makers, {"fig4_realistic": picture})
    checker = Checker()
    checker.feed(text)
    assert not checker.open
    assert len(checker.ids) == len(set(checker.ids))
    assert not re.search(r"https?://", text)
    for address in checker.addresses:
        assert address.startswith(
            ("#", "figures/", "tables/", "../scripts/", "../workflow/", "data:")
        )
    assert sum(address.startswith("data:image/png") for address in checker.addresses) == 1
    anchors = [address[1:] for address in checker.addresses if address.startswith("#")]
    assert set(anchors) <= set(checker.ids)
    resting = [c for c in read_claims(ROOT / "resources/claims.csv") if "fig4" in c["figures"]]
    assert anchors.count("fig4_realistic") == len(resting)  # one click from each of these claims


def test_the_report_can_show_the_page_with_every_figure_in_it(makers, tmp_path):
    """In the report the page is a data: address, of which Chromium shows no more than 2 MiB.

    Heat maps of different models are as large as each other: one of a kind is drawn.
    """
    tables, pictures = made_up_tables(), {}
    for name, entry in figures().items():
        kind = [str(value) for key, value in entry.options.items() if key != "model"]
        pictures[name] = tmp_path / ("-".join([entry.module, *kind]) + ".png")
        if not pictures[name].exists():
            draw = importlib.import_module(f"calbias.figures.{entry.module}").draw
            style.save(draw(tables, **entry.options), pictures[name], tmp_path / "figure.pdf")
    rows = [("Table 3", "b0", "resnet110_c10", "published_fits", 1.0, 1.5, 0.5, 0.25, 2.0)] * 400
    table = pd.DataFrame(rows, columns=COMPARED)
    text = page(makers, pictures, table, note="a note " * 50)
    assert len(text.encode()) * 4 / 3 < MOST_CHARACTERS


def test_the_overview_has_the_first_of_what_was_published_and_measured():
    text = page(published="0.5; no more", measured="0.4; 0.3 elsewhere", verdict="reproduced")
    assert text.count("<td>0.5</td><td>0.4</td>") == 26


@pytest.mark.parametrize(
    ("measured", "uncertainty", "items"),
    [
        ("a 1; b 2", "± 3; ± 4", ["<li>a 1 <small>(± 3)</small>", "<li>b 2 <small>(± 4)</small>"]),
        (
            "a 1; b 2",
            "range, in the same order: 3–4, 5–6",
            ["a 1 <small>(range: 3–4)", "b 2 <small>"],
        ),
        ("mean: x 1, Beta(1, 2) 2", "p of each: 3, 4", ["mean:<ul><li>x 1 <small>(p of each: 3)"]),
        ("a 1; b 2", "error of a mean ≤ 3", ["<dt>Uncertainty</dt><dd>error of a mean ≤ 3</dd>"]),
        ("a 1; b 2", "of others: 3, 4", ["<dt>Uncertainty</dt><dd>of others: 3, 4</dd>"]),
        ("a 1", "± 3", ["<dt>Measured</dt><dd>a 1</dd><dt>Uncertainty</dt><dd>± 3</dd>"]),
    ],
)
def test_items_stand_beside_their_uncertainty_where_each_has_its_own(measured, uncertainty, items):
    text = page(measured=measured, uncertainty=uncertainty)
    assert all(item in text for item in items)


def test_every_card_leads_to_its_figure_table_rule_and_script(makers):
    text = page(makers)
    card = text[text.index('<article id="R11"') : text.index('<article id="R12"')]
    for name in (
        "fig4_realistic",
        "tables/paired_t_test.csv",
        "compare_estimators",
        "scripts/compare_estimators.py",
        "scripts/calbias/claims/t_test.py",
        "realistic_t_test",
    ):
        assert name in card


def test_text_is_escaped_and_verdicts_are_counted():
    text = page(measured="<script>alert(1)</script>; b", verdict="reproduced")
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "<td>26</td>" in text


def test_comparison_is_one_table_for_each_place():
    rows = [("Table 2", "alpha", "m", "s", 1.0, 1.5, 0.5, 0.25, 2.0)] * 2
    rows += [("§7.1", "t", None, "s", 5.1, 4.9, -0.2, None, None)]
    text = comparison_section(pd.DataFrame(rows, columns=COMPARED))
    assert text.count("<h3>") == 2
    words = "2 numbers, 2 with a standard error, of which 2 within two and the farthest 2.0."
    assert words in text
    assert "1 number, none with a standard error." in text
    assert "recomputed no published number" in comparison_section(None)


def test_surrogates_are_counted_apart_and_table_4_says_its_cause():
    rows = [
        ("Table 4", "ECE_bin", "m", "surrogate_logits", 1.0, 9.0, 8.0, 1.0, 8.0),
        ("Table 4", "simulated", "m", "published_fits", 1.0, 1.5, 0.5, 0.5, 1.0),
    ]
    text = comparison_section(pd.DataFrame(rows, columns=COMPARED))
    assert "1 number, 1 with a standard error, of which 1 within two and the farthest 1.0; " in text
    assert "1 number from surrogates, not comparable, 1 with a standard error, of which 0" in text
    assert "refits on the validation folds" in text
    assert "refits" not in comparison_section(pd.DataFrame(rows[:1], columns=COMPARED))


def test_counts_have_no_decimals():
    rows = [("Table 1", "models", None, "real_logits", 3.0, 10.0, 7.0, None, None)]
    text = comparison_section(pd.DataFrame(rows, columns=COMPARED))
    for cell in (">3<", ">10<", ">+7<"):
        assert cell in text


def test_numbers_are_short_and_signed_where_it_matters():
    assert number("difference", 0.12345) == "+0.1235"
    assert number("published", 2779.22) == "2779.22"
    assert number("difference", -0.0000144) == "-1.4e-05"
    assert number("difference", 0.0) == "+0.0000"
    assert number("n_standard_errors", -3.14) == "-3.1"
