"""The ledger as a whole: all claims, whatever a run has or has not computed."""

import re

import pandas as pd
import pytest
from claims_data import GOOD, MODELS, PAPER, by_name, experiment

from calbias import claims as folder
from calbias.claims.evidence import ANY_NORM, Evidence
from calbias.claims.ledger import all_claims, judge_all, ledger_table
from calbias.claims.verdicts import VERDICTS, OtherNorm
from calbias.errors import InputError
from calbias.io.table_schema import tables
from calbias.pipeline.catalogue import figures


def ledger_of(evidence):
    return ledger_table(judge_all(evidence)).set_index("id")


def test_every_claim_of_the_paper_is_judged_and_explained():
    claims = all_claims()
    assert [c.id for c in claims if c.id.startswith("R")] == [f"R{k:02}" for k in range(1, 27)]
    assert [c.id for c in claims if c.id[0] in "GS"] == [
        *(f"G{k:02}" for k in range(1, 8)),
        *(f"S{k:02}" for k in range(1, 7)),
    ]
    assert all(len(c.rule) > 60 and c.uncertainty and c.says for c in claims)


def test_claims_rest_on_figures_and_tables_that_exist():
    contracts = tables()
    for claim in all_claims():
        assert set(claim.figures.split()) <= set(figures())
        assert claim.tables, claim.id
        assert set(claim.tables.split()) <= set(contracts)


def test_a_claim_is_added_by_a_new_file(tmp_path, monkeypatch):
    monkeypatch.setattr(folder, "__path__", [*folder.__path__, str(tmp_path)])
    text = """
from calbias.claims.measurements import Measurement
from calbias.claims.verdicts import claim

LIMIT = 0.5

@claim("Z01", "§3", "bias")
def judged(evidence):
    '''A statement.

    Published: 2
    Rule: above
    {LIMIT:.0%}
    Errors: none
    '''
    yield Measurement("x", 1.0, published=2.0)
    yield "a note"
    yield ""
    return "reproduced", "real_scores"
"""
    (tmp_path / "guo_of_a_test.py").write_text(text)
    row = ledger_of(Evidence(PAPER)).loc["Z01"]
    assert (row["measured"], row["verdict"]) == ("x: 1", "reproduced")
    assert (row["claim"], row["rule"], row["note"]) == ("A statement.", "above 50%", "a note")
    unruled = tmp_path / "unruled.py"
    unruled.write_text(text.replace("Rule:", "Role:"))
    with pytest.raises(InputError, match="claim Z01: its docstring needs"):
        all_claims()
    unruled.unlink()
    (tmp_path / "twice_in_a_test.py").write_text(text)
    with pytest.raises(InputError, match="Z01 is there already"):
        all_claims()


def test_a_run_without_tables_judges_nothing_and_does_not_crash():
    ledger = ledger_of(Evidence(PAPER))
    waiting = ["R06", "R07", "R08", "R26", *(f"G{k:02}" for k in range(2, 7))]
    waiting = ledger.index.isin([*waiting, *(f"S{k:02}" for k in range(1, 6))])
    assert set(ledger.loc[waiting, "verdict"]) == {"needs_real_logits"}
    assert set(ledger.loc[~waiting, "verdict"]) == {"not_judged"}
    assert ledger["note"].str.startswith("not computed in this run: table").all()


def test_a_partial_run_says_what_is_absent():
    table = experiment("realistic", by_name(GOOD), list(GOOD), sizes=(200, 400))
    ledger = ledger_of(Evidence({**PAPER, "bias": table}))
    row = ledger.loc["R09"]
    assert row["verdict"] == "not_judged"
    assert re.search(r"lacks 300 of the 420 rows .* n = 800", row["note"])
    assert set(ledger["verdict"]) <= set(VERDICTS)


def test_few_replicates_are_not_judged():
    table = experiment("realistic", by_name(GOOD), list(GOOD)).assign(n_replicates=20)
    ledger = ledger_of(Evidence({**PAPER, "bias": table}))
    row = ledger.loc["R09"]
    assert row["verdict"] == "not_judged"
    assert "has 20 replicates; the rules want at least 500" in row["note"]


@pytest.mark.parametrize(("norm", "verdict"), [(2.0, "reproduced"), (1.0, "not_judged")])
def test_estimates_of_another_norm_are_not_judged(norm, verdict):
    tables = {
        "bias": experiment("realistic", by_name(GOOD), list(GOOD)),
        "true_calibration_error": pd.DataFrame({"scenario": ["a", "b"], "norm": [2.0, norm]}),
        "ece_bin_real_and_simulated": pd.DataFrame({"model": ["a"]}),
    }
    if norm == 2:
        del tables["ece_bin_real_and_simulated"]
    rows = ledger_of(Evidence({**PAPER, **tables}))
    assert rows.loc["R09", "verdict"] == verdict
    if norm != 2:
        assert rows.loc["R09", "note"] == "not comparable: norm is 1; the paper's is 2"
        assert rows.loc["R08", "verdict"] == "not_judged"  # whatever logits it waits for
        assert rows.loc["R06", "verdict"] == "needs_real_logits"  # rests on fits alone


def test_norms_of_every_table_are_thought_of():
    """A table is either refused for another norm, or known not to depend on the key."""
    other = {"true_calibration_error": pd.DataFrame({"norm": [1.0]})}
    names = tables()
    assert set(ANY_NORM) <= set(names)
    for name in names:
        evidence = Evidence({**PAPER, **other, name: pd.DataFrame({"norm": [1.0]})})
        if name in ANY_NORM:
            assert len(evidence.table(name)) == 1
        else:
            with pytest.raises(OtherNorm, match="norm is 1"):
                evidence.table(name)


def test_models_and_sizes_beyond_the_paper_change_no_verdict():
    own = pd.concat([MODELS, MODELS[:1].assign(model="mine", group="mine")])
    names = list(own["model"])
    table = experiment("realistic", by_name(GOOD), list(GOOD), names, (100, *range(200, 201)))
    full = experiment("realistic", by_name(GOOD), list(GOOD), names)
    both = pd.concat([table[table["n_samples"] == 100], full])
    ledger = ledger_of(Evidence({**PAPER, "models": own, "bias": both}))
    assert ledger.loc["R09", "verdict"] == "reproduced"
    assert "cells of 21" in ledger.loc["R09", "measured"]


def test_a_models_table_without_the_papers_models_is_no_crash():
    evidence = Evidence(
        {**PAPER, "models": MODELS[:3], "bias": experiment("realistic", by_name(GOOD), list(GOOD))}
    )
    ledger = ledger_of(evidence)
    assert "the models table lacks" in ledger.loc["R09", "note"]
