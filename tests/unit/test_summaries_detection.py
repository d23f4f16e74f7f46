"""Type II errors: thresholds from the null, miss rates, and a null that lacks something."""

import numpy as np
import pytest

from calbias.errors import InputError
from calbias.simulation.replicates import Cell, Estimates
from calbias.summaries.detection import detection_rows


def estimates(values):
    values = np.asarray(values, float)
    return Estimates(np.arange(values.size), values, np.full(values.size, 15))


def null_values(m=2000, seed=0):
    return np.random.default_rng(seed).random(m)


def table(null, **cells):
    alternatives = {Cell(name, 100, 15): estimates(values) for name, values in cells.items()}
    exponents = {name: 1.5 + k for k, name in enumerate(cells)}
    errors = {name: 0.1 * (k + 1) for k, name in enumerate(cells)}
    return detection_rows({"ece": alternatives}, {"ece": null}, exponents, errors)


def test_miss_rates():
    null = {Cell("identity", 100, 15): estimates(np.linspace(0, 1, 101))}  # quantile 0.95
    made = table(null, weak=[0.1, 0.95, 0.2, 0.99], strong=[0.96, 0.97, 0.98, 1.0])
    assert made["exponent"].tolist() == [1.0, 1.5, 2.5]
    assert made["tce_percent"].tolist() == pytest.approx([0, 10, 20])
    assert made["threshold_percent"].tolist() == pytest.approx([95, 95, 95])
    assert made["miss_rate"].tolist()[1:] == [0.75, 0.0]
    assert made["miss_rate_se"].tolist()[1:] == pytest.approx([np.sqrt(0.75 * 0.25 / 4), 0])
    assert made["n_replicates"].tolist() == [50, 4, 4]


def test_the_type_i_error_is_measured_on_replicates_that_did_not_set_its_threshold():
    """Were threshold and rate from the same data the rate would be exactly 95 %."""
    rates = []
    for seed in range(100):
        null = {Cell("identity", 100, 15): estimates(null_values(600, seed))}
        rates.append(table(null, any=[0.5])["miss_rate"].iloc[0])
    assert np.mean(rates) == pytest.approx(0.95, abs=0.005)


def test_the_standard_error_of_the_type_i_rate_is_its_spread():
    rows = []
    for seed in range(400):
        null = {Cell("identity", 100, 15): estimates(null_values(600, seed))}
        rows.append(table(null, any=[0.5]).iloc[0])
    spread = np.std([row["miss_rate"] for row in rows])
    assert np.mean([row["miss_rate_se"] for row in rows]) == pytest.approx(spread, rel=0.15)


def test_the_thresholds_share_of_the_error_is_the_spread_over_nulls():
    """Uniform estimates, so that a threshold that is off by e moves the miss rate by e."""
    tested, made = np.linspace(0, 1.2, 1201), []
    for seed in range(400):
        null = {Cell("identity", 100, 15): estimates(null_values(600, seed))}
        made.append(table(null, any=tested).iloc[1])
    spread = np.std([row["miss_rate"] for row in made])
    shares = [row["miss_rate_threshold_se"] for row in made]
    assert np.mean(shares) == pytest.approx(spread, rel=0.15)


def test_a_null_that_lacks_something_is_refused():
    null = {Cell("identity", 200, 15): estimates(null_values())}
    with pytest.raises(InputError, match=r"detection_null has no ece at n = 100: give it"):
        table(null, any=[0.5])
    null = {Cell("identity", 100, 20): estimates(null_values())}
    with pytest.raises(InputError, match="ece at several n_bins: give both the same one"):
        table(null, any=[0.5])
