"""The ledger as a whole: all claims, whatever a run has or has not computed."""

import re

import pandas as pd
import pytest
from claims_data import GOOD, MODELS, ROOT, TABLES, by_name, experiment

from calbias.claims.evidence import WHATEVER_NORM, Evidence
from calbias.claims.judgement import VERDICTS, OtherNorm, worst_of
from calbias.claims.ledger import RULES, judge_all, read_claims
from calbias.errors import InputError
from calbias.io.table_schema import columns_of, tables
from calbias.pipeline.figure_catalogue import figures

CLAIMS = ROOT / "resources/claims.csv"


def test_worst_of():
    assert worst_of(["reproduced", "not_reproduced", "approximate"]) == "not_reproduced"
    assert worst_of(["reproduced", "approximate"]) == "approximate"


def test_every_claim_of_the_design_has_a_row_and_a_rule_with_words():
    claims = read_claims(CLAIMS)
    assert [claim["id"] for claim in claims] == [f"R{k:02}" for k in range(1, 27)]
    assert set(RULES) == {claim["id"] for claim in claims}
    assert all(len(rule.words) > 60 for rule in RULES.values())


def test_claims_rest_on_figures_and_tables_that_exist():
    contracts = tables()
    for claim in read_claims(CLAIMS):
        assert set(claim["figures"].split()) <= set(figures())
        assert claim["tables"], claim["id"]
        assert set(claim["tables"].split()) <= set(contracts)
    assert list(columns_of("claims")) == contracts["claims"]["columns"]


def test_a_run_without_tables_judges_nothing_and_does_not_crash():
    ledger = judge_all(read_claims(CLAIMS), Evidence({}, MODELS, TABLES))
    waiting = ledger["id"].isin(["R06", "R07", "R08", "R26"])
    assert set(ledger.loc[waiting, "verdict"]) == {"needs_real_logits"}
    assert set(ledger.loc[~waiting, "verdict"]) == {"not_judged"}
    assert ledger["note"].str.startswith("not computed in this run: table").all()


def test_a_partial_run_says_what_is_absent():
    table = experiment("realistic", by_name(GOOD), list(GOOD), sizes=(200, 400))
    ledger = judge_all(read_claims(CLAIMS), Evidence({"bias": table}, MODELS, TABLES))
    row = ledger.set_index("id").loc["R09"]
    assert row["verdict"] == "not_judged"
    assert re.search(r"lacks 300 of the 420 rows .* n = 800", row["note"])
    assert set(ledger["verdict"]) <= set(VERDICTS)


def test_few_replicates_are_not_judged():
    table = experiment("realistic", by_name(GOOD), list(GOOD)).assign(n_replicates=20)
    ledger = judge_all(read_claims(CLAIMS), Evidence({"bias": table}, MODELS, TABLES))
    row = ledger.set_index("id").loc["R09"]
    assert row["verdict"] == "not_judged"
    assert "has 20 replicates; the rules want at least 500" in row["note"]


@pytest.mark.parametrize(("norm", "verdict"), [(2.0, "reproduced"), (1.0, "not_judged")])
def test_estimates_of_another_norm_are_not_judged(norm, verdict):
    tables = {
        "bias": experiment("realistic", by_name(GOOD), list(GOOD)),
        "true_calibration_error": pd.DataFrame({"scenario": ["a", "b"], "norm": [2.0, norm]}),
        "ece_bin_real_and_simulated": pd.DataFrame({"model": ["a"]}),
    }
    claims = [claim for claim in read_claims(CLAIMS) if claim["id"] in ("R06", "R08", "R09")]
    if norm == 2:
        claims = claims[-1:]
    rows = judge_all(claims, Evidence(tables, MODELS, TABLES)).set_index("id")
    assert rows.loc["R09", "verdict"] == verdict
    if norm != 2:
        assert rows.loc["R09", "note"] == "not comparable: norm is 1; the paper's is 2"
        assert rows.loc["R08", "verdict"] == "not_judged"  # whatever logits it waits for
        assert rows.loc["R06", "verdict"] == "needs_real_logits"  # rests on fits alone


def test_norms_of_every_table_are_thought_of():
    """A table is either refused for another norm, or known not to depend on the key."""
    other = {"true_calibration_error": pd.DataFrame({"norm": [1.0]})}
    names = tables()
    assert set(WHATEVER_NORM) <= set(names)
    for name in names:
        evidence = Evidence({**other, name: pd.DataFrame({"norm": [1.0]})}, MODELS, TABLES)
        if name in WHATEVER_NORM:
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
    ledger = judge_all(read_claims(CLAIMS), Evidence({"bias": both}, own, TABLES)).set_index("id")
    assert ledger.loc["R09", "verdict"] == "reproduced"
    assert "of 21 cells" in ledger.loc["R09", "measured"]


def test_a_models_table_without_the_papers_models_is_no_crash():
    evidence = Evidence(
        {"bias": experiment("realistic", by_name(GOOD), list(GOOD))}, MODELS[:3], TABLES
    )
    ledger = judge_all(read_claims(CLAIMS), evidence).set_index("id")
    assert "the models table lacks" in ledger.loc["R09", "note"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text.replace("R02,", "R01,"), "line 3: R01 is there already"),
        (lambda text: text.replace("R02,", "R99,"), "no rule decides 'R99'"),
        (lambda text: text.replace("figures", "pictures"), "no column figures"),
    ],
)
def test_a_bad_claims_file_is_refused_in_one_line(tmp_path, change, message):
    path = tmp_path / "claims.csv"
    path.write_text(change(CLAIMS.read_text("utf-8")), "utf-8")
    with pytest.raises(InputError, match=message):
        read_claims(path)
