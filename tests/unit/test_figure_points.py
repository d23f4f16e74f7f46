"""Every point, bar and cell of a figure is a number of its tables, from one row of them."""

import importlib
import itertools
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from command import crossed
from drawn_facts import facts
from matplotlib.collections import Collection, PolyCollection
from matplotlib.container import BarContainer

from evidence.figures.league import HIGH, LOW
from pipeline import catalogue
from pipeline.detection_limits import detection_limits
from pipeline.figures import labels, style
from pipeline.paper import DETECTION_SIZES
from pipeline.table_schema import columns_of, read_yaml
from reproduction.figures import bias_by_n, fig3_fits, gupta_graphs, worst_cells

FIGURES = catalogue.figures()
DRAWN = read_yaml(Path(__file__).with_name("figures_drawn.yaml"))
"""Facts of figures on the tables below. Where one changes, compare it with the picture."""
SIZES, TWO = [200, 1000], ["ece_bin_ew", "ece_sweep_em"]
MODELS = ["resnet110_c10", "resnet_wide32_c100", "resnet152_imgnet"]
PAPERS = ["widmann2019", "arrieta2022", "tcal2023", "henzi2023"]
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
CONSTANT = {
    "source": "real_logits", "simulated_source": "simulation", "curve": "power", "b0": 0.0,
    "b1": 2.0, "beta": 0.7, "norm": 2, "glm": "logit_logit_b0_b1", "selected": True,
    "n_replicates": 1000, "n_data_sets": 100, "n_streams": 100, "nominal": 0.95, "target": "l1",
    "cumulative_score": 0.0, "null_sd": 0.01 / gupta_graphs.NULL_95, "information_limit": np.nan,
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
    **dict.fromkeys(PAPERS, ("", "recomputed printed z")),
    "subgroup_cells": ("rejection_rate coverage", ""),
    "subgroups": ("", f"{GAPS} worst_low_percent worst_high_percent worst_noise_floor_percent"),
    "test_power": ("rejection_rate", ""),
}  # fmt: skip
N_DRAWN = {  # such as 3 models × 2 estimators × 2 sizes and the sizes
    **{name: 10 for name in FIGURES if "_bias_" in name or "_sd_" in name},
    **{name: 23 for name in FIGURES if "gupta" in name},
    **dict.fromkeys(["fig2b_bins_by_n", "fig4_realistic", "fig6_perfect", "fig1_intro"], 14),
    **dict.fromkeys(["fig3_fits", "guo_fig4_recalibrated"], 12),
    **dict.fromkeys(["guo_fig1_confidence", "predicted_bias"], 18),
    **dict.fromkeys(["errors_by_rank", "subgroups"], 30),
    **dict.fromkeys(["league_errors", "league_full_errors"], 6),
    **dict.fromkeys(["multiclass_league", "multiclass_league_full"], 2),
    "fig5_detection": 48, "fig13_tce_sweep": 36, "fig14_chosen_bins": 27, "interval_coverage": 51,
    "leaderboard": 24, "monitor": 10, "blind_cells": 24, "subgroup_cells": 16, "test_power": 8,
    "widmann2019": 8, "arrieta2022": 10,
}  # fmt: skip
"""How many different numbers of these columns a figure shows, of the tables below."""
FORMULAE = {"fig2a_curves", "table1_recalibration"}  # or words: what these draw is no number
DERIVED = {
    **dict.fromkeys(["fig1_intro", "guo_fig1_confidence", "guo_fig4_recalibrated", "monitor",
                     "subgroup_cells"], Collection),
    **dict.fromkeys(["fig5_detection", *PAPERS], PolyCollection),
}  # fmt: skip
"""Figures whose bars are exact ranges, or whose areas are interpolated."""
LIKE_OTHERS = ("fig6", "fig8", "fig9", "fig11", "fig12", "league_full", "multiclass_league_full",
               "gupta_fig1", "gupta_fig5", "gupta_fig7", "gupta_fig9", "tcal", "henzi")  # fmt: skip
