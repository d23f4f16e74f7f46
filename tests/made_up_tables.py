"""Made-up result tables for the figures: the columns of the contracts with plausible numbers."""

import itertools

import numpy as np
import pandas as pd

from calbias.beyond.ranking import league_ranking
from calbias.io.table_schema import columns_of
from calbias.summaries.detection_limits import detection_limits
from calbias.truth.paper import BINNED, DETECTION_SIZES, HEATMAP_BINS, MODEL_SIZES

NOISE = {"bin": 1.0, "debias": 0.35, "sweep": 0.5}
CURVE = "logflip_logflip_b0_b1"
MODELS = (
    ("resnet110_c10", "CIFAR-10", 2.7752, 0.0478, CURVE, -0.24, 0.30, 6.1),
    ("resnet110_SD_c10", "CIFAR-10", 2.1714, 0.0394, "logit_logflip_b0_b1", -0.27, -0.35, 6.0),
    ("resnet_wide32_c10", "CIFAR-10", 2.3806, 0.0379, "logit_logit_b1", np.nan, 0.26, 5.8),
    ("densenet40_c10", "CIFAR-10", 1.9824, 0.0397, "logit_logflip_b1", np.nan, -0.26, 6.4),
    ("resnet110_c100", "CIFAR-100", 1.1823, 0.1081, CURVE, -0.11, 0.28, 17.0),
    ("resnet110_SD_c100", "CIFAR-100", 1.1233, 0.1147, "logit_logit_b0_b1", -0.88, 0.49, 14.0),
    ("resnet_wide32_c100", "CIFAR-100", 1.0611, 0.065, CURVE, -0.13, 0.21, 16.0),
    ("densenet40_c100", "CIFAR-100", 1.0805, 0.0808, "logit_logit_b0_b1", -0.97, 0.34, 19.0),
    ("resnet152_imgnet", "ImageNet", 1.1359, 0.2069, CURVE, -0.12, 0.58, 7.0),
    ("densenet161_imgnet", "ImageNet", 1.1928, 0.2206, "log_log_b0_b1", -0.03, 1.27, 5.2),
)
METHODS = ("uncalibrated", "spline_on_half")
CURVES = ["scenario", "alpha", "beta", "curve", "b0", "b1"]
SWEEPS = [
    (f"beta_{a:g}_{b:g}_power_{d:g}", a, b, d)
    for (a, b), d in itertools.product(((1, 1), (1.1, 0.1)), np.linspace(1, 10, 25))
]


def made_up_tables(models=MODELS, estimators=(*BINNED, "kde", "kde_unrooted"), replicates=1000):
    """Return {stem: DataFrame} of every table that a figure reads, for these models."""
    scenarios = _scenarios(models)
    return {
        "models": pd.DataFrame([(*m[:2], 10, "x.p") for m in models],
                               columns=["model", "group", "n_classes", "file"]),
        "scenarios": scenarios,
        "true_calibration_error": scenarios[CURVES].assign(norm=2, tce_percent=10.0),
        "tce_rounding": _frame("tce_rounding", [
            (m[0], m[4], m[7], m[7] - 0.4, m[7] + 0.3, "lowest_aic") for m in models
        ]),
        "bias": _bias(models, estimators, replicates),
        "beta_fits": _beta_fits(models),
        "glm_fits": _glm_fits(models),
        "ece_bin_real_and_simulated": _real_and_simulated(models),
        "estimate_histogram": _histogram(),
        "reliability_diagram": _reliability(),
        "detection": _detection(),
        "detection_limits": detection_limits(_detection()),
        "chosen_bins": _chosen_bins(),
        "recalibration_selection": _selection(models),
        "interval_coverage": _interval_coverage(),
        "predicted_bias": _predicted_bias(models, estimators),
        "league": _league(estimators),
        **{f"league{size}_ranking": _league_ranking(estimators) for size in ("", "_full")},
        "test_power": _test_power(),
        "reliability_bins": _reliability_bins(models),
        "calibration_graphs": _calibration_graphs(models),
        "measures": _measures(models),
        "benchmark": _benchmark(),
    }  # fmt: skip


