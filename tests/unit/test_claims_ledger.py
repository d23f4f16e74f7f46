"""The ledger as a whole, after full and partial runs; claims near a threshold."""

import re

import numpy as np
import pandas as pd
import pytest
from claims_data import CLAIMS, GOOD, MODELS, PAPER, by_name, experiment, judged, sweep

from calbias import Curve, Scenario
from calbias.errors import InputError
from calbias.simulation.simulate import simulate_estimates
from pipeline.catalogue import figures
from pipeline.claims.evidence import ANY_NORM, Evidence
from pipeline.claims.ledger import all_claims, judge_all, ledger_table
from pipeline.claims.verdicts import NotJudged, OtherNorm, Verdict
from pipeline.scenarios.paper import MODEL_SIZES
from pipeline.tables.schema import tables
from reproduction import claims as folder
from reproduction.claims import settling
from reproduction.claims.settling import Numbers, Settling, settled_rows, settled_verdict


def ledger_of(evidence):
    return ledger_table(judge_all(evidence)).set_index("id")


def test_every_claim_of_the_paper_is_judged_and_explained():
    claims = all_claims()
    for paper, n in (("R", 26), ("G", 7), ("S", 6)):
        ids = [claim.id for claim in claims if claim.id.startswith(paper)]
        assert ids == [f"{paper}{k:02}" for k in range(1, n + 1)]
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
from pipeline.claims.measurements import Measurement
from pipeline.claims.verdicts import claim, worded

LIMIT = 0.5

@claim("Z01", "§3", "bias")
@worded(
    says="A statement.", published="2", rule=f"above {LIMIT:.0%}", errors="none",
)
def judged(evidence):
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
    unruled.write_text(text.replace('rule=f"above {LIMIT:.0%}", ', ""))
    with pytest.raises(InputError, match="claim Z01: give @worded its words rule="):
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


@pytest.mark.parametrize(
    ("sizes", "n_replicates", "note"),
    [
        ((200, 400), 1000, r"lacks 300 of the 420 rows .* n = 800"),
        (MODEL_SIZES, 20, "has 20 replicates; the rules want at least 500"),
    ],
)
def test_a_partial_run_says_what_is_absent(sizes, n_replicates, note):
    table = experiment("realistic", by_name(GOOD), list(GOOD), sizes=sizes)
    ledger = ledger_of(Evidence({**PAPER, "bias": table.assign(n_replicates=n_replicates)}))
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
    sizes = (100, *MODEL_SIZES)
    table = experiment("realistic", by_name(GOOD), list(GOOD), list(own["model"]), sizes)
    row = ledger_of(Evidence({**PAPER, "models": own, "bias": table})).loc["R09"]
    assert row["verdict"] == "reproduced"
    assert "cells of 21" in row["measured"]
    few = ledger_of(Evidence({**PAPER, "models": MODELS[:3], "bias": table}))
    assert "the models table lacks" in few.loc["R09", "note"]


def between(values):
    return "inside" if 0 < values[0] < 1 else "outside"


@pytest.mark.parametrize(
    ("value", "error", "verdict"),
    [(0.5, 0.1, "inside"), (0.31, 0.1, "inside"), (0.29, 0.1, "tie"), (-0.2, 0.1, "tie"),
     (-0.31, 0.1, "outside"), (0.5, 1.0, "tie")],
)  # fmt: skip
def test_a_verdict_holds_three_errors_around(value, error, verdict):
    assert settled_verdict(Numbers(np.array([value]), np.array([error]), 9), between)[0] == verdict


def made_up_claim(measured, rate):
    """A claim on P(a uniform score's mean estimate > …): its error falls with the replicates."""
    scenario = Scenario("made_up", 1.0, 1.0, Curve("identity"))

    def measure(evidence):
        if measured is None:
            raise NotJudged("absent")
        return Numbers(np.array([measured]), np.array([0.1]), 100)

    def draw(evidence, m, simulate):
        values = simulate(scenario, 50, ["ece_bin_ew"], m)["ece_bin_ew"].estimate
        return np.array([[values.mean()], [values.std() / m**0.5]]) / rate

    made = Settling(("mean",), measure, lambda values: str(values[0] > 1), draw)
    return CLAIMS["R24"]._replace(id="X1", settling=made)


def drawn(m):
    """Return the estimates that the claim above draws first."""
    scenario = Scenario("made_up", 1.0, 1.0, Curve("identity"))
    return simulate_estimates(scenario, 50, range(m), ["ece_bin_ew"], seed=1)["ece_bin_ew"][0]


def test_replicates_double_until_the_number_is_clear():
    values = drawn(6400)
    rate = values.mean() * 0.99
    (row,) = settled_rows([made_up_claim(1.0, rate)], None, seed=1)
    m = row["n_replicates"]
    assert m > 100
    assert m % 100 == 0
    assert row["value"] - 1 > 3 * row["error"]
    assert row["value"] == pytest.approx(values[:m].mean() / rate)  # the first ones: extended


def test_a_clear_claim_and_one_that_cannot_be_judged_have_no_row():
    assert settled_rows([made_up_claim(1.5, 1.0)], None, seed=1) == []
    assert settled_rows([made_up_claim(None, 1.0)], None, seed=1) == []


def test_a_tie_ends_at_the_most_scores(monkeypatch):
    monkeypatch.setattr(settling, "MOST_SCORES", 50_000)
    (row,) = settled_rows([made_up_claim(1.0, drawn(800).mean())], None, seed=1)
    assert 400 <= row["n_replicates"] <= 1600


def test_the_ledger_takes_the_settled_numbers():
    near = sweep(lambda tce, scores, n, name: np.hypot(tce, 10.9 if scores == "Uniform" else 8.9))
    near = near.assign(bias_se_percent=0.2)
    assert judged("R24", bias=near).verdict == "tie"
    cases = {"case": ["Uniform", "Beta(1.1, 0.1)"], "value": [5.02, 7.8]}
    settled = pd.DataFrame(cases).assign(id="R24", error=0.01, n_replicates=64000)
    judgement = judged("R24", bias=near, settled=settled)
    assert judgement.verdict == "reproduced"
    assert "64000" in judgement.notes[0]
    assert [m.value for m in judgement.measurements] == [5.02, 7.8]
    assert Evidence({**PAPER, "settled": settled}).tables["settled"] is settled
