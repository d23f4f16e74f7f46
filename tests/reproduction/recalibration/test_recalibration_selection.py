"""Selections: ties between methods, resamples, agreement, tables; the errors that they refer to."""

import itertools

import numpy as np
import pandas as pd
import pytest
from nightly import daily
from oracles import draw_scores_slowly

from calbias import Curve, InputError, Scenario, estimate, true_calibration_error
from calbias.estimation.registry import known_estimators
from calbias.reading.top_label import TopLabel, top_label_of_scores
from calbias.truth.curves import GLM_NAMES
from pipeline.fits.design import LOG_MISS_AT_ONE
from pipeline.fits.empirical_error import FittedCurve, atoms, empirical_tce, fit_curve
from pipeline.fits.glm import Labelled, fit_all, refit
from reproduction.measures import draw_counts, resampled_values
from reproduction.reference_error import beta_tce, grouped, resampled_tce
from reproduction.selection import (
    CHOICES,
    DEFAULT,
    METHODS,
    VARIANTS,
    Selections,
    load_measures,
    measured,
    selected,
)
from reproduction.steps.select_recalibration import gathered, selection_table, sensitivity_table

PAPER = {name: known_estimators()[name] for name in ("ece_bin_ew", "ece_sweep_em")}


def tops(n=400):
    """Return {variant: TopLabel}: temperature scaling is perfect, the others are not."""
    rng = np.random.default_rng(0)
    score = rng.beta(3, 1, n)
    hit = (rng.random(n) < score).astype(np.uint8)
    worse = {variant: top_label_of_scores(score**3, hit) for variant in VARIANTS}
    return {**worse, "temperature_scaling": top_label_of_scores(score, hit)}


def test_the_least_value_is_selected_and_of_equals_the_simpler_method():
    assert METHODS == ("temperature_scaling", "histogram_binning", "isotonic_regression")
    temperature, histogram = METHODS[:2]
    for values, method in (
        *(((0.2, 0.1, 0.3), histogram), ((0.0, 0.0, 0.0), temperature)),
        *(((np.nan, 0.1, 0.3), histogram), ((np.nan, np.nan, np.nan), None)),
    ):
        assert selected(dict(zip(METHODS, values, strict=True))) == method


def test_resamples_depend_on_seed_and_model_alone_and_extend():
    counts = draw_counts(50, 4, 7, "a")
    assert (counts.sum(axis=1) == 50).all()
    assert (draw_counts(50, 9, 7, "a")[:4] == counts).all()
    assert (draw_counts(50, 4, 8, "a") != counts).any()
    assert (draw_counts(50, 4, 7, "b") != counts).any()


def test_the_ks_error_by_hand_and_in_input_order():
    def ks_error(score, hit, ties="average"):
        top = top_label_of_scores(np.array(score, float), np.array(hit, np.uint8))
        return measured(load_measures(estimators={}), top, ties)["ks_error"]

    # Hits minus scores, cumulated: -0.5, -0.2, -0.1, all over 3.
    assert ks_error([0.9, 0.5, 0.7], [1, 0, 1]) == pytest.approx(0.5 / 3)
    # Four scores of 1/2 with hits 1, 1, 0, 0 are calibrated; in input order they are not.
    assert ks_error([0.5] * 4, [1, 1, 0, 0]) == 0
    assert ks_error([0.5] * 4, [1, 1, 0, 0], "input_order") == pytest.approx(0.25)


def test_measures_are_the_estimators_that_have_the_norm(tmp_path):
    files = {name: tmp_path / f"{name}.py" for name in ("one", "two", "both")}
    for file, norms in zip(files.values(), ((1,), (2,), (1, 2)), strict=True):
        file.write_text(f"NORMS = {norms}\ndef estimate(scores, hits, n_bins, norm): return 0.0\n")
    assert [*load_measures(1, files)] == ["one", "both", "ks_error"]
    assert [*load_measures(2, files)] == ["two", "both", "ks_error"]