def _frame(stem, rows):
    """Return rows of a table of the schema, whose columns they have in order."""
    return pd.DataFrame(rows, columns=list(columns_of(stem)))


def _scenarios(models):
    source = "published_fits"
    fixed = [
        ("intro", "beta_2.8_0.05_identity", 2.8, 0.05, "identity", 0.0, 0.0),
        ("bins_by_n", "beta_2.8_0.05_power_2", 2.8, 0.05, "power", 0.0, 2.0),
        ("bins_by_n", "beta_1.1_0.1_power_2", 1.1, 0.1, "power", 0.0, 2.0),
        ("chosen_bins", "beta_1_1_logistic", 1.0, 1.0, "logistic", -5.0, 10.0),
        ("chosen_bins", "beta_1_1_identity", 1.0, 1.0, "identity", 0.0, 0.0),
    ]
    fixed += [("tce_sweep", name, a, b, "power", 0.0, d) for name, a, b, d in SWEEPS]
    rows = [(e, s, np.nan, "synthetic", a, b, c, b0, b1) for e, s, a, b, c, b0, b1 in fixed]
    for experiment in ("realistic", "heatmaps", "perfect"):
        for name, group, alpha, beta, curve, b0, b1, _ in models:
            line = (curve, *np.nan_to_num([b0, b1]))
            line = ("identity", 0.0, 0.0) if experiment == "perfect" else line
            rows.append((experiment, name, group, source, alpha, beta, *line))
    return _frame("scenarios", rows)


def _bias(models, estimators, replicates):
    rows = []

    def add(experiment, scenario, tce, names, bins, sizes):
        for name, n in itertools.product(names, sizes):
            for b in [-1] if "sweep" in name else [np.nan] if "kde" in name else bins:
                rows.append(_bias_row(experiment, scenario, tce, name, b, n, replicates))

    binned = [e for e in estimators if "kde" not in e]
    for name, *_, tce in models:
        add("realistic", name, tce, estimators, [15], MODEL_SIZES)
        add("perfect", name, 0.0, estimators, [15], MODEL_SIZES)
        add("heatmaps", name, tce, binned, HEATMAP_BINS, MODEL_SIZES[:-1])
    for scenario in ("beta_2.8_0.05_power_2", "beta_1.1_0.1_power_2"):
        add("bins_by_n", scenario, 8.0, ["ece_bin_ew"], HEATMAP_BINS, MODEL_SIZES[:-1])
    for scenario, tce in (("beta_1_1_logistic", 12.0), ("beta_1_1_identity", 0.0)):
        add("chosen_bins", scenario, tce, ["ece_bin_em", "ece_sweep_em"], HEATMAP_BINS, MODEL_SIZES)
    for scenario, _, b, d in SWEEPS:
        tce = 5.0 * (d - 1) * (1.1 - 0.25 * (b < 1)) * (1 - 0.04 * (d - 1))
        add("tce_sweep", scenario, tce, ["ece_bin_ew", "ece_sweep_em"], [15], (200, 5000))
    return _frame("bias", rows)


def _bias_row(experiment, scenario, tce, name, n_bins, n, replicates):
    noise = 60.0 * np.sqrt((12 if not n_bins > 0 else n_bins) / 15 / n)
    noise *= NOISE.get(name.split("_")[1], 0.8) if "_" in name else 1.0
    estimate = np.hypot(tce, noise) - (0.3 if name.endswith("_ew") else 0.1)
    if name == "kde_unrooted":
        estimate = tce**2 / 100 + 0.1
    elif name == "kde":
        estimate = tce + 5 - 1000 / n
    sd = 30 / np.sqrt(n)
    se = sd / np.sqrt(replicates)
    bias = estimate - tce
    values = (tce, estimate, bias, se, sd, np.hypot(bias, sd), 9.0)
    return (experiment, scenario, name, n_bins, n, replicates, *values)


