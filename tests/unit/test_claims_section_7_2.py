"""R16 to R18: rules on detection."""

import itertools

import numpy as np
import pandas as pd
import pytest
from claims_data import judged, verdicts_of

from pipeline.claims.verdicts import NotJudged
from pipeline.paper import DETECTION_SIZES as SIZES
from reproduction.claims.section_7_2 import area_between, mean_of

TCE = np.linspace(0, 30, 61)


def detection(usual, best):
    """Miss rates that fall around the TCE ``usual(n)`` and ``best(n)`` in percent."""
    tables = []
    for estimator, half in (("ece_bin_ew", usual), ("ece_sweep_em", best)):
        for n in SIZES:
            rate = 0.95 / (1 + np.exp((TCE - half(n)) * 8 / half(n)))
            columns = {"exponent": 1 + TCE / 10, "tce_percent": TCE, "miss_rate": rate}
            tables.append(pd.DataFrame(columns).assign(estimator=estimator, n_samples=n))
    table = pd.concat(tables, ignore_index=True)
    return table.assign(miss_rate_se=0.002, n_replicates=2000, miss_rate_threshold_se=0.001)


test_r16_sweep_misses_less_and_more_so_below_10000 = verdicts_of(
    "R16",
    lambda usual, best: {"detection": detection(usual, best)},
    reproduced=[(lambda n: 300 / n**0.5, lambda n: 200 / n**0.5)],
    approximate=[(lambda n: 10.0 + 5 * (n >= 10000), lambda n: 8.0)],  # more at large n
    not_reproduced=[(lambda n: 200 / n**0.5, lambda n: 300 / n**0.5)],
)


def test_r16_names_the_sample_sizes_that_are_absent():
    table = detection(lambda n: 10, lambda n: 8)
    with pytest.raises(NotJudged, match="lacks n = 20000"):
        judged("R16", detection=table[table["n_samples"] < 20000])


def test_r16_area_by_trapezoids_with_a_threshold_common_to_all():
    """Widths 1 and 3, so weights 0.5, 2 and 1.5; ± 0.01 a cell and ± 0.02 common, twice."""
    rates = {"tce_percent_a": [0.0, 1.0, 4.0], "miss_rate_a": [0.9, 0.8, 0.2]}
    cells = pd.DataFrame(rates).assign(miss_rate_b=[0.9, 0.6, 0.0])
    for side in "ab":
        errors = {f"miss_rate_se_{side}": 0.01, f"miss_rate_threshold_se_{side}": 0.02}
        cells = cells.assign(**errors)
    area, error = area_between(cells.sample(frac=1, random_state=1))
    assert area == pytest.approx(2 * 0.2 + 1.5 * 0.2)
    assert error == pytest.approx(np.hypot(0.02 * np.sqrt(0.25 + 4 + 2.25), 0.04 * 4))
    assert mean_of([(1.0, 0.3), (2.0, 0.4)]) == pytest.approx((1.5, 0.25))


def test_r16_counts_the_error_of_the_threshold():
    """The same rates, but thresholds so uncertain that no cell is decided."""
    table = detection(lambda n: 300 / n**0.5, lambda n: 200 / n**0.5)
    unsure = judged("R16", detection=table.assign(miss_rate_threshold_se=0.5))
    assert (unsure.verdict, unsure.measurements[0].value) == ("not_reproduced", 0)
    assert unsure.largest_error == pytest.approx(0.5, abs=1e-5)


def limits(at, width=0.1):
    """Detectable TCE in percent by (n, estimator); NaN where the miss rate never falls enough."""
    cells = itertools.product(("ece_bin_ew", "ece_sweep_em"), (200, 500, 10000), (0.1, 0.05))
    table = pd.DataFrame(cells, columns=["estimator", "n_samples", "target_miss_rate"])
    tce = pd.Series([at(n, e) for e, n in zip(table["estimator"], table["n_samples"], strict=True)])
    low = (tce - width).fillna(27.0)
    table = table.assign(tce_percent=tce, tce_low_percent=low, tce_high_percent=tce + width)
    return {"detection_limits": table}


test_r17_two_percent_is_not_detected_by_10000 = verdicts_of(
    "R17",
    limits,
    reproduced=[lambda n, e: 2.5, lambda n, e: np.nan],  # nothing tried was detected
    approximate=[lambda n, e: 2.5 if e == "ece_bin_ew" else 1.5],
    not_reproduced=[lambda n, e: 1.5, lambda n, e: 2.05],  # above 2, but not clearly
)
test_r18_ten_percent_at_500_and_200 = verdicts_of(
    "R18",
    lambda at_200, at_500: limits(lambda n, e: at_200 if n == 200 else at_500),
    reproduced=[(11.0, 11.0), (11.0, 10.11)],
    approximate=[(11.0, 9.0), (11.0, 10.09)],  # its range is 9.99 to 10.19
    not_reproduced=[(10.09, 11.0), (9.0, 9.0)],
)
