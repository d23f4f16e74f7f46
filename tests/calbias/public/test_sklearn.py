"""scikit-learn's names: the metric, the scorer in scikit-learn's own tools, the display."""

from functools import partial

import numpy as np
import pytest
from refusals import refuses
from sklearn.calibration import CalibrationDisplay as TheirDisplay
from sklearn.calibration import calibration_curve as their_curve
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import calbias
from calbias.sklearn import CalibrationDisplay, calibration_error

X, Y = make_classification(n_samples=600, n_informative=4, random_state=1)
NAMES = np.array(["no", "yes"])[Y]


def calibration_scorer(**options):
    return make_scorer(
        calibration_error, response_method="predict_proba", greater_is_better=False, **options
    )


def calibration_curve(y_true, y_prob, **options):
    display = CalibrationDisplay.from_predictions(y_true, y_prob, plot=False, **options)
    return display.prob_true, display.prob_pred


MODEL = GaussianNB().fit(X[:300], Y[:300])
PROBABILITIES = MODEL.predict_proba(X[300:])[:, 1]


@pytest.mark.parametrize(
    ("options", "estimator", "n_bins"),
    [
        ({"strategy": "uniform", "n_bins": 7}, "ece_bin_ew", 7),
        ({"strategy": "quantile"}, "ece_bin_em", 15),
        ({}, "ece_sweep_em", 15),
        ({"estimator": "ece_debias_em", "norm": 2}, "ece_debias_em", 15),
        ({"strategy": "quantile", "n_bins": "cube_root"}, "ece_bin_em", 7),
    ],
)
def test_the_metric_is_the_estimate(options, estimator, n_bins):
    value = calibration_error(Y[300:], PROBABILITIES, **options)
    norm = options.get("norm")
    assert (
        value == calbias.estimate(estimator, PROBABILITIES, Y[300:], n_bins=n_bins, norm=norm).value
    )
    assert value == calibration_error(NAMES[300:], PROBABILITIES, pos_label="yes", **options)
    assert value == calibration_error(2 * Y[300:] - 1, PROBABILITIES, **options)


def test_squares_and_names_of_norms():
    """The square of the debiased error is unbiased, and below 0 for data that fit too well."""
    uniform = {"strategy": "uniform", "norm": "l2"}
    root = calibration_error(Y[300:], PROBABILITIES, **uniform)
    assert calibration_error(Y[300:], PROBABILITIES, squared=True, **uniform) == root**2
    debiased = {"estimator": "ece_debias_em", "squared": True}
    value = calibration_error(Y[300:], PROBABILITIES, **debiased)
    assert value == calbias.estimate("ece_debias_squared_em", PROBABILITIES, Y[300:]).value
    fit = calibration_error([0, 1] * 50, np.full(100, 0.5), n_bins=1, **debiased)
    assert fit == pytest.approx(-0.25 / 99)
    for options, message in (
        ({"squared": True}, "squared goes with norm=2"),
        ({"n_bins": "auto"}, "n_bins must be a whole number"),
        ({"norm": "l3"}, "unknown norm 'l3'"),
    ):
        with pytest.raises(calbias.InputError, match=message):
            calibration_error(Y[300:], PROBABILITIES, **options)
    p = PROBABILITIES
    assert calibration_curve(Y[300:], p, n_bins="cube_root", strategy="quantile")[0].size == 7


def test_weights_in_the_metric_the_curve_and_the_scorer():
    weights = np.linspace(0.2, 2.0, 300)
    for strategy, estimator in (("uniform", "ece_bin_ew"), ("quantile", "ece_bin_em")):
        value = calibration_error(Y[300:], PROBABILITIES, strategy=strategy, sample_weight=weights)
        expected = calbias.estimate(estimator, PROBABILITIES, Y[300:], sample_weight=weights)
        assert value == expected.value
        scorer = calibration_scorer(strategy=strategy)
        assert scorer(MODEL, X[300:], Y[300:], sample_weight=weights) == -value
    mine = calibration_curve(Y[300:], PROBABILITIES, n_bins=5, sample_weight=weights)
    inside = (PROBABILITIES >= 0.8) & (PROBABILITIES <= 1)
    assert mine[0][-1] == pytest.approx(np.average(Y[300:][inside], weights=weights[inside]))
    with pytest.raises(calbias.InputError, match="the sweep's bins take no weights"):
        calibration_curve(Y[300:], PROBABILITIES, strategy="sweep", sample_weight=weights)


