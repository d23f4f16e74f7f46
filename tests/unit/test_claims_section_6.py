"""R06 to R08: rules on fits, and what waits for the real logits."""

import numpy as np
import pandas as pd
import pytest
from claims_data import GROUP, NAMES, ROOT, TABLES, judged

from calbias.claims.verdicts import NotJudged
from calbias.fits.standard_errors import rows_with_table3_errors
from calbias.io.tables import read_table

TABLE_2 = TABLES["roelofs2022_table2_beta_fits"]
TABLE_3 = TABLES["roelofs2022_table3_glm_fits"]


def beta_fits(factor=1.0, source="real_logits", softmax="float32_2020"):
    return pd.DataFrame(
        {
            "model": TABLE_2["model"],
            "source": source,
            "softmax": softmax,
            "n_samples": 10000,
            "alpha": TABLE_2["alpha"] * factor,
            "beta": TABLE_2["beta"],
            "published_alpha": TABLE_2["alpha"],
            "published_beta": TABLE_2["beta"],
        }
    )


@pytest.mark.parametrize(
    ("table", "verdict"),
    [
        (beta_fits(1.0019), "reproduced"),
        (beta_fits(1.0021), "approximate"),
        (beta_fits(0.9979), "approximate"),
        (beta_fits().assign(beta=TABLE_2["beta"] * 1.0021), "approximate"),
        (beta_fits(1.049), "approximate"),
        (beta_fits(1.051), "not_reproduced"),
        (beta_fits(source="surrogate_logits"), "needs_real_logits"),
    ],
)
def test_r06_beta_parameters(table, verdict):
    assert judged("R06", beta_fits=table).verdict == verdict


def test_r06_one_real_file_can_refute_but_not_reproduce():
    others = beta_fits(source="surrogate_logits")[1:]
    for factor, verdict in ((1.0, "needs_real_logits"), (1.8, "not_reproduced")):
        judgement = judged("R06", beta_fits=pd.concat([beta_fits(factor)[:1], others]))
        assert judgement.verdict == verdict
        assert judgement.source == "real_logits"


def test_r06_names_the_softmax_as_the_cause():
    assert "softmax exact" in judged("R06", beta_fits=beta_fits(1.8, softmax="exact")).notes[0]


def glm_fits(aic=1.0, shift=0.0, winner=None, source="real_logits"):
    table = TABLE_3.rename(
        columns={"aic": "published_aic", "b0": "published_b0", "b1": "published_b1"}
    )
    table = table.assign(
        source=source,
        aic=table["published_aic"] * aic,
        b0=table["published_b0"] + shift,
        b1=table["published_b1"] + shift,
    )
    best = table.groupby("model")["published_aic"].transform("min") == table["published_aic"]
    selected = best if winner is None else table["glm"] == winner
    return table.assign(selected=selected, delta_aic=0.0)


@pytest.mark.parametrize(
    ("table", "verdict"),
    [
        (glm_fits(), "reproduced"),
        (glm_fits(winner="logit_logit_b0_b1"), "approximate"),
        (glm_fits(aic=1.5), "not_reproduced"),
        (glm_fits(shift=0.4), "not_reproduced"),
        (glm_fits(source="surrogate_logits"), "needs_real_logits"),
        (glm_fits()[:12], "needs_real_logits"),
    ],
)
def test_r07_coefficients_aics_and_winners(table, verdict):
    assert judged("R07", beta_fits=beta_fits(), glm_fits=table).verdict == verdict


@pytest.mark.parametrize(
    ("wrong", "verdict"),
    [(13, "reproduced"), (15, "approximate"), (69, "approximate"), (71, "not_reproduced")],
)
def test_r07_wants_95_or_75_percent_of_280_numbers(wrong, verdict):
    table = glm_fits(aic=np.where(np.arange(120) < wrong, 1.5, 1.0))
    assert judged("R07", beta_fits=beta_fits(), glm_fits=table).verdict == verdict


@pytest.mark.parametrize(("apart", "verdict"), [(2.9, "reproduced"), (3.1, "not_reproduced")])
def test_r07_wants_three_standard_errors(apart, verdict):
    table = glm_fits()
    for row, errors in rows_with_table3_errors(beta_fits(), table):
        same = (table["model"] == row["model"]) & (table["glm"] == row["glm"])
        table.loc[same, "aic"] += apart * errors["aic"]
    assert judged("R07", beta_fits=beta_fits(), glm_fits=table).verdict == verdict


def test_r07_note_says_how_far_the_published_winner_is_behind():
    table = glm_fits(winner="logit_logit_b0_b1").assign(delta_aic=8.8)
    note = str(judged("R07", beta_fits=beta_fits(), glm_fits=table).notes)
    assert "resnet110_c10 8.8 (logflip_logflip_b0_b1, selected logit_logit_b0_b1)" in note


