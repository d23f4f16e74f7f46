"""Cells of the evidence: sets and halves; the blind cells of 2026 by other ways; subgroups."""

import os
import re
from fractions import Fraction
from itertools import islice

import numpy as np
import pytest
from conftest import EVIDENCE
from scipy.integrate import quad
from scipy.special import expit
from scipy.stats import beta, norm

from evidence.cells import beta as beta_cells
from evidence.cells import blind_2026, design, populations_2026
from evidence.cells.blind import (
    BlindCell,
    Mixture,
    Values,
    calibrated,
    hidden,
    integral,
    joined,
    line,
    tabulated,
)
from evidence.cells.blind import beta as beta_scores
from evidence.cells.blind_2026 import cells
from evidence.cells.populations_2026 import bfloat16, pooled, rounded, with_ties
from evidence.cells.streams import FAULTS
from evidence.cells.subgroups import CELLS
from evidence.steps.measure_coverage import SETS
from evidence.steps.measure_subgroups import subgroup_rows
from pipeline.table_schema import columns_of, read_yaml
from reproduction import judging as halves
from reproduction.judging import DESIGN, JUDGING

AT_NIGHT = bool(os.environ.get("CALBIAS_NIGHTLY"))


@pytest.fixture(autouse=True, scope="module")
def few_points():
    """By day grids have few points, forests few trees: to make all cells takes two seconds."""

    def few(function, most):
        return lambda seed, number, *more, **options: function(
            seed, min(number, most), *more, **options
        )

    cells.cache_clear()
    with pytest.MonkeyPatch.context() as patch:
        if not AT_NIGHT:
            for module in (beta_cells, halves, populations_2026):
                patch.setattr(module, "_GRID", 1 << 13)
            patch.setattr(populations_2026, "_features", few(populations_2026._features, 500))
            patch.setattr(blind_2026, "forest", few(populations_2026.forest, 5))
            patch.setattr(blind_2026, "boosted", few(populations_2026.boosted, 50))
        yield
    cells.cache_clear()


def test_no_cell_stands_twice_and_there_are_two_halves():
    names = [(cell.name, n) for cells_of in SETS.values() for cell, n in cells_of()]
    assert len(names) == len(set(names)) == 186
    assert {cell.half for cell in (*CELLS, *FAULTS)} == {DESIGN, JUDGING}
    assert not {cell.name for cell in halves.CELLS} & {cell.name for cell in design.CELLS}
    rows = [cell.n for cell in cells()]
    assert (min(rows), max(rows)) == (20, 300_000)
    assert all(cell.reason for cell in cells())


def test_the_workflow_and_its_configuration_have_all_sets():
    rule = (EVIDENCE / "rules/coverage.smk").read_text("utf-8")
    schema = read_yaml(EVIDENCE / "schemas/config.schema.yaml")
    _, names = schema["properties"]["coverage_of"]["oneOf"]
    of_rule = re.search(r"ALL_CELLS = \((.*)\)", rule)[1]
    assert {*names["items"]["enum"]} == {*re.findall(r'"(\w+)"', of_rule)} == {*SETS}


@pytest.mark.parametrize("name", SETS)
def test_a_data_set_depends_on_the_seed_and_its_number_alone(name):
    for cell, _ in islice(SETS[name](), 3):
        few, many = ([*cell.batches(50, 7, m)] for m in (2, 3))
        for one, other in zip(few, many, strict=False):
            assert (one[0].scores == other[0].scores).all()
            assert (one[0].hits == other[0].hits).all()
        assert cell.truth("l1") <= cell.truth("l2") * (1 + 1e-9) or name == "clusters"


def some() -> list[BlindCell]:
    """Every twelfth cell, and every night all."""
    return cells()[:: 1 if AT_NIGHT else 12]


def named(name: str) -> BlindCell:
    return next(cell for cell in cells() if cell.name == name)


def test_draws_follow_the_distribution_and_rates_are_probabilities() -> None:
    for cell in some():
        scores = cell.distribution(np.random.default_rng(5), 4000)
        rates = cell.curve(scores)
        assert scores.shape == rates.shape == (4000,)
        assert 0 <= min(scores.min(), rates.min()) <= max(scores.max(), rates.max()) <= 1
        l1, l2 = cell.truth("l1"), cell.truth("l2")
        assert 0 <= l1 <= l2 * (1 + 1e-9) < 1, cell.name
        assert (l1 < 1e-15) == (cell.reason == "no error"), cell.name
        for values, mean in ((scores, cell.distribution.expectation(calibrated)),
                             (abs(rates - scores), l1)):  # fmt: skip
            # where one row in 4000 decides, the mean of 4000 has no normal distribution
            assert abs(values.mean() - mean) <= 5 * values.std() / 4000**0.5 + 3e-4, cell.name


