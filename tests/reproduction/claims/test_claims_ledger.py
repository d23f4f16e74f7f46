"""The ledger as a whole, after full and partial runs."""

import importlib
import re
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest
from checkout import ROOT
from claims_data import CLAIMS, GOOD, MODELS, PAPER, SIDES, by_name, correlations, experiment
from command import guest

from calbias.errors import InputError
from pipeline.catalogue import figures
from pipeline.claims.ledger import (
    REASONS,
    SHOWN_BY,
    Judged,
    all_claims,
    judge,
    judge_all,
    ledger_table,
    read_statements,
    stability_of,
    statement_counts,
)
from pipeline.claims.run_tables import RunTables
from pipeline.claims.verdicts import Measurement, OtherNorm, Verdict, in_words, number
from pipeline.paper import MODEL_SIZES
from pipeline.table_schema import tables

BOTH = {"reproduced", "not_reproduced"}


def ledger_of(run, *ids):
    """Return the ledger of all claims, or of these."""
    tables = run.tables
    if "bias" in tables:
        tables.setdefault("correlations", correlations(tables["bias"]))
    judged = [Judged(CLAIMS[name], judge(CLAIMS[name], run)) for name in ids]
    return ledger_table(judged or judge_all(run)).set_index("id")


def test_every_claim_of_the_paper_is_judged_and_explained():
    claims = all_claims("reproduction")
    assert "".join(dict.fromkeys(claim.id[0] for claim in claims)) == "RGS"
    for paper in "RGS":
        ids = [claim.id for claim in claims if claim.id.startswith(paper)]
        assert ids == [f"{paper}{k + 1:02}" for k in range(len(ids))]
    assert all(len(c.rule) > 60 and c.uncertainty and c.says for c in claims)


def test_every_rule_turns_on_tables_where_its_claim_is_false():
    """Each claim of the papers has toys on both sides; these modules hold them."""
    for path in Path(__file__).parent.glob("test_claims_*.py"):
        importlib.import_module(path.stem)
    papers = [claim.id for claim in all_claims("reproduction")]
    one_side = {name: SIDES.get(name, set()) for name in papers}
    lacking = {name: has for name, has in one_side.items() if not has >= BOTH}
    # a theorem, whose test breaks the code, and times of other programs, which are not judged
    assert lacking == {"R36": set(), "G07": set()}


def test_claims_rest_on_figures_and_tables_that_exist():
    contracts = tables()
    for claim in all_claims("reproduction"):
        assert set(claim.figures.split()) <= set(figures())
        assert claim.tables, claim.id
        assert set(claim.tables.split()) <= {*contracts, "fit_times"}  # kept in resources


def test_a_claim_is_added_by_a_new_file(tmp_path, monkeypatch):
    claims = guest(tmp_path, monkeypatch, "claims")
    text = '''
from pipeline.claims.claim import claim
from pipeline.claims.verdicts import Measurement, Ruling

LIMIT = 0.5

@claim("Z01", "§3", "bias")
def judged(run):
    """A statement.

    published: 2
    rule: above
    {LIMIT:.0%}
    errors: none
    """
    return Ruling("reproduced", [Measurement("x", 1.0, published=2.0)], "real_scores", ["a note"])
'''
    (claims / "guo_of_a_test.py").write_text(text)
    row = ledger_of(RunTables(PAPER)).loc["Z01"]
    assert (row["measured"], row["verdict"]) == ("x: 1", "reproduced")
    assert (row["claim"], row["rule"], row["note"]) == ("A statement", "above 50%", "a note")
    unruled = claims / "unruled.py"
    for was, now, fault in (
        ("rule: above\n    {LIMIT:.0%}\n", "", r"missing in its docstring, .*: 'rule'"),
        ("{LIMIT:.0%}", "{LIMITS:.0%}", "its docstring has a constant .* 'LIMITS'"),
    ):
        unruled.write_text(text.replace(was, now))
        with pytest.raises(InputError, match=f"unruled: claim Z01: {fault}"):
            all_claims()
    unruled.unlink()
    (claims / "twice_in_a_test.py").write_text(text)
    with pytest.raises(InputError, match="Z01 is there already"):
        all_claims()


def test_a_run_without_tables_judges_nothing_and_does_not_crash():
    ledger = ledger_of(RunTables(PAPER))
    waits = [CLAIMS[name].needs_real_logits for name in ledger.index]
    assert ledger["verdict"].eq("needs_real_logits").tolist() == waits
    assert set(ledger["verdict"]) == {"needs_real_logits", "not_judged"}
    assert ledger["note"].str.startswith("not computed in this run: table").all()


