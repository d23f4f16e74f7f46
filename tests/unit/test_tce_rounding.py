"""Which scenarios have a range of TCE within rounding, and what they are called."""

import pytest
from claims_data import TABLES

from calbias.io.table_schema import columns_of
from calbias.sensitivity.tce_rounding import tce_rounding
from calbias.truth.curves import Curve
from calbias.truth.published_fits import printed_fits
from calbias.truth.scenarios import Scenario
from calbias.truth.true_error import true_calibration_error

FITS = printed_fits(TABLES["roelofs2022_table2_beta_fits"], TABLES["roelofs2022_table3_glm_fits"])


@pytest.fixture(scope="module")
def table():
    return tce_rounding({"resnet152_imgnet": FITS["resnet152_imgnet"]})


def test_a_model_has_its_best_and_its_second_best_curve(table):
    assert list(table) == list(columns_of("tce_rounding"))
    assert table["parameters"].tolist() == ["lowest_aic", "second_lowest_aic", "text", "text"]
    assert table["curve"].tolist()[:2] == ["logflip_logflip_b0_b1", "logit_logit_b0_b1"]
    assert not table.duplicated(["scenario", "curve"]).any()  # so that figures find one row


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [
        ("beta_2.8_0.05_power_2", (2.85, 0.045), (2.75, 0.055)),
        ("beta_1.1_0.1_power_2", (1.15, 0.05), (1.05, 0.15)),
    ],
)
def test_the_parameters_of_the_text_vary_by_half_their_last_digit(table, name, low, high):
    """More mass at 1 has less error, so the corners are known; the exponent stays 2."""
    row = table.set_index("scenario").loc[name]
    for ends, column in ((low, "low_percent"), (high, "high_percent")):
        corner = Scenario("x", *ends, Curve("power", 0.0, 2.0))
        assert row[column] == pytest.approx(100 * true_calibration_error(corner), rel=1e-3)


def test_the_norm_is_that_of_the_tce():
    table = tce_rounding({}, norm=1.0).set_index("scenario")
    scenario = Scenario("x", 2.8, 0.05, Curve("power", 0.0, 2.0))
    at_1 = 100 * true_calibration_error(scenario, 1.0)
    assert table.loc["beta_2.8_0.05_power_2", "tce_percent"] == pytest.approx(at_1)
