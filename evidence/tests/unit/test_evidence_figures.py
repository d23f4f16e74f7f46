"""Every point, bar and cell of the evidence's figures is a number of its tables."""

import numpy as np
import pandas as pd
import pytest
from command import crossed
from drawn_facts import facts
from figure_points import MODELS, SIZES, TITLES, TWO, changed, drawn, misplaced, toys, words_of
from matplotlib.collections import Collection, PolyCollection

from evidence.figures.league import HIGH, LOW
from pipeline import catalogue, guests

FIGURES = catalogue.figures(guests.workflows()[1])
RECORDED = "figures_drawn.yaml"
"""Facts of figures on the tables below. Where one changes, compare it with the picture."""
PAPERS = ["widmann2019", "arrieta2022", "tcal2023", "henzi2023"]
CLUSTERS = "clusters_beta_50x20_0.6_calibrated"
KEYS = {
    "interval_coverage": {
        "scenario": [
            *("uniform_wave", "spread_wave", "judging_rounded_wave", "judging_blind26_wave"),
            *("judging_blind26_broken_wave", CLUSTERS),
        ],
        "method": ["calbias", "calbias_l2", "calbias_clusters"], "n_samples": SIZES,
    },
    "leaderboard": {"model": MODELS, "dataset": ["arc", "mmlu"]},
    "league_ranking": {"distribution": ["saturated", "spread", "tied"], "estimator": TWO},
    "monitor": {"part": ["design", "judging"], "stream": ["none", "slope"]},
    "multiclass_league": {"population": ["dirichlet_3"], "map": ["x"], "estimator": TWO},
    "predicted_bias": {"model": MODELS, "estimator": TWO},
    "printed_simulations": {
        "paper": PAPERS,
        "cell": [f"n=2 classes={k} uniform waves=7 J=0.1 pi=1" for k in (2, 10)],
        "quantity": ["ECE_uniform", "type_1 level=1", "t_cal", "lemeshow", "verdict_level"],
    },
    "subgroup_cells": {
        "cell": ["a", "b"], "half": ["design", "judging"], "calibrated": [True, False],
    },
    "subjects": {"model": MODELS, "confidence": ["x", "y"], "stage": ["recalibrated"]},
    "test_power": {
        "scenario": ["spread_calibrated", "spread_wave", CLUSTERS],
        "test": ["verdict", "verdict_clusters"], "n_samples": SIZES,
    },
}  # fmt: skip
GAPS = "worst_gap_percent gap_percent"
COLUMNS = {  # of the numbers along x and along y; empty where what is drawn is a place
    "blind_cells": ("", "coverage low high"),
    "interval_coverage": ("coverage low high nominal", ""),
    "leaderboard": ("low_percent high_percent mean_estimate_percent value_percent", ""),
    "league_errors": ("error", ""),
    "monitor": ("median_delay delay_of_90_in_100 verdict_delay alarms", ""),
    "multiclass_league": ("relative_rmse", ""),
    "predicted_bias": ("predicted_bias_percent predicted_from_subsample_percent",
                       "observed_bias_percent"),
    **dict.fromkeys(PAPERS[:2], ("", "recomputed printed z")),
    "subgroup_cells": ("rejection_rate coverage", ""),
    "subgroups": ("", f"{GAPS} worst_low_percent worst_high_percent worst_noise_floor_percent"),
    "test_power": ("rejection_rate", ""),
}  # fmt: skip
N_DRAWN = {  # such as 3 models × 2 estimators × 2 sizes and the sizes
    "predicted_bias": 18, "subgroups": 30, "league_errors": 6, "multiclass_league": 2,
    "interval_coverage": 51, "leaderboard": 24, "monitor": 10, "blind_cells": 24,
    "subgroup_cells": 16, "test_power": 8, "widmann2019": 8, "arrieta2022": 10,
}  # fmt: skip
"""How many different numbers of these columns a figure shows, of the tables above."""
LIKE_OTHERS = {"league_full_errors", "multiclass_league_full", "tcal2023", "henzi2023"}
"""Figures that the draw function of another one draws, of other rows."""
DERIVED = {
    **dict.fromkeys(["monitor", "subgroup_cells"], Collection),
    **dict.fromkeys(PAPERS, PolyCollection),
}
"""Figures whose bars are exact ranges, or whose areas are interpolated."""
PANELS = TITLES | {
    "dataset": {"arc": "ARC", "mmlu": "MMLU"},
    "distribution": {"saturated": "Saturated", "spread": "Spread", "tied": "Tied"},
    "calibrated": {True: "Calibrated cells", False: "Cells with a fault"},
    "method": {"calbias": "ℓ1 error", "calbias_l2": "ℓ2 error"},
}


