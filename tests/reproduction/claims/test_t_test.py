"""Published against recomputed numbers, and the standard errors between them."""

import numpy as np
import pytest
from claims_data import (
    CLAIMS,
    GROUP,
    PAPER,
    TABLES,
    authors,
    beta_fits,
    correlations,
    experiment,
    sweep,
)
from command import crossed
from scipy.stats import ttest_1samp

from calbias import Curve, Scenario
from pipeline.claims.ledger import Judged, judge, measurement_table
from pipeline.claims.run_tables import RunTables
from pipeline.detection_limits import TARGETS
from pipeline.paper import MODEL_SIZES
from reproduction.claims.t_test import t_error
from reproduction.standard_errors import glm_errors, table3_errors
from reproduction.steps.judge_claims import comparison

TABLE_2 = TABLES["roelofs2022_table2_beta_fits"]


def compared(**tables):
    """Return the comparison of these tables, and of what the claims measure that rest on them."""
    if "bias" in tables:
        tables["correlations"] = correlations(tables["bias"])
    run = RunTables({**PAPER, **tables})
    claims = [claim for claim in CLAIMS.values() if {*claim.tables.split()} & {*tables}]
    judged = [Judged(claim, judge(claim, run)) for claim in claims]
    return comparison(run, measurement_table(judged))


def test_table_2_is_compared_without_an_error():
    fits = beta_fits().assign(alpha=TABLE_2["alpha"] + 0.1)
    real = compared(beta_fits=fits)
    assert len(real) == 20
    row = real.iloc[0]
    assert (row["where"], row["quantity"], row["model"]) == ("Table 2", "alpha", "resnet110_c10")
    assert row["difference"] == pytest.approx(0.1)
    assert real[["standard_error", "n_standard_errors"]].isna().all(axis=None)


@pytest.mark.parametrize(
    ("name", "b0", "b1"),
    [
        *(("logit_logit_b0_b1", -0.4, 0.5), ("logflip_logflip_b0_b1", -0.2, 0.4)),
        ("log_log_b1", 0.0, 1.5),
    ],
)
def test_glm_errors_are_the_spread_of_scores_over_information(name, b0, b1):
    """The variance of the score function, by Monte Carlo, is the information."""
    generator, n, h, curve = np.random.default_rng(2), 100_000, 1e-5, Curve(name, b0, b1)
    c = generator.beta(2.0, 1.5, n)
    logs = np.log(c), np.log1p(-c)
    y = generator.random(n) < curve.hit(*logs)

    def log_likelihoods(curve):
        return np.where(y, curve.log_hit(*logs), curve.log_not_hit(*logs))

    names, columns = [term for term in ("b0", "b1") if term in name.split("_")], []
    for term in names:
        up, down = (curve._replace(**{term: getattr(curve, term) + step}) for step in (h, -h))
        columns.append((log_likelihoods(up) - log_likelihoods(down)) / (2 * h))
    slow = np.sqrt(np.diag(np.linalg.inv(n * np.atleast_2d(np.cov(columns)))))
    fast = glm_errors(Scenario("x", 2.0, 1.5, curve), n)
    assert list(fast) == [*names, "aic"]
    spread = 2 * log_likelihoods(curve).std() * np.sqrt(n)
    assert [*fast.values()] == pytest.approx([*slow, spread], rel=0.02)


def test_glm_errors_of_a_wrong_model_by_hand():
    """Uniform scores, hits of a coin, and the diagonal as a fit: the sandwich, not A⁻¹/n.

    With x = logit c: A = ∫c(1 − c)x² dc, B = ∫x²(c² + (1 − c)²)/2 dc = ∫x²/2 dc − A, ∫x² = π²/3.
    """
    a = (np.pi**2 - 6) / 18
    coin = Scenario("x", 1.0, 1.0, Curve("logit_logit_b0", 0.0, 0.0))
    errors = glm_errors(coin, 5000, Curve("logit_logit_b1", 0.0, 1.0))
    assert errors["b1"] == pytest.approx(np.sqrt((np.pi**2 / 6 - a) / 5000) / a, rel=1e-6)


