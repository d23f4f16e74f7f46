"""Blind cells of November 2026, which judge the audit's interval for the calibration error.

Their author knew of the interval only its levels, that it is for the l1 and the l2 error, and its
assumption: the error c(s) - s does not change its sign within a bin, of about 1.5 n^0.35 bins of
equal mass, where values with many rows have a bin. ``assumption_holds`` was marked before any
interval was computed, by one rule: the l1 error that bins of this kind do not show (`hidden`) is
below half a standard error. So a curve that crosses the diagonal smoothly keeps the assumption if
its crossings lie far apart for its number of rows. The assumption does not say that the error has
one size within a bin, which the l2 error needs: `hidden` with norm 2 names the cells where it has
not, such as the narrow faults of one sign, which are marked as keeping the assumption.

The cells judge a method when it is finished; they are not read while it is being changed.
"""

import functools

import numpy as np
from scipy.special import expit

from evidence.cells.blind import (
    BlindCell,
    Continuous,
    Curve,
    Floats,
    Mixture,
    Values,
    beta,
    calibrated,
    fault,
    float32,
    joined,
    line,
    normal,
    odds_wave,
    stairs,
    two_rates,
    wave,
)
from evidence.cells.populations_2026 import (
    bfloat16,
    boosted,
    clipped,
    decimals,
    eight_bits,
    float16,
    forest,
    insurer_table,
    items,
    log_odds_eighths,
    many_sites,
    neighbours,
    pooled,
    rounded,
    stored,
    whole_percent_down,
    with_ties,
)


def _ones(s: Floats) -> Floats:
    return np.ones_like(s)


def _no_skill(rate: float) -> Curve:
    return lambda s: np.full_like(s, rate)


_UNIFORM = beta(1, 1)
_STEP = two_rates(0.5, 0, 1)
_TENTHS = np.arange(11) / 10
_VERBAL = [0.0, 0.2, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.99, 1.0]
_VERBALISED = Values(_VERBAL, [2, 1, 3, 2, 5, 6, 12, 14, 24, 20, 4, 7])
_VERBAL_RATES = [0.1, 0.2, 0.34, 0.4, 0.46, 0.5, 0.55, 0.6, 0.68, 0.79, 0.85, 0.88]
_TWO_HEAPS = Mixture([0.4, 0.6], [beta(1, 3, 0, 0.3), beta(3, 1, 0.7, 1)])
_HEAVY_ODDS = Continuous(lambda u: expit(2 * np.tan(np.pi * (u - 0.5))))
_CODE = with_ties(
    0.5, [0.5, 0.8, 0.9, 0.95, 1], [0.3, 0.7, 0.72, 0.85, 0.9], beta(4, 1.5), line(0.7)
)