@pytest.mark.parametrize("ties", ["average", "input_order"])
def test_values_on_resamples_are_those_of_the_resampled_rows(ties):
    rng = np.random.default_rng(1)
    top = top_label_of_scores(rng.integers(1, 12, 60) / 12, rng.integers(0, 2, 60))
    counts = draw_counts(60, 3, 0, "x")
    values = resampled_values(load_measures(estimators=PAPER), top.score, top.hit, counts, ties)
    for b, count in enumerate(counts):
        rows = np.repeat(np.arange(60), count)
        for name in PAPER:
            expected = estimate(name, top.score[rows], top.hit[rows], norm=2, ties=ties).value
            assert values[name][b] == pytest.approx(expected, rel=1e-12)


def test_a_clear_winner_is_selected_by_all_on_every_resample():
    rows = pd.DataFrame(Selections(tops(), draw_counts(400, 4, 0, "x")).rows([DEFAULT]))
    assert rows["measure"].tolist() == [*load_measures()]
    assert (rows["reference_method"] == "temperature_scaling").all()
    papers = rows[rows["measure"].isin(PAPER)]
    assert (papers["selected_method"] == "temperature_scaling").all()
    names = ["agrees", "agreement_frequency", "selected_frequency", "n_resamples"]
    assert (papers[names] == [True, 1, 1, 4]).all(axis=None)


def test_agreement_frequency_counts_the_resamples_of_one_selection():
    selections = Selections(tops(), draw_counts(400, 4, 0, "x"), PAPER)
    selections._resampled_reference = lambda variant, norm, b: {
        "temperature_scaling": np.array([0.1, 0.1, 0.3, 0.3]),
        "histogram_binning": np.array([0.2, 0.2, 0.2, 0.2]),
        "isotonic_regression": np.array([0.4, 0.4, 0.4, 0.1]),
    }[variant]
    tce = {"temperature_scaling": 0.1, "histogram_binning": 0.3, "isotonic_regression": 0.45}
    selections.reference = lambda variant, *_: tce[variant]
    selections.measured = lambda variant, *_: {
        "ece_bin_ew": tce[variant], "ece_sweep_em": -tce[variant],  # the worst
        "ks_error": 0.1 if variant == "histogram_binning" else 0.2,
    }  # fmt: skip
    rows = {row["measure"]: row for row in selections.rows([DEFAULT])}
    assert rows["ece_bin_ew"]["agreement_frequency"] == 0.5
    gains = {name: (row["tce_gain_percent"], row["tce_gain_se_percent"])
             for name, row in rows.items()}  # fmt: skip
    # over resamples 0.1 − 0.4, 0.1 − 0.4, 0.3 − 0.4 and 0.3 − 0.1; 0.1 − 0.2 and 0.3 − 0.2
    errors = np.std([-30, -30, -10, 20], ddof=1), np.std([-10, -10, 10, 10], ddof=1)
    assert gains["ece_bin_ew"] == (0, 0)
    assert gains["ece_sweep_em"] == pytest.approx((-35, errors[0]))
    assert gains["ks_error"] == pytest.approx((-20, errors[1]))


def test_every_choice_has_rows_and_the_beta_reference_no_frequency():
    rows = Selections(tops(100), draw_counts(100, 8, 0, "x"), PAPER).rows()
    assert list(dict.fromkeys(row["choice"] for row in rows)) == [c.name for c in CHOICES]
    for row in rows:
        assert row["n_resamples"] == (8 if row["choice"] == "default" else 2)
        assert np.isnan(row["agreement_frequency"]) == (row["choice"] == "reference_glm_beta")


def made_selections(model, agrees=(True, False)):
    """Return the selections of a model under two choices."""
    keys = itertools.product(("default", "norm_1"), ("ece_bin_ew", "ks_error"))
    table = pd.DataFrame(keys, columns=["choice", "measure"])
    return table.assign(
        model=model, source="real_logits", selected_method="a", reference_method="a",
        agrees=[*agrees, *agrees], agreement_frequency=[0.5, 0.5, 1.0, 1.0],
        selected_frequency=0.9, n_resamples=8, tce_gain_percent=0.5, tce_gain_se_percent=0.1,
    )  # fmt: skip


