"""Recalibration methods: by hand, against scikit-learn, SciPy and plain optimisers."""

import re

import numpy as np
import pytest
from checkout import GENUINE, ROOT
from engine_data import drawn_fold
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from refusals import refuses
from scipy.optimize import approx_fprime, minimize, minimize_scalar
from scipy.special import gamma, log_softmax, softmax
from sklearn.calibration import _SigmoidCalibration
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from calbias import InputError
from calbias.reading import top_label as top_label_module
from calbias.reading.output_file import Fold
from calbias.reading.top_label import top_label
from calbias.recalibration import softmax_regression
from calbias.recalibration.logistic import fit_cox
from calbias.recalibration.softmax_regression import GRADIENT, fit_linear
from calbias.recalibration.spline import fit_binary as fit_spline_of_score
from calbias.recalibration.temperature import inverse_temperature
from pipeline.pickles import read_pickle
from reproduction.ranked import ranked_hits, ranked_scores
from reproduction.recalibration import registry
from reproduction.recalibration.binary import Steps, fit_one_vs_rest, log_totals
from reproduction.recalibration.binnings import bbq, histogram_binning, isotonic_regression
from reproduction.recalibration.matrix_scaling import PENALTIES, matrix_scaling, odir
from reproduction.recalibration.platt_scaling import platt_scaling
from reproduction.recalibration.registry import Uncalibrated, load_method
from reproduction.recalibration.temperature_scaling import temperature_scaling
from reproduction.selection import METHODS
from reproduction.steps.recalibrate_model import outcome_of, outcomes

KNOWN = registry.METHODS | registry.VARIANTS
PROBABILITIES = np.array([0.1, 0.2, 0.4, 0.6, 0.9, 1.0])
HITS = np.array([0, 1, 0, 1, 1, 0])

EM = {"equal_mass": True}
EDGES = np.arange(1, 15) / 15
TIED = ([0.2, 0.5, 0.5, 0.5], [0, 0, 1, 1])


@pytest.mark.parametrize(
    ("data", "options", "at", "expected"),
    [
        # bins [0, 1/2) with labels 0, 1, 0 and [1/2, 1] with labels 1, 1, 0
        ((PROBABILITIES, HITS), {"n_bins": 2}, [0, 0.49, 0.5, 1], [1 / 3, 1 / 3, 2 / 3, 2 / 3]),
        # a score on an edge is in the upper bin
        ((EDGES, np.arange(14) % 2), {"n_bins": 15}, EDGES, np.arange(14) % 2),
        # equal-mass bins hold equally many samples, and tied scores stay together
        ((PROBABILITIES, HITS), {"n_bins": 3, **EM}, PROBABILITIES, [0.5] * 6),
        ((PROBABILITIES, HITS), {"n_bins": 2, **EM}, [0.05, 0.59, 0.61], [1 / 3, 1 / 3, 2 / 3]),
        (TIED, {"n_bins": 2, **EM}, TIED[0], [0, 2 / 3, 2 / 3, 2 / 3]),
        # fewer samples than bins
        (([0.2, 0.8], [0, 1]), {"n_bins": 4, **EM}, [0.2, 0.5, 0.8], [0, 0, 1]),
        # tied lowest scores: their bin reaches down to 0
        (([0.5, 0.5, 0.9, 0.9], [0, 1, 1, 1]), {"n_bins": 4, **EM}, [0.4, 0.5, 0.9], [0.5, 0.5, 1]),
        # an empty bin
        (([0.1, 0.9], [0, 1]), {"n_bins": 3}, [0.2, 0.5, 0.7], [0, 0.5, 1]),
        (([0.1, 0.9], [0, 1]), {"n_bins": 3, "empty_bins_zero": True}, [0.2, 0.5, 0.7], [0, 0, 1]),
    ],
)
def test_histogram_binning_by_hand(data, options, at, expected):
    bins = histogram_binning(*map(np.array, data), **options)
    assert bins.predict(np.array(at)) == pytest.approx(expected)