@functools.cache
def cells() -> list[BlindCell]:
    """Return the cells, made when they are first asked for: the trees take two seconds to grow."""
    arguments = (
        # few misses, few hits
        ("few_misses_20", 20, beta(30, 1), line(1, -0.8), True, "one sign"),
        ("one_miss_in_50", 50, normal(4, 0.6), line(1, -0.5), True, "one sign"),
        ("few_misses_200", 200, normal(5, 1.5), line(0.7), True, "one sign where rows are"),
        ("wake_word_500", 500, float32(normal(6, 2)), line(0.6), True, "one sign where rows are"),
        ("face_match_3000", 3000, normal(7.5, 1.5), line(1, -1.2), True, "one sign"),
        ("three_misses_in_3000", 3000, normal(9, 1.2), line(1, -1.5), True, "one sign"),
        ("calibrated_few_misses_1000", 1000, normal(5.5, 1), calibrated, True, "no error"),
        ("digits_3000", 3000, float32(beta(8, 0.05)), line(0.5), True, "one sign where rows are"),
        ("no_misses_60", 60, beta(6, 1.2), _ones, True, "one sign"),
        ("never_an_event_150", 150, beta(1, 30), _no_skill(0.0), True, "one sign"),
        ("misses_among_the_unsure_800", 800, beta(9, 0.4),
         joined([0, 0.9, 0.97, 1], [0, 0.8, 0.99, 1]), True, "crosses once"),
        # separation
        ("separated_at_half_25", 25, beta(0.8, 0.8), _STEP,
         False, "jump across the diagonal"),
        ("separated_at_half_1000", 1000, beta(0.8, 0.8), _STEP,
         False, "jump across the diagonal"),
        ("separated_heaps_300", 300, _TWO_HEAPS, _STEP,
         False, "jump across the diagonal"),
        ("separated_values_80", 80, Values([0.1, 0.2, 0.8, 0.9], [3, 2, 1, 4]), _STEP,
         True, "few values"),
        ("separated_low_limit_500", 500, beta(1.2, 1.2, 0.2, 1), two_rates(0.25, 0, 1),
         False, "jump across the diagonal"),
        ("almost_separated_300", 300, normal(0, 1.5), line(6), False, "crosses within a bin"),
        ("sharp_test_2000", 2000, normal(-2, 2), line(2.5), True, "crosses once"),
        ("almost_separated_5000", 5000, normal(0, 1), line(4), True, "crosses once"),
        ("separated_votes_40", 40, Values([0, 0.2, 0.4, 0.6, 0.8, 1], [9, 4, 3, 3, 6, 15]),
         _STEP, True, "few values"),
        ("flipped_labels_3pct_1000", 1000, beta(0.5, 0.5), two_rates(0.5, 0.03, 0.97),
         False, "jump across the diagonal"),
        ("memorised_and_new_400", 400, float32(beta(0.1, 0.1)), line(0.25), True, "crosses once"),
        # smooth crossing curves
        ("crossing_20", 20, normal(0, 1.5), line(0.5), True, "crosses once"),
        ("crossing_150", 150, normal(0.5, 1.5), line(0.6), True, "crosses once"),
        ("crossing_1000", 1000, beta(2, 1.2), line(0.5, 0.4), True, "crosses once"),
        ("crossing_where_rows_are_50000", 50_000, beta(20, 20), line(0.5), True, "crosses once"),
        ("vision_top_label_300000", 300_000, normal(2, 2), line(0.7, 0.3), True, "crosses once"),
        ("clicks_300000", 300_000, normal(-4.5, 1.2), line(0.9, -0.35), True, "crosses once"),
        ("small_slope_300000", 300_000, normal(0, 1.5), line(1.05), True, "crosses once"),
        ("power_and_shift_100000", 100_000, beta(2, 0.7), lambda s: 0.04 + 0.96 * s**1.3,
         True, "crosses once"),
        ("reviews_two_crossings_30000", 30_000, normal(0.4, 1.6), odds_wave(0.3, 1.5),
         True, "crossings far apart"),
        ("full_wave_100000", 100_000, _UNIFORM, wave(0.03, 1), True, "crossings far apart"),
        ("two_waves_300000", 300_000, beta(2, 2), wave(0.03, 2), True, "crossings far apart"),
        ("saturated_crossing_200000", 200_000, float32(normal(3, 3.5)), line(0.6, 0.8),
         True, "crosses once"),
        # half precision, decimals, steps of the log odds
        ("bfloat16_network_10000", 10_000, *rounded(beta(5, 0.3), line(0.8), bfloat16),
         True, "crosses once"),
        ("bfloat16_calibrated_before_100000", 100_000, *rounded(beta(3, 0.4), calibrated, bfloat16),
         True, "error of rounding only"),
        ("bfloat16_calibrated_after_50000", 50_000, *stored(beta(3, 0.4), calibrated, bfloat16),
         True, "no error"),
        ("bfloat16_crossing_100000", 100_000, *stored(normal(1, 2), line(0.8, 0.1), bfloat16),
         True, "crosses once"),
        ("float16_sure_20000", 20_000, *rounded(normal(7, 2), line(0.7), float16),
         True, "crosses once"),
        ("float16_calibrated_3000", 3000, *rounded(normal(6, 2.5), calibrated, float16),
         True, "error of rounding only"),
        ("three_decimals_risk_50000", 50_000, *rounded(normal(-3, 1.2), line(1, -0.3), decimals(3)),
         True, "one sign where rows are"),
        ("three_decimals_rare_50000", 50_000, *rounded(normal(-6, 1), calibrated, decimals(3)),
         True, "error of rounding only"),
        ("three_decimals_crossing_300000", 300_000,
         *stored(normal(0.5, 1.8), line(0.9, 0.05), decimals(3)), True, "crosses once"),
        ("two_decimals_300", 300, *stored(beta(3, 2), line(0.7), decimals(2)),
         True, "crosses once"),
        ("percent_cut_off_5000", 5000, *rounded(beta(1.5, 4), calibrated, whole_percent_down),
         True, "one sign"),
        ("log_odds_eighths_4000", 4000, *rounded(normal(1.5, 2), line(0.8), log_odds_eighths),
         True, "crosses once"),
        ("eight_bits_20000", 20_000, *rounded(beta(0.4, 0.4), line(0.9, -0.1), eight_bits),
         True, "crosses once"),
        # ties and verbalised confidence
        ("verbalised_40", 40, _VERBALISED, joined(_VERBAL, _VERBAL_RATES), True, "few values"),
        ("verbalised_400", 400, _VERBALISED, joined(_VERBAL, _VERBAL_RATES), True, "few values"),
        ("verbalised_20", 20, _VERBALISED, joined(_VERBAL, _VERBAL_RATES), True, "few values"),
        ("verbalised_200000", 200_000, _VERBALISED, joined(_VERBAL, _VERBAL_RATES),
         True, "few values"),
        ("verbalised_calibrated_500", 500, _VERBALISED, calibrated, True, "no error"),
        ("verbalised_off_both_ways_2000", 2000, _VERBALISED,
         lambda s: np.clip(s + np.where(np.round(100 * s) % 10 == 5, 0.08, -0.06), 0.04, 1),
         True, "few values"),
        ("always_very_sure_1000", 1000, Values([0.9, 0.95, 1], [3, 4, 3]),
         joined([0.9, 0.95, 1], [0.6, 0.62, 0.71]), True, "one sign"),
        ("rain_in_tenths_1000", 1000, Values(_TENTHS, [30, 14, 9, 7, 6, 5, 5, 5, 5, 6, 8]),
         joined([0, 0.1, 0.9, 1], [0.006, 0.1, 0.9, 0.985]), True, "few values"),
        ("forecasters_150", 150, Values(np.arange(1, 20) / 20, 1 + abs(np.arange(-9, 10))),
         line(0.65), True, "few values"),
        ("triage_five_levels_60", 60, Values([0.02, 0.1, 0.3, 0.6, 0.9], [10, 20, 15, 10, 5]),
         line(0.8, 0.5), True, "few values"),
        ("zero_half_one_200", 200, Values([0, 0.5, 1], [5, 2, 6]),
         joined([0, 0.5, 1], [0.07, 0.65, 0.91]), True, "few values"),
        ("eight_votes_250", 250, Values(np.arange(9) / 8, [2, 2, 3, 4, 6, 7, 9, 14, 53]),
         line(0.45), True, "few values"),
        ("heap_at_half_1500", 1500, *with_ties(0.25, [0.5], [0.35], beta(2, 1.5), line(1, 0.25)),
         True, "the tie is a value"),
        ("code_assistant_3000", 3000, *_CODE, True, "crosses once"),
        ("five_rows_a_value_2000", 2000, Values(np.arange(1, 400) / 400, np.ones(399)), line(0.75),
         True, "crosses once"),
        # items: a score and a rate for each
        ("twelve_items_600", 600, *items(1, 12, 0.6), True, "few values"),
        ("quiz_15_items_1500", 1500, *items(2, 15, 0.3, -0.4), True, "few values"),
        ("items_300_in_3000", 3000, *items(3, 300, 0.7), False, "random signs"),
        ("items_5000_in_100000", 100_000, *items(4, 5000, 0.4), False, "random signs"),
        ("items_1000_too_high_8000", 8000, *items(5, 1000, 0.1, -0.6), True, "almost one sign"),
        ("popular_items_5000", 5000, *items(6, 600, 0.5, 0.0, 1.3),
         False, "random signs of rare items"),
        ("every_row_its_item_100", 100, *items(7, 20_000, 0.8), False, "random signs"),
        ("calibrated_items_1200", 1200, *items(8, 60, 0.0), True, "no error"),
        # narrow faults
        ("fault_1pct_of_rows_10000", 10_000, _UNIFORM, fault(0.70, 0.71, 0.2), True, "one sign"),
        ("fault_at_the_top_5000", 5000, beta(2, 0.5), fault(0.99, 0.997, 0.75), True, "one sign"),
        ("fault_.2pct_of_rows_100000", 100_000, beta(2, 2), fault(0.3, 0.301, 0.9),
         True, "one sign"),
        ("fault_of_one_value_4000", 4000, *with_ties(0.02, [0.75], [0.2], beta(2, 1), calibrated),
         True, "one sign"),
        ("fault_5pct_of_rows_200", 200, _UNIFORM, fault(0.9, 0.95, 0.1), True, "one sign"),
        ("fault_in_crossing_curve_20000", 20_000, normal(0.5, 1.5),
         fault(0.79, 0.81, 0.5, line(0.85)), True, "crossings far apart"),
        ("fault_against_the_rest_3000", 3000, beta(3, 1), fault(0.8, 0.83, 0.1, line(1, 0.3)),
         False, "fault narrower than a bin"),
        ("fault_both_ways_2000", 2000, _UNIFORM,
         lambda s: np.where(abs(s - 0.5) < 0.02, 0.5 + 0.4 * np.sign(0.5 - s), s),
         False, "two signs"),
        ("approved_at_the_limit_20000", 20_000, beta(2, 6),
         lambda s: s * (1 - 0.7 * np.exp(-np.clip(0.3 - s, 0, 1) / 0.004) * (s < 0.3)),
         True, "one sign"),
        # saturated ends
        ("both_ends_5000", 5000, float32(beta(0.05, 0.05)), line(0.6), True, "crosses once"),
        ("both_ends_30", 30, float32(beta(0.08, 0.06)), line(0.3), True, "crosses once"),
        ("calibrated_both_ends_1000", 1000, float32(beta(0.03, 0.08)), calibrated,
         True, "no error"),
        ("zeros_and_ones_500", 500, *with_ties(0.8, [0, 1], [0.02, 0.97], _UNIFORM, line(0.7)),
         True, "the ties are values"),
        ("clipped_at_percents_2000", 2000, *clipped(normal(1, 4), line(0.5), 0.01, 0.99),
         True, "crosses once"),
        ("naive_bayes_text_1000", 1000, float32(normal(0, 9)), line(0.15), True, "crosses once"),
        ("heavy_log_odds_3000", 3000, _HEAVY_ODDS, line(0.4, 0.2), True, "crosses once"),
        ("sure_and_wrong_20000", 20_000, float32(normal(5, 4)), lambda s: 0.015 + 0.97 * s,
         True, "crosses once"),
        # rare events, risks
        ("cardiac_risk_3000", 3000, normal(-4, 1), line(1, -0.6), True, "one sign"),
        ("fraud_100000", 100_000, normal(-8, 2), line(0.9, -1.2), True, "one sign where rows are"),
        ("rare_disease_1000", 1000, beta(0.5, 200), calibrated, True, "no error"),
        ("loan_grades_20000", 20_000,
         Values([0.001, 0.003, 0.008, 0.02, 0.045, 0.09, 0.18, 0.35],
                [5, 12, 22, 25, 18, 10, 5, 3]), line(0.85, -0.2), True, "few values"),
        ("old_risk_score_400", 400, normal(-1.8, 0.9), line(0.9, 0.7),
         True, "one sign where rows are"),
        ("ruled_out_5000", 5000, *with_ties(0.6, [0.0], [0.004], normal(-3, 1), line(1.1)),
         True, "crossings far apart"),
        ("extreme_risks_30000", 30_000, normal(-5, 1.5), lambda s: s * np.exp(-1.2 * s),
         True, "one sign"),
        ("screening_60_no_events_yet", 60, normal(-5, 0.8), line(1, 0.5), True, "one sign"),
        # trees, neighbours, tariffs
        ("one_tree_2000", 2000, *forest(11, 1, 20), True, "few values"),
        ("votes_of_25_trees_1000", 1000, *forest(13, 25, 5, vote=True), True, "few values"),
        ("forest_8000", 8000, *forest(15, 60, 8), True, "opposite signs are small"),
        ("forest_to_the_leaf_500", 500, *forest(17, 40, 1), True, "opposite signs are small"),
        ("boosted_5000", 5000, *boosted(19, 40, 0.2), True, "opposite signs are small"),
        ("boosted_too_long_1500", 1500, *boosted(21, 1500, 0.4), True, "opposite signs are small"),
        ("ten_neighbours_700", 700, *neighbours(23, 10), True, "few values"),
        ("tariff_6_5_4_10000", 10_000, *insurer_table(25, 0.3),
         False, "random signs of 119 classes"),
        # pooled groups
        ("two_clinics_1500", 1500, *pooled((0.6, -2, 0.8, 0.9, -0.5), (0.4, -0.5, 0.9, 0.8, 0.4)),
         True, "crossings far apart"),
        ("foreign_rows_5000", 5000, *pooled((0.9, 3, 1.2, 1, 0), (0.1, 4, 1.5, 0.1, 0)),
         True, "crosses once"),
        ("easy_and_hard_300", 300, *pooled((0.5, 4, 0.7, 1, 0.5), (0.5, 0.3, 0.6, 0.2, 0)),
         True, "crossings far apart"),
        ("fifteen_sites_20000", 20_000, *many_sites(27, 15), True, "crosses once"),
        # calibrated, steps, waves, no skill
        ("calibrated_uniform_20", 20, _UNIFORM, calibrated, True, "no error"),
        ("calibrated_100", 100, beta(2, 0.7), calibrated, True, "no error"),
        ("calibrated_300000", 300_000, normal(-1, 1.5), calibrated, True, "no error"),
        ("calibrated_narrow_2000", 2000, beta(50, 50), calibrated, True, "no error"),
        ("one_score_25", 25, Values([0.5], [1]), _no_skill(0.62), True, "one value"),
        ("no_skill_100", 100, _UNIFORM, _no_skill(0.5), True, "crosses once"),
        ("returns_10000", 10_000, beta(80, 78), _no_skill(0.5), True, "crosses once"),
        ("labels_swapped_150", 150, beta(1.5, 1), lambda s: 1 - s, True, "crosses once"),
        ("four_stairs_1000", 1000, _UNIFORM, stairs(4), False, "jump across the diagonal"),
        ("ten_stairs_10000", 10_000, beta(2, 1), stairs(10), False, "jump across the diagonal"),
        ("thirty_stairs_3000", 3000, _UNIFORM, stairs(30), False, "steps shorter than bins"),
        ("jump_of_one_sign_800", 800, beta(1, 2), lambda s: s - 0.15 * s * (s > 0.4),
         True, "one sign"),
        ("four_waves_10000", 10_000, _UNIFORM, wave(0.08, 4), True, "crossings far apart"),
        ("twelve_waves_2000", 2000, _UNIFORM, wave(0.12, 12), False, "waves shorter than bins"),
        ("forty_waves_100000", 100_000, _UNIFORM, wave(0.05, 40),
         False, "waves about as long as bins"),
        ("log_odds_waves_40000", 40_000, normal(0, 2), odds_wave(0.5, 3),
         True, "crossings far apart"),
    )  # fmt: skip
    return [BlindCell("blind 2026", *cell) for cell in arguments]