@pytest.mark.parametrize(
    ("sizes", "n_replicates", "note"),
    [
        ((200, 400), 1000, r"lacks 300 of the 420 rows .* at resnet110_c10, ece_bin_ew, n = 800"),
        (MODEL_SIZES, 499, "has 499 replicates; the rules want at least 500"),
    ],
)
def test_a_partial_run_says_what_is_absent(sizes, n_replicates, note):
    table = experiment("realistic", by_name(GOOD), list(GOOD), sizes=sizes)
    ledger = ledger_of(RunTables({**PAPER, "bias": table.assign(n_replicates=n_replicates)}))
    assert ledger.loc["R09", "verdict"] == "not_judged"
    assert re.search(note, ledger.loc["R09", "note"])
    assert set(ledger["verdict"]) <= set(Verdict)


@pytest.mark.parametrize(("norm", "verdict"), [(2.0, "reproduced"), (1.0, "not_judged")])
def test_estimates_of_another_norm_are_not_judged(norm, verdict):
    tables = {
        "bias": experiment("realistic", by_name(GOOD), list(GOOD)),
        "true_calibration_error": pd.DataFrame({"scenario": ["a", "b"], "norm": [2.0, norm]}),
        "ece_bin_real_and_simulated": pd.DataFrame({"model": ["a"]}),
    }
    if norm == 2:
        del tables["ece_bin_real_and_simulated"]
    rows = ledger_of(RunTables({**PAPER, **tables}), "R06", "R08", "R09")
    assert rows.loc["R09", "verdict"] == verdict
    if norm != 2:
        assert rows.loc["R09", "note"] == "not comparable: norm is 1; the paper's is 2"
        assert rows.loc["R08", "verdict"] == "not_judged"  # whatever logits it waits for
        assert rows.loc["R06", "verdict"] == "needs_real_logits"  # rests on fits alone


def test_norms_of_every_table_are_thought_of():
    """A table is either refused for another norm, or known not to depend on the key."""
    other = {"true_calibration_error": pd.DataFrame({"norm": [1.0]})}
    names = tables()
    for name, entry in names.items():
        run = RunTables({**PAPER, **other, name: pd.DataFrame({"norm": [1.0]})})
        if entry.get("any_norm"):
            assert len(run.table(name)) == 1
        else:
            with pytest.raises(OtherNorm, match="norm is 1"):
                run.table(name)


def test_models_and_sizes_beyond_the_paper_change_no_verdict():
    own = pd.concat([MODELS, MODELS[:1].assign(model="mine", group="mine")])
    sizes = (100, *MODEL_SIZES)
    table = experiment("realistic", by_name(GOOD), list(GOOD), list(own["model"]), sizes)
    row = ledger_of(RunTables({**PAPER, "models": own, "bias": table}), "R09").loc["R09"]
    assert (row["verdict"], row["source"]) == ("reproduced", "published_fits")
    assert "cells of 21" in row["measured"]
    error = f"{CLAIMS['R09'].uncertainty}; the largest standard error is 0.010"  # 0.01 √2 / √2
    assert row["uncertainty"] == error
    few = ledger_of(RunTables({**PAPER, "models": MODELS[:3], "bias": table}), "R09")
    assert "the models table lacks" in few.loc["R09", "note"]
    assert few.loc["R09", "uncertainty"] == ""


def test_a_number_has_two_digits_of_its_error_or_four():
    nan, inf = float("nan"), float("inf")
    for value, error, text in (
        *((0.12345, 0.01, "0.123"), (0.12345, 0.0099, "0.1235"), (12.3, 10.0, "12")),
        *((1e-9, 1e-9, "0.000000"), (3.0, 0.0, "3"), (1234.567, inf, "1235")),
        *((0.5, nan, "0.5"), (nan, 0.1, ""), (inf, 0.1, "")),
        *((-2.31, 0.041, "-2.310"), (16.0, nan, "16"), (1.6659e-5, nan, "1.666e-05")),
    ):
        assert number(value, error) == text


def test_quantities_and_units_in_words():
    nan = float("nan")
    numbers = [
        Measurement("a", 1.5, "percent", "x", 0.25),
        Measurement("a", 2.0, "percent", low=1, high=3),
        Measurement("b", nan, "points", "y", low=4, high=4), Measurement("b", nan, "points", low=7),
        Measurement("c", 8.0), Measurement("d", 2.0, "models"),
    ]  # fmt: skip
    words = "a: x 1.50 ± 0.25, 2 (1–3) %; b: y 4, above 7 points; c: 8; d: 2 models"
    assert in_words(numbers) == words