def _beta_fits(models):
    rows = [
        (m[0], "surrogate_logits", "exact", 10000, m[2] * 1.1, m[3] * 1.2, -3e4, m[2], m[3])
        for m in models
    ]
    return _frame("beta_fits", rows)


def _glm_fits(models):
    rows = []
    for name, _, _, _, glm, b0, b1, _ in models:
        for row in (
            (glm, b0, b1 * 1.05, 1400.0, 2800.0, 0.0, True, 2810.0, b0, b1),
            ("logit_logit_b0", 1.5, np.nan, 1900.0, 3800.0, 1000.0, False, 3810.0, 1.5, np.nan),
        ):
            parts = row[0].split("_", 2)
            rows.append((name, "surrogate_logits", row[0], *parts, *row[1:]))
    return _frame("glm_fits", rows)


def _real_and_simulated(models):
    rows = []
    for name, *_, tce in models:
        numbers = (tce + 0.5, tce + 0.4, tce + 1.2, 0.03, tce + 0.7, tce + 1.9)
        rows.append((name, "surrogate_logits", "published_fits", *numbers))
    return _frame("ece_bin_real_and_simulated", rows)


def _histogram():
    edges = np.linspace(0, 12, 49)
    middles = (edges[:-1] + edges[1:]) / 2
    counts = np.round(1e6 * np.diff(edges) * np.exp(-(((middles - 4) / 1.6) ** 2) / 2) / 4)
    rows = [
        ("intro", "beta_2.8_0.05_identity", "ece_bin_ew", 200, 10**6, low, high, int(count), 4.1)
        for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True)
    ]
    return _frame("estimate_histogram", rows)


def _reliability():
    n_in_bin = [0, 0, 0, 1, 0, 1, 1, 2, 3, 2, 3, 5, 6, 12, 164]
    rows = []
    for k, n in enumerate(n_in_bin):
        middle = (k + 0.5) / 15
        hit = np.nan if n == 0 else np.round(middle * n) / n
        score = np.nan if n == 0 else middle
        rows.append(("intro", "beta_2.8_0.05_identity", 200, k / 15, (k + 1) / 15, n, score, hit))
    return _frame("reliability_diagram", rows)


def _detection():
    rows = []
    for name, n in itertools.product(("ece_bin_ew", "ece_sweep_em"), DETECTION_SIZES):
        middle = (1.3 if name == "ece_bin_ew" else 0.9) * 120 / np.sqrt(n)
        for tce in np.concatenate([[0], np.geomspace(0.2, 40, 40)]):
            miss = 0.95 / (1 + np.exp(5 * np.log(max(tce, 0.01) / middle)))
            se = np.sqrt(miss * (1 - miss) / 2000)
            rows.append((name, n, 1 + tce / 10, tce, middle, miss, se, 2000, se / 2))
    return _frame("detection", rows)


def _chosen_bins():
    rows = []
    for scenario, tce in (("beta_1_1_logistic", 12.0), ("beta_1_1_identity", 0.0)):
        for n, b in itertools.product(MODEL_SIZES, range(1, 101)):
            estimate = np.sqrt(max(tce**2 - 90 / b**2, 0) + 2500 * b / n)
            chosen = 2.5 * n**0.22 if tce else 1.6 * n**0.22
            rows.append((scenario, n, b, estimate, 20 / np.sqrt(n * 1000), chosen, tce))
    return _frame("chosen_bins", rows)


def _selection(models):
    methods = ("temperature_scaling", "isotonic_regression", "histogram_binning")
    rows = []
    for (k, model), (j, measure) in itertools.product(
        enumerate(models), enumerate(("ece_bin_ew", "ece_sweep_em"))
    ):
        chosen, reference = methods[(k + j) % 3], methods[k * 2 % 3]
        judged = (chosen == reference, 0.1 + 0.1 * k, bool(k % 2), 0.9, 200)
        rows.append((model[0], "surrogate_logits", measure, chosen, reference, *judged))
    return _frame("recalibration_selection", rows)