def test_table_1_and_its_sensitivity_by_hand(tmp_path):
    paths = [tmp_path / "m1.csv", tmp_path / "m2.csv"]
    for path, agrees in zip(paths, ((True, False), (True, True)), strict=True):
        made_selections(path.stem, agrees).to_csv(path, index=False)
    selections = gathered(paths)
    columns = ["model", "ece_bin_selects_as_tce", "ece_sweep_selects_as_tce"]
    published = pd.DataFrame([("m1", False, True)], columns=columns)
    table = selection_table(selections, published, "published.csv")
    assert table["model"].tolist() == ["m1", "m1", "m2", "m2"]
    assert table["published_agrees"].tolist() == [False, None, None, None]
    assert table["selected_frequency"].tolist() == [0.9] * 4
    assert sensitivity_table(selections).to_numpy().tolist() == [
        ["default", "ece_bin_ew", 2, 2, 0.5, np.sqrt(0.5), 8],
        ["default", "ks_error", 2, 1, 0.5, np.sqrt(0.5), 8],
        ["norm_1", "ece_bin_ew", 2, 2, 1.0, 0.0, 8],
        ["norm_1", "ks_error", 2, 1, 1.0, 0.0, 8],
    ]


def test_mistaken_selections_are_named(tmp_path):
    path, table = tmp_path / "m.csv", made_selections("m")
    for rows, n, message in (
        (table, 2, "model m comes twice"),
        (table.drop(columns="agrees"), 1, r"m\.csv: no column agrees"),
    ):
        rows.to_csv(path, index=False)
        with pytest.raises(InputError, match=message):
            gathered([path] * n)
    with pytest.raises(InputError, match=r"t1\.csv: no column ece_bin"):
        selection_table(table, pd.DataFrame({"model": ["m"]}), "t1.csv")


def drawn(n, curve=None, alpha=2.0, beta=0.5, seed=0):
    """Return a TopLabel of Beta scores with hits by a curve."""
    curve = curve or Curve("power", 0.0, 2.0)
    rng = np.random.default_rng(seed)
    log_score, log1m_score = draw_scores_slowly(alpha, beta, n, rng)
    hit = np.log(rng.random(n)) < curve.log_hit(log_score, log1m_score)
    return TopLabel(np.exp(log_score), log_score, log1m_score, hit.astype(np.uint8))


def repeated(top, count):
    """Return the rows of a resample."""
    rows = np.repeat(np.arange(len(count)), count)
    return TopLabel(*(column[rows] for column in top))


def test_empirical_tce_with_atoms_by_hand():
    """T(1/2) = 1/4: (1·1² + 2·(1/4)² + 4·(1 - 3/4)²) / 7; without a curve 1/2, the mean label."""
    top = top_label_of_scores([0.0, 0.5, 0.5, 1.0, 1.0, 1.0, 1.0], [1, 0, 1, 1, 1, 1, 0])
    assert [atom.sum() for atom in atoms(top)[:2]] == [1, 4]
    curve = Curve("power", 0.0, 2.0)
    assert empirical_tce(top, curve) ** 2 == pytest.approx((1 + 2 / 16 + 4 / 16) / 7)
    assert empirical_tce(top, curve, norm=1) == pytest.approx((1 + 2 / 4 + 4 / 4) / 7)
    assert empirical_tce(top, None) ** 2 == pytest.approx((1 + 4 / 16) / 7)


def test_the_published_stand_in_for_1_is_an_atom_and_a_small_log_miss_is_not():
    top = top_label_of_scores([1 - 1e-16, 0.5], [1, 0])
    assert top.log1m_score[0] == LOG_MISS_AT_ONE
    assert atoms(top)[1].tolist() == [True, False]
    precise = TopLabel(np.array([1.0]), np.array([-1e-20]), np.array([-46.0]), np.array([1]))
    assert not atoms(precise)[1].any()


@pytest.mark.parametrize(
    ("score", "hit"),
    [([1.0, 1.0], [1, 0]), ([0.3, 0.6, 1.0], [1, 1, 0]), ([0.4, 0.4, 0.4], [1, 0, 0])],
)
def test_without_a_curve_to_fit_the_mean_label_stands_in(score, hit):
    top = top_label_of_scores(score, hit)
    fitted = fit_curve(top)
    assert fitted == FittedCurve(None, ())
    assert np.isfinite(empirical_tce(top, fitted.curve))
    assert np.isnan(beta_tce(top, fitted.curve))
    counts = np.ones((2, len(hit)), np.uint16)
    assert resampled_tce(top, fitted, counts) == pytest.approx([empirical_tce(top, None)] * 2)