def test_table3_errors_are_those_of_means_over_ten_resamples():
    data, n = Scenario("x", 2.0, 1.5, Curve("logit_logit_b1", 0.0, 0.7)), 5000
    single, mean = glm_errors(data, n), table3_errors(data, n, data.curve)
    rounding = 0.005 / np.sqrt(3)
    for name in ("b1", "aic"):
        assert mean[name] == pytest.approx(np.hypot(single[name] / np.sqrt(10), rounding), rel=0.01)


@pytest.mark.parametrize(
    ("source", "glm", "with_error"),
    [
        ("real_logits", "logit_logit_b0", ["b0", "aic"]),
        ("real_scores", "logit_logit_b0", []),
    ],
)
def test_table_3_rows_have_the_error_of_their_source(source, glm, with_error):
    table = TABLES["roelofs2022_table3_glm_fits"].query("model == 'resnet110_c10'")
    glm_fits = table.join(table[["aic", "b0", "b1"]].add_prefix("published_")).assign(
        source=source,
        selected=table["glm"] == "logflip_logflip_b0_b1",
        delta_aic=0.0,
        fit_p_value=0.5,
    )
    rows = compared(beta_fits=beta_fits(source=source), glm_fits=glm_fits)
    rows = rows[(rows["where"] == "Table 3") & rows["standard_error"].notna()]
    found = [q.removeprefix(glm + " ") for q in rows["quantity"] if q.startswith(glm + " ")]
    assert found == with_error


def test_table_4_errors_hold_both_sides_replicates():
    table = crossed(
        "ece_bin_real_and_simulated", {"model": ["resnet110_c10", "my_own_model"]},
        source="real_logits", simulated_source="published_fits", ece_bin_percent=7.0,
        mean_simulated_ece_bin_percent=8.0, simulated_se_percent=0.04,
        published_ece_bin_percent=[6.67, np.nan], published_simulated_percent=[8.42, np.nan],
    )  # fmt: skip
    rows = compared(ece_bin_real_and_simulated=table)
    assert rows["quantity"].tolist() == ["ECE_bin, percent", "mean simulated ECE_bin, percent"]
    assert rows["source"].tolist() == ["real_logits", "published_fits"]
    assert rows["standard_error"].tolist()[1] == pytest.approx(0.04 * np.sqrt(2))


def test_numbers_of_the_t_test_have_the_errors_of_both_sides():
    """The paper's error is that of its shared seeds; on the same draws there is none."""
    means = {"ece_debias_em": 0.5, "ece_sweep_em": 0.3}
    bias = experiment("realistic", lambda _, name, b, n: means[name] + 10 / n, list(means), se=0.07)
    bias.loc[::2, "bias_percent"] += np.linspace(-0.1, 0.1, 70)
    rows = compared(bias=bias, **authors()).set_index("quantity")
    errors, p = rows["standard_error"], rows.loc["p, authors' draws, published as < 1e-05"]
    mean = errors["mean |bias| of ece_sweep_em, percent"]
    assert mean == pytest.approx(np.hypot(0.07 / np.sqrt(70), 0.01))
    assert errors["t of the paired test"] > 0.2
    assert np.isnan(errors["t of the paired test, authors' draws"])
    assert (p["published"], p["recomputed"]) == (1e-5, 4e-6)


def test_the_error_of_t_is_that_of_its_differences():
    """Each difference moves t by its derivative, here a quotient, times its error."""
    truth, errors = np.random.default_rng(4).normal(0.3, 0.3, (2, 12))
    step = 1e-6 * np.eye(12)
    t = ttest_1samp(np.concatenate([truth + step, truth - step]), 0, axis=1).statistic
    by_hand = np.sqrt(np.sum((t[:12] - t[12:]) ** 2 / (4 * 1e-12) * errors**2))
    assert t_error(truth, errors) == pytest.approx(by_hand, rel=1e-6)


def test_type_1_error_is_the_mean_over_sample_sizes():
    keys = {"estimator": ["ece_bin_ew"], "n_samples": [100, 200], "target_miss_rate": [0.1, 0.05]}
    limits = crossed(
        "detection_limits", keys, type_1_rate=[0.04, 0.04, 0.06, 0.06],
        type_1_rate_se=[0.003, 0.003, 0.004, 0.004],
    )  # fmt: skip
    (row,) = compared(detection_limits=limits).to_dict("records")
    assert (row["published"], row["recomputed"]) == (0.05, pytest.approx(0.05))
    assert row["standard_error"] == pytest.approx(0.0025)


