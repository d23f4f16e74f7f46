"""R06 to R08: rules on fits, and what waits for the real logits."""

import functools

import numpy as np
import pandas as pd
import pytest
from checkout import ROOT
from claims_data import GROUP, NAMES, TABLES, beta_fits, judged, verdicts_of

from pipeline.claims.verdicts import NotJudged
from pipeline.tables import read_table
from reproduction import standard_errors

RECORDED = "claims_measured.yaml"


@pytest.fixture(autouse=True, scope="module")
def errors_computed_once():
    """The standard errors of a model's fits take most of the time of these tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(standard_errors, "glm_errors", functools.cache(standard_errors.glm_errors))
        yield


TABLE_2 = TABLES["roelofs2022_table2_beta_fits"]
TABLE_3 = TABLES["roelofs2022_table3_glm_fits"]

test_r06_beta_parameters = verdicts_of(
    "R06",
    lambda alpha, beta=1.0: {"beta_fits": beta_fits(alpha).assign(beta=TABLE_2["beta"] * beta)},
    reproduced=[1.0019],
    approximate=[1.0021, 0.9979, (1.0, 1.0021), 1.049],
    not_reproduced=[1.051],
)


def test_r06_is_judged_on_the_real_files_and_says_how_many():
    scores = beta_fits(source="real_scores")
    assert judged("R06", beta_fits=scores).verdict == "needs_real_logits"
    for factor, verdict in ((1.0, "reproduced"), (1.8, "not_reproduced")):
        judgement = judged("R06", beta_fits=pd.concat([beta_fits(factor)[:1], scores[1:]]))
        assert (judgement.verdict, judgement.source) == (verdict, "real_logits")
        assert judgement.models == "1 of 10"


def test_r06_and_r07_rest_on_the_softmax_of_the_paper_where_a_run_has_its_fits():
    """The exact softmax of the run gives other parameters; one model has those of the paper."""
    tables = {"beta_fits": beta_fits(1.8, softmax="exact")[:2], "glm_fits": glm_fits(aic=1.5)}
    as_published = {f"{name}_float32_2020": t for name, t in
                    (("beta_fits", beta_fits()[:1]), ("glm_fits", glm_fits()[:12]))}  # fmt: skip
    for claim in ("R06", "R07"):
        assert judged(claim, **tables).verdict == "not_reproduced"
        judgement = judged(claim, **tables, **as_published)
        assert (judgement.verdict, judgement.models) == ("reproduced", "1 of 10")
        assert "these fits used softmax" not in str(judgement.notes)


def glm_fits(aic=1.0, shift=0.0, winner=None, source="real_logits"):
    """Fits of two models, 24 rows: 24 AICs and 32 coefficients."""
    names = ["aic", "b0", "b1"]
    table = TABLE_3[:24].join(TABLE_3[names].add_prefix("published_"))
    best = table.groupby("model")["aic"].transform("min") == table["aic"]
    selected = best if winner is None else table["glm"] == winner
    table = table.assign(source=source, selected=selected, delta_aic=0.0, aic=table["aic"] * aic)
    table[["b0", "b1"]] += shift
    return table


def wrong_aics(count):
    return glm_fits(aic=np.where(np.arange(24) < count, 1.5, 1.0))


test_r07_coefficients_aics_and_winners = verdicts_of(
    "R07",
    lambda table: {"beta_fits": beta_fits(), "glm_fits": table},
    # 95 % of 56 numbers are within their errors, of 40 without the printed b0
    reproduced=[glm_fits(), wrong_aics(2), wrong_aics(2).assign(published_b0=np.nan)],
    approximate=[wrong_aics(3), wrong_aics(14)],  # 75 %
    not_reproduced=[glm_fits(aic=1.5), glm_fits(shift=0.4), wrong_aics(15)],
    needs_real_logits=[glm_fits(source="real_scores")],
)


test_r38_selected_glms = verdicts_of(
    "R38",
    lambda table: {"glm_fits": table},
    reproduced=[glm_fits(), glm_fits(aic=1.5)],
    not_reproduced=[glm_fits(winner="log_log_b1")],  # one of two has it
    needs_real_logits=[glm_fits(source="real_scores")],
)


def apart(n_errors):
    """All AICs are so many standard errors from the published ones."""
    table = glm_fits()
    for row, errors in standard_errors.rows_with_table3_errors(beta_fits(), table):
        same = (table["model"] == row["model"]) & (table["glm"] == row["glm"])
        table.loc[same, "aic"] += n_errors * errors["aic"]
    return {"beta_fits": beta_fits(), "glm_fits": table}


test_r07_wants_three_standard_errors = verdicts_of(
    "R07", apart, reproduced=[2.9], not_reproduced=[3.1]
)


def table_4(real=0.0, simulated=0.0, source="real_logits"):
    table = read_table(ROOT / "resources/published/roelofs2022_table4_ece_bin.csv")
    table = table.rename(
        columns={
            "ece_bin_percent": "published_ece_bin_percent",
            "mean_simulated_ece_bin_percent": "published_simulated_percent",
        }
    )
    return table.assign(
        ece_bin_percent=table["published_ece_bin_percent"] + real,
        mean_simulated_ece_bin_percent=table["published_simulated_percent"] + simulated,
        source=source, simulated_source="published_fits", simulated_se_percent=0.04,
    )  # fmt: skip


def ratios(printed, computed=1.0, source="real_logits", others=1.0, models=10):
    """Simulated over real: printed of so many models, else ``others``; computed of one model."""
    table = table_4(source=source)
    share = np.where(np.arange(10) < models, printed, others)
    real = table["published_ece_bin_percent"]
    table["published_simulated_percent"] = real * share
    table["mean_simulated_ece_bin_percent"] = real * np.where(np.arange(10) < 1, computed, 1.0)
    if source == "real_logits":
        table.loc[1:, "source"] = None
    return {"ece_bin_real_and_simulated": table}


test_r08_simulated_over_real = verdicts_of(
    "R08",
    ratios,
    reproduced=[(1.09, 0.91), (1.3, 1.0, "real_logits", 0.91, 1)],  # one of ten is far
    approximate=[(1.11, 1.0), (1.0, 0.89), (0.76, 1.24)],
    not_reproduced=[
        (1.26, 1.0),
        (1.0, 1.26),
        (1.26, 1.0, None),
        (1.26, 1.0, "real_logits", 1.0, 2),
    ],
    needs_real_logits=[(1.0, 1.0, None)],
)


@pytest.mark.parametrize(
    ("n_samples", "n_replicates", "message"),
    [(100, 1000, "n = 100; Table 4 has 1000"), (1000, 8, "has 8 replicates")],
)
def test_r08_is_not_judged_on_another_simulation(n_samples, n_replicates, message):
    bias = pd.DataFrame({"experiment": ["fits"], "n_samples": n_samples})
    bias = bias.assign(n_replicates=n_replicates)
    with pytest.raises(NotJudged, match=message):
        judged("R08", ece_bin_real_and_simulated=table_4(), bias=bias)


def test_r08_shows_genuine_scores_and_leaves_the_verdict_to_logits():
    (table,) = ratios(1.0, source="real_scores").values()
    table = table.assign(ece_bin_test_percent=9.0)
    judgement = judged("R08", ece_bin_real_and_simulated=table)
    assert judgement.verdict == "needs_real_logits"
    of_scores = [m for m in judgement.measurements if m.name.endswith("genuine scores, test fold")]
    published = table["published_ece_bin_percent"]
    assert [(m.case, m.value, m.published) for m in of_scores] == [
        (table["model"][k], 9.0, published[k]) for k in range(10)
    ]
    assert "test fold" in judgement.notes[-1]


def scenarios(alpha, beta, b1):
    """Scenarios of experiment realistic; each argument is a function of the model's name."""
    rows = [
        ("realistic", name, "published_fits", alpha(name), beta(name), "power", np.nan, b1(name))
        for name in NAMES
    ]
    columns = "experiment scenario source alpha beta curve b0 b1"
    return pd.DataFrame(rows, columns=columns.split())


def by_group(name):
    return 1.0 + list(dict.fromkeys(GROUP.values())).index(GROUP[name])


def by_place(name):
    return 1.0 + (NAMES.index(name) * 7 % 10) / 3


def mixed(share):
    """Models of a data set are alike but for a share of what the place adds."""
    return lambda name: by_group(name) + share * by_place(name)


test_r05_data_set_before_architecture = verdicts_of(
    "R05",
    lambda scores, curves: {"scenarios": scenarios(scores, lambda name: 0.1, curves)},
    reproduced=[(by_group, by_group), (mixed(0.45), mixed(0.45))],  # ratios 0.48 and 0.46
    approximate=[(by_group, by_place), (mixed(0.5), mixed(0.5))],  # 0.52 and 0.49
    not_reproduced=[(by_place, by_place), (mixed(0.6), mixed(0.6))],  # 0.58 and 0.56, p = 0.04
)


def test_r05_wants_all_ten_models():
    table = scenarios(by_group, lambda n: 0.1, by_group)
    with pytest.raises(NotJudged, match="lacks the scenario of resnet110_c10"):
        judged("R05", scenarios=table[1:])
