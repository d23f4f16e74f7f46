"""Every figure draws itself: from full tables, from the least, with gaps and unknown estimators."""

import importlib
import warnings

import numpy as np
import pandas as pd
import pytest
from made_up_tables import MODELS, made_up_tables

from calbias.errors import InputError
from calbias.figures import bias_by_n, fig3_fits, selection, style
from calbias.pipeline import catalogue
from calbias.summaries.detection_limits import detection_limits
from calbias.truth.paper import BINNED

FIGURES = catalogue.figures()
# Heat maps of one kind differ by their model: only those of the first are drawn.
ONE_EACH = [
    name for name, of in FIGURES.items() if of.options.get("model", MODELS[0][0]) == MODELS[0][0]
]


def drawn(figure, tables):
    entry = FIGURES[figure]
    module = importlib.import_module(f"calbias.figures.{entry.module}")
    tables = {stem: tables[stem] for stem in entry.tables}
    made = style.drawn(module.draw, tables, **entry.options)
    made.draw_without_rendering()  # so that the layout is tried too
    return made


def texts(made):
    return [text.get_text() for text in made.findobj(lambda artist: hasattr(artist, "get_text"))]


@pytest.fixture(scope="module")
def full():
    tables = made_up_tables()
    return {name: drawn(name, tables) for name in ONE_EACH}


@pytest.mark.parametrize("figure", ONE_EACH)
def test_draws_one_model_with_an_unknown_estimator_and_numbers_missing(figure, small):
    assert drawn(figure, small).axes


@pytest.fixture(scope="module")
def small():
    tables = made_up_tables(MODELS[:1], ("ece_sweep_em", "mine"), replicates=2)
    return {stem: with_gaps(table) for stem, table in tables.items()}


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
def test_a_table_without_rows_is_an_error(figure, small):
    with pytest.raises(InputError, match=r"results/tables/\w+\.csv: no row"):
        drawn(figure, {stem: table.iloc[:0] for stem, table in small.items()})


def test_labels_of_quantities_in_percent_have_their_unit(full):
    in_percent = ("bias", "TCE", "estimate", "√variance", "data (%)")
    for figure, made in full.items():
        names = [
            name
            for axes in made.axes
            for name in (axes.get_xlabel(), axes.get_ylabel())
            if any(word in name for word in in_percent)
        ]
        assert all("%" in name for name in names), (figure, names)


def test_every_panel_that_shows_an_axis_is_labelled_or_shares_its_label(full):
    """Along x with the panels that share its axis, along y with those in its row."""
    for figure, made in full.items():
        panels = [axes for axes in made.axes if axes.axison and axes.get_visible()]
        for axes in panels:
            if is_colour_bar(axes):
                assert axes.get_xlabel() or axes.get_ylabel(), figure
                continue
            shared = axes.get_shared_x_axes().get_siblings(axes)
            assert any(other.get_xlabel() for other in shared), figure
            of_words = all(not is_number(text.get_text()) for text in axes.get_yticklabels())
            assert of_words or any(other.get_ylabel() for other in beside(axes, panels)), figure


def is_colour_bar(axes):
    return axes.get_label() == "<colorbar>"


def beside(axes, panels):
    def rows(one):
        return one.get_subplotspec().rowspan

    return [other for other in panels if not is_colour_bar(other) and rows(other) == rows(axes)]


def is_number(text):
    return text.strip().lstrip("−-").rstrip("k").replace(".", "").isdigit()


COLUMN = {"fig1_intro", "fig2a_curves", "fig2b_bins_by_n", "fig5_detection", "fig13_tce_sweep",
          "fig14_chosen_bins"}  # fmt: skip


def test_figures_fit_a_column_where_the_papers_do_with_type_to_be_read(full):
    """Exponents of powers of ten are set smaller by mathtext; their base counts."""
    for figure, made in full.items():
        if figure in COLUMN:
            assert made.get_figwidth() == style.COLUMN
            assert made.get_figheight() < 9  # a page of the paper
        for text in made.findobj(lambda artist: hasattr(artist, "get_fontsize")):
            assert text.get_fontsize() >= (6.5 if figure in COLUMN else 6), (figure, text)


def test_figure_14_tells_its_lines_apart_by_markers_and_says_the_replicates(full):
    made = full["fig14_chosen_bins"]
    markers = [line.get_marker() for line in made.axes[0].lines if line.get_marker() != "None"]
    assert len(markers) == len(set(markers)) == 7
    assert any("1\u2009000 data sets per point" in text for text in texts(made))


def test_a_range_within_printed_decimals_is_only_that_of_printed_parameters():
    tables = made_up_tables(MODELS[:1])
    where = ("heatmaps", "resnet110_c10")
    assert selection.within_rounding(tables, *where) == "5.70–6.40"
    assert selection.within_rounding(tables, "perfect", "resnet110_c10") == ""
    tables["scenarios"]["source"] = "real_logits"
    assert selection.within_rounding(tables, *where) == ""