def test_the_mark_is_the_one_of_the_rule() -> None:
    wrong = [cell.name for cell in some() if cell.assumption_holds != (hidden(cell, 1) < 0.5)]
    assert wrong == []


def quad_over_log_odds(mean, deviation, slope, shift, power):
    def gap(x):
        error = abs(expit(slope * x + shift) - expit(x)) ** power
        return error * norm.pdf(x, mean, deviation)

    crossing = [shift / (1 - slope)] if slope != 1 else []
    limits = mean - 10 * deviation, mean + 10 * deviation
    return quad(gap, *limits, points=crossing, epsabs=0, epsrel=1e-10, limit=500)[0] ** (1 / power)


@pytest.mark.parametrize(
    ("name", "mean", "deviation", "slope", "shift"),
    [
        ("few_misses_200", 5, 1.5, 0.7, 0),
        ("vision_top_label_300000", 2, 2, 0.7, 0.3),
        ("small_slope_300000", 0, 1.5, 1.05, 0),
        ("fraud_100000", -8, 2, 0.9, -1.2),
        ("cardiac_risk_3000", -4, 1, 1, -0.6),
    ],
)
def test_truth_of_lines_by_adaptive_quadrature(name, mean, deviation, slope, shift) -> None:
    for power in (1, 2):
        slow = quad_over_log_odds(mean, deviation, slope, shift, power)
        assert named(name).truth(f"l{power}") == pytest.approx(slow, rel=1e-7)


@pytest.mark.parametrize(
    ("name", "l1", "l2"),
    [
        ("no_skill_100", 1 / 4, np.sqrt(1 / 12)),
        ("four_stairs_1000", 1 / 16, np.sqrt(1 / 192)),
        ("thirty_stairs_3000", 1 / 120, np.sqrt(1 / 10_800)),
        ("one_score_25", 0.12, 0.12),
        # the integral of |s - 0.2| and of its square over [0.70, 0.71]
        ("fault_1pct_of_rows_10000", 0.505 * 0.01, np.sqrt((0.51**3 - 0.5**3) / 3)),
        # the integrals of 0.12 s (1 - s) |sin(2 pi s)| and of its square, by parts
        (
            "full_wave_100000",
            0.12 * (1 / (4 * np.pi) + 1 / np.pi**3),
            0.12 * np.sqrt(1 / 60 + 3 / (64 * np.pi**4)),
        ),
    ],
)
def test_truth_by_hand(name, l1, l2) -> None:
    assert named(name).truth("l1") == pytest.approx(l1, rel=1e-7)
    assert named(name).truth("l2") == pytest.approx(l2, rel=1e-7)


def test_truth_of_values_in_fractions() -> None:
    shares = dict(zip((Fraction(9, 10), Fraction(95, 100), Fraction(1)), (3, 4, 3), strict=True))
    rates = (Fraction(60, 100), Fraction(62, 100), Fraction(71, 100))
    gaps = [abs(score - rate) for score, rate in zip(shares, rates, strict=True)]
    l1 = sum(w * gap for w, gap in zip(shares.values(), gaps, strict=True)) / 10
    l2 = sum(w * gap**2 for w, gap in zip(shares.values(), gaps, strict=True)) / 10
    assert named("always_very_sure_1000").truth("l1") == pytest.approx(float(l1), rel=1e-12)
    assert named("always_very_sure_1000").truth("l2") == pytest.approx(float(l2) ** 0.5, rel=1e-12)


def test_truth_of_a_beta_distribution_over_the_scores() -> None:
    def gap(s):
        return abs(s - 0.15 * s * (s > 0.4) - s) * beta.pdf(s, 1, 2)

    slow = quad(gap, 0.4, 1, epsrel=1e-12)[0]
    assert named("jump_of_one_sign_800").truth("l1") == pytest.approx(slow, rel=1e-8)


def test_the_pooled_curve_is_the_mean_rate_of_rows_with_equal_score() -> None:
    groups = ((0.7, 1.0, 1.0, 1.0, 0.0), (0.3, 0.0, 1.5, 0.2, -1.0))
    _, curve = pooled(*groups)
    generator = np.random.default_rng(3)
    group = (generator.random(400_000) < 0.3).astype(int)
    _, mean, deviation, slope, shift = np.array(groups)[group].T
    odds = generator.normal(mean, deviation)
    rates = expit(slope * odds + shift)
    near = abs(odds - 0.5) < 0.05
    assert rates[near].mean() == pytest.approx(curve(expit(np.array([0.5])))[0], abs=0.01)


