"""The command lines of the ledger: judge, compare, page, limits, sensitivity."""

import importlib

import pandas as pd
import pytest

from calbias.truth.curves import Curve
from calbias.truth.scenarios import Scenario
from calbias.truth.true_error import true_calibration_error

PUBLISHED = ["--models-table", "config/models.csv", "--published-dir", "resources/published"]
OUTPUTS = ["--output-claims", "x", "--output-measurements", "y"]
FITS = [
    "--beta-fits",
    "resources/published/roelofs2022_table2_beta_fits.csv",
    "--glm-fits",
    "resources/published/roelofs2022_table3_glm_fits.csv",
]


def run(script, *arguments):
    importlib.import_module(script).main([str(argument) for argument in arguments])


def table(path, columns, *rows):
    pd.DataFrame(rows, columns=columns.split()).to_csv(path, index=False)
    return path


def test_ledger_comparison_and_page_from_few_tables(tmp_path):
    fits = table(
        tmp_path / "beta_fits.csv",
        "model source softmax n_samples alpha beta nll published_alpha published_beta",
        ("resnet110_c10", "real_logits", "exact", 10000, 4.9, 0.09, -1.0, 2.7752, 0.0478),
    )
    given = ["--table", f"beta_fits={fits}", *PUBLISHED]
    claims, measured, compared = (tmp_path / f"{name}.csv" for name in ("claims", "m", "c"))
    page = tmp_path / "ledger.html"
    run("judge_claims", *given, "--output-claims", claims, "--output-measurements", measured)
    run("compare_published", *given, "--measurements", measured, "--output", compared)
    run("write_ledger_page", "--table", f"claims={claims}", "--table", f"measurements={measured}",
        "--table", f"comparison={compared}", "--output", page)  # fmt: skip
    rows = pd.read_csv(claims).set_index("id")
    assert rows.loc["R06", "verdict"] == "not_reproduced"
    assert rows.loc["R01", "verdict"] == "not_judged"
    assert len(pd.read_csv(compared)) == 2
    assert "softmax exact" in page.read_text("utf-8")


def test_detection_limits(tmp_path):
    detection = table(
        tmp_path / "detection.csv",
        "estimator n_samples exponent tce_percent miss_rate miss_rate_se n_replicates "
        "miss_rate_threshold_se",
        ("e", 100, 1.0, 0.0, 0.95, 0.01, 1000, 0.007),
        ("e", 100, 2.0, 5.0, 0.50, 0.02, 1000, 0.007),
        ("e", 100, 3.0, 9.0, 0.01, 0.01, 1000, 0.001),
    )
    output = tmp_path / "limits.csv"
    run("compute_detection_limits", "--detection", detection, "--output", output)
    assert pd.read_csv(output)["tce_percent"].between(5, 9).all()


def test_t_test_sensitivity(tmp_path):
    rows = [
        ("realistic", "densenet161_imgnet", estimator, n, 20, 0.1 * n**-0.5)
        for estimator in ("ece_debias_em", "ece_sweep_em")
        for n in (100, 200)
    ]
    bias = table(
        tmp_path / "bias.csv",
        "experiment scenario estimator n_samples n_replicates bias_percent",
        *rows,
    )
    output = tmp_path / "s.csv"
    run("compute_t_test_sensitivity", "--bias", bias, "--models-table", "config/models.csv", *FITS,
        "--seed", 1, "--rounding-draws", 1, "--output", output)  # fmt: skip
    choices = pd.read_csv(output)["choice"].tolist()
    assert choices[0] == "as_configured"
    assert "rounding_1" in choices


def test_tce_rounding(tmp_path):
    beta_fits = pd.read_csv(FITS[1])
    one_model = tmp_path / "beta_fits.csv"
    beta_fits[beta_fits["model"] == "densenet161_imgnet"].to_csv(one_model, index=False)
    output = tmp_path / "r.csv"
    run("compute_tce_rounding", "--beta-fits", one_model, *FITS[2:], "--norm", 1,
        "--output", output)  # fmt: skip
    table = pd.read_csv(output)
    assert table["scenario"].tolist()[:2] == ["densenet161_imgnet"] * 2
    assert (table["low_percent"] < table["tce_percent"]).all()
    assert (table["tce_percent"] < table["high_percent"]).all()
    scenario = Scenario("x", 2.8, 0.05, Curve("power", 0.0, 2.0))
    at_norm_1 = 100 * true_calibration_error(scenario, 1.0)
    assert table["tce_percent"].iloc[-2] == pytest.approx(at_norm_1, rel=1e-6)


@pytest.mark.parametrize(
    ("script", "arguments", "message"),
    [
        ("judge_claims", [*PUBLISHED, "--table", "bias", *OUTPUTS],
         "write it as NAME=PATH"),
        ("judge_claims", [*PUBLISHED, "--table", "bias=no.csv", *OUTPUTS],
         "no such table"),
        ("compute_detection_limits", ["--detection", "no.csv", "--output", "x"], "no such table"),
        ("compute_t_test_sensitivity",
         ["--bias", "config/models.csv", "--models-table", "resources/logits_mirrors.csv", *FITS,
          "--seed", "1", "--output", "x"], "no column model"),
        ("write_ledger_page", ["--table", "claims=config/models.csv", "--output", "x"],
         "--table claims: no column id"),
        ("write_ledger_page", ["--figure", "fig1_intro", "--output", "x"], "write it as NAME=PATH"),
    ],
)  # fmt: skip
def test_mistakes_are_one_line(refused, script, arguments, message):
    with refused(message):
        run(script, *arguments)
