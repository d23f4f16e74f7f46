"""``fit_model.py`` and ``compare_ece_bin.py`` on the top labels of a model."""

import numpy as np
import pandas as pd
import pytest
from checkout import PUBLISHED
from command import FITS, made, python, read, run

from calbias.estimation.api import estimate
from calbias.fits.beta import fit_beta
from calbias.fits.glm import fit_all
from calbias.fits.inputs import LOG_MISS_AT_ONE
from calbias.truth.curves import GLM_NAMES


def outputs(folder):
    return {"output_beta": folder / "beta_fits.csv", "output_glm": folder / "glm_fits.csv"}


def beta_row(path, **options):
    run("fit_model", top_labels=path, **options, **outputs(path.parent))
    [row] = read(path.parent / "beta_fits.csv").to_dict("records")
    return row


def glm_rows(path, **options):
    run("fit_model", top_labels=path, **options, **outputs(path.parent))
    return read(path.parent / "glm_fits.csv")


def test_a_beta_fit_stands_beside_the_published_one(top_labels, folds):
    row = beta_row(top_labels(), published_beta=FITS["beta_fits"])
    fit = fit_beta(*folds["test"][1:3])
    for name in ("alpha", "beta", "nll"):
        assert row[name] == pytest.approx(getattr(fit, name), rel=1e-9)
    assert row["n_samples"] == 400
    assert [row[name] for name in ("model", "source", "softmax")] == [
        "resnet110_c10", "surrogate_logits", "exact"
    ]  # fmt: skip
    assert (row["published_alpha"], row["published_beta"]) == (2.7752, 0.0478)


def test_the_other_fold_of_a_model_that_the_paper_does_not_have(top_labels, folds):
    row = beta_row(top_labels("mine"), fold="validation", published_beta=FITS["beta_fits"])
    assert np.isnan([row["published_alpha"], row["published_beta"]]).all()
    assert row["alpha"] == pytest.approx(fit_beta(*folds["validation"][1:3]).alpha, rel=1e-9)


def test_a_bad_table_of_published_fits(top_labels, tmp_path, refused):
    published, path = tmp_path / "published.csv", top_labels()
    published.write_text("model,alpha,beta\nx,1,two\n")
    with refused("published.csv, line 2, beta: 'two' is not a number"):
        beta_row(path, published_beta=published)
    assert not (tmp_path / "beta_fits.csv").exists()


def test_twelve_glms_stand_beside_the_published_ones(top_labels, folds):
    rows = glm_rows(top_labels(), published_glm=FITS["glm_fits"]).to_dict("records")
    top = folds["test"]
    fits = fit_all(top.log_score, top.log1m_score, top.hit)
    assert [row["glm"] for row in rows] == [fit.glm for fit in fits] == list(GLM_NAMES)
    for row, fit in zip(rows, fits, strict=True):
        assert "_".join((row["link"], row["transform"], row["terms"])) == fit.glm
        for name in ("b0", "b1", "nll", "aic"):
            assert row[name] == pytest.approx(getattr(fit, name), rel=1e-9, nan_ok=True)
        assert row["delta_aic"] >= 0
        assert row["selected"] == (row["delta_aic"] == 0)
    assert sum(row["selected"] for row in rows) == 1
    published = {row["glm"]: (row["published_aic"], row["published_b0"]) for row in rows}
    assert published["logflip_logflip_b0_b1"] == (2779.22, -0.24)
    assert published["log_log_b1"] == pytest.approx((4281.78, np.nan), nan_ok=True)
    others = glm_rows(top_labels("mine"), published_glm=FITS["glm_fits"])
    assert others["published_aic"].isna().all()


