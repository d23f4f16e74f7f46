"""Every figure, drawn from the tables of the smoke run as they are not: with gaps, few or strange.

That all are drawn from the tables as they are: test_smoke.py.
"""

import importlib
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from command import crossed, python

from calbias.errors import InputError
from pipeline import catalogue
from pipeline.detection_limits import detection_limits
from pipeline.door import main
from pipeline.figures import selection, style
from pipeline.paper import DETECTION_SIZES

FIGURES = catalogue.figures()
FIRST, SECOND = "resnet110_c10", "resnet110_c100"
# heat maps of one kind differ by their model: only the first one's are drawn
ONE_EACH = [name for name, of in FIGURES.items() if of.options.get("model", FIRST) == FIRST]


@pytest.fixture(scope="session")
def tables(evidence):
    """{name: table} of the smoke run; what runs on their own make has the smaller run's rows."""
    made = {p.stem: pd.read_csv(p) for p in (evidence / "results/tables").glob("*.csv")}
    made["models"] = pd.read_csv(evidence / "config/smoke_models.csv")
    made["league_full_ranking"] = made["league_ranking"]
    made["multiclass_league_full"] = made["multiclass_league"]
    return made


def drawn(figure, tables):
    entry = FIGURES[figure]
    draw = importlib.import_module(entry.module).draw
    made = style.drawn(draw, {stem: tables[stem] for stem in entry.tables}, **entry.options)
    made.draw_without_rendering()  # so that the layout is tried too
    return made


def with_method(made, name):
    """Return the parts of a figure that have a method of this name."""
    return made.findobj(lambda artist: hasattr(artist, name))


def words_of(made):
    return [text.get_text() for text in with_method(made, "get_text")]


@pytest.fixture(scope="session")
def small(tables):
    """One model, an unknown estimator, and a third of the computed numbers missing."""
    return {stem: with_gaps(of_one_model(table)) for stem, table in tables.items()}


def of_one_model(table):
    for column in {"model", "scenario"} & {*table}:
        table = table[table[column] != SECOND]
    return table.replace({"ece_debias_em": "mine", "smce": "mine"}).reset_index(drop=True)


def with_gaps(table):
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
    with pytest.raises(InputError, match=r"results/tables/\w+\.csv: no row"):
        drawn(figure, {stem: table.iloc[:0] for stem, table in small.items()})


def test_graphs_show_the_papers_model_or_the_one_that_is_named(tables):
    draw = importlib.import_module(FIGURES["gupta_fig5_top3"].module).draw
    options = FIGURES["gupta_fig5_top3"].options
    other = style.drawn(draw, tables, model="resnet50_brier_c10", **options)
    assert "resnet50_brier_c10" in other.get_suptitle()
    assert len(other.axes) == 3 * 4  # as it is, and after the spline on both folds
    with pytest.raises(InputError, match="no row of mine"):
        style.drawn(draw, tables, model="mine", **options)


def test_a_range_within_printed_decimals_is_only_that_of_printed_parameters(tables):
    scenarios, rounding = tables["scenarios"], tables["tce_rounding"].assign(low_percent=5.7)
    tables = {**tables, "tce_rounding": rounding.assign(high_percent=6.4)}
    assert selection.within_rounding(tables, "heatmaps", FIRST) == "5.70–6.40"
    assert selection.within_rounding(tables, "perfect", FIRST) == ""
    changed = {**tables, "scenarios": scenarios.assign(source="real_logits")}
    assert selection.within_rounding(changed, "heatmaps", FIRST) == ""


def of_models(tables, *groups):
    """The rows of the first model, once for each of these groups."""
    rows = {name: tables[name].query("scenario == @FIRST") for name in ("bias", "scenarios")}
    return {
        name: pd.concat(
            of_one.assign(scenario=f"model {k}", **{"group": group} if "group" in of_one else {})
            for k, group in enumerate(groups)
        )
        for name, of_one in rows.items()
    }


def test_figure_4_gives_a_users_group_a_panel_and_wraps_after_three(tables):
    groups = [f"group {k}" for k in range(4)]
    made = drawn("fig4_realistic", of_models(tables, *groups))
    assert [axes.get_title("left") for axes in made.axes if axes.get_title("left")][:4] == groups


def test_figure_4_shows_a_kde_that_is_far_off_in_a_panel_below(tables):
    parts = of_models(tables, "mine")
    bias = parts["bias"].assign(bias_percent=lambda t: 2.0 + 20 * (t["estimator"] == "kde"))
    for names, n_panels in ((["ece_bin_ew"], 1), (["kde"], 1), (["ece_bin_ew", "kde"], 2)):
        few = {**parts, "bias": bias[bias["estimator"].isin(names)]}
        assert len(drawn("fig4_realistic", few).axes) == n_panels