@pytest.fixture(scope="module")
def tables():
    return toys(KEYS)


def test_no_figure_is_left_out():
    assert {*FIGURES} == {*COLUMNS} | LIKE_OTHERS


@pytest.mark.parametrize("figure", COLUMNS)
def test_every_point_is_a_number_of_its_column(figure, tables, recorded):
    entry = FIGURES[figure]
    made = drawn(entry, tables)
    shown = [tables[stem] for stem in entry.tables]
    found = misplaced(made, shown, COLUMNS[figure], DERIVED.get(figure, ()), PANELS)
    assert found == ([], N_DRAWN[figure])
    recorded(figure, facts(made))


def test_power_figure_groups_tests_and_prints_every_rate(recorded):
    names = ["verdict", "cox_score", "redraw_ks", "my_test", "other_test"]
    keys = {"test": names, "scenario": ["spread_calibrated", "spread_wave"], "n_samples": [50, 200]}
    wave = {"rejection_rate": lambda t: 0.05 + 0.9 * (t["scenario"] == "spread_wave")}
    table = crossed("test_power", keys, level=0.05, n_replicates=60, **wave)
    # above my_test by its power at n = 50; its sizes are 5 and 16 %, which ends the axis
    table.loc[table["test"] == "other_test", "rejection_rate"] = [0.05, 0.16, 0.99, 0.1]
    made = drawn(FIGURES["test_power"], {"test_power": table})
    recorded("test_power with several tests", facts(made))
    words = words_of(made)
    named = ["Verdict of an audit", "Cox, score test", "KS (ECCE-MAD)", "other test", "my test"]
    assert list(dict.fromkeys(word for word in words if word in named)) == named
    assert {"several at once", "level and line", "sums along the scores", "others"} <= set(words)
    cells = [text.get_text() for axes in made.axes for text in axes.texts]
    assert cells.count("95") == 8


VARIANTS = {
    "power at one size": lambda t: changed(
        FIGURES["test_power"], t, "test_power",
        lambda d: pd.concat(
            [part.assign(test=name, rejection_rate=np.where(is_null, 0.1 - rate / 10, rate))
             for name, rate in (("a_test", 0.2), ("b_test", 0.6))
             for part in [d[(d["test"] == "verdict") & (d["n_samples"] == 200)]]
             for is_null in [part["scenario"].str.endswith("calibrated")]]
        ),
    ),
    "blind cells of no run": lambda t: changed(
        FIGURES["blind_cells"], t, "interval_coverage", lambda d: d[d["scenario"] == "uniform_wave"]
    ),
    "coverage without clusters and judging cells": lambda t: changed(
        FIGURES["interval_coverage"], t, "interval_coverage",
        lambda d: d[d["scenario"] == "uniform_wave"],
    ),
    "all classes beyond the axis": lambda t: changed(
        FIGURES["multiclass_league"], t, "multiclass_league",
        lambda d: pd.concat([d.assign(relative_rmse=[31.0, 0.5] * (len(d) // 2), truth=1.0,
                                      relative_rmse_se=[0.1, 0.4] * (len(d) // 2)),
                             d.assign(population="resnet_c10", truth=[1.0, 0.0] * (len(d) // 2))]),
    ),
    "the league with limits and ties": lambda t: changed(
        FIGURES["league_errors"], t, "league_ranking",
        lambda d: d.assign(information_limit=0.3, rank=np.arange(len(d)) % 2 + 1, target="l1",
                           error_se=0.1,
                           error=np.resize([0.01, 26.0, 0.5, LOW, HIGH, 5.0], len(d))),
    ),
    "power with clusters and others": lambda t: changed(
        FIGURES["test_power"], t, "test_power",
        lambda d: pd.concat([d, d.replace({"verdict": "mine", "spread_wave": "uniform_wave"})]
                            ).assign(rejection_rate=np.resize([0.05, 0.31, 0.5, 1.0], 2 * len(d))),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", VARIANTS)
def test_variants_of_figures(name, tables, recorded):
    recorded(name, facts(VARIANTS[name](tables)))
