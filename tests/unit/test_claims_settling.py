"""Claims near a threshold: a verdict holds three errors around, or more replicates decide."""

import numpy as np
import pandas as pd
import pytest
from claims_data import CLAIMS, PAPER, judged, sweep

from calbias.claims import settling
from calbias.claims.evidence import Evidence
from calbias.claims.settling import Numbers, Settling, settled_rows, settled_verdict
from calbias.claims.verdicts import NotJudged
from calbias.simulation.simulate import simulate_estimates
from calbias.truth.curves import Curve
from calbias.truth.scenarios import Scenario


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


def test_replicates_double_until_the_number_is_clear():
    scenario = Scenario("made_up", 1.0, 1.0, Curve("identity"))
    values = simulate_estimates(scenario, 50, np.arange(6400), ["ece_bin_ew"], seed=1)["ece_bin_ew"]
    rate = values[0].mean() * 0.99
    (row,) = settled_rows([made_up_claim(1.0, rate)], None, seed=1)
    m = row["n_replicates"]
    assert m > 100
    assert m % 100 == 0
    assert row["value"] - 1 > 3 * row["error"]
    assert row["value"] == pytest.approx(values[0][:m].mean() / rate)  # the first ones: extended


def test_a_clear_claim_and_one_that_cannot_be_judged_have_no_row():
    assert settled_rows([made_up_claim(1.5, 1.0)], None, seed=1) == []
    assert settled_rows([made_up_claim(None, 1.0)], None, seed=1) == []


def test_a_tie_ends_at_the_most_scores(monkeypatch):
    monkeypatch.setattr(settling, "MOST_SCORES", 50_000)
    scenario = Scenario("made_up", 1.0, 1.0, Curve("identity"))
    values = simulate_estimates(scenario, 50, np.arange(800), ["ece_bin_ew"], seed=1)["ece_bin_ew"]
    (row,) = settled_rows([made_up_claim(1.0, values[0].mean())], None, seed=1)
    assert 400 <= row["n_replicates"] <= 1600


def test_the_ledger_takes_the_settled_numbers():
    table = sweep(lambda tce, scores, n, name: np.hypot(tce, 10.9 if scores == "Uniform" else 8.9))
    near = table.assign(bias_se_percent=0.2)
    assert judged("R24", bias=near).verdict == "tie"
    settled = pd.DataFrame(
        {"id": "R24", "case": ["Uniform", "Beta(1.1, 0.1)"], "value": [5.02, 7.8],
         "error": 0.01, "n_replicates": 64000}
    )  # fmt: skip
    judgement = judged("R24", bias=near, settled=settled)
    assert judgement.verdict == "reproduced"
    assert "64000" in judgement.notes[0]
    assert [m.value for m in judgement.measurements] == [5.02, 7.8]
    assert Evidence({**PAPER, "settled": settled}).tables["settled"] is settled
