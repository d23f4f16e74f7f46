"""Verdicts on trained networks, on made-up tables; the step's rows, against ``calbias.bias``."""

import numpy as np
import pandas as pd
import pytest
from claims_data import CLAIMS, judged, verdicts_of

import calbias
from pipeline.claims.grounds import Grounds
from pipeline.claims.ledger import judge
from pipeline.figures import style
from pipeline.networks import Network
from pipeline.paper import BINNED, MODEL_SIZES
from reproduction.figures import trained_networks
from reproduction.steps.measure_networks import ESTIMATORS, network_rows

N = 24
GOOD = {"ece_sweep_em": 0.3, "ece_debias_em": 0.5, "ece_bin_em": 0.8}


def table(truth, calibrated=None, fits=None, spread=0.1, saturated=None, l2=None, sd=None):
    """Return table network_bias, biases as {estimator: percent, or a value a network}."""
    rng = np.random.default_rng(1)
    l2 = np.linspace(5, 25, N) if l2 is None else l2
    rows = []
    for law, sizes in (
        ("population", truth), ("beta_glm", fits or truth), ("calibrated", calibrated or truth)
    ):  # fmt: skip
        for name in ESTIMATORS:
            values = np.broadcast_to(sizes.get(name, 2.0), N) + spread * rng.normal(size=N)
            rows += [
                {
                    "scenario": f"network {k}", "role": "judging" if k % 2 else "design",
                    "l2_percent": l2[k], "share_above_99": 0.5 if k < 12 else 0.1, "law": law,
                    "estimator": name, "n_samples": n, "n_replicates": 500,
                    "bias_percent": values[k],
                    "sd_percent": (sd or {}).get(name, 1.0) * (1 + 0.01 * rng.random()),
                }
                for k in range(N) for n in MODEL_SIZES
            ]  # fmt: skip
    return {"network_bias": pd.DataFrame(rows)}


HALF = np.where(np.arange(N) < 12, 0.3, 0.7)  # clearly better where scores are saturated
UNCLEAR = {**GOOD, "ece_debias_em": 0.5 + 0.5 * (-1.0) ** np.arange(N), "ece_sweep_em": 0.4}
CALIBRATED = {"ece_debias_em": 0.2, "ece_sweep_em": 0.9}

test_n09 = verdicts_of(
    "N09", table,
    reproduced=[{**GOOD, "ece_sweep_em": 0.5}],
    approximate=[{**GOOD, "ece_bin_em": 2 + (-1.0) ** np.arange(N)}],
    not_reproduced=[{**GOOD, "ece_bin_ew": 0.3}],
)  # fmt: skip
test_n10 = verdicts_of(
    "N10", table,
    reproduced=[GOOD],
    approximate=[UNCLEAR, {**GOOD, "kde": 0.4}],
    not_reproduced=[{**GOOD, "ece_debias_em": 0.2}],
)  # fmt: skip
test_n11 = verdicts_of(
    "N11", table,
    reproduced=[GOOD],
    approximate=[{"ece_sweep_em": HALF, "ece_debias_em": 0.52}],
    not_reproduced=[CALIBRATED, {"ece_sweep_em": 1 - HALF, "ece_debias_em": 0.2}, UNCLEAR],
)  # fmt: skip
test_n14 = verdicts_of(
    "N14", lambda ratio: table(GOOD, sd={"ece_debias_em": ratio}),
    reproduced=[1.3],
    not_reproduced=[0.9],
)  # fmt: skip
test_n20 = verdicts_of(
    "N20", table,
    reproduced=[(GOOD, CALIBRATED)],
    approximate=[(GOOD, {**CALIBRATED, "ece_bin_em": 0.01})],
    not_reproduced=[(GOOD, GOOD), (CALIBRATED, GOOD)],
)  # fmt: skip
test_n21 = verdicts_of(
    "N21", table,
    reproduced=[GOOD],
    approximate=[{**GOOD, "ece_bin_ew": 0.55 + 0.45 * (-1.0) ** np.arange(N)}],
    not_reproduced=[(GOOD, {**GOOD, "ece_debias_ew": 0.1})],
)  # fmt: skip
FALLS = dict.fromkeys(ESTIMATORS, np.linspace(1, 0, N))
test_n22 = verdicts_of(
    "N22", table,
    reproduced=[(FALLS, dict.fromkeys(ESTIMATORS, 3.0))],
    approximate=[({**FALLS, "kde": np.linspace(0, 1, N)}, dict.fromkeys(ESTIMATORS, 3.0))],
    not_reproduced=[(FALLS, FALLS), ({}, dict.fromkeys(ESTIMATORS, 9.0))],
)  # fmt: skip


