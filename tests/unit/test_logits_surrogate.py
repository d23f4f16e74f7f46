"""Surrogates: the published fits come back, the stored logits hold what was drawn."""

import csv

import numpy as np
import pytest
from checkout import PUBLISHED, ROOT, TABLE_2, TABLE_3
from oracles import beta_mle
from refusals import refuses
from scipy.special import betainc, polygamma

from calbias import Curve, Scenario
from calbias.logits.top_label import top_label
from pipeline.logits import surrogate
from pipeline.logits.surrogate import draw_logits, draw_scores, draw_surrogate, fold_sizes
from pipeline.manifest import read_manifest

MANIFEST = read_manifest(PUBLISHED / "nn_calibration_logits_manifest.csv")
with open(ROOT / "config" / "models.csv", newline="") as file:
    MODELS = {row["model"]: int(row["n_classes"]) for row in csv.DictReader(file)}


def scenario(alpha, beta, curve):
    return Scenario("any", alpha, beta, curve)


def fit_of(model):
    return surrogate.published_fit(model, TABLE_2, TABLE_3)


def rng():
    return np.random.default_rng(7)


@pytest.mark.parametrize("model", MODELS)
def test_beta_mle_recovers_table_2(model):
    """Within four standard errors, from the Fisher information, at the file's own test size."""
    fit, n_classes = fit_of(model), MODELS[model]
    _, n = fold_sizes(model, n_classes, MANIFEST)
    scores = draw_scores(fit, n, n_classes, rng())
    top = top_label(*draw_logits(scores, n_classes, rng()))
    found = beta_mle(top)
    both = polygamma(1, fit.alpha + fit.beta)
    information = np.diag(polygamma(1, [fit.alpha, fit.beta])) - both
    standard_error = np.sqrt(np.diag(np.linalg.inv(n * information)))
    assert np.all(np.abs(found - [fit.alpha, fit.beta]) < 4 * standard_error)


@pytest.mark.parametrize("model", MODELS)
def test_hits_follow_the_winning_curve(model):
    fit, n = fit_of(model), 20_000
    drawn = draw_scores(fit, n, MODELS[model], rng())
    expected = fit.curve.hit(drawn.log_score, drawn.log1m_score)
    order = np.argsort(drawn.log1m_score)
    for part in np.array_split(order, 5):
        error = (drawn.hit[part] - expected[part]).sum()
        assert abs(error) < 4 * np.sqrt((expected[part] * (1 - expected[part])).sum() + 1)


@pytest.mark.parametrize("n_classes", [2, 3, 10, 1000])
def stored(drawn, n_classes):
    """Return the top labels of the logits that hold these scores; all have one top class."""
    fold = draw_logits(drawn, n_classes, rng())
    assert fold.logits.dtype == np.float32
    assert np.isfinite(fold.logits).all()
    ranked = np.sort(fold.logits, axis=1)
    assert np.all(ranked[:, -1] > ranked[:, -2])
    return top_label(*fold)


@pytest.mark.parametrize("n_classes", [2, 3, 10, 1000])
def test_stored_logits_give_back_the_drawn_top_labels(n_classes):
    drawn = draw_scores(scenario(1.5, 0.05, Curve("identity")), 2000, n_classes, rng())
    top = stored(drawn, n_classes)
    assert top.log1m_score == pytest.approx(drawn.log1m_score, rel=3e-7, abs=2e-6)
    assert top.log_score == pytest.approx(drawn.log_score, rel=3e-5, abs=2e-6)
    assert np.array_equal(top.hit, drawn.hit)


def test_scores_next_to_the_floor_keep_the_top_class_on_top():
    """Beta(2, 60) is nearly always below 1/10: the draws that are left land next to it."""
    drawn = draw_scores(scenario(2.0, 60.0, Curve("identity")), 500, 10, rng())
    score = np.exp(drawn.log_score)
    assert drawn.n_redrawn > 500
    assert 1 / (1 + 0.999 * 9) <= score.min() < 0.11
    assert stored(drawn, 10).score == pytest.approx(score, rel=2e-6)


def test_redrawn_scores_are_counted():
    for model, n_classes in MODELS.items():
        fit = fit_of(model)
        below = betainc(fit.alpha, fit.beta, 1 / (1 + 0.999 * (n_classes - 1)))
        n_redrawn = draw_scores(fit, 50_000, n_classes, rng()).n_redrawn
        assert abs(n_redrawn - 50_000 * below) < 4 * np.sqrt(50_000 * below) + 1


def test_classes_and_labels_cover_everything():
    fit = scenario(3.0, 1.0, Curve("logit_logit_b0", 0.0))
    logits, labels = draw_surrogate("m", fit, 5, 2000, 2000, 0)[0].test
    for classes in (logits.argmax(axis=1), labels):
        assert np.bincount(classes, minlength=5) == pytest.approx(np.full(5, 400), abs=100)
    # Among misses, the runner-up is the label more often than the last class.
    ranks = np.argsort(np.argsort(-logits, axis=1), axis=1)
    counts = np.bincount(ranks[np.arange(2000), labels], minlength=5)
    assert counts[1] > counts[2] > counts[4]


def test_streams_depend_on_seed_and_model_alone():
    def drawn(model="a", n_test=60, seed=1):
        return draw_surrogate(model, fit_of("resnet110_c10"), 10, 50, n_test, seed)[0]

    one, again, longer = drawn(), drawn(), drawn(n_test=99)
    assert one.source == "surrogate_logits"
    assert np.array_equal(one.test.logits, again.test.logits)
    assert np.array_equal(one.validation.logits, longer.validation.logits)
    for other in (drawn("b"), drawn(seed=2)):
        assert not np.array_equal(one.test.logits, other.test.logits)
    assert not np.array_equal(one.validation.logits, one.test.logits[:50])


@pytest.mark.parametrize(
    ("model", "n_classes", "sizes"),
    [
        *(("resnet110_c10", 10, (5000, 10000)), ("resnet152_SD_SVHN", 10, (6000, 26032))),
        *(("resnet50_birds", 200, (5000, 10000)), ("unlisted", 1000, (25000, 25000))),
    ],
)
def test_sizes(model, n_classes, sizes):
    assert fold_sizes(model, n_classes, MANIFEST) == sizes


test_a_model_without_a_fit_is_refused = refuses(
    fit_of, ("mine", r"model mine has no fit in .*table2_beta_fits.csv")
)