def test_sources_and_replicates_of_an_experiment():
    scenarios = pd.DataFrame({
        "experiment": ["x", "x", "x", "y"], "scenario": ["a", MODELS["model"][0], "c", "d"],
        "source": ["synthetic", "real_logits", None, "real_scores"],
    })  # fmt: skip
    run = RunTables({"scenarios": scenarios})
    assert run.source("x") == "real_logits"
    others = scenarios.assign(scenario=["a", "b", "c", "d"])
    assert RunTables({"scenarios": others}).source("x") == "published_fits + real_logits"
    assert (run.source("y"), run.source("z")) == ("real_scores", "published_fits")
    assert RunTables({}).source("y") == "published_fits"
    bias = pd.DataFrame({"experiment": ["x", "x", "y"], "n_replicates": [250, 4000, 9000]})
    assert RunTables({"bias": bias}).error_ratio("x") == 2
    assert len(RunTables({}).enough_replicates(bias.assign(n_replicates=500), "x")) == 3
    assert len(RunTables({}, 2).enough_replicates(bias.assign(n_replicates=2), "x")) == 3


def test_the_note_begins_with_why_a_claim_is_not_reproduced():
    bad = experiment("realistic", by_name({**GOOD, "ece_bin_em": 3.0}), list(GOOD))
    for table, beginning in ((bad, "equal mass is clearly less biased in 42 of 63"), (
        experiment("realistic", by_name(GOOD), list(GOOD)), "each alone")):  # fmt: skip
        note = ledger_of(RunTables({**PAPER, "bias": table}), "R09").loc["R09", "note"]
        assert note.startswith(beginning)


def test_how_many_batches_of_the_data_sets_have_a_verdict():
    ok, other = Verdict.REPRODUCED, Verdict.APPROXIMATE
    assert stability_of(ok, [ok] * 4 + [other]) == ("4 of 5", "")
    words = "at the limit: of 5 batches of the data sets 2 approximate"
    assert stability_of(ok, [ok] * 3 + [other] * 2) == ("3 of 5", words)
    assert stability_of(ok, []) == stability_of(Verdict.NOT_JUDGED, [ok]) == ("", "")
    table = experiment("realistic", by_name(GOOD), list(GOOD))
    run = RunTables({**PAPER, "bias": table, "correlations": correlations(table)})
    batches = pd.DataFrame({"id": ["R09", "R10"], "verdict": [other, ok]})
    row = ledger_table([Judged(CLAIMS["R09"], judge(CLAIMS["R09"], run))], batches).iloc[0]
    assert row["stability"] == "0 of 1"
    assert row["note"].startswith("at the limit: of 1 batches of the data sets 1 approximate")


ROWS = read_statements()
PAPERS = {"Roelofs et al. 2022": "R", "Guo et al. 2017": "G", "Gupta et al. 2021": "S"}


def test_what_is_named_exists():
    known = {
        "claims": {claim.id for claim in all_claims()},
        "figures": set(figures()),
        "tables": set(tables()),
    }
    for row in ROWS:
        for column, names in known.items():
            assert {*row[column].split()} <= names, row
        assert row["place"]
        assert row["statement"]


def test_each_statement_is_judged_or_has_a_reason_of_the_few_kinds():
    for row in ROWS:
        named = any(row[column] for column in SHOWN_BY)
        assert named or row["reason"] in REASONS, row
        assert not (row["claims"] and row["reason"]), row
    assert len({row["statement"] for row in ROWS}) == len(ROWS)


def test_statements_are_numbered_and_counted():
    for paper, count in Counter(row["paper"] for row in ROWS).items():
        numbers = [int(row["number"]) for row in ROWS if row["paper"] == paper]
        assert numbers == [*range(1, count + 1)]
    counts = statement_counts(ROWS)
    assert len(ROWS) == sum(counts.values()) > 130
    assert counts["a claim"] > len(ROWS) / 2
    assert counts[REASONS["not tried"]] <= 3


@pytest.mark.parametrize(("paper", "letter"), PAPERS.items())
def test_every_claim_of_a_paper_is_of_a_statement(paper, letter):
    """No row of the ledger is about something that its paper does not state."""
    named = {name for row in ROWS if row["paper"] == paper for name in row["claims"].split()}
    judged = {claim.id for claim in all_claims("reproduction") if claim.id[0] == letter}
    assert judged <= named


def test_the_readme_counts_the_claims_of_the_paper():
    claims = [x for x in all_claims("reproduction") if x.id[0] == "R" and not x.stated_by]
    assert f"**The paper's {len(claims)} claims**" in (ROOT / "README.md").read_text("utf-8")