def _benchmark():
    rows = [
        ("fig4_grid_six_binned", "calbias", "numpy_beta_draw", 254_000_000, 2.0, 11.5, 5.7, 5.1, 6),
        ("fig4_grid_seven", "calbias", "numpy_beta_draw", 254_000_000, 3.1, 11.5, 3.7, 3.3, 4.2),
        ("fig4_grid_six_binned", "numpy", "numpy_beta_draw", 10**6, 20.0, 11.5, 0.6, 0.5, 0.7),
    ]
    return _frame("benchmark", rows)


def _interval_coverage():
    rows = []
    for method, scenario, n in itertools.product(
        ("test_inversion", "percentile_bootstrap"),
        ("uniform_calibrated", "uniform_wave", "saturated_calibrated"),
        (200, 1000),
    ):
        share = 0.95 if method == "test_inversion" else 0.1 + n / 2000
        share = round(share, 2)
        ends = share - 0.05, min(share + 0.04, 1)
        rows.append((method, "l1", scenario, n, 0.95, share, *ends, 0.05, 0.02, 100))
    return _frame("interval_coverage", rows)


def _predicted_bias(models, estimators):
    rows = []
    for (k, model), (j, name), n in itertools.product(
        enumerate(models), enumerate(estimators), MODEL_SIZES
    ):
        bias = 20 * (j + 1) / np.sqrt(n) - k / 5
        rows.append((model[0], name, n, bias, 0.2, bias + 0.1, 0.05, bias - 0.3, 0.4, 6.0, 6.1))
    return _frame("predicted_bias", rows)


def _league(estimators):
    rows = []
    for law, (j, curve), name, n in itertools.product(
        ("saturated", "spread"),
        enumerate(("calibrated", "slope_0.5", "wave")),
        estimators,
        MODEL_SIZES,
    ):
        sd, truth = 1 / np.sqrt(n), 0.02 * j
        share = 1.2 * sd / truth if truth else np.nan
        rows.append((f"{law}_{curve}", name, "l2", n, 60, truth, truth + sd / 2, sd / 2, sd / 8, sd,
                     1.2 * sd, share))  # fmt: skip
    return _frame("league", rows)


def _league_ranking(estimators):
    """Return table ``league_ranking`` of the made-up league."""
    return league_ranking(_league(estimators)) if estimators else _frame("league_ranking", [])


def _test_power():
    tests, scenarios = ("cox_score", "redraw_ks"), ("spread_calibrated", "spread_wave")
    rows = [
        (test, scenario, n, 0.05 + 0.9 * (scenario == "spread_wave"), 0.01, 0.05)
        for test, scenario, n in itertools.product(tests, scenarios, (200, 1000))
    ]
    return _frame("test_power", rows)


def _reliability_bins(models):
    rows = [
        (model[0], "real_scores", method, k / 15, (k + 1) / 15, 10 * k, (k + 0.5) / 15, k / 18)
        for model, method, k in itertools.product(models, METHODS, range(1, 15))
    ]
    return _frame("reliability_bins", rows)


def _calibration_graphs(models):
    rows = [
        (model[0], "real_scores", method, t, t, t**2 / 2, t**2 / 2.2, 0.01, 0.9 * t)
        for model, method, t in itertools.product(models, METHODS, np.linspace(0.1, 1, 10))
    ]
    return _frame("calibration_graphs", rows)


def _measures(models):
    rows = [
        (model[0], "real_scores", method, "ks_top1", 0.05, 5, 4, 6, 5.1, "x", "")
        for model, method in itertools.product(models, METHODS)
    ]
    return _frame("measures", rows)