ALIKE = {name for name in FIGURES if name.startswith(LIKE_OTHERS)}
"""Figures that the draw function of another one draws, of other rows."""
EXTRA = {0.0, 0.01, 1.0, -1.0, 100.0}  # ends of axes, shares of one bin, and null_sd times NULL_95
FORMULA = 200  # points from which a line is a formula's


def bias_rows():
    """Return the keys of table ``bias``: several experiments, with and without bins."""
    rows = [
        *itertools.product(["realistic", "perfect", "tce_sweep"], MODELS, TWO, [15], SIZES),
        *itertools.product(["bins_by_n"], MODELS, TWO[:1], [4, 8], SIZES),
        *itertools.product(["heatmaps"], MODELS, TWO[:1], [4, 8, 16], SIZES),
        *itertools.product(["heatmaps"], MODELS, ["ece_debias_em"], [8], SIZES),
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
        if column == "alpha":
            drawn = table.get("scenario", table.get("model")).map(
                dict(zip(MODELS, (1.5, 2.5, 3.5), strict=True))
            )
        whole = column.startswith(("n_", "alarms"))
        table[column] = CONSTANT.get(column, drawn.round() if whole else drawn)
    return table


@pytest.fixture(scope="module")
def tables():
    generator = np.random.default_rng(5)
    stems = dict.fromkeys(stem for name in COLUMNS for stem in FIGURES[name].tables)
    tables = {stem: table_of(stem, generator) for stem in stems if stem != "models"}
    return tables | {"models": pd.DataFrame({"model": MODELS, "group": MODELS})}


TITLES = {  # what a panel's title calls the rows that it shows
    "estimator": {"ece_bin_ew": "ECE bin, equal width", "ece_sweep_em": "ECE sweep, equal mass"},
    "scenario": {model: f"Beta({k + 1.5:g}, 0.7)" for k, model in enumerate(MODELS)},
    "n_samples": {n: f"n = {n}" for n in SIZES},
    "dataset": {"arc": "ARC", "mmlu": "MMLU"},
    "distribution": {"saturated": "Saturated", "spread": "Spread", "tied": "Tied"},
    "measure": {
        "ks_top1": " top class ", "ks_top2": "second class", "ks_top3": "third class",
        "ks_within_top2": "two top classes", "ks_within_top3": "three top classes",
    },
    "calibrated": {True: "Calibrated cells", False: "Cells with a fault"},
    "method": {"calbias": "ℓ1 error", "calbias_l2": "ℓ2 error", "spline": "spline"},
    **{column: {model: model for model in MODELS} for column in ("group", "model")},
}  # fmt: skip


def is_shown(row, title):
    """Return whether a panel of this title is about a row, or does not say."""
    said = [
        column
        for column, words in TITLES.items()
        if column in row and any(word in f" {title} " for word in words.values())
    ]
    return all(TITLES[column].get(row[column], "?") in f" {title} " for column in said)


def numbers_of(row, columns):
    """Return the numbers of a row, also in percent, and two standard errors beside each."""
    errors = [row[x] for x in row if x.endswith(("_se", "_se_percent"))]
    numbers = [row[x] for x in columns.split() if x in row]
    numbers += [x + 2 * sign * s for x in numbers for s in errors for sign in (-1, 1)]
    return EXTRA | {round(float(x) * scale, 6) for x in numbers for scale in (1, 100)}


def points_of(axes, derived):
    """Yield the points (k, 2) that are drawn, without references; NaN along a line across all."""
    for line in axes.lines:
        is_reference = line.get_color() == style.REFERENCE["color"] or line.get_marker() == "*"
        points = line.get_xydata().astype(float)
        if line.get_transform() is not axes.transData:
            points[:, 1 if points[0, 0] == points[-1, 0] else 0] = np.nan
        if not is_reference:
            yield points
    for bars in axes.collections:
        if not isinstance(bars, derived):
            yield from (path.vertices for path in bars.get_paths())
    for bars in axes.containers:
        for bar in bars if isinstance(bars, BarContainer) else ():
            (left, _), (right, top) = bar.get_bbox().get_points()
            yield np.array([(left, top), (right, top)])
    for image in axes.images:
        cells = image.get_array().compressed()
        yield np.c_[np.full(cells.size, np.nan), cells]


def drawn(figure, tables):
    entry = FIGURES[figure]
    mine = {stem: tables[stem] for stem in entry.tables}
    return style.drawn(importlib.import_module(entry.module).draw, mine, **entry.options)


def words_of(made):
    return [text.get_text() for text in made.findobj(lambda artist: hasattr(artist, "get_text"))]


@pytest.mark.parametrize("figure", [name for name in FIGURES if name not in FORMULAE | ALIKE])
def test_every_point_is_a_number_of_its_column(figure, tables):
    mine = {stem: tables[stem] for stem in FIGURES[figure].tables}
    made = drawn(figure, mine)
    rows = [row for table in mine.values() for row in table.to_dict("records")]
    numbers = [[numbers_of(row, columns) for columns in COLUMNS[figure]] for row in rows]
    shown, wrong = set(), []
    for axes in (axes for axes in made.axes if not axes.get_label()):
        title = axes.get_title("left")
        known = [xy for row, xy in zip(rows, numbers, strict=True) if is_shown(row, title)]
        lines = points_of(axes, DERIVED.get(figure, ()))
        for point in itertools.chain(*(x.round(6).tolist() for x in lines if len(x) < FORMULA)):
            asked = [(value, k) for k, value in enumerate(point) if COLUMNS[figure][k]]
            asked = [(value, k) for value, k in asked if np.isfinite(value)]
            shown |= set(asked)
            if not any(all(value in xy[k] for value, k in asked) for xy in known):
                wrong.append((title, point))
    assert wrong == []
    values = ({(round(float(row[x]) * s, 6), k) for x in xs.split() if x in row for s in (1, 100)}
              for row in rows for k, xs in enumerate(COLUMNS[figure]))  # fmt: skip
    assert len(shown & set().union(*values)) == N_DRAWN[figure]
    assert facts(made) == DRAWN[figure]


def of_models(tables, *groups):
    """The rows of the first model, once for each of these groups."""
    rows = {name: tables[name].query("scenario == @MODELS[0]") for name in ("bias", "scenarios")}
    return {
        name: pd.concat(
            of_one.assign(scenario=f"model {k}", **{"group": group} if "group" in of_one else {})
            for k, group in enumerate(groups)
        )
        for name, of_one in rows.items()
    }


def test_figure_4_gives_a_users_group_a_panel_and_wraps_after_three(tables):
    groups = [f"group {k}" for k in range(4)]
    mine = of_models(tables, *groups)
    made = changed("fig4_realistic", mine, protagonists=TWO[1:])
    assert facts(made) == DRAWN["fig4 of four groups"]
    assert [axes.get_title("left") for axes in made.axes if axes.get_title("left")][:4] == groups


def test_figure_4_shows_a_kde_that_is_far_off_in_a_panel_below(tables):
    parts = of_models(tables, "mine", "mine")
    bias = (
        parts["bias"]
        .replace("ece_sweep_em", "kde")
        .assign(bias_percent=lambda t: 2.0 + 20 * (t["estimator"] == "kde"))
        .assign(n_bins=lambda t: t["n_bins"].where(t["estimator"] != "kde"))
    )
    for names, n_panels in ((["ece_bin_ew"], 1), (["ece_bin_ew", "kde"], 2)):
        few = {**parts, "bias": bias[bias["estimator"].isin(names)]}
        made = drawn("fig4_realistic", few)
        assert len(made.axes) == n_panels
        assert facts(made) == DRAWN[f"fig4 of {' and '.join(names)}"]


def test_names_and_numbers_in_words():
    names = ["ece_label_binned", "kde", "ece_debias_em", "my_own_ew"]
    words = ["ECE label-binned", "KDE", "ECE debias, equal mass", "my own, equal width"]
    assert list(map(labels.estimator_label, names)) == words
    assert [labels.span(x) for x in ([200, 200], [3000, 200])] == ["200", "200–3\u2009000"]
    assert labels.curve_label("identity") == "$T(c) = c$"
    assert labels.curve_label("logit_logit_b1", 2.0) == "$T(c)$ logit logit b1"
    assert labels.curve_label("power", 2.0) == "$T(c) = c^{2}$"
    assert labels.distribution_label(1, 1) == "Uniform(0, 1)"
    assert labels.distribution_label(1, 0.5) == "Beta(1, 0.5)"


def test_bands_of_fig5_end_where_the_table_says():
    """Between the bands of miss rates beside a target runs that target's line."""
    tces = [0, *np.geomspace(0.2, 40, 40)]
    keys = {"estimator": ["ece_bin_ew", "ece_sweep_em"], "n_samples": DETECTION_SIZES}
    table = crossed(
        "detection", {**keys, "tce_percent": tces}, n_replicates=2000,
        exponent=lambda t: 1 + t["tce_percent"] / 10,
        threshold_percent=lambda t: 150 / np.sqrt(t["n_samples"]),
        miss_rate=lambda t: np.where(  # 0.2 % at the end, which is no longer shown
            t["tce_percent"] > 39, 0.002,
            0.95 / (1 + (t["tce_percent"] / t["threshold_percent"]) ** 5),
        ),
        miss_rate_se=0.005, miss_rate_threshold_se=0.002,
    )  # fmt: skip
    limits = detection_limits(table)
    made = drawn("fig5_detection", {"detection": table, "detection_limits": limits})
    assert facts(made) == DRAWN["fig5 with bands"]
    _, _, *maps = made.axes[:4]
    for axes, (_, of_one) in zip(maps, limits.groupby("estimator"), strict=True):
        bands = [area.get_paths()[0].vertices for area in axes.collections if area.get_paths()]
        corners = {tuple(np.round(point, 6)) for band in bands for point in band}
        for row in of_one.dropna(subset="tce_percent").itertuples():
            assert (round(row.tce_percent, 6), float(row.n_samples)) in corners


def test_power_figure_groups_tests_and_prints_every_rate():
    names = ["verdict", "cox_score", "redraw_ks", "my_test", "other_test"]
    keys = {"test": names, "scenario": ["spread_calibrated", "spread_wave"], "n_samples": [50, 200]}
    wave = {"rejection_rate": lambda t: 0.05 + 0.9 * (t["scenario"] == "spread_wave")}
    table = crossed("test_power", keys, level=0.05, n_replicates=60, **wave)
    # above my_test by its power at n = 50; its sizes are 5 and 16 %, which ends the axis
    table.loc[table["test"] == "other_test", "rejection_rate"] = [0.05, 0.16, 0.99, 0.1]
    made = drawn("test_power", {"test_power": table})
    assert facts(made) == DRAWN["test_power with several tests"]
    words = words_of(made)
    named = ["Verdict of an audit", "Cox, score test", "KS (ECCE-MAD)", "other test", "my test"]
    assert list(dict.fromkeys(word for word in words if word in named)) == named
    assert {"several at once", "level and line", "sums along the scores", "others"} <= set(words)
    cells = [text.get_text() for axes in made.axes for text in axes.texts]
    assert cells.count("95") == 8


@pytest.mark.parametrize(
    ("kde", "limits"),
    [
        *(([4.9], (-2.345, 5.245)), ([-2.9], (-3.245, 4.345))),  # within a tenth of the range
        *(([5.0], (-2.3, 4.3)), ([-3.0], (-2.3, 4.3)), ([], (-2.3, 4.3))),
    ],
)
def test_the_range_of_figure_4_is_that_of_the_binned_estimators(kde, limits):
    """−2 to 4 with a margin of 0.3; a KDE up to 0.66 beyond these ends widens it."""
    names = [*["ece_bin_em"] * 2, *["kde"] * len(kde)]
    means = pd.DataFrame({"estimator": names, "bias_percent": [-2.0, 4.0, *kde]})
    assert bias_by_n.upper_limits(means) == pytest.approx(limits)


def test_graphs_are_of_the_first_model_with_a_spline():
    methods = ["bbq", "uncalibrated", "spline"]
    table = pd.DataFrame({"model": ["a", "a", "b"], "source": "real_logits", "method": methods})
    assert [gupta_graphs._shown(rows) for rows in (table, table[:2])] == ["b", "a"]


def test_the_range_of_figure_4_of_a_kde_alone_and_of_no_bias():
    means = pd.DataFrame({"estimator": ["kde", "kde_unrooted"], "bias_percent": [3.0, 20.0]})
    assert bias_by_n.upper_limits(means) == (-1, 21)
    assert bias_by_n.upper_limits(means.assign(bias_percent=0.0)) == (-1, 1)


def test_models_of_figure_3_look_alike_by_group_and_architecture():
    names = ["resnet110_c10", "wide_c10", "resnet110_c100", "wide_c100", "mine"]
    models = pd.DataFrame({"model": names, "group": ["a", "a", "b", "b", None]})
    looks = fig3_fits.looks(models)
    colours, lines, markers = (
        [look[name] for look in looks.values()] for name in ("color", "linestyle", "marker")
    )
    assert colours == [style.group_colour(k) for k in (0, 0, 1, 1, -1)]
    assert lines == [style.line_style(k) for k in (0, 1, 0, 1, 2)]
    assert markers == [style.SIZE_MARKERS[k] for k in (0, 1, 0, 1, 2)]
    several = fig3_fits.looks(models.assign(group="a"))  # of one group: each its own colour
    assert len({look["color"] for look in several.values()}) == 5
    assert {look["linestyle"] for look in several.values()} == {style.line_style(0)}


def densities():
    """Two distributions that share a curve, one of them without its TCE in ℓ2."""
    table = crossed(
        "scenarios", {"experiment": ["bins_by_n"], "scenario": ["a", "b"]}, alpha=[2.0, 1.0],
        beta=[1.0, 1.0], curve="power", b0=0.0, b1=2.0,
    )  # fmt: skip
    other = table[:1].assign(experiment="intro", alpha=9.0)
    keys = {"scenario": ["a", "b"], "norm": [1, 2]}
    tces = crossed("true_calibration_error", keys, curve="power", tce_percent=[1, 2, 3, np.nan])
    return {"scenarios": pd.concat([table, other]), "true_calibration_error": tces}


def selections():
    """A model of the paper and two others, one of no group; the first measure agrees on one."""
    keys = {"model": ["mine", MODELS[0], "own"], "measure": TWO}
    table = crossed(
        "recalibration_selection", keys, source="real_logits", selected_method="temperature",
        reference_method=["bbq", "bbq", "spline", "spline", "bbq", "bbq"],
        agrees=[True, False, False, False, True, True],
        published_agrees=[None, None, True, False, None, None], agreement_frequency=0.25,
    )  # fmt: skip
    models = pd.DataFrame({"model": [MODELS[0], "own"], "group": ["CIFAR-10", "own"]})
    return {"recalibration_selection": table, "models": models}


def worst():
    """Two cells; the second has one estimator, and the curve c²."""
    table = pd.DataFrame({
        "scenario": "a", "experiment": "x", "n_samples": 200, "alpha": 1.0, "beta": 1.0,
        "curve": "power", "b0": 0.0, "b1": [1.0, 1.0, 2.0], "tce_percent": [0.0, 0.0, 12.0],
        "estimator": [*TWO, TWO[0]], "mean_estimate_percent": [1.0, 2.0, 3.0],
        "sd_percent": [0.5, 0.25, 1.0],
    })  # fmt: skip
    return worst_cells.draw([table[:2], table[2:]], TWO[1:])


def changed(figure, tables, stem=None, of=None, **options):
    """Draw a figure on the tables with a change of one."""
    mine = {name: tables[name] for name in FIGURES[figure].tables}
    mine |= {stem: of(mine[stem])} if stem else {}
    module = importlib.import_module(FIGURES[figure].module)
    return style.drawn(module.draw, mine, **(FIGURES[figure].options | options))


VARIANTS = {
    "densities of two distributions": lambda t: drawn("fig2a_curves", densities()),
    "selections of three models": lambda t: drawn("table1_recalibration", selections()),
    "worst cells": lambda t: style.drawn(lambda tables: worst(), {}),
    "fig5 of one size and no type I rates": lambda t: changed(
        "fig5_detection", t | {"detection_limits": t["detection_limits"].assign(type_1_rate=None)},
        "detection", lambda d: d[(d["n_samples"] == 200) & (d["tce_percent"] < 2)],
    ),
    "fig5 with the paper's points at its ends": lambda t: changed(
        "fig5_detection", t, "detection",
        lambda d: d.assign(n_samples=d["n_samples"].map({200: 500, 1000: 10_000}),
                           tce_percent=np.resize([2.0, 3.0, 4.0, 10.0], len(d))),
        protagonists=TWO[1:],
    ),
    "fig1 of one estimator with an empty bin": lambda t: changed(
        "fig1_intro",
        t | {"reliability_diagram": t["reliability_diagram"].assign(n_in_bin=[30, 0, 50])},
        "estimate_histogram",
        lambda d: pd.concat([d[:1]] * 3).assign(low_percent=[2.0, 0.0, 1.0],
                                                high_percent=[3.0, 1.0, 2.0], count=[1, 1, 2]),
    ),
    "power at one size": lambda t: changed(
        "test_power", t, "test_power",
        lambda d: pd.concat(
            [part.assign(test=name, rejection_rate=np.where(is_null, 0.1 - rate / 10, rate))
             for name, rate in (("a_test", 0.2), ("b_test", 0.6))
             for part in [d[(d["test"] == "verdict") & (d["n_samples"] == 200)]]
             for is_null in [part["scenario"].str.endswith("calibrated")]]
        ),
    ),
    "graphs of one without a spline": lambda t: changed(
        "gupta_fig1_calibration", t, "calibration_graphs",
        lambda d: d[(d["method"] != "spline") & (d["model"] != MODELS[0])],
    ),
    "blind cells of no run": lambda t: changed(
        "blind_cells", t, "interval_coverage", lambda d: d[d["scenario"] == "uniform_wave"]
    ),
    "coverage without clusters and judging cells": lambda t: changed(
        "interval_coverage", t, "interval_coverage", lambda d: d[d["scenario"] == "uniform_wave"]
    ),
    "all classes beyond the axis": lambda t: changed(
        "multiclass_league", t, "multiclass_league",
        lambda d: pd.concat([d.assign(relative_rmse=[31.0, 0.5] * (len(d) // 2), truth=1.0,
                                      relative_rmse_se=[0.1, 0.4] * (len(d) // 2)),
                             d.assign(population="resnet_c10", truth=[1.0, 0.0] * (len(d) // 2))]),
    ),
    "the league with limits and ties": lambda t: changed(
        "league_errors", t, "league_ranking",
        lambda d: d.assign(information_limit=0.3, rank=np.arange(len(d)) % 2 + 1, target="l1",
                           error_se=0.1,
                           error=np.resize([0.01, 26.0, 0.5, LOW, HIGH, 5.0], len(d))),
    ),
    "power with clusters and others": lambda t: changed(
        "test_power", t, "test_power",
        lambda d: pd.concat([d, d.replace({"verdict": "mine", "spread_wave": "uniform_wave"})]
                            ).assign(rejection_rate=np.resize([0.05, 0.31, 0.5, 1.0], 2 * len(d))),
    ),
    "heat map of two rows and a gap": lambda t: changed(
        "fig10_sd_resnet110_c10", t, "bias",
        lambda d: d[d["n_bins"] != 16].assign(sd_percent=lambda x: x["sd_percent"].where(
            x["n_samples"] != 200)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", VARIANTS)
def test_variants_of_figures(name, tables):
    assert facts(VARIANTS[name](tables)) == DRAWN[name]