@pytest.mark.nightly
def test_both_references_approach_the_true_error_of_a_large_sample():
    scenario = Scenario("x", 2.0, 0.5, Curve("log_log_b1", 0.0, 2.0))
    top = drawn(50_000)
    curve = fit_curve(top).curve
    assert curve.name.startswith("log_log")
    for tce in (empirical_tce(top, curve), beta_tce(top, curve)):
        assert tce == pytest.approx(true_calibration_error(scenario, norm=2), abs=0.004)


def test_beta_reference_takes_atoms():
    """fit_beta refuses a score of 0 and warns of a score of 1."""
    top = drawn(400)
    scores, hits = np.r_[top.score.clip(0, 0.999), 0.0, 1.0, 1.0], np.r_[top.hit, 0, 1, 1]
    with_atoms = top_label_of_scores(scores, hits)
    assert 0 < beta_tce(with_atoms, fit_curve(with_atoms).curve) < 1
    tied = top_label_of_scores([0.5] * 5, [1, 0, 0, 1, 1])
    assert np.isnan(beta_tce(tied, Curve("identity")))  # no Beta distribution fits


@pytest.mark.parametrize("name", GLM_NAMES)
def test_refitted_glms_are_those_of_the_resampled_rows(name):
    top = top_label_of_scores(np.random.default_rng(1).integers(1, 40, 300) / 41, np.zeros(300))
    hit = np.random.default_rng(2).random(300) < 0.3 + 0.6 * top.score**2
    top = top._replace(hit=hit.astype(np.uint8))
    fit = fit_all(*top[1:3], top.hit, names=(name,), use_statsmodels=False)[0]
    counts = draw_counts(300, 5, 0, "x")
    inside = np.ones(300, bool)
    groups = grouped(top, inside, counts)
    assert len(groups.log_score) == len(np.unique(top.score))
    curves, aic = refit(fit, groups)
    for b, count in enumerate(counts):
        rows = repeated(top, count)
        slow = fit_all(*rows[1:3], rows.hit, names=(name,), use_statsmodels=False)[0]
        assert aic[b] == pytest.approx(slow.aic, abs=1e-4)
        expected = slow.curve.hit(groups.log_score, groups.log1m_score)
        assert curves[b] == pytest.approx(expected, abs=2e-4)


@pytest.mark.parametrize("link", ["logit_logit_b0_b1", "log_log_b0_b1", "logflip_logflip_b0_b1"])
def test_a_resample_of_one_class_stays_finite(link):
    top = top_label_of_scores([0.2, 0.4, 0.6, 0.8], [0, 1, 0, 1])
    fit = fit_all(*top[1:3], top.hit, names=(link,), use_statsmodels=False)[0]
    hits = np.array([[0.0, 4, 0, 0], [0.0, 0, 0, 0]])
    groups = Labelled(top.log_score, top.log1m_score, hits, hits[::-1])
    curves, aic = refit(fit, groups)
    assert np.isfinite(curves).all()
    assert np.isfinite(aic).all()
    assert ((curves >= 0) & (curves <= 1)).all()


@pytest.mark.parametrize("norm", daily([1.0, 2.0], 1))
def test_resampled_tce_is_that_of_the_resampled_rows(norm):
    top = drawn(3000, seed=4)
    top = top_label_of_scores(np.where(top.score > 0.98, 1.0, top.score), top.hit)
    fitted = fit_curve(top)
    counts = np.vstack([draw_counts(3000, 5, 0, "x"), np.ones((1, 3000), np.uint16)])
    resamples = [repeated(top, count) for count in counts]
    slow = [empirical_tce(rows, fit_curve(rows).curve, norm) for rows in resamples]
    assert resampled_tce(top, fitted, counts, norm) == pytest.approx(slow, abs=1e-4)
