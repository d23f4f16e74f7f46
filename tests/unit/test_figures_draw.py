"""Every figure draws itself from little, with gaps and unknown estimators; all: test_smoke.py."""

import importlib
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from made_up_tables import BINNED, MODELS, made_up_tables

from calbias.errors import InputError
from pipeline import catalogue
from pipeline.detection_limits import detection_limits
from pipeline.figures import selection, style
from reproduction.figures import fig3_fits

FIGURES = catalogue.figures()
FIRST = MODELS["model"][0]  # heat maps of one kind differ by their model: only its are drawn
ONE_EACH = [name for name, of in FIGURES.items() if of.options.get("model", FIRST) == FIRST]


def module_and_tables(figure, tables):
    entry = FIGURES[figure]
    module = importlib.import_module(entry.module)
    return module, {stem: tables[stem] for stem in entry.tables}


def drawn(figure, tables):
    module, tables = module_and_tables(figure, tables)
    made = style.drawn(module.draw, tables, **FIGURES[figure].options)
    made.draw_without_rendering()  # so that the layout is tried too
    return made


def with_method(made, name):
    """Return the parts of a figure that have a method of this name."""
    return made.findobj(lambda artist: hasattr(artist, name))


@pytest.fixture(scope="module")
def small():
    tables = made_up_tables(MODELS[:1], ("ece_sweep_em", "mine"), replicates=2)
    return {stem: with_gaps(table) for stem, table in tables.items()}


@pytest.fixture(scope="module")
def large():
    """Return the tables of all models, and tables with other computed numbers."""
    tables = made_up_tables()
    computed = r".*_percent|.*_rate|.*error|relative_rmse|n_bins|ratio_median|mean_n_bins_sweep"
    return tables, {
        name: table.assign(
            **{
                column: (0.3 + 9 * place) * table[column]
                for place, column in enumerate(table.select_dtypes("number"))
                if re.fullmatch(rf"{computed}|mean_hit|coverage|value", column)
            },
            **{"agrees": False} if "agrees" in table else {},
        )
        for name, table in tables.items()
    }


def with_gaps(table):
    """Leave a third of the computed numbers out."""
    computed = ("_percent", "_se", "_rate", "published_b1", "mean_hit")
    gaps = {
        column: table[column].where(np.arange(len(table)) % 3 != 1)
        for column in table.select_dtypes("number")
        if column.endswith(computed) and column not in ("low_percent", "high_percent")
    }
    return table.assign(**gaps)


@pytest.mark.parametrize("figure", ONE_EACH)
def test_draws_one_model_with_an_unknown_estimator_and_numbers_missing(figure, small):
    """Axes of quantities in percent say so, and no text is too small to read."""
    made = drawn(figure, small)
    assert min(text.get_fontsize() for text in with_method(made, "get_fontsize")) >= 6
    names = [name for axes in made.axes for name in (axes.get_xlabel(), axes.get_ylabel())]
    in_percent = ("bias", "TCE", "estimate", "√variance", "data (%)")
    assert all("%" in name for name in names if any(word in name for word in in_percent))


@pytest.mark.parametrize("figure", ONE_EACH)
def test_a_table_without_rows_is_an_error(figure, small):
    with pytest.raises(InputError, match=r"results/tables/\w+\.csv: no row"):
        drawn(figure, {stem: table.iloc[:0] for stem, table in small.items()})


def test_a_range_within_printed_decimals_is_only_that_of_printed_parameters():
    tables, model = made_up_tables(MODELS[:1]), "resnet110_c10"
    assert selection.within_rounding(tables, "heatmaps", model) == "5.70–6.40"
    assert selection.within_rounding(tables, "perfect", model) == ""
    tables["scenarios"]["source"] = "real_logits"
    assert selection.within_rounding(tables, "heatmaps", model) == ""


def test_figure_4_gives_a_users_group_a_panel_and_wraps_after_three():
    models = MODELS[:4].assign(group=[f"group {k}" for k in range(4)])
    made = drawn("fig4_realistic", made_up_tables(models, ("ece_bin_em",)))
    assert [axes.get_title("left") for axes in made.axes] == [f"group {k}" for k in range(4)]


def test_figure_4_shows_a_kde_that_is_far_off_in_a_panel_below():
    for names, n_panels in ((["ece_bin_em"], 1), (["kde"], 1), (["ece_bin_em", "kde"], 2)):
        tables = made_up_tables(MODELS[:1], names)
        assert len(drawn("fig4_realistic", tables).axes) == n_panels


