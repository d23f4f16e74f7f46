"""Every point, bar and cell of a figure is a number of its tables, from one row of them."""

import itertools

import numpy as np
import pandas as pd
import pytest
from command import crossed
from drawn_facts import facts
from figure_points import (
    CONSTANT,
    MODELS,
    SIZES,
    TITLES,
    TWO,
    changed,
    drawn,
    filled,
    misplaced,
    toys,
)
from matplotlib.collections import Collection, PolyCollection

from pipeline import catalogue
from pipeline.detection_limits import RELIABLE, detection_limits
from pipeline.figures import labels, style
from pipeline.figures.numbers import is_of, numbers
from pipeline.guests import MAIN
from pipeline.paper import DETECTION_SIZES
from pipeline.table_schema import columns_of
from reproduction.figures import bias_by_n, fig2b_bins_by_n, fig3_fits, gupta_graphs, worst_cells

FIGURES = catalogue.figures(MAIN)
RECORDED = "figures_drawn.yaml"
"""Facts of figures on the tables below. Where one changes, compare it with the picture."""
KEYS = {
    "scenarios": {
        "experiment": ["realistic", "perfect", "bins_by_n", "tce_sweep", "chosen_bins", "fits"],
        "scenario": MODELS,
    },
    "chosen_bins": {"scenario": MODELS, "n_samples": SIZES, "n_bins": [2, 5, 7]},
    "shown_data_set": {"experiment": ["intro"], "score": [0.31, 0.77], "hit": [0, 1]},
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
}  # fmt: skip
GUPTA = CONSTANT | {"cumulative_score": 0.0, "null_sd": 0.01 / gupta_graphs.NULL_95}
BIAS = ("n_samples", "bias_percent")
CURVES = "cumulative_hit cumulative_score score hit_probability"
COLUMNS = {  # of the numbers along x and along y; empty where what is drawn is a place
    "fig2b_bins_by_n": ("n_bins", "bias_percent"),
    "fig3_fits": (
        "ece_bin_percent published_ece_bin_percent",
        "mean_simulated_ece_bin_percent published_simulated_percent",
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
}  # fmt: skip
N_DRAWN = {  # such as 3 models × 2 estimators × 2 sizes and the sizes
    **{name: 10 for name in FIGURES if "_bias_" in name or "_sd_" in name},
    **{name: 23 for name in FIGURES if "gupta" in name},
    "fig2b_bins_by_n": 21, **dict.fromkeys(["fig4_realistic", "fig6_perfect"], 14),
    **dict.fromkeys(["fig3_fits", "guo_fig4_recalibrated"], 12),
    "guo_fig1_confidence": 18, "errors_by_rank": 30, "fig5_detection": 48,
    "fig13_tce_sweep": 36, "fig14_chosen_bins": 27,
}  # fmt: skip
"""How many different numbers of these columns a figure shows, of the tables below."""
FORMULAE = {"fig1_intro", "fig2a_curves", "table1_recalibration"}
"""Figures that draw bins, formulae or words."""
DERIVED = {
    **dict.fromkeys(["guo_fig1_confidence", "guo_fig4_recalibrated"], Collection),
    "fig5_detection": PolyCollection,
}  # fmt: skip
"""Figures whose bars are exact ranges, or whose areas are interpolated."""
LIKE_OTHERS = ("fig6", "fig8", "fig9", "fig11", "fig12", "gupta_fig1", "gupta_fig5", "gupta_fig7",
               "gupta_fig9")  # fmt: skip
ALIKE = {name for name in FIGURES if name.startswith(LIKE_OTHERS)}
"""Figures that the draw function of another one draws, of other rows."""


def bias_rows():
    """Return the keys of table ``bias``: several experiments, with and without bins."""
    rows = [
        *itertools.product(["realistic", "perfect", "tce_sweep"], MODELS, TWO, [15], SIZES),
        *itertools.product(["bins_by_n"], MODELS, TWO[:1], [4, 8], SIZES),
        *itertools.product(["heatmaps"], MODELS, TWO[:1], [4, 8, 16], SIZES),
        *itertools.product(["heatmaps"], MODELS, ["ece_debias_em"], [8], SIZES),
        *itertools.product(["heatmaps", "chosen_bins"], MODELS, TWO[1:], [-1], SIZES),
        ("intro", MODELS[0], TWO[0], 4, 200),
    ]
    columns = ["experiment", "scenario", "estimator", "n_bins", "n_samples"]
    return pd.DataFrame(rows, columns=columns).reindex(columns=columns_of("bias"))


@pytest.fixture(scope="module")
def tables():
    bias = filled("bias", bias_rows())
    models = pd.DataFrame({"model": MODELS, "group": MODELS})
    return {**toys(KEYS, GUPTA), "bias": bias, "models": models}


PANELS = TITLES | {
    "measure": {
        "ks_top1": " top class ", "ks_top2": "second class", "ks_top3": "third class",
        "ks_within_top2": "two top classes", "ks_within_top3": "three top classes",
    },
    "method": {"spline": "spline"},
}  # fmt: skip


@pytest.mark.parametrize("figure", [name for name in FIGURES if name not in FORMULAE | ALIKE])
def test_every_point_is_a_number_of_its_column(figure, tables, recorded):
    entry = FIGURES[figure]
    made = drawn(entry, tables)
    shown = [tables[stem] for stem in entry.tables]
    found = misplaced(made, shown, COLUMNS[figure], DERIVED.get(figure, ()), PANELS)
    assert found == ([], N_DRAWN[figure])
    recorded(figure, facts(made))


@pytest.mark.parametrize("figure", COLUMNS)
def test_the_numbers_of_a_figure_are_told_from_those_of_other_tables(figure, tables, tmp_path):
    entry, path = FIGURES[figure], tmp_path / "numbers.csv"
    rows = numbers(entry, {stem: tables[stem] for stem in entry.tables})
    assert len(rows) > 0
    rows.to_csv(path, index=False)
    assert is_of(path, entry, tables)
    name = [column for column in rows if rows[column].dtype == float][-1]
    rows.assign(**{name: rows[name] * 1.001 + 0.001}).to_csv(path, index=False)
    assert not is_of(path, entry, tables)


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


def test_figure_4_gives_a_users_group_a_panel_and_wraps_after_three(tables, recorded):
    groups = [f"group {k}" for k in range(4)]
    made = drawn(FIGURES["fig4_realistic"], of_models(tables, *groups), protagonists=TWO[1:])
    recorded("fig4 of four groups", facts(made))
    assert [axes.get_title("left") for axes in made.axes if axes.get_title("left")][:4] == groups


def test_figure_4_shows_a_kde_that_is_far_off_in_a_panel_below(tables, recorded):
    parts = of_models(tables, "mine", "mine")
    bias = (
        parts["bias"]
        .replace("ece_sweep_em", "kde")
        .assign(bias_percent=lambda t: 2.0 + 20 * (t["estimator"] == "kde"))
        .assign(n_bins=lambda t: t["n_bins"].where(t["estimator"] != "kde"))
    )
    for names, n_panels in ((["ece_bin_ew"], 1), (["ece_bin_ew", "kde"], 2)):
        few = {**parts, "bias": bias[bias["estimator"].isin(names)]}
        made = drawn(FIGURES["fig4_realistic"], few)
        assert len(made.axes) == n_panels
        recorded(f"fig4 of {' and '.join(names)}", facts(made))


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


def test_bands_of_fig5_end_where_the_table_says(recorded):
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
    limits = detection_limits(table, RELIABLE)
    made = drawn(FIGURES["fig5_detection"], {"detection": table, "detection_limits": limits})
    recorded("fig5 with bands", facts(made))
    _, _, *maps = made.axes[:4]
    for axes, (_, of_one) in zip(maps, limits.groupby("estimator"), strict=True):
        bands = [area.get_paths()[0].vertices for area in axes.collections if area.get_paths()]
        corners = {tuple(np.round(point, 6)) for band in bands for point in band}
        for row in of_one.dropna(subset="tce_percent").itertuples():
            assert (round(row.tce_percent, 6), float(row.n_samples)) in corners


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


def test_figure_2b_has_a_panel_for_each_pair_that_was_run(tables):
    """An estimator of the experiment that the heat maps have not."""
    heatmaps, own = (
        tables["bias"][tables["bias"]["experiment"] == name] for name in ("heatmaps", "bins_by_n")
    )
    own = own[own["scenario"] == MODELS[1]]
    both = pd.concat([heatmaps, own, own.assign(estimator="kde")])
    figure = fig2b_bins_by_n.draw(tables | {"bias": both})
    assert [axes.get_title().split("\n")[0] for axes in figure.axes].count(MODELS[0]) == 1
    assert len(figure.axes) == 3


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
        tce_gain_percent=[0.0, -0.5, 0.0, 0.25, 0.0, 0.0], tce_gain_se_percent=0.125,
    )  # fmt: skip
    keys = {"model": MODELS[:1], "method": ["temperature"], "measure": TWO[1:]}
    values = crossed("recalibration", keys, source="real_logits", n_bins_used=2)
    models = pd.DataFrame({"model": [MODELS[0], "own"], "group": ["CIFAR-10", "own"]})
    return {"recalibration_selection": table, "recalibration": values, "models": models}


