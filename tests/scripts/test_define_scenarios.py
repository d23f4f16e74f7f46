import csv
from pathlib import Path

import pytest

import define_scenarios
from calbias.io.table_schema import tables
from calbias.truth.scenario_tables import read_scenarios

ROOT = Path(__file__).parents[2]
PUBLISHED = ROOT / "resources/published"
TABLE_2 = PUBLISHED / "roelofs2022_table2_beta_fits.csv"
TABLE_3 = PUBLISHED / "roelofs2022_table3_glm_fits.csv"


def run(output, *arguments):
    define_scenarios.main([*map(str, arguments), "--experiment", "x", "--output", str(output)])
    with open(output, encoding="utf-8") as file:
        return list(csv.DictReader(file))


def models(output, curve, *names):
    return run(
        output, "--models", *names, "--models-table", ROOT / "config/models.csv",
        "--curve", curve, "--beta-fits", TABLE_2, "--glm-fits", TABLE_3,
    )  # fmt: skip


def test_columns_are_those_of_the_contract(tmp_path):
    contract = tables()["scenarios"]
    (row,) = models(tmp_path / "new" / "x.csv", "fitted", "resnet110_c10")
    assert list(row) == contract["columns"]
    assert row["source"] == "published_fits"
    assert row["experiment"] == "x"


def test_models_take_their_fits_of_lowest_aic(tmp_path):
    rows = models(tmp_path / "x.csv", "fitted", "resnet110_c10", "resnet110_SD_c10")
    assert [row["curve"] for row in rows] == ["logflip_logflip_b0_b1", "logit_logflip_b0_b1"]
    assert [float(rows[0][name]) for name in ("alpha", "beta", "b0", "b1")] == [
        2.7752, 0.0478, -0.24, 0.30,
    ]  # fmt: skip


def test_a_model_by_its_fit_parameters_alone(tmp_path):
    """The same scenario as that of the published fit, under another name."""
    (published,) = models(tmp_path / "x.csv", "fitted", "resnet110_c10")
    row, constant = run(
        tmp_path / "y.csv", "--scores", "2.7752,0.0478",
        "--glms", "logflip_logflip_b0_b1,-0.24,0.30", "log_log_b0,-0.1,0",
    )  # fmt: skip
    same = ("alpha", "beta", "curve", "b0", "b1")
    assert [row[name] for name in same] == [published[name] for name in same]
    assert row["scenario"] == "beta_2.7752_0.0478_logflip_logflip_b0_b1_-0.24_0.3"
    assert (constant["curve"], float(constant["b0"])) == ("log_log_b0", -0.1)


@pytest.mark.parametrize(
    ("glm", "message"),
    [
        ("log_log_b0_b1,1", "--glms: 'log_log_b0_b1,1' is not name,b0,b1 such as"),
        ("log_log_b1,0.1,1", "config: experiments.x.glms: log_log_b1 has no b0: write 0 for it"),
    ],
)
def test_glms_that_are_refused(tmp_path, refused, glm, message):
    with refused(message):
        run(tmp_path / "y.csv", "--scores", "1,1", "--glms", glm)


def test_models_perfectly_calibrated(tmp_path):
    (row,) = models(tmp_path / "x.csv", "identity", "resnet110_c10")
    assert (row["curve"], float(row["alpha"])) == ("identity", 2.7752)


def test_fresh_fits_come_before_published_ones(tmp_path):
    fresh = tmp_path / "fresh.csv"
    fresh.write_text("model,source,alpha,beta\nresnet110_c10,real_logits,5,0.1\n")
    rows = run(
        tmp_path / "x.csv", "--models", "resnet110_c10", "resnet110_c100",
        "--models-table", ROOT / "config/models.csv", "--curve", "identity",
        "--beta-fits", fresh, TABLE_2, "--glm-fits", TABLE_3,
    )  # fmt: skip
    assert [row["source"] for row in rows] == ["real_logits", "published_fits"]
    assert [float(row["alpha"]) for row in rows] == [5, 1.1823]


def test_scores_times_curves_and_powers(tmp_path):
    rows = run(
        tmp_path / "x.csv", "--scores", "1,1", "1.1,0.1", "--curves", "identity", "logistic",
        "--powers", 2, 1.5,
    )  # fmt: skip
    assert [row["scenario"] for row in rows[:4]] == [
        "beta_1_1_identity", "beta_1_1_logistic", "beta_1_1_power_2", "beta_1_1_power_1.5",
    ]  # fmt: skip
    assert len(rows) == 8
    scenarios = read_scenarios(tmp_path / "x.csv")
    assert scenarios[7][0].curve == ("power", 0.0, 1.5)
    assert {row["source"] for row in rows} == {"synthetic"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--scores", "1,1", "--powers", "2", "2.0000001"], "beta_1_1_power_2 is there twice"),
        (["--scores", "1", "--powers", "2"], "--scores: '1' is not a pair"),
        (["--scores", "a,b", "--powers", "2"], "--scores: 'a,b' is not a pair"),
        (["--scores", "1,1", "--curves", "straight"], "--curves"),
    ],
)
def test_mistakes_are_one_line_and_write_nothing(tmp_path, refused, arguments, message):
    with refused(message):
        run(tmp_path / "x.csv", *arguments)
    assert list(tmp_path.iterdir()) == []


def test_a_model_without_fits(tmp_path, refused):
    table = tmp_path / "models.csv"
    table.write_text("model,group,n_classes,file\nmine,g,10,x\n")
    with refused("error: model mine has no fit in "):
        run(
            tmp_path / "x.csv", "--models", "mine", "--models-table", table, "--curve", "identity",
            "--beta-fits", TABLE_2, "--glm-fits", TABLE_3,
        )  # fmt: skip