def test_isotonic_regression_by_hand():
    # The labels 0, 1, 0, 1, 1, 0 pool to 0, 1/2, 1/2, 2/3, 2/3, 2/3.
    isotonic = isotonic_regression(PROBABILITIES, HITS)
    assert isotonic.predict(PROBABILITIES) == pytest.approx([0, 1 / 2, 1 / 2, 2 / 3, 2 / 3, 2 / 3])
    assert isotonic.predict(np.array([0.0, 0.15, 0.5])) == pytest.approx([0, 1 / 4, 7 / 12])
    step = isotonic_regression(PROBABILITIES, HITS, step=True)
    assert step.predict(np.array([0.0, 0.15, 0.5, 0.6])) == pytest.approx([0, 0, 1 / 2, 2 / 3])
    step = isotonic_regression(PROBABILITIES[2:5], np.array([1, 0, 1]), step=True)
    assert step.predict(np.array([0.0, 0.6, 1.0])) == pytest.approx([1 / 2, 1 / 2, 1])


@given(
    arrays(float, st.integers(1, 40), elements=st.sampled_from(np.linspace(0, 1, 12))),
    st.randoms(use_true_random=False),
)
def test_isotonic_regression_is_that_of_scikit_learn(scores, random):
    hits = np.array([random.randint(0, 1) for _ in scores], dtype=float)
    everywhere = np.linspace(0, 1, 57)
    expected = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(scores, hits)
    found = isotonic_regression(scores, hits).predict(everywhere)
    assert found == pytest.approx(expected.predict(everywhere), abs=1e-12)


@pytest.mark.parametrize(("n", "rate"), [(40, 0.3), (500, 0.9), (30, 0.0)])
def test_platt_scaling_is_that_of_scikit_learn(n, rate):
    rng = np.random.default_rng(n)
    scores, hits = rng.beta(2, 1, n), (rng.random(n) < rate).astype(float)
    log_odds = np.log(scores / (1 - scores))
    expected = _SigmoidCalibration().fit(log_odds, hits).predict(log_odds)
    found = platt_scaling(scores, hits)
    assert found.predict(scores) == pytest.approx(expected, abs=2e-4)
    assert np.isfinite(found.predict(np.array([0.0, 1e-320, 1.0]))).all()
    # The score equations of the smoothed targets hold.
    target = np.where(hits > 0, (hits.sum() + 1) / (hits.sum() + 2), 1 / (n - hits.sum() + 2))
    residual = found.predict(scores) - target
    assert residual.sum() == pytest.approx(0, abs=1e-6 * n)
    assert residual @ log_odds == pytest.approx(0, abs=1e-6 * n)


def test_a_line_of_scores_that_separate_hits_counts_one_more_of_each():
    """A miss at −1 and a hit at 1 become rates of 1/3 and 2/3, whose log odds are ∓ log 2."""
    assert fit_cox(np.array([-1.0, 1.0]), np.array([0, 1])) == pytest.approx((0, np.log(2)))


