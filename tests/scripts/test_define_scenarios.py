"""Scenarios of models and of synthetic scores and curves."""

import pytest
from checkout import ROOT
from command import FITS, made, run

from calbias.truth.scenario_tables import read_scenarios

MODEL_TABLES = {
    "models_table": ROOT / "config/models.csv", "beta_fits": FITS["beta_fits"],
    "glm_fits": FITS["glm_fits"],
}  # fmt: skip


def defined(folder, **options):
    table = made("scenarios", "define_scenarios", folder, experiment="x", **options)
    assert set(table["experiment"]) == {"x"}
    return table.to_dict("records")


def of_models(folder, curve, *names, **changes):
    return defined(folder, models=names, curve=curve, **{**MODEL_TABLES, **changes})


def test_models_take_their_fits_of_lowest_aic(tmp_path):
    rows = of_models(tmp_path / "new", "fitted", "resnet110_c10", "resnet110_SD_c10")
    assert [row["curve"] for row in rows] == ["logflip_logflip_b0_b1", "logit_logflip_b0_b1"]
    parameters = [rows[0][name] for name in ("alpha", "beta", "b0", "b1")]
    assert parameters == [2.7752, 0.0478, -0.24, 0.30]
    assert rows[0]["source"] == "published_fits"


def test_a_model_by_its_fit_parameters_alone(tmp_path):
    """The same scenario as that of the published fit, under another name."""
    [published] = of_models(tmp_path, "fitted", "resnet110_c10")
    glms = ["logflip_logflip_b0_b1,-0.24,0.30", "log_log_b0,-0.1,0"]
    row, constant = defined(tmp_path, scores="2.7752,0.0478", glms=glms)
    for name in ("alpha", "beta", "curve", "b0", "b1"):
        assert row[name] == published[name]
    assert row["scenario"] == "beta_2.7752_0.0478_logflip_logflip_b0_b1_-0.24_0.3"
    assert (constant["curve"], constant["b0"]) == ("log_log_b0", -0.1)


def test_fresh_fits_come_before_published_ones_and_identity_is_perfectly_calibrated(tmp_path):
    fresh = tmp_path / "fresh.csv"
    fresh.write_text("model,source,alpha,beta\nresnet110_c10,real_logits,5,0.1\n")
    names, fits = ("resnet110_c10", "resnet110_c100"), [fresh, FITS["beta_fits"]]
    rows = of_models(tmp_path, "identity", *names, beta_fits=fits)
    assert [row["source"] for row in rows] == ["real_logits", "published_fits"]
    assert [row["alpha"] for row in rows] == [5, 1.1823]
    assert [row["curve"] for row in rows] == ["identity"] * 2


def test_scores_times_curves_and_powers(tmp_path):
    curves = ["identity", "logistic"]
    rows = defined(tmp_path, scores=["1,1", "1.1,0.1"], curves=curves, powers=[2, 1.5])
    names = [row["scenario"].removeprefix("beta_1_1_") for row in rows[:4]]
    assert names == ["identity", "logistic", "power_2", "power_1.5"]
    assert len(rows) == 8
    assert read_scenarios(tmp_path / "scenarios.csv")[7][0].curve == ("power", 0.0, 1.5)
    assert {row["source"] for row in rows} == {"synthetic"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scores": "1,1", "powers": [2, 2.0000001]}, "beta_1_1_power_2 is there twice"),
        ({"scores": "1", "powers": 2}, "--scores: '1' is not a pair"),
        ({"scores": "1,1", "curves": "straight"}, "--curves"),
        ({"scores": "1,1", "glms": "log_log_b0_b1,1"},
         "--glms: 'log_log_b0_b1,1' is not name,b0,b1 such as"),
        ({"scores": "1,1", "glms": "log_log_b1,0.1,1"},
         "config: experiments.x.glms: log_log_b1 has no b0: write 0 for it"),
    ],
)  # fmt: skip
def test_mistakes_are_one_line_and_write_nothing(tmp_path, refused, options, message):
    with refused(message):
        run("define_scenarios", experiment="x", **options, output=tmp_path / "x.csv")
    assert not (tmp_path / "x.csv").exists()