def test_equal_scores_are_joined_with_their_mean_rate() -> None:
    scores, curve = tabulated(np.array([0.5, 0.2, 0.5]), np.array([1.0, 0.3, 0.0]))
    assert scores.points(1)[0].tolist() == [0.2, 0.5]
    assert scores.points(1)[1] == pytest.approx([1 / 3, 2 / 3])
    assert curve(np.array([0.2, 0.5])) == pytest.approx([0.3, 0.5])


def test_bfloat16_has_eight_bits_and_rounds_half_to_even() -> None:
    #  257 / 512 lies halfway between 256 / 512 and 258 / 512, 259 / 512 between 258 and 260
    scores = np.array([0.999, 0.997, 257 / 512, 259 / 512, 0.0, 1.0])
    assert bfloat16(scores).tolist() == [1.0, 255 / 256, 0.5, 260 / 512, 0.0, 1.0]


def test_a_rounded_score_has_the_mean_rate_of_the_scores_it_stands_for() -> None:
    scores, curve = rounded(beta_scores(1, 1), calibrated, np.floor)
    assert scores.points(1)[0].tolist() == [0.0]
    assert curve(np.array([0.0])) == pytest.approx([0.5])


def test_ties_have_their_rates_and_the_rest_the_curve() -> None:
    distribution, curve = with_ties(0.4, [0.9, 0.1], [0.5, 0.3], beta_scores(2, 2), line(0.5))
    assert isinstance(distribution, Mixture)
    assert curve(np.array([0.1, 0.9, 0.5])) == pytest.approx([0.3, 0.5, 0.5])


def toy(rates: list[float], shares: list[float]) -> BlindCell:
    """Four values at n = 20, where 1.5 n^0.35 is between 4 and 5 bins."""
    values = [0.40, 0.45, 0.50, 0.55]
    return BlindCell("toy", "toy", 20, Values(values, shares), joined(values, rates), True, "")


def test_values_with_the_mass_of_a_bin_hide_nothing() -> None:
    assert hidden(toy([0.5, 0.35, 0.6, 0.45], [1, 1, 1, 1]), 1) == pytest.approx(0, abs=1e-12)
    assert hidden(toy([0.4, 0.45, 0.5, 0.55], [1, 2, 3, 4]), 2) == 0


def test_rare_values_of_opposite_error_cancel_in_their_bin() -> None:
    cell = toy([0.5, 0.35, 0.5, 0.55], [0.05, 0.05, 0.45, 0.45])
    # E (hit - score)^2 is rate (1 - score)^2 + (1 - rate) score^2; of it the l1 error squared goes
    squares = 0.05 * (0.26 + 0.2375) + 0.45 * (0.25 + 0.2475)
    assert hidden(cell, 1) == pytest.approx(0.01 / np.sqrt((squares - 0.01**2) / 20), rel=1e-6)


def test_a_rare_fault_of_one_sign_hides_of_the_l2_error_only() -> None:
    cell = toy([0.5, 0.45, 0.5, 0.55], [0.05, 0.05, 0.45, 0.45])
    assert hidden(cell, 1) == pytest.approx(0, abs=1e-12)
    error, shown = np.sqrt(0.05 * 0.1**2), np.sqrt(0.1 * 0.05**2)
    noise = 4 * 0.05 * 0.1**2 * 0.25
    variance = noise + 0.05 * (0.01 - 0.0005) ** 2 + 0.95 * 0.0005**2
    deviation = np.sqrt(variance / 20) / (2 * error)
    assert hidden(cell, 2) == pytest.approx((error - shown) / deviation, rel=1e-6)


def test_the_integral_holds_at_jumps_and_steep_ends() -> None:
    assert integral(lambda u: (u > 1 / 3) * 1.0) == pytest.approx(2 / 3, abs=1e-9)
    assert integral(lambda u: u**-0.5) == pytest.approx(2, rel=1e-5)


BY_NAME = {cell.name: cell for cell in CELLS}


def test_a_row_of_a_cell_of_subgroups():
    (row,) = subgroup_rows(5, 1, [BY_NAME["two values"]])
    assert set(row) == set(columns_of("subgroup_cells"))
    assert (row["n_segments"], row["n_data_sets"], row["half"]) == (3, 5, "design")
    assert row["coverage"] > 0.5


@pytest.mark.parametrize("name", BY_NAME)
def test_data_sets_of_cells_of_subgroups(name):
    cell = BY_NAME[name]
    data = cell.draw(cell.n, 1, 0)
    assert abs((data.hits - data.rates).mean()) < (0.08 if data.clusters is None else 0.2)
    assert set(data.columns) == set("abc"[: len(cell.levels)])
    assert ((data.scores >= 0) & (data.scores <= 1)).all()
