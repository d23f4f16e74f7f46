"""Scenarios of models and of synthetic scores and curves, and their true calibration errors."""

import pytest
from checkout import ROOT
from command import FITS, made, run

from pipeline.scenarios.tables import read_scenarios


def defined(folder, **options):
    table = made("scenarios", "define_scenarios", folder, experiment="x", **options)
    assert set(table["experiment"]) == {"x"}
    return table.to_dict("records")


def of_models(folder, curve, *names, **changes):
    tables = {"models_table": ROOT / "config/models.csv", **FITS, **changes}
    return defined(folder, models=names, curve=curve, **tables)


def test_models_take_their_fits_of_lowest_aic(tmp_path):
    rows = of_models(tmp_path / "new", "fitted", "resnet110_c10", "resnet110_SD_c10")
    found = [rows[0][name] for name in ("curve", "alpha", "beta", "b0", "b1", "source")]
    expected = ["logflip_logflip_b0_b1", 2.7752, 0.0478, -0.24, 0.30, "published_fits"]
    assert (found, rows[1]["curve"]) == (expected, "logit_logflip_b0_b1")


def test_a_model_by_its_fit_parameters_alone(tmp_path):
    """The same scenario as that of the published fit, under another name."""
    [published] = of_models(tmp_path, "fitted", "resnet110_c10")
    glms = ["logflip_logflip_b0_b1,-0.24,0.30", "log_log_b0,-0.1,0"]
    row, constant = defined(tmp_path, scores="2.7752,0.0478", glms=glms)
    same = ("alpha", "beta", "curve", "b0", "b1")
    assert [row[name] for name in same] == [published[name] for name in same]
    assert row["scenario"] == "beta_2.7752_0.0478_logflip_logflip_b0_b1_-0.24_0.3"
    assert (constant["curve"], constant["b0"]) == ("log_log_b0", -0.1)


def test_fresh_fits_come_before_published_ones_and_identity_is_perfectly_calibrated(tmp_path):
    fresh = tmp_path / "fresh.csv"
    fresh.write_text("model,source,alpha,beta\nresnet110_c10,real_logits,5,0.1\n")
    names, fits = ("resnet110_c10", "resnet110_c100"), [fresh, FITS["beta_fits"]]
    rows = of_models(tmp_path, "identity", *names, beta_fits=fits)
    assert [(row["source"], row["alpha"], row["curve"]) for row in rows] == [
        ("real_logits", 5, "identity"), ("published_fits", 1.1823, "identity")
    ]  # fmt: skip


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


POWERS = {1: [0.5 - 0.4, 0.5 - 1 / 3], 2: [(1 / 3 - 2 / 3.5 + 1 / 4) ** 0.5, 30**-0.5]}


@pytest.mark.parametrize(("norm", "expected"), POWERS.items())
def test_true_errors_of_scenarios_of_several_tables_are_there_once(chain, tmp_path, norm, expected):
    name, scenarios = "true_calibration_error", [chain.scenarios] * 2
    table = made(name, "compute_true_error", tmp_path, scenarios=scenarios, norm=norm)
    assert table["tce_percent"].tolist() == pytest.approx([100 * x for x in expected], rel=1e-8)
    assert table["norm"].tolist() == [norm] * 2
