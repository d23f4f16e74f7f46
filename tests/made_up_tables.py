"""Made-up result tables: the columns of the contracts with plausible numbers."""

import itertools
from functools import cache

import numpy as np
import pandas as pd
from checkout import ROOT, TABLE_2, TABLE_3

from evidence.studies.ranking import league_ranking
from pipeline.detection_limits import detection_limits
from pipeline.scenarios.paper import (
    BINNED,
    DETECTION_SIZES,
    HEATMAP_BINS,
    HEATMAP_SIZES,
    MODEL_SIZES,
)
from pipeline.tables.schema import columns_of
from reproduction.figures.errors_by_rank import COLUMNS as GRAPHS


def _models():
    """Return the paper's models with their printed fits, and made-up true errors."""
    fits = pd.read_csv(TABLE_3).rename(columns={"glm": "curve"})
    best = fits.loc[fits.groupby("model")["aic"].idxmin(), ["model", "curve", "b0", "b1"]]
    models = pd.read_csv(ROOT / "config/models.csv").merge(pd.read_csv(TABLE_2)).merge(best)
    return models.assign(tce_percent=6.1 + np.arange(len(models)))


MODELS = _models()
METHODS = ["uncalibrated", "spline_on_half"]
CHOSEN_BINS = ["beta_1_1_logistic", "beta_1_1_identity"]
BINS_BY_N = ["beta_2.8_0.05_power_2", "beta_1.1_0.1_power_2"]
INTRO = {"experiment": "intro", "scenario": "beta_2.8_0.05_identity", "n_samples": 200}
SWEEPS = [
    (f"beta_{a:g}_{b:g}_power_{d:g}", a, b, d)
    for (a, b), d in itertools.product(((1, 1), (1.1, 0.1)), np.linspace(1, 10, 25))
]


def contracted(stem, rows, **values):
    """Return the rows with more columns, those of a table of the schema; NaN where none is given.

    A value is that of all rows, an array, or a function of the columns before it.
    """
    return rows.assign(**values).reindex(columns=list(columns_of(stem)))


def crossed(stem, keys, **values):
    """Return a table of the schema, a row for every combination of ``keys``, {column: values}."""
    rows = pd.DataFrame(itertools.product(*keys.values()), columns=list(keys))
    return contracted(stem, rows, **values)


def filled(table):
    """Return the table with numbers from 1 to 2 in the columns without any."""
    empty = [name for name in table if table[name].isna().all()]
    return table.assign(**dict.fromkeys(empty, np.linspace(1, 2, len(table))))


