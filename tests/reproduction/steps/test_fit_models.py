"""``fit_model`` and ``compare_ece_bin`` on the top labels of a model."""

import numpy as np
import pytest
from checkout import PUBLISHED
from command import FITS, made, python, read, run

from calbias.estimation.api import estimate
from calbias.truth.curves import GLM_NAMES
from pipeline.fits.beta import fit_beta
from pipeline.fits.design import LOG_MISS_AT_ONE
from pipeline.fits.glm import fit_all


def outputs(folder):
    return {"output_beta": folder / "beta_fits.csv", "output_glm": folder / "glm_fits.csv"}


def fitted(path, **options):
    """Return the tables of the fits that the script writes next to the top labels."""
    run("fit_model", top_labels=path, **options, **outputs(path.parent))
    return read(path.parent / "beta_fits.csv"), read(path.parent / "glm_fits.csv")


@pytest.mark.parametrize(
    ("model", "published"),
    [("resnet110_c10", (2.7752, 0.0478)), ("mine", (np.nan, np.nan))],
)
def test_a_beta_fit_stands_beside_the_published_one(top_labels, folds, model, published):
    table, _ = fitted(top_labels(model), published_beta=FITS["beta_fits"])
    [row] = table.to_dict("records")
    fit = fit_beta(*folds["test"][1:3])
    numbers = {"alpha": fit.alpha, "beta": fit.beta, "nll": fit.nll, "n_samples": 400}
    assert {name: row[name] for name in numbers} == pytest.approx(numbers, rel=1e-9)
    words = [row[name] for name in ("model", "source", "softmax")]
    assert words == [model, "real_logits", "exact"]
    printed = row["published_alpha"], row["published_beta"]
    assert printed == pytest.approx(published, nan_ok=True)


def test_a_bad_table_of_published_fits(top_labels, tmp_path, refused):
    published, path = tmp_path / "published.csv", top_labels()
    published.write_text("model,alpha,beta\nx,1,two\n")
    with refused("published.csv, line 2, beta: 'two' is not a number"):
        fitted(path, published_beta=published)
    assert not (tmp_path / "beta_fits.csv").exists()


def test_twelve_glms_stand_beside_the_published_ones(top_labels, folds):
    _, table = fitted(top_labels(), published_glm=FITS["glm_fits"])
    top, names = folds["test"], ["b0", "b1", "nll", "aic"]
    fits = fit_all(top.log_score, top.log1m_score, top.hit)
    assert table["glm"].tolist() == [fit.glm for fit in fits] == list(GLM_NAMES)
    assert (table[["link", "transform", "terms"]].agg("_".join, axis=1) == table["glm"]).all()
    expected = [[getattr(fit, name) for name in names] for fit in fits]
    np.testing.assert_allclose(table[names], expected, rtol=1e-9)
    assert (table["delta_aic"] >= 0).all()
    assert (table["selected"] == (table["delta_aic"] == 0)).all()
    assert table["selected"].sum() == 1
    published = table.set_index("glm")[["published_aic", "published_b0"]]
    assert published.loc["logflip_logflip_b0_b1"].tolist() == [2779.22, -0.24]
    assert published.loc["log_log_b1"].tolist() == pytest.approx([4281.78, np.nan], nan_ok=True)
    _, others = fitted(top_labels("mine"), published_glm=FITS["glm_fits"])
    assert others["published_aic"].isna().all()


@pytest.mark.parametrize(("softmax", "drops"), [("exact", False), ("float32_2020", True)])
def test_scores_equal_to_one_are_dropped_where_the_paper_did(top_labels, folds, softmax, drops):
    rows = fitted(top_labels(softmax=softmax))[1].set_index("glm")
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
        "import sys; from pipeline.step_command import main; main();"
        "sys.exit('statsmodels.api' in sys.modules or 'matplotlib' in sys.modules)"
    )
    words = f"fit_model --top-labels {top_labels()} --logits --model "
    words += "--published-beta --published-glm "
    words += "--output-beta beta.csv --output-glm alone.csv"
    python(program, *words.split(), folder=tmp_path, PATH="")
    assert (tmp_path / "alone.csv").read_text().count("\n") == 13


def test_table_4_compares_ece_bin_of_logits_and_of_simulated_data(top_labels, folds, tmp_path):
    """Of three models one is not simulated, and one has no outputs."""
    (tmp_path / "scenarios.csv").write_text(
        "experiment,scenario,group,source,alpha,beta,curve,b0,b1\n"
        "fits,mine,g,real_logits,2.0,0.5,identity,0.0,0.0\n"
        "fits,resnet110_c10,g,published_fits,2.0,0.5,identity,0.0,0.0\n"
        "fits,densenet40_c100,g,published_fits,2.0,0.5,identity,0.0,0.0\n"
    )
    (tmp_path / "bias.csv").write_text(
        "scenario,estimator,mean_estimate_percent,bias_se_percent\n"
        "resnet110_c10,kde,9.0,0.9\nresnet110_c10,ece_bin_ew,6.5,0.05\n"
    )
    table = made(
        "ece_bin_real_and_simulated", "compare_ece_bin", tmp_path, bias=tmp_path / "bias.csv",
        published=PUBLISHED / "roelofs2022_table4_ece_bin.csv",
        scenarios=tmp_path / "scenarios.csv", top_labels=[top_labels(), top_labels("mine")],
    ).set_index("model")  # fmt: skip
    row, mine = table.loc["resnet110_c10"], table.loc["mine"]
    for fold, column in (("validation", "ece_bin_percent"), ("test", "ece_bin_test_percent")):
        value = estimate("ece_bin_ew", folds[fold].score, folds[fold].hit, norm=2).value
        assert row[column] == pytest.approx(100 * value)
    assert (row["source"], row["simulated_source"]) == ("real_logits", "published_fits")
    assert (row["mean_simulated_ece_bin_percent"], row["published_ece_bin_percent"]) == (6.5, 6.67)
    assert mine["simulated_source"] == "real_logits"
    absent = table.loc["densenet40_c100"]
    assert absent[["source", "ece_bin_percent", "ece_bin_test_percent"]].isna().all()
    assert absent["published_ece_bin_percent"] > 0
    assert mine[["mean_simulated_ece_bin_percent", "published_ece_bin_percent"]].isna().all()
