"""The command lines of the ledger: judge, compare, page, limits, sensitivity."""

import pandas as pd
import pytest
from checkout import PUBLISHED, ROOT
from command import FITS, made, read, run

from calbias import Curve, Scenario, true_calibration_error

MODELS = ROOT / "config/models.csv"
OF_PAPER = {"models": MODELS} | {path.stem: path for path in PUBLISHED.glob("roelofs2022_*.csv")}


def table(path, columns, *rows):
    pd.DataFrame(rows, columns=columns.split()).to_csv(path, index=False)
    return path


def test_ledger_comparison_and_page_from_few_tables(tmp_path):
    fits = table(
        tmp_path / "beta_fits.csv",
        "model source softmax n_samples alpha beta nll published_alpha published_beta",
        ("resnet110_c10", "real_logits", "exact", 10000, 4.9, 0.09, -1.0, 2.7752, 0.0478),
    )
    given = {"tables": {"beta_fits": fits, **OF_PAPER}}
    names = ("claims", "measurements", "comparison")
    paths = {name: tmp_path / f"{name}.csv" for name in names}
    page = tmp_path / "ledger.html"
    run("judge_claims", **given, **{f"output_{name}": path for name, path in paths.items()})
    run("write_page", tables=paths, page="ledger", output=page)
    rows = read(paths["claims"]).set_index("id")
    assert rows.loc["R06", "verdict"] == "not_reproduced"
    assert rows.loc["R01", "verdict"] == "not_judged"
    assert len(read(paths["comparison"])) == 2
    assert "softmax exact" in page.read_text("utf-8")


def test_tce_rounding(tmp_path):
    beta_fits = pd.read_csv(FITS["beta_fits"])
    one_model = tmp_path / "beta_fits.csv"
    beta_fits[beta_fits["model"] == "densenet161_imgnet"].to_csv(one_model, index=False)
    given = {"beta_fits": one_model, "glm_fits": FITS["glm_fits"], "norm": 1}
    table = made("tce_rounding", "compute_tce_rounding", tmp_path, **given)
    assert table["scenario"].tolist()[:2] == ["densenet161_imgnet"] * 2
    assert (table["low_percent"] < table["tce_percent"]).all()
    assert (table["tce_percent"] < table["high_percent"]).all()
    scenario = Scenario("x", 2.8, 0.05, Curve("power", 0.0, 2.0))
    at_norm_1 = 100 * true_calibration_error(scenario, norm=1.0)
    assert table["tce_percent"].iloc[-2] == pytest.approx(at_norm_1, rel=1e-6)


THREE = {"output_claims": "x", "output_measurements": "y", "output_comparison": "z"}
ONE = {"output": "x"}


@pytest.mark.parametrize(
    ("script", "options", "message"),
    [
        ("judge_claims", {"tables": "bias", **THREE}, "write it as NAME=PATH"),
        ("judge_claims", {"tables": {"bias": "no.csv"}, **THREE}, "no such table"),
        ("compare_estimators",
         {"bias": MODELS, "models_table": ROOT / "resources/logits_mirrors.csv",
          **FITS, "seed": 1, "output_tests": "x",
          "output_sensitivity": "y"}, "no column model"),
        ("write_page", {"tables": {"claims": MODELS}, "page": "ledger", **ONE},
         "--table claims: no column id"),
        ("write_page", {"figures": "fig1_intro", "page": "ledger", **ONE}, "write it as NAME=PATH"),
    ],
)  # fmt: skip
def test_mistakes_are_one_line(refused, script, options, message):
    with refused(message):
        run(script, **options)