def bbq_slowly(scores, hits, new_score, fold=10):
    """Return BBQ's probability at one score, by the formulas of its docstring, without ties."""
    order, n = np.argsort(scores), len(scores)
    scores, hits, most = scores[order], hits[order], int(np.ceil(fold * n ** (1 / 3)))
    rates, likelihoods = [], []
    for n_bins in range(max(1, int(n ** (1 / 3) / fold)), min(n, most) + 1):
        first = [-(-k * n // n_bins) for k in range(n_bins + 1)]
        edges = [0, *((scores[i - 1] + scores[i]) / 2 for i in first[1:-1]), 1]
        likelihood, prior = 1.0, 2 / n_bins
        for k in range(n_bins):
            m, size = hits[first[k] : first[k + 1]].sum(), first[k + 1] - first[k]
            p = (edges[k] + edges[k + 1]) / 2
            a, b = prior * p, prior * (1 - p)
            likelihood *= gamma(prior) / gamma(size + prior) * gamma(m + a) / gamma(a)
            likelihood *= gamma(size - m + b) / gamma(b)
            if edges[k] <= new_score < edges[k + 1]:
                rate = (m + a) / (size + prior)
        rates.append(rate)
        likelihoods.append(likelihood)
    return np.average(rates, weights=likelihoods)


def test_bbq_is_the_average_of_the_binnings_by_their_likelihoods_and_keeps_ties_together(
    monkeypatch,
):
    rng, at = np.random.default_rng(5), np.array([0.01, 0.3, 0.77, 0.99])
    for n, fold in ((27, 10), (50, 10), (50, 1.6)):  # of 50: 1 to 37 binnings, and 2 to 6
        scores, hits = rng.random(n), rng.integers(0, 2, n)
        monkeypatch.setattr("reproduction.recalibration.binnings.RANGE", fold)
        slow = [bbq_slowly(scores, hits, score, fold) for score in at]
        assert bbq(scores, hits).predict(at) == pytest.approx(slow)
    monkeypatch.undo()
    tied = np.repeat([0.0, 0.2, 1.0], 10)
    found = bbq(tied, np.tile([0.0, 1.0], 15)).predict(np.array([0.0, 0.2, 1.0]))
    assert found == pytest.approx([0.5] * 3, abs=0.1)


def test_a_spline_of_two_knots_is_a_line():
    rng = np.random.default_rng(7)
    scores, hits = np.sort(rng.random(50)), rng.integers(0, 2, 50)
    t = np.arange(1, 51) / 50
    for add_score, values in ((True, hits - scores), (False, hits)):
        slope = np.polyfit(t, np.cumsum(values) / 50, 1)[0]
        expected = np.clip(slope + add_score * scores, 0, 1)
        found = fit_spline_of_score(scores, hits, 2, add_score).predict(scores)
        assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("add_score", [True, False])
def test_a_spline_finds_the_curve_and_does_not_depend_on_the_order(add_score):
    rng = np.random.default_rng(8)
    scores = np.round(rng.beta(3, 1, 30_000), 3)  # with ties
    hits = (rng.random(30_000) < scores**1.5).astype(float)
    grid = np.linspace(0.3 if add_score else 0.6, 0.98, 15)  # few samples lie below
    found, again = (
        fit_spline_of_score(scores[rows], hits[rows], add_score=add_score).predict(grid)
        for rows in (slice(None), rng.permutation(len(scores)))
    )
    assert found == pytest.approx(grid**1.5, abs=0.03)
    assert again == pytest.approx(found, abs=1e-9)
    with pytest.raises(InputError, match="3 samples are too few"):
        fit_spline_of_score(scores[:3], hits[:3])


def test_one_vs_rest_renormalises_by_hand():
    """Classes 0 and 1 have a label each: 1/2; class 2 has none. Row 0: (1/2, 1/2, 0) / 1.

    Row 1 gets zeros only and keeps its probabilities.
    """
    logits = np.log([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]])

    def fit_binary(scores, hits):
        return Steps(np.array([0.3]), np.array([0.0, hits.mean()]))

    z = fit_one_vs_rest(fit_binary, logits, np.array([0, 1])).predict(logits)
    expected = np.array([[0.5, 0.5, 0], [0.1, 0.1, 0.8]])
    assert np.exp(z) == pytest.approx(expected, abs=1e-12)
    top = top_label(z, [1, 2])
    assert top.score == pytest.approx([0.5, 0.8])
    assert top.hit.tolist() == [0, 1]  # of tied classes the first is on top


def test_every_class_gets_its_own_map():
    fold = drawn_fold(500, 40)
    z = fold.logits.astype(float)
    assert log_totals(fold.logits) == pytest.approx(np.log(np.exp(z).sum(axis=1)))
    q = np.exp(load_method("isotonic_regression")(*fold).predict(fold.logits))
    p = softmax(z, axis=1)
    for k in (0, 31, 32, 39):
        alone = IsotonicRegression(out_of_bounds="clip").fit(p[:, k], fold.labels == k)
        assert q[:, k] == pytest.approx(alone.predict(p[:, k]), abs=1e-9)


def test_temperature_is_the_minimum_that_scipy_finds():
    fold = drawn_fold(400, 6, 2.0, seed=4)

    def loss(log_inverse):
        z = fold.logits.astype(float) * np.exp(log_inverse)
        return -log_softmax(z, axis=1)[np.arange(len(z)), fold.labels].mean()

    expected = minimize_scalar(loss, bounds=(-3, 3), method="bounded", options={"xatol": 1e-9})
    found = inverse_temperature(*fold)
    assert np.log(found) == pytest.approx(expected.x, abs=1e-6)


def test_the_temperature_of_least_ece_is_found_by_a_loop():
    logits, labels = drawn_fold(200, 4, 2.0, seed=4)
    errors = []
    for temperature in range(1, 101):
        p = softmax(10 / temperature * logits.astype(float), axis=1)
        gaps, score = p.max(axis=1) - (p.argmax(axis=1) == labels), p.max(axis=1)
        bins = [(k / 15 < score) & (score <= (k + 1) / 15) for k in range(15)]
        errors.append(sum(abs(gaps[rows].sum()) for rows in bins))
    expected = 10 / (1 + np.argmin(errors))
    assert 0.2 < expected < 5
    found = load_method("temperature_by_ece")(logits, labels).inverse
    assert found == pytest.approx(expected)


@pytest.mark.filterwarnings("ignore:temperature scaling")  # where all 60 rows are hits
@pytest.mark.parametrize("method", ["temperature_scaling", "spline", "spline_as_written"])
@given(st.integers(0, 1000), st.floats(0.2, 5))
def test_methods_that_keep_the_top_class_and_so_the_accuracy(method, seed, temperature):
    calibrator = load_method(method)(*drawn_fold(60, 3, temperature, seed))
    test = drawn_fold(60, 3, temperature, seed + 1)
    before, after = outcome_of(Uncalibrated(), test), outcome_of(calibrator, test)
    assert (before.top.hit == after.top.hit).all()


@pytest.mark.parametrize(("all_hits", "inverse"), [(True, 1e3), (False, 1e-3)])
def test_a_likelihood_without_maximum_stops_at_the_bound(all_hits, inverse):
    fold = drawn_fold(100)
    labels = fold.logits.argmax(axis=1) if all_hits else fold.logits.argmin(axis=1)
    with pytest.warns(UserWarning, match="no maximum"):
        found = inverse_temperature(fold.logits, labels)
    assert found == pytest.approx(inverse, rel=0.5)


def test_outcome_by_hand_and_in_blocks(monkeypatch):
    fold = Fold(np.log([[0.7, 0.2, 0.1], [0.2, 0.5, 0.3], [0.25, 0.25, 0.5]]), np.array([0, 0, 2]))
    outcome = outcome_of(Uncalibrated(), fold)
    assert outcome.nll == pytest.approx(-np.log([0.7, 0.2, 0.5]).mean())
    assert outcome.top.hit.tolist() == [1, 0, 1]
    never = Fold(np.array([[0.0, -np.inf]]), np.array([1]))  # counts as a probability of epsilon
    assert outcome_of(Uncalibrated(), never).nll == pytest.approx(52 * np.log(2))
    monkeypatch.setattr(top_label_module, "_ELEMENTS", 3)
    assert outcome_of(Uncalibrated(), fold).nll == pytest.approx(outcome.nll, rel=1e-15)


def test_a_method_of_the_top_label_alone_keeps_the_top_class():
    fold = drawn_fold(800)
    top, calibrator = top_label(*fold), load_method("isotonic_regression_top_label")(*fold)
    outcome = outcome_of(calibrator, fold)
    assert (outcome.top.hit == top.hit).all()
    assert outcome.top.score.mean() == pytest.approx(top.hit.mean())  # isotonic keeps the mean
    assert np.isnan(outcome.nll)


@pytest.mark.parametrize(("rank", "within"), [(1, False), (2, False), (2, True), (4, True)])
def test_ranked_scores_by_sorting(rank, within):
    logits, labels = drawn_fold(50)
    logits[0] = 0.0  # ties: the class of lower number ranks first
    p = softmax(logits.astype(float), axis=1)
    order = np.argsort(-p, axis=1, kind="stable")[:, :rank]
    if not within:
        order = order[:, -1:]
    expected = np.take_along_axis(p, order, axis=1).sum(axis=1)
    assert ranked_scores(logits, rank, within) == pytest.approx(expected, abs=1e-14)
    hits = (order == labels[:, None]).any(axis=1)
    assert ranked_hits(logits, labels, rank, within).tolist() == hits.astype(int).tolist()
    with pytest.raises(InputError, match="rank 5 of 4 classes"):
        ranked_scores(logits, 5)


def test_every_method_is_fitted_on_validation_and_judged_on_test():
    validation, test = drawn_fold(300, seed=1), drawn_fold(200, seed=2)
    judged = outcomes(validation, test, KNOWN)
    fewer = outcomes(validation, Fold(test.logits[:50], test.labels[:50]), KNOWN)
    for method, outcome in judged.items():
        assert outcome.top.score.shape == outcome.top.hit.shape == (200,)
        assert fewer[method].top.score == pytest.approx(outcome.top.score[:50])
        assert ((outcome.top.score >= 0) & (outcome.top.score <= 1)).all()


def test_the_examples_of_the_docs_run():
    page = ROOT / "docs/tool/recalibration.md"
    names = {}
    for block in re.findall(r"```python\n(.*?)```", page.read_text("utf-8"), re.DOTALL):
        exec(block, names)
    assert names["recalibrated"].shape == (2000, 10)
    fold = drawn_fold(500)
    corrected = names["fit"](*fold).predict(fold.logits)  # the method of one's own
    share = (np.bincount(fold.labels) + 1) / 504
    assert softmax(corrected, axis=1).mean(axis=0) == pytest.approx(share, abs=1e-9)
    listed = set(re.findall(r"`(\w+)`", page.read_text("utf-8")))
    of_top_label = {"platt_scaling_top_label"}  # in words: *_top_label
    assert {*registry.METHODS} - listed == {"uncalibrated"} | of_top_label


test_an_unknown_method_is_named = refuses(
    load_method, ("isotonic", r"unknown method 'isotonic'. .*isotonic_regression")
)


@pytest.fixture(scope="module")
def resnet110():
    """Return the validation and test folds of the paper's ResNet-110 CIFAR-10 file."""
    if not GENUINE.exists():
        pytest.skip(f"{GENUINE} is absent")
    return [Fold(logits, labels.reshape(-1)) for logits, labels in read_pickle(GENUINE)]


def test_facts_of_the_genuine_resnet110(resnet110):
    judged = outcomes(*resnet110, ("uncalibrated", *METHODS))
    before, after = judged["uncalibrated"].top, judged["temperature_scaling"].top
    assert (before.hit == after.hit).all()
    assert before.hit.mean() == pytest.approx(0.9356)
    assert len(np.unique(judged["histogram_binning"].top.score)) == 370
    isotonic = judged["isotonic_regression"].top
    assert np.mean(isotonic.score == 1) == pytest.approx(0.312)
    assert isotonic.hit.mean() == pytest.approx(0.9364)


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
    x = np.ascontiguousarray(logits.T, float)
    parameters = np.random.default_rng(1).normal(size=int(np.prod(shape)) + 3)

    def parts(parameters):
        weights, intercept = parameters[:-3].reshape(shape), parameters[-3:]
        return softmax_regression._likelihood(x, labels, weights, intercept)

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
    monkeypatch.setattr("calbias.reading.top_label._ELEMENTS", 33)
    assert fit_linear(*data).weights == pytest.approx(whole.weights, abs=1e-6)