def made_up_tables(models=MODELS, estimators=(*BINNED, "kde", "kde_unrooted"), replicates=1000):
    """Return {stem: DataFrame} of every table that a figure reads, for these models."""
    scenarios, (league, ranking) = _scenarios(models), _league(tuple(estimators))
    detection, limits = _detection()
    of_methods = {"model": models["model"], "source": ["real_scores"], "method": METHODS}
    return {
        "models": models[["model", "group", "n_classes", "file"]],
        "scenarios": scenarios,
        "true_calibration_error": contracted(
            "true_calibration_error", scenarios, norm=2, tce_percent=10.0
        ),
        "tce_rounding": contracted(
            "tce_rounding", models, scenario=models["model"], parameters="lowest_aic",
            low_percent=models["tce_percent"] - 0.4, high_percent=models["tce_percent"] + 0.3,
        ),
        "bias": _bias(models, estimators, replicates),
        "beta_fits": contracted(
            "beta_fits", models, source="real_logits", softmax="exact", n_samples=10000,
            published_alpha=1.1 * models["alpha"], published_beta=1.2 * models["beta"],
        ),
        "glm_fits": _glm_fits(models),
        "ece_bin_real_and_simulated": filled(contracted(
            "ece_bin_real_and_simulated", models, source="real_logits",
            simulated_source="published_fits",
        )),
        "estimate_histogram": _histogram(),
        "reliability_diagram": _reliability(),
        "detection": detection.copy(),
        "detection_limits": limits.copy(),
        "chosen_bins": filled(crossed("chosen_bins", {
            "scenario": CHOSEN_BINS, "n_samples": MODEL_SIZES, "n_bins": range(1, 101),
        })),
        "recalibration_selection": _selection(models),
        "interval_coverage": _interval_coverage(),
        "predicted_bias": filled(crossed(
            "predicted_bias",
            {"model": models["model"], "estimator": estimators, "n_samples": MODEL_SIZES},
        )),
        "leaderboard": filled(crossed(
            "leaderboard",
            {"model": ["falcon_7b", "mine"], "dataset": ["arc", "other"], "n_samples": [100, 300]},
            n_questions=2000,
        )),
        "subjects": filled(crossed(
            "subjects", {"model": ["mine", "other"], "stage": ["as given", "recalibrated"]},
            n_subjects=14, n_wrong_subjects=2, worst_subject="law", whole_is_miscalibrated=False,
        )),
        "league": league.copy(),
        "multiclass_league": _multiclass_league(estimators),
        "multiclass_league_full": _multiclass_league(estimators),
        "league_ranking": ranking.copy(),
        "league_full_ranking": ranking.copy(),
        "test_power": crossed(
            "test_power",
            {"test": ["cox_score", "redraw_ks"], "scenario": ["spread_calibrated", "spread_wave"],
             "n_samples": [200, 1000]},
            rejection_rate=lambda t: 0.05 + 0.9 * (t["scenario"] == "spread_wave"), level=0.05,
            n_replicates=60,
        ),
        "reliability_bins": crossed(
            "reliability_bins", {**of_methods, "n_in_bin": range(10, 150, 10)},
            low=lambda t: t["n_in_bin"] / 150, high=lambda t: t["low"] + 1 / 15,
            mean_score=lambda t: t["low"] + 1 / 30, mean_hit=lambda t: t["low"] * 15 / 18,
        ),
        "calibration_graphs": filled(
            crossed("calibration_graphs", {
                **of_methods, "method": ["uncalibrated", "spline"], "fold": ["validation", "test"],
                "measure": [*GRAPHS], "fractile": np.linspace(0.1, 1, 10),
            })
        ),
        "measures": crossed(
            "measures", {**of_methods, "measure": ["ks_top1"]}, value=0.05, value_percent=5,
            low_percent=4, high_percent=6, published_percent=5.1, published_source="x", needs="",
        ),
        "benchmark": _benchmark(),
    }  # fmt: skip


def _scenarios(models):
    fixed = [
        ("intro", "beta_2.8_0.05_identity", 2.8, 0.05, "identity", 0.0, 0.0),
        ("bins_by_n", BINS_BY_N[0], 2.8, 0.05, "power", 0.0, 2.0),
        ("bins_by_n", BINS_BY_N[1], 1.1, 0.1, "power", 0.0, 2.0),
        ("chosen_bins", "beta_1_1_logistic", 1.0, 1.0, "logistic", -5.0, 10.0),
        ("chosen_bins", "beta_1_1_identity", 1.0, 1.0, "identity", 0.0, 0.0),
        *(("tce_sweep", name, a, b, "power", 0.0, d) for name, a, b, d in SWEEPS),
    ]
    columns = ["experiment", "scenario", "alpha", "beta", "curve", "b0", "b1"]
    synthetic = pd.DataFrame(fixed, columns=columns).assign(source="synthetic")
    fits = models.rename(columns={"model": "scenario"}).fillna({"b0": 0.0})
    fits = fits.assign(source="published_fits")
    perfect = fits.assign(experiment="perfect", curve="identity", b0=0.0, b1=0.0)
    fitted = [fits.assign(experiment=name) for name in ("fits", "realistic", "heatmaps")]
    return contracted("scenarios", pd.concat([synthetic, *fitted, perfect], ignore_index=True))