def test_several_classes_are_judged_on_the_top_label():
    features, labels = make_classification(
        n_samples=300, n_classes=3, n_informative=4, random_state=2
    )
    model = LogisticRegression().fit(features, labels)
    p = model.predict_proba(features)
    expected = calbias.estimate("ece_sweep_em", probabilities=p, labels=labels).value
    assert calibration_error(labels, p) == expected
    assert calibration_scorer()(model, features, labels) == -expected
    first_two = labels < 2  # a label never seen
    given = calibration_error(labels[first_two], p[first_two], labels=[0, 1, 2])
    assert (
        given
        == calbias.estimate(
            "ece_sweep_em", probabilities=p[first_two], labels=labels[first_two]
        ).value
    )
    display = CalibrationDisplay.from_predictions(labels, p, plot=False)
    assert display.y_prob == pytest.approx(p.max(axis=1))


def test_the_scorer_in_scikit_learns_tools():
    scorer = calibration_scorer(strategy="quantile", n_bins=5)
    scores = cross_val_score(GaussianNB(), X, Y, scoring=scorer, cv=3)
    assert scores.shape == (3,)
    assert np.all((scores < 0) & (scores > -1))
    found = cross_validate(GaussianNB(), X, Y, scoring={"ece": scorer}, cv=3)
    np.testing.assert_array_equal(found["test_ece"], scores)
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    grid = GridSearchCV(
        pipeline, {"logisticregression__C": [0.01, 1.0]}, scoring=calibration_scorer(), cv=3
    ).fit(X, Y)
    assert grid.best_score_ == max(grid.cv_results_["mean_test_score"])


def test_the_curve_is_theirs_where_conventions_agree():
    """Without ties, where n is a multiple of the number of bins plus one; uniform: the display."""
    y, p = Y[300:596], PROBABILITIES[:296]  # (n − 1)/5 is whole: quantiles are scores
    theirs = their_curve(y, p, n_bins=5, strategy="quantile")
    mine = calibration_curve(y, p, n_bins=5, strategy="quantile")
    assert mine[0] == pytest.approx(theirs[0], abs=0.02)


def test_the_sweep_draws_the_bins_of_its_estimate():
    y, p = Y[300:], np.round(PROBABILITIES, 2)
    prob_true, prob_pred = calibration_curve(y, p, strategy="sweep")
    assert np.all(np.diff(prob_true) >= 0)
    assert len(prob_true) == calbias.estimate("ece_sweep_em", p, y).n_bins
    sizes = np.diff(np.searchsorted(np.sort(p), [-1, *(prob_pred[1:] - 1e-9), 2]))
    assert sizes.sum() == p.size


def test_the_display_has_scikit_learns_parts_and_a_band():
    pytest.importorskip("matplotlib").use("agg")
    from matplotlib import pyplot

    for theirs, mine in (
        (TheirDisplay.from_predictions(Y[300:], PROBABILITIES, name="m", n_bins=6),
         CalibrationDisplay.from_predictions(Y[300:], PROBABILITIES, name="m", n_bins=6)),
    ):  # fmt: skip
        np.testing.assert_allclose(mine.prob_true, theirs.prob_true)
        np.testing.assert_allclose(mine.prob_pred, theirs.prob_pred)
        np.testing.assert_array_equal(mine.y_prob, theirs.y_prob)
        assert mine.estimator_name == theirs.estimator_name
        assert mine.figure_ is mine.ax_.figure
        np.testing.assert_allclose(mine.line_.get_ydata(), theirs.line_.get_ydata())
        assert np.all(mine.band_low <= mine.band_high)
    _, axes = pyplot.subplots()
    for name in ("a", "b"):
        display = CalibrationDisplay.from_predictions(
            Y[300:], PROBABILITIES, ax=axes, name=name, strategy="sweep", color="green"
        )
        assert display.ax_ is axes
    assert axes.get_legend_handles_labels()[1] == ["Perfectly calibrated", "a", "b"]
    pyplot.close("all")


test_mistakes = refuses(
    calibration_error,
    (["a", "b"], [0.1, 0.2], r"y_true has the labels \['a', 'b'\]: give pos_label"),
    ([0, 1, 2], [0.1, 0.2, 0.3], r"y_true has the labels \[0, 1, 2\]: give pos_label"),
    ([0, 1], [0.1, 0.2, 0.3], r"y_true must be \(n,\) and y_prob \(n,\) or \(n, K\)"),
    ([0, 1], [0.1, 1.2], "score 1.2 is"),
    ([0, 1], [[0.1, 0.2, 0.7], [0.3, 0.3, 0.4]], "y_prob has 3 columns for 2 labels"),
    ([], [], "not empty"),
)


test_mistakes_of_options = refuses(
    partial(calibration_error, Y[300:], PROBABILITIES),
    ({"strategy": "kmeans"}, "unknown strategy 'kmeans'"),
    ({"n_bins": "auto"}, "n_bins must be a whole number"),
    ({"estimator": "ece"}, "unknown estimator 'ece'"),
    ({"pos_label": 3}, "not two with pos_label 3"),
)