def test_r07_note_names_contradictions_of_the_published_aics():
    note = str(judged("R07", beta_fits=beta_fits(), glm_fits=glm_fits()).notes)
    aic = TABLE_3.set_index(["model", "glm"])["aic"]
    # by hand: resnet110_SD_c10's logit_logit_b1 is below its own superset
    assert aic["resnet110_SD_c10", "logit_logit_b0_b1"] > 35 + aic["resnet110_SD_c10",
                                                                   "logit_logit_b1"]  # fmt: skip
    assert "cannot be optima on one data set" in note


def note_of_aics(**changed):
    """The note of R07 where all published AICs are consistent but for those changed, by GLM."""
    aic = (
        TABLE_3["glm"]
        .map(changed)
        .fillna(TABLE_3["terms"].map({"b0": 30.0, "b1": 20.0, "b0_b1": 10.0}))
    )
    published = {**TABLES, "roelofs2022_table3_glm_fits": TABLE_3.assign(aic=aic)}
    return str(judged("R07", published, beta_fits=beta_fits(), glm_fits=glm_fits()).notes)


def test_r07_has_no_contradiction_to_note_in_consistent_aics():
    assert "cannot be optima" not in note_of_aics()
    assert "cannot be optima" not in note_of_aics(log_log_b0_b1=21.9)  # 2 for one more parameter


def test_r07_note_counts_made_up_contradictions():
    assert "10 of 80 times" in note_of_aics(log_log_b0_b1=22.1)  # above b1 in ten models
    note = note_of_aics(log_log_b0_b1=33.5, logit_logit_b0=37.0)
    assert "20 of 80 times" in note
    assert "(up to 13.5)" in note
    assert "differ by 7 to 7" in note


def table_4(real=0.0, simulated=0.0, source="real_logits"):
    table = read_table(ROOT / "resources/published/roelofs2022_table4_ece_bin.csv")
    return pd.DataFrame(
        {
            "model": table["model"],
            "source": source,
            "simulated_source": "published_fits",
            "ece_bin_percent": table["ece_bin_percent"] + real,
            "mean_simulated_ece_bin_percent": table["mean_simulated_ece_bin_percent"] + simulated,
            "simulated_se_percent": 0.04,
            "published_ece_bin_percent": table["ece_bin_percent"],
            "published_simulated_percent": table["mean_simulated_ece_bin_percent"],
        }
    )


@pytest.mark.parametrize(
    ("table", "verdict"),
    [
        (table_4(0.019, 0.49), "reproduced"),
        (table_4(0.019, -0.51), "approximate"),
        (table_4(0.021, 0.49), "approximate"),
        (table_4(-0.49, 1.99), "approximate"),
        (table_4(0.51, 0.0), "not_reproduced"),
        (table_4(0.0, 2.01), "not_reproduced"),
        (table_4(source="surrogate_logits"), "needs_real_logits"),
    ],
)
def test_r08_both_columns(table, verdict):
    assert judged("R08", ece_bin_real_and_simulated=table).verdict == verdict


def test_r08_measures_genuine_scores_and_leaves_the_verdict_to_logits():
    table = table_4(source="surrogate_logits").assign(ece_bin_test_percent=9.0)
    table.loc[:1, "source"] = "real_scores"
    judgement = judged("R08", ece_bin_real_and_simulated=table)
    assert (judgement.verdict, judgement.source) == ("needs_real_logits", "real_scores")
    of_scores = [m for m in judgement.measurements if m.name.endswith("genuine scores, test fold")]
    assert [m.case for m in of_scores] == table["model"][:2].tolist()
    assert [m.value for m in of_scores] == [9.0, 9.0]
    assert [m.published for m in of_scores] == table["published_ece_bin_percent"][:2].tolist()
    gaps = (9.0 - table["mean_simulated_ece_bin_percent"][:2]).abs()
    assert judgement.measurements[-1].value == pytest.approx(gaps.mean())
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


@pytest.mark.parametrize(
    ("table", "verdict"),
    [
        (scenarios(by_group, lambda n: 0.1, by_group), "reproduced"),
        (scenarios(by_group, lambda n: 0.1, by_place), "approximate"),
        (scenarios(by_place, lambda n: 0.1, by_place), "not_reproduced"),
        (scenarios(mixed(0.6), lambda n: 0.1, mixed(0.6)), "reproduced"),  # p = 0.04
        (scenarios(mixed(0.8), lambda n: 0.1, mixed(0.8)), "not_reproduced"),  # p = 0.06
    ],
)
def test_r05_data_set_before_architecture(table, verdict):
    assert judged("R05", scenarios=table).verdict == verdict


def test_r05_wants_all_ten_models():
    table = scenarios(by_group, lambda n: 0.1, by_group)
    with pytest.raises(NotJudged, match="lacks the scenario of resnet110_c10"):
        judged("R05", scenarios=table[1:])