def _bias(models, estimators, replicates):
    """Return estimates that are too high by what falls with n; those of a KDE are far off."""
    tces = dict(zip(models["model"], models["tce_percent"], strict=True))
    perfect, power = dict.fromkeys(tces, 0.0), dict.fromkeys(BINS_BY_N, 8.0)
    chosen = dict(zip(CHOSEN_BINS, (12.0, 0.0), strict=True))
    of_sweep = {scenario: 4.0 * (d - 1) for scenario, *_, d in SWEEPS}
    binned = [name for name in estimators if "kde" not in name]
    ew, em, sweep = "ece_bin_ew", "ece_bin_em", "ece_sweep_em"
    parts = [
        ("realistic", tces, estimators, [15], MODEL_SIZES),
        ("perfect", perfect, estimators, [15], MODEL_SIZES),
        ("heatmaps", tces, binned, HEATMAP_BINS, HEATMAP_SIZES),
        ("bins_by_n", power, [ew], HEATMAP_BINS, HEATMAP_SIZES),
        ("chosen_bins", chosen, [em, sweep], HEATMAP_BINS, MODEL_SIZES),
        ("tce_sweep", of_sweep, [ew, sweep], [15], (200, 5000)),
    ]
    rows = [
        (experiment, scenario, tce, name, b, n)
        for experiment, errors, names, bins, sizes in parts
        for (scenario, tce), name, n in itertools.product(errors.items(), names, sizes)
        for b in ([-1] if "sweep" in name else [np.nan] if "kde" in name else bins)
    ]
    columns = ["experiment", "scenario", "tce_percent", "estimator", "n_bins", "n_samples"]
    table = pd.DataFrame(rows, columns=columns)
    noise = 60 * np.sqrt(table["n_bins"].where(table["n_bins"] > 0, 12) / 15 / table["n_samples"])
    kde = 20 * table["estimator"].str.startswith("kde")
    return contracted(
        "bias", table, n_replicates=replicates, bias_percent=noise + kde, mean_n_bins_used=9.0,
        mean_estimate_percent=lambda t: t["tce_percent"] + t["bias_percent"],
        sd_percent=lambda t: 30 / np.sqrt(t["n_samples"]), bias_se_percent=0.1,
    )  # fmt: skip


def _glm_fits(models):
    best = models.assign(glm=models["curve"], delta_aic=0.0)
    worse = models.assign(glm="logit_logit_b0", b0=1.5, b1=np.nan, delta_aic=1000.0)
    fits = pd.concat([best, worse], ignore_index=True)
    fits[["link", "transform", "terms"]] = fits["glm"].str.split("_", n=2, expand=True)
    return contracted(
        "glm_fits", fits, source="real_logits", selected=fits["delta_aic"] == 0,
        aic=2800 + fits["delta_aic"], published_aic=2810 + fits["delta_aic"],
        published_b0=fits["b0"], published_b1=fits["b1"],
    )  # fmt: skip


def _histogram():
    edges = np.linspace(0, 12, 49)
    middles = (edges[:-1] + edges[1:]) / 2
    counts = 1e6 * np.diff(edges) * np.exp(-(((middles - 4) / 1.6) ** 2) / 2) / 4
    rows = pd.DataFrame({"low_percent": edges[:-1], "high_percent": edges[1:]}).assign(**INTRO)
    return contracted(
        "estimate_histogram", rows, estimator="ece_bin_ew", n_replicates=10**6,
        count=counts.round().astype(int), mean_estimate_percent=4.1,
    )  # fmt: skip


def _reliability():
    rows = pd.DataFrame({"n_in_bin": [0, 0, 0, 1, 0, 1, 1, 2, 3, 2, 3, 5, 6, 12, 164]})
    n, middle = rows["n_in_bin"], (rows.index + 0.5) / 15
    return contracted(
        "reliability_diagram", rows.assign(**INTRO), low=middle - 1 / 30, high=middle + 1 / 30,
        mean_score=np.where(n > 0, middle, np.nan), mean_hit=(middle * n).round() / n,
    )  # fmt: skip


@cache
def _detection():
    """Return tables ``detection`` and ``detection_limits``."""
    keys = {
        "estimator": ["ece_bin_ew", "ece_sweep_em"],
        "n_samples": DETECTION_SIZES,
        "tce_percent": [0, *np.geomspace(0.2, 40, 40)],
    }
    table = crossed(
        "detection", keys, n_replicates=2000, exponent=lambda t: 1 + t["tce_percent"] / 10,
        threshold_percent=lambda t: 150 / np.sqrt(t["n_samples"]),
        miss_rate=lambda t: 0.95 / (1 + (t["tce_percent"] / t["threshold_percent"]) ** 5),
        miss_rate_se=lambda t: np.sqrt(t["miss_rate"] * (1 - t["miss_rate"]) / 2000),
        miss_rate_threshold_se=lambda t: t["miss_rate_se"] / 2,
    )  # fmt: skip
    return table, detection_limits(table)


