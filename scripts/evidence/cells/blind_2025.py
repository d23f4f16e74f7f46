"""36 cells that judge the audit's interval, written by a person who had not seen its method.

The cells were read once, when the interval was fixed.
"""

import numpy as np
from scipy.special import expit

from evidence.cells.blind import BlindCell, Values, joined, line, logit
from evidence.cells.populations_2025 import (
    alike,
    bagged_isotonic,
    beta,
    default_scores,
    eight_bits,
    findings,
    joined_isotonic,
    lump_rates,
    lumps,
    mixed,
    no_interactions,
    normal,
    odds,
    one_of_ten,
    ordered,
    overridden,
    points,
    ratios,
    sites,
    sure_and_wrong,
    vendors,
    zipf,
)

_ABSTAINED = mixed(0.45, beta(1, 5, 0, 0.3), beta(4, 1, 0.7, 1))
_ALERTS = mixed(0.965, normal(-5.5, 0.9), beta(1.6, 1.2, 0.1))
_NAIVE, _TRUE, _MASS = findings(1, 9)
_PHRED = Values(
    10 ** (-np.arange(2, 42) / 10), np.exp(-(((np.arange(2, 42) - 33) / 11) ** 2)) + 0.12
)
_BREAST = Values([0.001, 0.01, 0.02, 0.06, 0.3, 0.7, 0.95], [20, 14, 18, 16, 13, 10, 9])
_BREAST_RATES = [0.004, 0.008, 0.035, 0.13, 0.26, 0.58, 0.97]
_TERCILES = Values(
    [0.15, 0.2, 0.25, 0.33, 0.4, 0.45, 0.5, 0.6, 0.7], [4, 9, 14, 25, 19, 12, 9, 5, 3]
)
_TERCILE_RATES = [0.26, 0.24, 0.31, 0.31, 0.37, 0.39, 0.46, 0.47, 0.6]
_VOTES = Values(np.arange(3, 17) / 16, [1, 2, 3, 4, 5, 5, 5, 5, 6, 6, 7, 9, 12, 30])
_VOTE_RATES = [
    0.1, 0.17, 0.24, 0.28, 0.36, 0.47, 0.52, 0.61, 0.63, 0.72, 0.77, 0.79, 0.86, 0.92,
]  # fmt: skip

CELLS = [
    BlindCell("blind", name, n, distribution, curve)
    for name, distribution, curve, n in (
        # networks and language models
        ("all_classes_pooled_10", one_of_ten, line(0.85, -0.2), 20_000),
        ("four_choice_letters", beta(0.9, 0.6, 0.25),
         lambda s: 0.25 + 0.75 * np.clip((s - 0.25) / 0.75, 0, 1) ** 1.3, 400),
        ("eight_bit_network", eight_bits(normal(2.6, 2.2)),
         lambda s: np.where(s == 255 / 256, 0.983, line(0.75, -0.1)(s)), 10_000),
        ("detections_over_.25", mixed(0.6, beta(0.8, 4, 0.25), beta(8, 1.2, 0.25)),
         joined([0.25, 0.4, 0.6, 0.8, 0.95, 1], [0.15, 0.35, 0.61, 0.86, 0.97, 0.975]), 3000),
        ("focal_loss_top_label", beta(3, 1.1, 0.05, 0.97), line(1.45, 0.05), 2000),
        ("self_consistency_16_votes", _VOTES, joined(_VOTES.values, _VOTE_RATES), 500),
        ("judge_lumps", lumps, lump_rates, 6000),
        ("surest_are_foreign", beta(4, 0.6), sure_and_wrong, 3000),
        # tables of findings, counts and points
        ("naive_bayes_9_findings", *ordered(_NAIVE, _TRUE, _MASS), 5000),
        ("no_interactions_128", *no_interactions(2, 7), 8000),
        ("ratios_of_small_counts", *ratios(range(4, 31), 2.5, 4), 4000),
        ("scorecard_points", points, line(0.8, 0.05), 30_000),
        ("breast_categories", _BREAST, joined(_BREAST.values, _BREAST_RATES), 900),
        ("quality_codes_q2_q41", _PHRED, line(0.72, -0.5), 15_000),
        # odds, seasons, returns
        ("bookmaker_odds_with_margin", odds,
         lambda s: s / 1.06 - 0.03 * np.exp(-s / 0.08) * np.minimum(s / 0.05, 1), 8000),
        ("season_terciles", _TERCILES, joined(_TERCILES.values, _TERCILE_RATES), 250),
        ("returns_sign_reversed", beta(80, 78), lambda s: 0.5 - 0.6 * (s - 0.5), 5000),
        # selected rows and imperfect labels
        ("unlabelled_positives", beta(0.9, 2), lambda s: s * (0.65 + 0.33 * s), 1500),
        ("abstained_.3_to_.7", _ABSTAINED,
         lambda s: np.where(s < 0.5, s + 0.9 * s**1.5, s - 2.2 * (1 - s) ** 1.8), 200),
        ("approved_only_overridden", beta(1.4, 1.1, 0, 0.12), overridden, 15_000),
        ("alerts_3pct_of_rows", _ALERTS,
         lambda s: np.where(s < 0.1, s, 0.1 + 0.55 * (s - 0.1)), 12_000),
        ("cold_start_12_heaps", *default_scores(3, 12, 0.35, beta(1.2, 2.5), line(1.08)), 7000),
        ("grades_alike_inside", normal(-0.4, 1.5), alike, 12_000),
        ("two_vendors_interleaved", *vendors(24, 24, 0.08), 8000),
        ("twelve_hospitals", *sites(4, 12), 1200),
        ("same_score_for_all", Values([0.3], [1]), lambda s: np.full_like(s, 0.345), 350),
        # other calibrators
        ("bagged_isotonic_5x160", *bagged_isotonic(5, 800, 5), 20_000),
        ("joined_isotonic_300", *joined_isotonic(6, 300), 2500),
        ("log_odds_wave", normal(0.3, 1.9),
         lambda s: expit(logit(s) + 0.45 * np.sin(2.6 * logit(s) + 0.5)), 4000),
        # perfectly calibrated
        ("perfect_same_score_.04", Values([0.04], [1]), np.positive, 150),
        ("perfect_abstained", _ABSTAINED, np.positive, 250),
        ("perfect_zipf_items", zipf(7, 800), np.positive, 2000),
        ("perfect_laplace_ratios", ratios(range(1, 21), 1, 1, 1, 2)[0], np.positive, 4000),
        ("perfect_9_findings", ordered(_TRUE, _TRUE, _MASS)[0], np.positive, 8000),
        ("perfect_all_classes_10", one_of_ten, np.positive, 20_000),
        ("perfect_quality_codes", ordered(_PHRED.values, _PHRED.values, _PHRED.shares)[0],
         np.positive, 30_000),
    )
]  # fmt: skip