def test_figure_5_of_one_sample_size_has_no_overlap_and_no_warning(tables):
    """The paper's points at other sample sizes would lie on other panels."""
    few = tables["detection"].query("n_samples == 100")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = drawn(
            "fig5_detection", {"detection": few, "detection_limits": detection_limits(few)}
        )
    assert not [line for axes in made.axes for line in axes.lines if line.get_marker() == "*"]


def test_heat_map_prints_every_number_of_its_table(tables):
    cells = tables["bias"].query("experiment == 'heatmaps' and scenario == @FIRST")
    wanted = sorted(f"{value:+.2f}".replace("-", "−") for value in cells["bias_percent"])
    printed = [x for x in words_of(drawn("fig7_bias_resnet110_c10", tables)) if x[:1] in "+−" and x]
    # Tick labels of the colour bar start with a sign too, but have one decimal at most.
    assert sorted(text for text in printed if len(text.partition(".")[2]) == 2) == wanted


def test_bands_of_fig5_end_where_the_table_says():
    """Between the bands of miss rates beside a target runs that target's line."""
    tces = [0, *np.geomspace(0.2, 40, 40)]
    keys = {"estimator": ["ece_bin_ew", "ece_sweep_em"], "n_samples": DETECTION_SIZES}
    table = crossed(
        "detection", {**keys, "tce_percent": tces}, n_replicates=2000,
        exponent=lambda t: 1 + t["tce_percent"] / 10,
        threshold_percent=lambda t: 150 / np.sqrt(t["n_samples"]),
        miss_rate=lambda t: 0.95 / (1 + (t["tce_percent"] / t["threshold_percent"]) ** 5),
        miss_rate_se=0.005, miss_rate_threshold_se=0.002,
    )  # fmt: skip
    limits = detection_limits(table)
    made = drawn("fig5_detection", {"detection": table, "detection_limits": limits})
    _, _, *maps = made.axes[:4]
    for axes, (_, of_one) in zip(maps, limits.groupby("estimator"), strict=True):
        bands = [area.get_paths()[0].vertices for area in axes.collections if area.get_paths()]
        corners = {tuple(np.round(point, 6)) for band in bands for point in band}
        for row in of_one.dropna(subset="tce_percent").itertuples():
            assert (round(row.tce_percent, 6), float(row.n_samples)) in corners


def test_power_figure_groups_tests_and_prints_every_rate():
    names = ["verdict", "cox_score", "redraw_ks", "my_test"]
    keys = {"test": names, "scenario": ["spread_calibrated", "spread_wave"], "n_samples": [50, 200]}
    wave = {"rejection_rate": lambda t: 0.05 + 0.9 * (t["scenario"] == "spread_wave")}
    table = crossed("test_power", keys, level=0.05, n_replicates=60, **wave)
    made = drawn("test_power", {"test_power": table})
    words = words_of(made)
    named = ["Verdict of an audit", "Cox, score test", "KS (ECCE-MAD)", "my test"]
    assert list(dict.fromkeys(word for word in words if word in named)) == named
    assert {"several at once", "level and line", "sums along the scores", "others"} <= set(words)
    cells = [text.get_text() for axes in made.axes for text in axes.texts]
    assert cells.count("95") == len(table) / 2


def test_the_league_says_in_numbers_what_lies_beyond_its_axis(tables):
    ranking = tables["league_ranking"].query("estimator == 'ece_bin_ew'").reset_index(drop=True)
    far = ranking.assign(error=np.where(ranking.index > 0, 0.5, 70.0))
    words = words_of(drawn("league_errors", {"league_ranking": far}))
    assert [word for word in words if "▶" in word] == ["7,000 % ▶"]


@pytest.fixture
def arguments(smoke, tmp_path):
    """The command line that draws Figure 14."""
    words = ["draw_figure", "--figure", "fig14_chosen_bins", "--tables"]
    names = ("chosen_bins", "scenarios", "bias")
    words += [f"{name}={smoke / 'results/tables' / name}.csv" for name in names]
    for kind in ("png", "pdf"):
        words += [f"--output-{kind}", str(tmp_path / f"figures/a.{kind}")]
    return words


def test_the_same_bytes_in_another_process_with_another_hash_seed(arguments):
    def written():
        paths = sorted(Path(arguments[-1]).parent.glob("[!.]*"))
        return {path.name: path.read_bytes() for path in paths}

    main(arguments)
    first = written()
    assert list(first) == ["a.pdf", "a.png"]
    code = "from pipeline.door import main; main()"
    python(code, *arguments, PYTHONHASHSEED="1")
    assert written() == first


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("fig14_chosen_bins", "fig99"), "--figure fig99: not known; choose one of"),
        (("scenarios=", "scenery="), "add scenarios=PATH.csv"),
        (("scenarios.csv", "gone.csv"), "gone.csv: there is no such table"),
    ],
)
def test_a_mistake_is_one_line_on_stderr_and_status_2(arguments, change, message, refused):
    with refused(message):
        main([text.replace(*change) for text in arguments])