def test_replicates_and_source_are_printed_from_the_table(full):
    assert any("1\u2009000 data sets per point" in text for text in texts(full["fig4_realistic"]))
    assert any("published fits" in text for text in texts(full["fig4_realistic"]))
    assert any("1\u2009000\u2009000 data sets" in text for text in texts(full["fig1_intro"]))


def test_figure_4_has_a_panel_per_group_and_shows_a_kde_that_is_far_off_below(full):
    titles = [axes.get_title("left") for axes in full["fig4_realistic"].axes]
    assert [t for t in titles if t] == [
        "CIFAR-10 (mean of 4)",
        "CIFAR-100 (mean of 4)",
        "ImageNet (mean of 2)",
    ]
    assert len(full["fig4_realistic"].axes) == 6
    binned = drawn("fig4_realistic", made_up_tables(estimators=BINNED))
    assert len(binned.axes) == 3


def test_figure_4_gives_a_users_group_a_panel_and_wraps_after_three():
    models = [(*m[:1], f"group {k}", *m[2:]) for k, m in enumerate(MODELS[:4])]
    made = drawn("fig4_realistic", made_up_tables(models, ("ece_bin_em",)))
    assert [axes.get_title("left") for axes in made.axes] == [f"group {k}" for k in range(4)]


@pytest.mark.parametrize("sizes", [(100, 200), (100,)])
def test_figure_5_of_few_sample_sizes_has_no_overlap_and_no_warning(sizes):
    """The paper's points at other sample sizes would lie on other panels."""
    detection = made_up_tables()["detection"]
    few = detection["tce_percent"].isin(sorted(set(detection["tce_percent"]))[:31:15])
    detection = detection[detection["n_samples"].isin(sizes) & few]
    tables = {"detection": detection, "detection_limits": detection_limits(detection)}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = drawn("fig5_detection", tables)
    assert not [line for axes in made.axes for line in axes.lines if line.get_marker() == "*"]


def test_figure_3_tells_ten_models_of_one_group_apart():
    models = [(f"mine_{k}", "own", *m[2:]) for k, m in enumerate(MODELS)]
    looks = fig3_fits.looks(made_up_tables(models)["models"]).values()
    assert len({(look["color"], look["linestyle"]) for look in looks}) == 10
    assert len({(look["color"], look["marker"]) for look in looks}) == 10
    usual = fig3_fits.looks(made_up_tables()["models"])
    assert len({look["color"] for look in usual.values()}) == 3  # data sets


def test_range_is_that_of_the_binned_and_of_a_kde_just_beyond():
    means = pd.DataFrame(
        [("ece_bin_em", 5.0), ("ece_bin_em", -5.0), ("kde", 6.0), ("kde_unrooted", -9.0)],
        columns=["estimator", "bias_percent"],
    )
    assert bias_by_n.upper_limits(means) == pytest.approx((-5.55, 6.55))
    assert bias_by_n.upper_limits(means[2:]) == pytest.approx((-9.75, 6.75))


def test_heat_map_prints_every_number_of_its_table(full):
    bias = made_up_tables()["bias"]
    cells = bias[(bias["experiment"] == "heatmaps") & (bias["scenario"] == "resnet110_c10")]
    wanted = sorted(f"{value:+.2f}".replace("-", "−") for value in cells["bias_percent"])
    printed = [text for text in texts(full["fig7_bias_resnet110_c10"]) if text[:1] in "+−" and text]
    # Tick labels of the colour bar start with a sign too, but have one decimal at most.
    assert sorted(text for text in printed if len(text.partition(".")[2]) == 2) == wanted
    assert "sweep" in texts(full["fig7_bias_resnet110_c10"])


def test_figure_5_marks_the_points_that_the_paper_names(full):
    stars = [
        (float(line.get_xdata()[0]), float(line.get_ydata()[0]))
        for axes in full["fig5_detection"].axes
        for line in axes.lines
        if line.get_marker() == "*" and len(line.get_xdata()) == 1
    ]
    assert stars == [(2.0, 10_000.0), (10.0, 500.0)] * 2


def test_bands_of_fig5_end_where_the_table_says(full):
    """Between the bands of miss rates beside a target runs that target's line."""
    limits = made_up_tables()["detection_limits"]
    _, _, *maps = full["fig5_detection"].axes[:4]
    for axes, (_, of_one) in zip(maps, limits.groupby("estimator"), strict=True):
        bands = [area.get_paths()[0].vertices for area in axes.collections if area.get_paths()]
        corners = {tuple(np.round(point, 6)) for band in bands for point in band}
        for row in of_one.dropna(subset="tce_percent").itertuples():
            assert (round(row.tce_percent, 6), float(row.n_samples)) in corners