@pytest.mark.parametrize(
    ("softmax", "option", "drops"),
    [
        ("exact", {}, False),
        ("float32_2020", {}, True),
        ("exact", {"scores_equal_to_one": "drop"}, True),
        ("float32_2020", {"scores_equal_to_one": "keep"}, False),
    ],
)
def test_scores_equal_to_one_are_dropped_where_the_paper_did(
    top_labels, folds, softmax, option, drops
):
    rows = glm_rows(top_labels(softmax=softmax), **option).set_index("glm")
    np.testing.assert_allclose(folds["test"].log1m_score[:100], LOG_MISS_AT_ONE, rtol=1e-15)
    rate = folds["test"].hit[100 if drops else 0 :].mean()
    assert rows.loc["log_log_b0", "b0"] == pytest.approx(np.log(rate), rel=1e-9)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"hit": np.ones(400, np.uint8)}, "all 400 rows are hits"),
        ({"score": np.full(400, 0.5), "log_score": np.full(400, np.log(0.5)),
          "log1m_score": np.full(400, np.log(0.5))}, "all scores are equal"),
    ],
)  # fmt: skip
def test_data_without_a_fit(top_labels, folds, tmp_path, refused, change, message):
    path = top_labels(folds={**folds, "test": folds["test"]._replace(**change)})
    with refused(f"error: {path}, fold test: {message}"):
        run("fit_model", top_labels=path, **outputs(tmp_path))
    assert not list(tmp_path.glob("*_fits.csv"))


def test_the_script_runs_alone_and_loads_only_the_part_of_statsmodels_that_it_needs(
    top_labels, tmp_path
):
    program = (
        "import sys, fit_model; fit_model.main(sys.argv[1:]);"
        "sys.exit('statsmodels.api' in sys.modules or 'matplotlib' in sys.modules)"
    )
    outputs = ("--output-beta", "beta.csv", "--output-glm", "alone.csv")
    arguments = ("--top-labels", top_labels(), *outputs)
    python(program, *arguments, folder=tmp_path, PATH="")
    assert (tmp_path / "alone.csv").read_text().count("\n") == 13


def test_table_4_compares_ece_bin_of_logits_and_of_simulated_data(top_labels, folds, tmp_path):
    """Two models, listed in the scenarios in the other order; one is not simulated."""
    sources = {"mine": "surrogate_logits", "resnet110_c10": "published_fits"}
    pd.DataFrame(
        [["fits", model, "g", source, 2.0, 0.5, "identity", 0.0, 0.0]
         for model, source in sources.items()],
        columns=["experiment", "scenario", "group", "source", "alpha", "beta", "curve", "b0", "b1"],
    ).to_csv(tmp_path / "scenarios.csv", index=False)  # fmt: skip
    pd.DataFrame(
        [["resnet110_c10", "kde", 9.0, 0.9], ["resnet110_c10", "ece_bin_ew", 6.5, 0.05]],
        columns=["scenario", "estimator", "mean_estimate_percent", "bias_se_percent"],
    ).to_csv(tmp_path / "bias.csv", index=False)
    table = made(
        "ece_bin_real_and_simulated", "compare_ece_bin", tmp_path, bias=tmp_path / "bias.csv",
        published=PUBLISHED / "roelofs2022_table4_ece_bin.csv",
        scenarios=tmp_path / "scenarios.csv", top_labels=[top_labels(), top_labels("mine")],
    ).set_index("model")  # fmt: skip
    row, mine = table.loc["resnet110_c10"], table.loc["mine"]
    for fold, column in (("validation", "ece_bin_percent"), ("test", "ece_bin_test_percent")):
        value = estimate("ece_bin_ew", folds[fold].score, folds[fold].hit, norm=2).value
        assert row[column] == pytest.approx(100 * value)
    assert (row["source"], row["simulated_source"]) == ("surrogate_logits", "published_fits")
    assert row["mean_simulated_ece_bin_percent"] == 6.5
    assert row["published_ece_bin_percent"] == 6.67
    assert mine["simulated_source"] == "surrogate_logits"
    assert mine[["mean_simulated_ece_bin_percent", "published_ece_bin_percent"]].isna().all()
