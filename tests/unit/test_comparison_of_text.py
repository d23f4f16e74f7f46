"""The paper's numbers on detection and of appendix C: their errors hold the paper's rounding."""

import itertools

import numpy as np
import pandas as pd
import pytest
from claims_data import MODELS, TABLES, sweep

from calbias.claims.comparison_of_text import text_rows
from calbias.claims.evidence import Evidence

ROUNDING = 0.5 / np.sqrt(3)  # of a number printed as a whole one: uniform within ± 0.5


def rows_of(**tables):
    """Return {quantity: (published, recomputed, standard error)}."""
    return {row[1]: row[4:] for row in text_rows(Evidence(tables, MODELS, TABLES))}


@pytest.mark.parametrize("half_width", [0.0, 0.98])
def test_a_detectable_error_has_that_of_its_95_percent_range(half_width):
    """A range of ± 0.98 is one of ± 1.96 standard errors of 0.5."""
    cells = itertools.product(("ece_bin_ew", "ece_sweep_em"), (500, 10000), (0.1, 0.05))
    limits = pd.DataFrame(cells, columns=["estimator", "n_samples", "target_miss_rate"]).assign(
        tce_percent=9.0, tce_low_percent=9 - half_width, tce_high_percent=9 + half_width,
        type_1_rate=np.nan, type_1_rate_se=np.nan,
    )  # fmt: skip
    rows = rows_of(detection_limits=limits)
    assert len(rows) == 8
    error = pytest.approx(np.hypot(half_width / 1.96, ROUNDING))
    for n, published in ((500, 10.0), (10000, 2.0)):
        quantity = f"TCE that {n} samples detect, ece_bin_ew, miss 10%, percent"
        assert rows[quantity] == (published, 9.0, error)


@pytest.mark.parametrize("se", [0.0, 0.4])
def test_numbers_of_appendix_c_have_the_monte_carlo_error_too(se):
    """At n = 200 the estimate rises by 2 per point of TCE, which halves its error there."""

    def estimate(tce, scores, n, name):
        return 2.1 if n == 5000 else 12 + 2 * (tce - (5 if scores == "Uniform" else 8))

    rows = rows_of(bias=sweep(estimate).assign(bias_se_percent=se, n_bins=15))
    for scores, published, tce in (("Uniform", 5.0, 5.0), ("Beta(1.1, 0.1)", 8.0, 8.0)):
        at_zero = rows[f"bias of ece_bin_ew at TCE 0, n = 5000, {scores}, percent"]
        assert at_zero == (2.0, pytest.approx(2.1), pytest.approx(np.hypot(se, ROUNDING)))
        found = rows[f"TCE where ece_bin_ew is 12 % at n = 200, {scores}, percent"]
        assert found == (published, tce, pytest.approx(np.hypot(se / 2, ROUNDING)))


def test_a_curve_that_never_crosses_leaves_the_other_without_its_number():
    """Which published TCE is whose is known by their order alone."""

    def estimate(tce, scores, n, name):
        return 20.0 if scores == "Uniform" else 12 + 2 * (tce - 8)

    rows = rows_of(bias=sweep(estimate).assign(n_bins=15))
    assert not [quantity for quantity in rows if "12 %" in quantity]
