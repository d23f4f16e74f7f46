"""Every point, bar and cell of a figure is a number of its tables, from one row of them."""

import importlib
import itertools

import numpy as np
import pandas as pd
import pytest
from command import crossed
from matplotlib.container import BarContainer

from pipeline import catalogue
from pipeline.figures import style
from pipeline.table_schema import columns_of
from reproduction.figures.gupta_graphs import NULL_95

FIGURES = catalogue.figures()
SIZES, TWO = [200, 1000], ["ece_bin_ew", "ece_sweep_em"]
MODELS = ["resnet110_c10", "resnet_wide32_c100", "resnet152_imgnet"]
CLUSTERS = "clusters_beta_50x20_0.6_calibrated"
KEYS = {
    "scenarios": {
        "experiment": ["realistic", "perfect", "bins_by_n", "tce_sweep", "chosen_bins", "fits"],
        "scenario": MODELS,
    },
    "chosen_bins": {"scenario": MODELS, "n_samples": SIZES, "n_bins": [2, 5, 7]},
    "reliability_diagram": {"experiment": ["intro"], "low": [0.0, 0.25, 0.5]},
    "estimate_histogram": {"experiment": ["intro"], "estimator": TWO},
    "true_calibration_error": {"scenario": MODELS},
    "detection": {"estimator": TWO, "n_samples": SIZES, "tce_percent": [1.1, 2.3, 5.7, 13.9]},
    "detection_limits": {"estimator": TWO, "n_samples": SIZES, "target_miss_rate": [0.05, 0.1]},
    "beta_fits": {"model": MODELS},
    "glm_fits": {"model": MODELS},
    "ece_bin_real_and_simulated": {"model": MODELS},
    "tce_rounding": {"scenario": MODELS},
    "reliability_bins": {"model": MODELS, "method": ["uncalibrated", "spline"]},
    "calibration_graphs": {
        "measure": [f.options["measure"] for f in FIGURES.values() if "measure" in f.options],
        "model": MODELS, "method": ["uncalibrated", "spline"], "fold": ["test"],
        "fractile": [0.31, 0.77],
    },
    "interval_coverage": {
        "scenario": ["uniform_wave", "judging_blind26_wave", CLUSTERS],
        "method": ["calbias", "calbias_l2", "calbias_clusters"], "n_samples": SIZES,
    },
    "leaderboard": {"model": MODELS, "dataset": ["arc", "mmlu"]},
    "league_ranking": {"distribution": ["saturated", "spread", "tied"], "estimator": TWO},
    "monitor": {"part": ["design", "judging"], "stream": ["none", "slope"]},
    "multiclass_league": {"population": ["dirichlet_3"], "map": ["x"], "estimator": TWO},
    "predicted_bias": {"model": MODELS, "estimator": TWO},
    "subgroup_cells": {
        "cell": ["a", "b"], "half": ["design", "judging"], "calibrated": [True, False],
    },
    "subjects": {"model": MODELS, "confidence": ["x", "y"], "stage": ["recalibrated"]},
    "test_power": {
        "scenario": ["spread_calibrated", "spread_wave", CLUSTERS],
        "test": ["verdict", "verdict_clusters"], "n_samples": SIZES,
    },
}  # fmt: skip
CONSTANT = {
    "source": "real_logits", "simulated_source": "simulation", "curve": "power", "b0": 0.0,
    "b1": 2.0, "alpha": 1.5, "beta": 0.7, "norm": 2, "glm": "logit_logit_b0_b1", "selected": True,
    "n_replicates": 1000, "n_data_sets": 100, "n_streams": 100, "nominal": 0.95, "target": "l1",
    "cumulative_score": 0.0, "null_sd": 0.01 / NULL_95, "information_limit": np.nan,
}  # fmt: skip
BETWEEN = {  # ends of columns: of a range or of a kind
    "_se": (0.001, 0.002), "_se_percent": (0.001, 0.002), "tce_low_percent": (1, 2),
    "tce_percent": (2, 3), "tce_high_percent": (3, 4), "bias_percent": (-9, 9), "low": (0.2, 0.4),
    "coverage": (0.4, 0.6), "high": (0.6, 0.9), "_percent": (1, 9), "delay_of_90_in_100": (90, 99),
    "_delay": (30, 60), "alarms": (3, 9), "n_samples": (300, 900), "n_in_bin": (30, 60),
    "rejection_rate": (0.05, 0.15), "": (0, 1),
}  # fmt: skip
BIAS, GAPS = ("n_samples", "bias_percent"), "worst_gap_percent gap_percent"
CURVES = "cumulative_hit cumulative_score score hit_probability"
COLUMNS = {  # of the numbers along x and along y; empty where what is drawn is a place
    "fig1_intro": ("mean_score low high mean_estimate_percent", "mean_hit"),
    "fig2b_bins_by_n": ("n_bins", "bias_percent"),
    "fig3_fits": (
        "ece_bin_percent mean_simulated_ece_bin_percent published_ece_bin_percent "
        "published_simulated_percent", "",
    ),
    "fig4_realistic": BIAS,
    "fig5_detection": ("tce_percent tce_low_percent tce_high_percent",
                       "miss_rate n_samples target_miss_rate"),
    "fig6_perfect": BIAS,
    **{name: ("", "bias_percent") for name in FIGURES if "_bias_" in name},
    **{name: ("", "sd_percent") for name in FIGURES if "_sd_" in name},
    "fig13_tce_sweep": ("tce_percent", "mean_estimate_percent bias_percent"),
    "fig14_chosen_bins": ("n_bins mean_n_bins_sweep", "mean_estimate_percent tce_percent"),
    "guo_fig1_confidence": ("low high mean_hit mean_score", "mean_hit mean_score"),
    "guo_fig4_recalibrated": ("low high mean_hit mean_score", "mean_hit mean_score"),
    **{name: ("fractile score", CURVES) for name in FIGURES if "gupta" in name},
    "errors_by_rank": ("ks_percent", ""),
    "blind_cells": ("", "coverage low high"),
    "interval_coverage": ("coverage low high nominal", ""),
    "leaderboard": ("low_percent high_percent mean_estimate_percent value_percent", ""),
    "league_errors": ("error", ""),
    "league_full_errors": ("error", ""),
    "monitor": ("median_delay delay_of_90_in_100 verdict_delay alarms", ""),
    "multiclass_league": ("relative_rmse", ""),
    "multiclass_league_full": ("relative_rmse", ""),
    "predicted_bias": ("predicted_bias_percent predicted_from_subsample_percent",
                       "observed_bias_percent"),
    "subgroup_cells": ("rejection_rate coverage", ""),
    "subgroups": ("", f"{GAPS} worst_low_percent worst_high_percent worst_noise_floor_percent"),
    "test_power": ("rejection_rate", ""),
}  # fmt: skip
FORMULAE = {"fig2a_curves", "table1_recalibration"}  # or words: what these draw is no number
DERIVED = {"fig1_intro", "fig5_detection", "guo_fig1_confidence", "guo_fig4_recalibrated",
           "monitor", "subgroup_cells"}  # fmt: skip