def test_figure_5_of_one_sample_size_has_no_overlap_and_no_warning():
    """The paper's points at other sample sizes would lie on other panels."""
    detection = made_up_tables(MODELS[:1])["detection"].query("n_samples == 100")
    few = detection["tce_percent"].isin(sorted(set(detection["tce_percent"]))[:31:15])
    tables = {"detection": detection[few], "detection_limits": detection_limits(detection[few])}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = drawn("fig5_detection", tables)
    assert not [line for axes in made.axes for line in axes.lines if line.get_marker() == "*"]


def test_figure_3_tells_ten_models_of_one_group_apart():
    models = pd.DataFrame({"model": [f"mine_{k}" for k in range(10)], "group": "own"})
    for name in ("linestyle", "marker"):
        looks = {(look["color"], look[name]) for look in fig3_fits.looks(models).values()}
        assert len(looks) == 10


def test_heat_map_prints_every_number_of_its_table():
    tables = made_up_tables(MODELS[:1])
    bias, made = tables["bias"], drawn("fig7_bias_resnet110_c10", tables)
    words = [text.get_text() for text in with_method(made, "get_text")]
    cells = bias[(bias["experiment"] == "heatmaps") & (bias["scenario"] == "resnet110_c10")]
    wanted = sorted(f"{value:+.2f}".replace("-", "−") for value in cells["bias_percent"])
    printed = [text for text in words if text[:1] in "+−" and text]
    # Tick labels of the colour bar start with a sign too, but have one decimal at most.
    assert sorted(text for text in printed if len(text.partition(".")[2]) == 2) == wanted


def test_bands_of_fig5_end_where_the_table_says():
    """Between the bands of miss rates beside a target runs that target's line."""
    tables = made_up_tables(MODELS[:1])
    limits = tables["detection_limits"]
    _, _, *maps = drawn("fig5_detection", tables).axes[:4]
    for axes, (_, of_one) in zip(maps, limits.groupby("estimator"), strict=True):
        bands = [area.get_paths()[0].vertices for area in axes.collections if area.get_paths()]
        corners = {tuple(np.round(point, 6)) for band in bands for point in band}
        for row in of_one.dropna(subset="tce_percent").itertuples():
            assert (round(row.tce_percent, 6), float(row.n_samples)) in corners


KNOWN = (*BINNED, "ece_label_binned_em", "ece_label_binned_ew", "kde", "kde_unrooted")


def test_known_estimators_look_different_and_an_unknown_family_has_a_look_of_its_own():
    styles = [style.estimator_style(name) for name in KNOWN]
    names = ("color", "marker", "linestyle", "markerfacecolor")
    assert len({tuple(str(look[name]) for name in names) for look in styles}) == len(KNOWN)
    look = style.estimator_style("my_smooth_em")
    assert look == style.estimator_style("my_smooth_em")
    assert look["color"] == style.estimator_style("my_smooth_ew")["color"]
    assert (look["color"], look["marker"]) not in style.FAMILIES.values()


def test_order_is_that_of_the_families_whatever_came_first():
    shuffled = ("kde", "zeta", "ece_bin_ew", "ece_sweep_em", "ece_bin_em", "alpha_em")
    expected = ["ece_bin_em", "ece_bin_ew", "ece_sweep_em", "kde", "alpha_em", "zeta"]
    assert style.estimator_order(shuffled) == expected


def test_power_figure_groups_tests_and_prints_every_rate():
    table = made_up_tables(MODELS[:1])["test_power"]
    mine = table.assign(
        test=table["test"].replace({"cox_score": "verdict", "redraw_ks": "my_test"})
    )
    made = drawn("test_power", {"test_power": pd.concat([table, mine])})
    words = [text.get_text() for text in with_method(made, "get_text")]
    named = ["Verdict of an audit", "Cox, score test", "KS (ECCE-MAD)", "my test"]
    assert list(dict.fromkeys(word for word in words if word in named)) == named
    assert {"several at once", "level and line", "sums along the scores", "others"} <= set(words)
    wrong = pd.concat([table, mine]).query("scenario == 'spread_wave'")
    cells = [text.get_text() for axes in made.axes for text in axes.texts]
    assert cells.count("95") == len(wrong)


def test_the_league_says_in_numbers_what_lies_beyond_its_axis():
    ranking = made_up_tables(MODELS[:1], ("ece_bin_em",))["league_ranking"]
    far = ranking.assign(error=ranking["error"].where(ranking.index > 0, 70.0))
    made = drawn("league_errors", {"league_ranking": far})
    words = [text.get_text() for text in with_method(made, "get_text")]
    assert [word for word in words if "▶" in word] == ["7,000 % ▶"]