def _selection(models):
    methods = np.array(["temperature_scaling", "isotonic_regression", "histogram_binning"])
    keys = {"model": models["model"], "measure": ["ece_bin_ew", "ece_sweep_em"]}
    k, j = np.divmod(np.arange(2 * len(models)), 2)
    return crossed(
        "recalibration_selection", keys, source="real_logits",
        selected_method=methods[(k + j) % 3], reference_method=methods[2 * k % 3],
        agrees=lambda t: t["selected_method"] == t["reference_method"],
        agreement_frequency=0.1 + 0.1 * k, published_agrees=k % 2 > 0, selected_frequency=0.9,
        n_resamples=200,
    )  # fmt: skip


def _benchmark():
    rows = [
        ("fig4_grid_six_binned", "calbias", "numpy_beta_draw", 254_000_000, 2.0, 11.5, 5.7, 5.1, 6),
        ("fig4_grid_seven", "calbias", "numpy_beta_draw", 254_000_000, 3.1, 11.5, 3.7, 3.3, 4.2),
        ("fig4_grid_six_binned", "numpy", "numpy_beta_draw", 10**6, 20.0, 11.5, 0.6, 0.5, 0.7),
    ]
    return pd.DataFrame(rows, columns=list(columns_of("benchmark")))


def _interval_coverage():
    keys = {
        "method": ["calbias", "percentile_bootstrap"],
        "target": ["l1"],
        "scenario": ["uniform_calibrated", "uniform_wave", "saturated_calibrated"],
        "n_samples": [200, 1000],
    }
    return crossed(
        "interval_coverage", keys, nominal=0.95, n_data_sets=100, mean_length=0.05, truth=0.02,
        found_by_verdict=0.8,
        coverage=lambda t: np.where(t["method"] == "calbias", 0.95, t["n_samples"] / 2000),
        low=lambda t: t["coverage"] - 0.05, high=lambda t: (t["coverage"] + 0.04).clip(upper=1),
    )  # fmt: skip


def _multiclass_league(estimators):
    keys = {"population": ["dirichlet_3", "mine"], "map": ["calibrated", "temperature"],
            "estimator": estimators, "n_samples": [1000, 10000]}  # fmt: skip
    return crossed(
        "multiclass_league", keys, target="classwise_l1", n_classes=3, n_replicates=10,
        scenario=lambda t: t["population"] + "_" + t["map"],
        truth=lambda t: 0.01 * (t["map"] != "calibrated"), rmse=0.004, mean_estimate=0.012,
        relative_rmse=lambda t: t["rmse"] / t["truth"].where(t["truth"] > 0),
    )  # fmt: skip


@cache
def _league(estimators):
    """Return tables ``league`` and ``league_ranking``."""
    curves = {"calibrated": 0.0, "slope_0.5": 0.02, "wave": 0.04}
    truths = {f"{law}_{x}": truth for law in ("saturated", "spread") for x, truth in curves.items()}
    keys = {"scenario": truths, "estimator": estimators, "n_samples": MODEL_SIZES}
    table = crossed(
        "league", keys, target="l2", n_replicates=60, truth=lambda t: t["scenario"].map(truths),
        sd=lambda t: 1 / np.sqrt(t["n_samples"]), bias=lambda t: t["sd"] / 2,
        bias_se=lambda t: t["sd"] / 8, mean_estimate=lambda t: t["truth"] + t["bias"],
        rmse=lambda t: 1.2 * t["sd"],
        relative_rmse=lambda t: t["rmse"] / t["truth"].where(t["truth"] > 0),
    )  # fmt: skip
    ranking = league_ranking(table) if estimators else crossed("league_ranking", {"rank": []})
    return table, ranking