"""Figures whose bars and areas are exact ranges, or interpolated."""
EXTRA = {0.0, 0.01, 1.0, -1.0, 100.0}  # ends of axes, shares of one bin, and null_sd times NULL_95
FORMULA = 200  # points from which a line is a formula's


def bias_rows():
    """Return the keys of table ``bias``: several experiments, with and without bins."""
    rows = [
        *itertools.product(["realistic", "perfect", "tce_sweep"], MODELS, TWO, [15], SIZES),
        *itertools.product(["bins_by_n", "heatmaps"], MODELS, TWO[:1], [4, 8], SIZES),
        *itertools.product(["heatmaps", "chosen_bins"], MODELS, TWO[1:], [-1], SIZES),
    ]
    columns = ["experiment", "scenario", "estimator", "n_bins", "n_samples"]
    return pd.DataFrame(rows, columns=columns).reindex(columns=columns_of("bias"))


def table_of(stem, generator):
    """Return a table whose measured numbers are all different."""
    stem = stem.replace("league_full", "league")
    table = bias_rows() if stem == "bias" else crossed(stem, KEYS[stem])
    for column in table.columns[table.isna().all()]:
        if column in ("group", "entry"):
            table[column] = table.get("scenario", table.get("estimator"))
            continue
        end = next(end for end in BETWEEN if column.endswith(end))
        drawn = generator.uniform(*BETWEEN[end], len(table))
        whole = column.startswith(("n_", "alarms"))
        table[column] = CONSTANT.get(column, drawn.round() if whole else drawn)
    return table


@pytest.fixture(scope="module")
def tables():
    generator = np.random.default_rng(5)
    stems = dict.fromkeys(stem for name in COLUMNS for stem in FIGURES[name].tables)
    tables = {stem: table_of(stem, generator) for stem in stems if stem != "models"}
    return tables | {"models": pd.DataFrame({"model": MODELS, "group": MODELS})}


def numbers_of(row, columns):
    """Return the numbers of a row, also in percent, and two standard errors beside each."""
    errors = [row[x] for x in row if x.endswith(("_se", "_se_percent"))]
    numbers = [row[x] for x in columns.split() if x in row]
    numbers += [x + 2 * sign * s for x in numbers for s in errors for sign in (-1, 1)]
    return EXTRA | {round(float(x) * scale, 6) for x in numbers for scale in (1, 100)}


def points_of(axes, is_derived):
    """Yield the points (k, 2) that are drawn, without references; NaN along a line across all."""
    for line in axes.lines:
        is_reference = line.get_color() == style.REFERENCE["color"] or line.get_marker() == "*"
        points = line.get_xydata().astype(float)
        if line.get_transform() is not axes.transData:
            points[:, 1 if points[0, 0] == points[-1, 0] else 0] = np.nan
        if not is_reference:
            yield points
    for bars in axes.collections if not is_derived else ():
        yield from (path.vertices for path in bars.get_paths())
    for bars in axes.containers:
        for bar in bars if isinstance(bars, BarContainer) else ():
            (left, _), (right, top) = bar.get_bbox().get_points()
            yield np.array([(left, top), (right, top)])
    for image in axes.images:
        cells = image.get_array().compressed()
        yield np.c_[np.full(cells.size, np.nan), cells]


@pytest.mark.parametrize("figure", [name for name in FIGURES if name not in FORMULAE])
def test_every_point_is_a_number_of_its_column(figure, tables):
    entry = FIGURES[figure]
    mine = {stem: tables[stem] for stem in entry.tables}
    made = style.drawn(importlib.import_module(entry.module).draw, mine, **entry.options)
    of_rows = [
        tuple(numbers_of(row, columns) for columns in COLUMNS[figure])
        for table in mine.values() for row in table.to_dict("records")
    ]  # fmt: skip
    of_all = [points_of(axes, figure in DERIVED) for axes in made.axes if not axes.get_label()]
    points = np.concatenate([x for x in itertools.chain(*of_all) if len(x) < FORMULA]).round(6)
    points = points[~np.isinf(points).any(axis=1)]
    points[:, [not columns for columns in COLUMNS[figure]]] = np.nan

    def is_known(x, y):
        return any((x in xs or x != x) and (y in ys or y != y) for xs, ys in of_rows)

    assert np.isfinite(points).any()
    assert [point for point in points.tolist() if not is_known(*point)] == []
