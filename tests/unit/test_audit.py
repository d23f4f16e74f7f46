"""``calbias.audit``: its numbers against independent calculations, its forms, its refusals."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, softmax
from scipy.stats import chi2

import calbias
from calbias.auditing import planning
from calbias.auditing.audit import HEADLINE, likelihood_weights
from calbias.auditing.cox import fit_cox, logits_of, noncentrality, score_test
from calbias.auditing.recalibrations import cross_validated, holm
from calbias.auditing.sample import Sample
from calbias.auditing.spiegelhalter import spiegelhalter
from calbias.errors import InputError

FEW = ("ece_bin_em", "ece_debias_em", "ks")


def drawn(n=800, power=1.0, seed=0):
    generator = np.random.default_rng(seed)
    scores = generator.beta(4, 1.5, n)
    return scores, (generator.random(n) < scores**power).astype(int)


@pytest.fixture(scope="module")
def over():
    return calbias.audit(*drawn(power=1.4), estimators=FEW, replicates=150)


@pytest.fixture(scope="module")
def calibrated():
    return calbias.audit(*drawn(), estimators=FEW, replicates=150)


# --- the result


def test_values_are_those_of_the_estimators(over):
    scores, hits = drawn(power=1.4)
    for name in (HEADLINE, "ece_bin_em"):
        value = over.estimates.loc[name, "value"]
        assert value == pytest.approx(calbias.estimate(name, scores, hits, norm=1).value)
    debiased = calbias.estimate("ece_debias_em", scores, hits, norm=2).value
    assert over.estimates.loc["ece_debias_em", "value"] == pytest.approx(debiased)
    assert over.description["accuracy"] == pytest.approx(hits.mean())
    assert over.description["brier"] == pytest.approx(np.mean((scores - hits) ** 2))


def test_the_noise_floor_and_p_value_against_plain_numpy(calibrated):
    scores, hits = drawn()
    generator = np.random.default_rng(1)

    def value(y):
        bins = np.minimum((scores * 15).astype(int), 14)
        return np.abs(np.bincount(bins, y - scores, 15)).sum() / scores.size

    null = np.array([value(generator.random(scores.size) < scores) for _ in range(2000)])
    assert calibrated.noise_floor == pytest.approx(null.mean(), abs=5 * null.std() / np.sqrt(600))
    p = np.mean(null >= value(hits))
    assert calibrated.p_value == pytest.approx(p, abs=5 * np.sqrt(p * (1 - p) / 600) + 0.002)


def test_verdicts(over, calibrated):
    assert over.miscalibrated
    assert not calibrated.miscalibrated
    assert calibrated.interval[0] == 0
    scores = drawn()[0]
    truth = np.mean(np.abs(scores**1.4 - scores))
    assert over.interval[0] < truth < over.interval[1]
    assert over.sentence.startswith("n = 800: ECE ")
    for part in (
        "noise floor",
        "true error between",
        "overconfident",
        "p = ",
        "halve the interval",
    ):
        assert part in over.sentence
    assert "no miscalibration found" in calibrated.sentence


def test_the_forms_of_the_result(over):
    as_dict = json.loads(over.to_json())
    assert as_dict["ece"] == over.ece
    assert [row["estimator"] for row in as_dict["estimates"]] == list(over.to_frame().index)
    assert over.sentence in over._repr_html_().replace("&#x27;", "'")
    assert str(over) == over.sentence


def test_rows_in_any_order_seeds_and_forms_of_arrays(over):
    scores, hits = drawn(power=1.4)
    options = {"estimators": FEW, "replicates": 150}
    order = np.random.default_rng(5).permutation(scores.size)
    frame = pd.DataFrame({"s": scores[order], "h": hits[order].astype(bool)})
    assert calbias.audit(frame["s"], frame["h"], **options).to_dict() == over.to_dict()
    column = calbias.audit(scores[:, None], hits[:, None], **options)
    assert column.ece == over.ece
    assert calbias.audit(scores, hits, seed=1, **options).noise_floor != over.noise_floor


def test_probabilities_logits_and_binary_probabilities():
    generator = np.random.default_rng(2)
    logits = 3 * generator.normal(size=(400, 4))
    p = softmax(logits, axis=1)
    labels = np.array([generator.choice(4, p=row) for row in p])
    options = {"estimators": (), "replicates": 100}
    by_logits = calbias.audit(logits=logits, labels=labels, **options)
    by_p = calbias.audit(probabilities=p, labels=labels, **options)
    by_one_hot = calbias.audit(probabilities=p, labels=np.eye(4)[labels], **options)
    scores, hits = p.max(axis=1), p.argmax(axis=1) == labels
    assert by_logits.ece == pytest.approx(calbias.estimate(HEADLINE, scores, hits, norm=1).value)
    assert by_p.ece == pytest.approx(by_logits.ece)
    assert by_one_hot.ece == by_p.ece
    assert by_p.description["n_classes"] == 4
    assert "temperature" in by_p.recalibration.index
    positive = calbias.audit(probabilities=p[:, 1], labels=(labels == 1), **options)
    assert positive.description["accuracy"] == pytest.approx(np.mean(labels == 1))


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"scores": [0.5, 0.6]},
        {"scores": [0.5, 0.6], "hits": [1, 0], "labels": [1, 0]},
        {"scores": [0.5, 1.6], "hits": [1, 0]},
        {"probabilities": [[0.5, 0.6], [0.5, 0.5]], "labels": [0, 1]},
        {"probabilities": [[1.5, -0.5], [0.5, 0.5]], "labels": [0, 1]},
        {"probabilities": [0.5, 0.6], "labels": [0, 2]},
        {"logits": [[0.5, 0.6], [0.5, 0.5]], "labels": [0.5, 1]},
        {"scores": [0.5, 0.6], "hits": [1, 0], "n_bins": 0},
        {"scores": [0.5, 0.6], "hits": [1, 0], "estimators": ["ece_bim"]},
    ],
)
def test_bad_input_is_refused(given):
    with pytest.raises(InputError) as error:
        calbias.audit(**given)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("scores", "hits"),
    [
        (np.linspace(0.5, 0.9, 20), np.ones(20)),
        (np.linspace(0.1, 0.9, 20), np.linspace(0.1, 0.9, 20) > 0.5),
        (np.ones(20), np.ones(20)),
        (np.full(20, 0.5), np.arange(20) % 2),
        ([0.2, 0.8], [0, 1]),
    ],
)
def test_degenerate_samples_are_told_of(scores, hits):
    found = calbias.audit(scores, hits, estimators=FEW, replicates=50)
    assert found.warnings
    json.loads(found.to_json())


def test_the_likelihood_weights_against_bernoulli_probabilities():
    sample = Sample(*drawn(50))
    lams = [0.0, 0.5, 1.0, 2.0]
    weights = likelihood_weights(sample, lams)
    expected = []
    for lam, width in zip(lams, (0.5, 0.5, 0.75, 1.0), strict=True):
        c = sample.rates(lam)
        expected.append(width * np.prod(np.where(sample.hits, c, 1 - c) / 0.5))
    np.testing.assert_allclose(list(weights.values()), np.array(expected) / sum(expected), rtol=0.2)
    assert sum(weights.values()) == pytest.approx(1)


# --- tests of calibration


def test_spiegelhalter_is_the_standardised_brier_score():
    scores, hits = drawn(300)
    brier = np.sum((hits - scores) ** 2)
    mean = np.sum(scores * (1 - scores))
    variance = np.sum((1 - 2 * scores) ** 2 * scores * (1 - scores))
    z, p = spiegelhalter(scores, hits)
    assert z == pytest.approx((brier - mean) / np.sqrt(variance))
    assert p == pytest.approx(chi2.sf(z**2, 1))


def test_the_cox_tests_against_statsmodels():
    import statsmodels.api as sm

    scores, hits = drawn(500, 1.3)
    design = sm.add_constant(logits_of(scores))
    model = sm.GLM(hits, design, family=sm.families.Binomial())
    result = model.fit()
    fitted = fit_cox(scores, hits)
    np.testing.assert_allclose([fitted.a, fitted.b], result.params, rtol=1e-6)
    statistic, p = score_test(scores, hits)
    score = model.score(np.array([0.0, 1.0]))
    information = -model.hessian(np.array([0.0, 1.0]), observed=False)
    assert statistic == pytest.approx(score @ np.linalg.solve(information, score))
    assert p == pytest.approx(chi2.sf(statistic, 2))


def test_redraw_p_values_agree_with_the_analytic_ones(calibrated):
    table = calibrated.tests.dropna(subset="analytic_p_value")
    assert len(table) == 2
    for _, row in table.iterrows():
        assert row["p_value"] == pytest.approx(row["analytic_p_value"], abs=0.08)
    powers = calibrated.tests[["power_1", "power_2", "power_5"]].to_numpy()
    assert (np.diff(powers, axis=1) >= -0.03).all()


# --- labels


def test_the_published_example_of_riley():
    assert planning.slope_labels_beta(0.5, 0.5) == pytest.approx(1644, abs=1)


def test_closed_form_and_own_scores_agree():
    scores = np.random.default_rng(0).beta(2.0, 1.0, 200_000)
    assert planning.slope_labels(scores) == pytest.approx(
        planning.slope_labels_beta(2.0, 1.0), rel=0.02
    )
    assert planning.mean_gap_labels(scores, 0.02) == pytest.approx(
        1.96**2 * 2 / (3 * 4) / 0.02**2, rel=0.02
    )


def test_detection_labels_and_the_power_simulated_at_them():
    assert planning.needed_noncentrality() == pytest.approx(9.635, abs=5e-4)
    scores = np.random.default_rng(1).beta(3, 1, 5000)
    rates = planning.tilted(scores, 0.8)
    n = planning.detection_labels(scores, rates)
    assert n == pytest.approx(9.635 / noncentrality(scores, rates), rel=1e-3)
    power, error = planning.simulated_power(scores, rates, n, 1000)
    assert power == pytest.approx(0.8, abs=4 * error + 0.03)
    assert planning.cox_power(scores, rates, n) == pytest.approx(0.8)


def test_rates_with_a_given_error():
    sample = Sample(*drawn(500, 1.3))
    rates = planning.rates_with_error(sample.rates, sample.scores, 0.02)
    assert np.mean(np.abs(rates - sample.scores)) == pytest.approx(0.02, abs=1e-8)
    assert planning.rates_with_error(lambda lam: sample.scores, sample.scores, 0.02) is None


def test_halving_is_about_four_times_the_labels():
    found = calbias.audit(*drawn(1000, 2.0), estimators=(), replicates=200)
    assert found.labels.loc["halve_the_interval", "n"] == pytest.approx(4000, rel=0.3)


# --- recalibration


def test_the_gain_is_the_fall_of_the_brier_score():
    generator = np.random.default_rng(0)
    scores = generator.beta(3, 1, 20_000)
    rates = expit(0.6 * logits_of(scores))
    hits = (generator.random(20_000) < rates).astype(int)
    rows = {row["method"]: row for row in cross_validated(scores, hits)}
    truth = np.mean((rates - scores) ** 2)  # Platt's map finds the curve: all of ℓ2² is gained
    assert rows["platt"]["gain"] == pytest.approx(truth, abs=4 * rows["platt"]["gain_se"])
    assert rows["platt"]["helps"]
    assert not rows["isotonic"]["injective"]


def test_holm_by_hand():
    assert holm([0.01, np.nan, 0.04, 0.03]) == pytest.approx(
        [0.03, np.nan, 0.06, 0.06], nan_ok=True
    )
