"""Vector, matrix and Dirichlet scaling: against scikit-learn, plain optimisers and each other."""

import numpy as np
import pytest
from refusals import refuses
from scipy.optimize import approx_fprime, minimize
from scipy.special import log_softmax, softmax
from sklearn.linear_model import LogisticRegression

from calbias.recalibration import softmax_regression
from calbias.recalibration.softmax_regression import GRADIENT, fit_linear
from reproduction.recalibration.matrix_scaling import PENALTIES, matrix_scaling, odir
from reproduction.recalibration.registry import load_method
from reproduction.recalibration.temperature_scaling import temperature_scaling

WEIGHTS = np.array([[0.6, 0.1, 0.0], [0.0, 0.4, -0.2], [0.1, 0.0, 0.9]])
INTERCEPT = np.array([0.3, 0.0, -0.3])


def drawn(n=400, weights=WEIGHTS, seed=0):
    """Return logits (n, 3) and labels that follow softmax(W z + b)."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(0, 2, (n, 3)).astype(np.float32)
    cumulative = softmax(logits @ weights.T + INTERCEPT, axis=1).cumsum(axis=1)
    return logits, (rng.random(n)[:, None] > cumulative).sum(axis=1).clip(max=2)


def nll(calibrator, logits, labels):
    z = log_softmax(calibrator.predict(logits), axis=1)
    return -z[np.arange(len(labels)), labels].mean()


@pytest.mark.parametrize("shape", [(3,), (3, 3)])
def test_gradients_are_those_of_finite_differences(shape):
    logits, labels = drawn(50)
    parameters = np.random.default_rng(1).normal(size=int(np.prod(shape)) + 3)

    def parts(parameters):
        weights, intercept = parameters[:-3].reshape(shape), parameters[-3:]
        return softmax_regression._likelihood(logits.astype(float), labels, weights, intercept)

    expected = approx_fprime(parameters, lambda p: parts(p)[0], 1e-7)
    assert np.append(*parts(parameters)[1:]) == pytest.approx(expected, abs=1e-6)


def test_matrix_contains_vector_contains_temperature():
    for seed in range(5):
        data = drawn(300, seed=seed)
        matrices = [matrix_scaling(*data, diagonal=diagonal) for diagonal in (False, True)]
        fits = [*matrices, temperature_scaling(*data)]
        losses = [nll(fit, *data) for fit in fits]
        assert losses == sorted(losses)
        assert all(fit.gradient <= GRADIENT for fit in fits[:2])
        assert fits[1].mean_nll(*data) == pytest.approx(losses[1], rel=1e-12)


def test_known_parameters_are_recovered():
    fit = matrix_scaling(*drawn(40_000, np.diag([0.6, 0.4, 0.9])), diagonal=True)
    assert fit.weights == pytest.approx([0.6, 0.4, 0.9], abs=0.04)
    assert fit.intercept - fit.intercept.mean() == pytest.approx(INTERCEPT, abs=0.05)


def test_matrix_scaling_is_the_logistic_regression_of_scikit_learn():
    logits, labels = drawn()
    regression = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000)
    expected = regression.fit(logits.astype(float), labels).predict_proba(logits)
    found = softmax(matrix_scaling(logits, labels).predict(logits), axis=1)
    assert found == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("method", ["ms_odir", "dir_odir"])
def test_odir_is_the_penalised_minimum_of_a_plain_optimiser(method):
    logits, labels = drawn(150)
    of_log = method == "dir_odir"
    x = log_softmax(logits.astype(float), axis=1) if of_log else logits.astype(float)
    off = 1 - np.eye(3)

    def loss(parameters):
        weights, intercept = parameters[:9].reshape(3, 3), parameters[9:]
        z = log_softmax(x @ weights.T + intercept, axis=1)[np.arange(150), labels]
        return -z.mean() + 0.3 / 6 * np.sum(off * weights**2) + 0.3 / 3 * np.sum(intercept**2)

    slow = minimize(loss, np.append(np.eye(3), np.zeros(3)), tol=1e-9)
    fit = load_method(method)(logits, labels, penalties=(0.3,))
    assert loss(np.append(fit.weights, fit.intercept)) == pytest.approx(slow.fun, rel=1e-7)
    assert fit.weights == pytest.approx(slow.x[:9].reshape(3, 3), abs=2e-3)


def test_the_penalty_is_chosen_on_held_out_rows_whatever_the_order():
    logits, labels = drawn(300)
    chosen = odir(logits, labels)
    candidates = [odir(logits, labels, penalties=(p,)) for p in PENALTIES]
    assert any(np.array_equal(chosen.weights, fit.weights) for fit in candidates)
    fresh = drawn(4000, seed=1)
    losses = [nll(fit, *fresh) for fit in candidates]
    assert nll(chosen, *fresh) < np.mean(losses)
    by_class = np.argsort(labels, kind="stable")
    assert np.isfinite(odir(logits[by_class], labels[by_class]).weights).all()
    strong = odir(logits, labels, penalties=(1e6,))
    assert np.abs(strong.weights * (1 - np.eye(3))).max() < 1e-4
    assert np.abs(strong.intercept).max() < 1e-4


def test_classes_that_the_logits_separate_are_warned_of():
    logits = np.eye(3, dtype=np.float32)[np.arange(30) % 3] * 5
    with pytest.warns(UserWarning, match="no maximum: use ms_odir"):
        matrix_scaling(logits, np.arange(30) % 3)


test_too_many_classes_for_a_matrix_are_refused = refuses(
    matrix_scaling,
    (
        np.zeros((5, 1000), np.float32),
        np.arange(5),
        "1000 classes has 1001000 parameters for 5",
    ),
)


def test_blocks_of_rows_do_not_show(monkeypatch):
    data = drawn(100)
    whole = fit_linear(*data)
    monkeypatch.setattr("calbias.logits.top_label._ELEMENTS", 33)
    assert fit_linear(*data).weights == pytest.approx(whole.weights, abs=1e-6)