def test_the_optimum_when_calibrated_is_the_largest_over_n():
    best = dict(zip(MODEL_SIZES, (1, 1, 1, 2, 2, 3, 3), strict=True))
    scenarios = ["beta_1_1_identity", "beta_1_1_logistic"]
    table = crossed(
        "chosen_bins", {"scenario": scenarios, "n_samples": MODEL_SIZES, "n_bins": range(1, 6)},
        mean_estimate_percent=lambda t: (t["n_bins"] - t["n_samples"].map(best)).abs(),
        mean_estimate_se_percent=0.01, mean_n_bins_sweep=9.0, tce_percent=0.0,
    )  # fmt: skip
    (row,) = compared(chosen_bins=table).to_dict("records")
    assert (row["where"], row["published"], row["recomputed"]) == ("App D, Fig 14", 4, 3)


def test_counts_of_table_1_need_all_ten_models():
    table = crossed(
        "recalibration_selection", {"model": GROUP, "measure": ["ece_bin_ew"]},
        source="real_logits", agrees=True, published_agrees=True, agreement_frequency=0.5,
    )  # fmt: skip
    rows = compared(recalibration_selection=table)
    assert rows.loc[rows["quantity"].str.startswith("ece_bin"), "recomputed"].tolist() == [10]
    assert compared(recalibration_selection=table[:4]).empty


ROUNDING = 0.5 / np.sqrt(3)  # of a number printed as a whole one: uniform within ± 0.5
NUMBERS = ["published", "recomputed", "standard_error"]


@pytest.mark.parametrize("half_width", [0.0, 0.98])
def test_a_detectable_error_has_that_of_its_95_percent_range(half_width):
    """A range of ± 0.98 is one of ± 1.96 standard errors of 0.5."""
    keys = {"estimator": ["ece_bin_ew", "ece_sweep_em"], "n_samples": [200, 500, 10000]}
    limits = crossed(
        "detection_limits", {**keys, "target_miss_rate": TARGETS}, tce_percent=9.0,
        tce_low_percent=9 - half_width, tce_high_percent=9 + half_width,
    )  # fmt: skip
    rows = compared(detection_limits=limits).set_index("quantity")[NUMBERS]
    assert len(rows) == 12
    error = pytest.approx(np.hypot(half_width / 1.96, ROUNDING))
    for n, published in ((500, 10.0), (10000, 2.0)):
        row = rows.loc[f"TCE that {n} samples detect, ece_sweep_em, miss 5%, percent"]
        assert row.tolist() == [published, 9.0, error]


@pytest.mark.parametrize("se", [0.0, 0.4])
def test_numbers_of_appendix_c_have_the_monte_carlo_error_too(se):
    """At n = 200 the estimate rises by 2 per point of TCE, which halves its error there."""

    def estimate(tce, scores, n, name):
        return 2.1 if n == 5000 else 12 + 2 * (tce - (5 if scores == "Uniform" else 8))

    table = sweep(estimate).assign(bias_se_percent=se, n_bins=15)
    rows = compared(bias=table).set_index("quantity")[NUMBERS]
    for scores, published in (("Uniform", 5.0), ("Beta(1.1, 0.1)", 8.0)):
        at_zero = rows.loc[f"bias of ece_bin_ew at TCE 0, n = 5000, {scores}, percent"]
        assert at_zero.tolist() == pytest.approx([2.0, 2.1, np.hypot(se, ROUNDING)])
        found = rows.loc[f"TCE where ece_bin_ew is 12 % at n = 200, {scores}, percent"]
        assert found.tolist() == pytest.approx([published, published, np.hypot(se / 2, ROUNDING)])


def test_a_curve_that_never_crosses_leaves_the_other_without_its_number():
    """Which published TCE is whose is known by their order alone."""

    def estimate(tce, scores, n, name):
        return 20.0 if scores == "Uniform" else 12 + 2 * (tce - 8)

    rows = compared(bias=sweep(estimate).assign(n_bins=15))
    assert not rows["quantity"].str.contains("12 %").any()