def test_errors_are_over_networks_and_controls_and_low_errors_are_left_out():
    tables = table({**GOOD, "ece_debias_em": np.linspace(0.4, 0.8, N)}, spread=0.0)
    bias = tables["network_bias"]
    control = bias.assign(scenario=bias["scenario"] + " c", role="control", bias_percent=99.0)
    low = bias.assign(scenario=bias["scenario"] + " l", l2_percent=3.0, bias_percent=99.0)
    ruling = judged("N11", network_bias=pd.concat([bias, control, low]))
    measured = {(m.name, m.case): m for m in ruling.measurements}
    all_networks = measured["|debias_em| − |sweep_em| on the truth", f"all ({N}):"]
    differences = np.linspace(0.1, 0.5, N)
    assert all_networks.value == pytest.approx(differences.mean())
    assert all_networks.error == pytest.approx(differences.std(ddof=1) / N**0.5)
    few = judge(CLAIMS["N11"], Grounds({"network_bias": bias.assign(n_replicates=99)}))
    assert few.verdict == "not_judged"
    assert ruling.notes[0].startswith(f"on {N} trained networks of known truth, {N // 2} of them")


def test_the_figure_draws_means_of_networks_by_their_error():
    tables = table(GOOD, fits=CALIBRATED, l2=np.repeat([2.0, 8.0, 20.0], N // 3))
    bias = tables["network_bias"]
    paper = bias[bias["law"] == "beta_glm"].assign(experiment="realistic", bias_percent=-7.0)
    made = style.drawn(trained_networks.draw, {"network_bias": bias, "bias": paper})
    bias = bias.assign(size=bias["bias_percent"].abs())
    shown = {axes.get_title("left"): axes for axes in made.axes}
    for words, law in (("known truth", "population"), ("fits to them", "beta_glm")):
        for error, label in ((2.0, "below 4"), (8.0, "4 to 12"), (20.0, "above 12")):
            lines = shown[f"{words}: {N // 3} networks\nerror {label} %"].lines
            rows = bias[(bias["law"] == law) & (bias["l2_percent"] == error)]
            expected = rows.pivot_table("size", "n_samples", "estimator")
            drawn = {tuple(np.round(line.get_ydata(), 9)) for line in lines}
            assert drawn == {tuple(np.round(y, 9)) for _, y in expected.items()}
    assert np.all(shown[f"fits printed in the paper\nfor {N} models"].lines[0].get_ydata() == 7)


@pytest.mark.slow
def test_rows_of_a_network_are_biases_under_three_laws():
    rng = np.random.default_rng(2)
    cells = np.arange(0, 600)
    n = np.full(600, 1000)
    score = 1 / (1 + np.exp(-(cells + 0.5) / 100))
    population = calbias.CountedScenario("net", cells, n, n * score**2)
    log_odds = 6 * rng.random(4000)
    hits = rng.random(4000) < (1 / (1 + np.exp(-log_odds))) ** 2
    network = Network(population, {}, log_odds, hits.astype(float))
    rows = pd.DataFrame(network_rows(network, 2.0, 40, 7))
    assert len(rows) == 3 * 7 * len((*BINNED, "kde"))
    rows = rows.set_index(["law", "estimator", "n_samples"])
    expected = calbias.bias("ece_bin_em", population, 200, replicates=160, norm=2, seed=7)
    row = rows.loc[("population", "ece_bin_em", 200)]
    assert row["bias_percent"] == pytest.approx(100 * expected.bias)
    assert row["bias_se_percent"] == pytest.approx(100 * expected.bias_se)
    truths = rows["tce_percent"].groupby("law").first()
    assert truths["calibrated"] < 1e-6
    assert truths["beta_glm"] == pytest.approx(truths["population"], rel=0.15)
    assert truths["population"] == pytest.approx(
        100 * np.mean((score - score**2) ** 2) ** 0.5, rel=1e-3
    )
