"""Estimators that fit a curve: variational, plug-in and Beta-kernel, against general software."""

import math
from functools import partial

import numpy as np
import pytest
from engine_data import data_sets, monotone_data
from hypothesis import given
from scipy.optimize import minimize
from scipy.special import expit, logit
from scipy.stats import beta

from calbias.engine.sorted_batch import sorted_data_set
from evidence.estimators import estimate
from evidence.estimators.variational import single_labels
from evidence.logistic_line import fit_line


def platt(x, y):
    """Return (a, b) by a general optimiser, with Platt's label targets."""
    target = np.where(y == 1, (y.sum() + 1) / (y.sum() + 2), 1 / ((1 - y).sum() + 2))

    def loss(ab):
        eta = ab[0] + ab[1] * x
        return np.sum(np.logaddexp(0, eta) - target * eta)

    return minimize(loss, [0.0, 1.0], method="BFGS", options={"gtol": 1e-10}).x


@pytest.mark.parametrize("seed", range(2))
def test_logistic_line_against_a_general_optimiser(seed):
    scores, hits = monotone_data(200, seed)
    x = logit(np.clip(scores, 1e-9, 1 - 1e-9))
    assert fit_line(x, hits.astype(float), 1.0) == pytest.approx(platt(x, hits), abs=1e-5)


@pytest.mark.parametrize("hits", [[0, 0, 1, 1], [1, 1, 1, 1], [0, 0, 0, 0], [1, 1, 0, 0]])
def test_separable_labels_have_a_finite_fit(hits):
    x, hits = np.array([-2.0, -1.0, 1.0, 36.0]), np.array(hits, float)
    assert fit_line(x, hits, 1.0) == pytest.approx(platt(x, hits), rel=3e-3, abs=1e-4)
    assert all(map(math.isfinite, fit_line(np.ones(4), hits, 1.0)))


def cross_fitted(scores, hits, calibrator, norm):
    """Return the variational estimate by scikit-learn's or SciPy's fits, fold by fold."""
    isotonic = pytest.importorskip("sklearn.isotonic").IsotonicRegression
    total = 0.0
    for fold in range(5):
        train = np.arange(scores.size) % 5 != fold
        s, y = scores[~train], hits[~train]
        if calibrator == "isotonic":
            g = isotonic(out_of_bounds="clip").fit(scores[train], hits[train]).predict(s)
        else:
            a, b = platt(logit(scores[train]), hits[train])
            g = expit(a + b * logit(s))
        gain = np.sign(g - s) * (y - s) if norm == 1 else (y - s) ** 2 - (y - g) ** 2
        total += gain.sum()
    return total / scores.size


@pytest.mark.parametrize("calibrator", ["platt", "isotonic"])
@pytest.mark.parametrize("norm", [1, 2])
def test_variational_estimates_fold_by_fold(calibrator, norm):
    scores, hits = monotone_data(303, seed=9)
    scores = np.clip(scores, 1e-6, 1 - 1e-6)
    found = estimate(f"variational_{calibrator}", scores, hits, norm=norm).value
    assert found == pytest.approx(cross_fitted(scores, hits, calibrator, norm), abs=1e-5)


@given(data_sets())
def test_single_labels_share_each_groups_hits_among_its_members(data):
    batch = sorted_data_set(*data)
    labels = single_labels(batch)
    assert set(np.unique(labels)) <= {0.0, 1.0}
    for score in set(data[0]):
        group = batch.scores[0] == score
        assert labels[0, group].sum() == sum(y for s, y in zip(*data, strict=True) if s == score)


def test_plug_in_of_a_logistic_curve():
    scores, hits = monotone_data(400, seed=2)
    scores = np.clip(scores, 1e-6, 1 - 1e-6)
    a, b = platt(logit(scores), hits)
    gaps = np.abs(expit(a + b * logit(scores)) - scores)
    level = partial(np.quantile, gaps, method="inverted_cdf")
    for name, norm, expected in (
        *(("plugin_glm", 1, gaps.mean()), ("plugin_glm", 2, math.sqrt(np.mean(gaps**2)))),
        *(("e50_glm", None, level(0.5)), ("e90_glm", None, level(0.9))),
    ):
        assert estimate(name, scores, hits, norm=norm).value == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(("n", "exactness"), [(90, {"abs": 1e-6}), (3000, {"rel": 3e-3})])
def test_plug_in_of_loess_against_statsmodels(n, exactness):
    """statsmodels' lowess without robustness steps; above 100 samples not each is evaluated."""
    lowess = pytest.importorskip("statsmodels.nonparametric.smoothers_lowess").lowess
    scores, hits = monotone_data(n, seed=6)
    fit = lowess(hits, scores, frac=0.75, it=0, delta=0.0, return_sorted=False)
    gaps = np.abs(np.clip(fit, 0, 1) - scores)
    found = estimate("plugin_loess", scores, hits, norm=1).value
    assert found == pytest.approx(gaps.mean(), **exactness)
    largest = np.quantile(gaps, 0.9, method="inverted_cdf")
    assert estimate("e90_loess", scores, hits).value == pytest.approx(largest, **exactness)


def test_beta_kernel_by_its_formula():
    """With the bandwidth of greatest leave-one-out likelihood, all from SciPy's Beta density."""
    scores, hits = monotone_data(60, seed=8)

    def kernel(h):
        matrix = beta.pdf(scores[:, None], scores / h + 1, (1 - scores) / h + 1)
        return matrix - np.diag(np.diag(matrix))

    bandwidths = [*np.logspace(-5, -1, 15), 0.2, 0.4, 0.6, 0.8, 1.0]
    with np.errstate(divide="ignore"):
        best = max(bandwidths, key=lambda h: np.log(kernel(h).sum(axis=1)).sum())
    fitted = kernel(best) @ hits / kernel(best).sum(axis=1)
    for norm in (1, 2):
        expected = np.mean(np.abs(fitted - scores) ** norm) ** (1 / norm)
        assert estimate("beta_kernel", scores, hits, norm=norm).value == pytest.approx(expected)