def worst():
    """Two cells; the second has one estimator, and the curve c²."""
    table = pd.DataFrame({
        "scenario": "a", "experiment": "x", "n_samples": 200, "alpha": 1.0, "beta": 1.0,
        "curve": "power", "b0": 0.0, "b1": [1.0, 1.0, 2.0], "tce_percent": [0.0, 0.0, 12.0],
        "estimator": [*TWO, TWO[0]], "mean_estimate_percent": [1.0, 2.0, 3.0],
        "sd_percent": [0.5, 0.25, 1.0],
    })  # fmt: skip
    return worst_cells.draw([table[:2], table[2:]], TWO[1:])


VARIANTS = {
    "densities of two distributions": lambda t: drawn(FIGURES["fig2a_curves"], densities()),
    "selections of three models": lambda t: drawn(FIGURES["table1_recalibration"], selections()),
    "worst cells": lambda t: style.drawn(lambda tables: worst(), {}),
    "fig5 of one size and no type I rates": lambda t: changed(
        FIGURES["fig5_detection"],
        t | {"detection_limits": t["detection_limits"].assign(type_1_rate=None)},
        "detection", lambda d: d[(d["n_samples"] == 200) & (d["tce_percent"] < 2)],
    ),
    "fig5 with the paper's points at its ends": lambda t: changed(
        FIGURES["fig5_detection"], t, "detection",
        lambda d: d.assign(n_samples=d["n_samples"].map({200: 500, 1000: 10_000}),
                           tce_percent=np.resize([2.0, 3.0, 4.0, 10.0], len(d))),
        protagonists=TWO[1:],
    ),
    "fig1 of two estimators": lambda t: drawn(FIGURES["fig1_intro"], t),
    "fig1 of one estimator": lambda t: changed(
        FIGURES["fig1_intro"], t, "estimate_histogram",
        lambda d: pd.concat([d[:1]] * 3).assign(low_percent=[2.0, 0.0, 1.0],
                                                high_percent=[3.0, 1.0, 2.0], count=[1, 1, 2]),
    ),
    "graphs of one without a spline": lambda t: changed(
        FIGURES["gupta_fig1_calibration"], t, "calibration_graphs",
        lambda d: d[(d["method"] != "spline") & (d["model"] != MODELS[0])],
    ),
    "heat map of two rows and a gap": lambda t: changed(
        FIGURES["fig10_sd_resnet110_c10"], t, "bias",
        lambda d: d[d["n_bins"] != 16].assign(sd_percent=lambda x: x["sd_percent"].where(
            x["n_samples"] != 200)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", VARIANTS)
def test_variants_of_figures(name, tables, recorded):
    recorded(name, facts(VARIANTS[name](tables)))
