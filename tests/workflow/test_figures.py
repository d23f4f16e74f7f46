"""Every figure, drawn from the tables of the smoke run as they are not: with gaps, few or strange.

That all are drawn from the tables as they are: test_smoke.py.
"""

import importlib
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from command import python

from calbias.errors import InputError
from pipeline import catalogue
from pipeline.detection_limits import detection_limits
from pipeline.figures import selection, style
from pipeline.step_command import main

FIGURES = catalogue.figures()
FIRST, SECOND = "resnet110_c10", "resnet110_c100"
# heat maps of one kind differ by their model: only the first one's are drawn
ONE_EACH = [name for name, of in FIGURES.items() if of.options.get("model", FIRST) == FIRST]


@pytest.fixture(scope="session")
def tables(smoke):
    """{name: table} of the smoke run."""
    made = {p.stem: pd.read_csv(p) for p in (smoke / "results/tables").glob("*.csv")}
    return {**made, "models": pd.read_csv(smoke / "config/smoke_models.csv")}


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


@pytest.mark.nightly
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


@pytest.mark.nightly
def test_graphs_show_the_papers_model_or_the_one_that_is_named(tables):
    draw = importlib.import_module(FIGURES["gupta_fig5_top3"].module).draw
    options = FIGURES["gupta_fig5_top3"].options
    other = style.drawn(draw, tables, model="resnet50_brier_c10", **options)
    assert "resnet50_brier_c10" in other.get_suptitle()
    assert len(other.axes) == 3 * 4  # as it is, and after the spline on both folds
    with pytest.raises(InputError, match="no row of mine"):
        style.drawn(draw, tables, model="mine", **options)


@pytest.mark.nightly
def test_a_range_within_printed_decimals_is_only_that_of_printed_parameters(tables):
    scenarios, rounding = tables["scenarios"], tables["tce_rounding"].assign(low_percent=5.7)
    tables = {**tables, "tce_rounding": rounding.assign(high_percent=6.4)}
    assert selection.within_rounding(tables, "heatmaps", FIRST) == "5.70–6.40"
    assert selection.within_rounding(tables, "perfect", FIRST) == ""
    changed = {**tables, "scenarios": scenarios.assign(source="real_logits")}
    assert selection.within_rounding(changed, "heatmaps", FIRST) == ""


@pytest.mark.nightly
def test_figure_5_of_one_sample_size_has_no_overlap_and_no_warning(tables):
    """The paper's points at other sample sizes would lie on other panels."""
    few = tables["detection"].query("n_samples == 100")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = drawn(
            "fig5_detection", {"detection": few, "detection_limits": detection_limits(few)}
        )
    assert not [line for axes in made.axes for line in axes.lines if line.get_marker() == "*"]


@pytest.fixture
def arguments(smoke, tmp_path):
    """The command line that draws Figure 14."""
    words = ["draw_figure", "--figure", "fig14_chosen_bins", "--tables"]
    names = ("chosen_bins", "scenarios", "bias")
    words += [f"{name}={smoke / 'results/tables' / name}.csv" for name in names]
    for kind in ("png", "pdf", "csv"):
        words += [f"--output-{kind}", str(tmp_path / f"figures/a.{kind}")]
    return words


def test_the_same_bytes_in_another_process_with_another_hash_seed(arguments):
    def written():
        paths = sorted(Path(arguments[-1]).parent.glob("[!.]*"))
        return {path.name: path.read_bytes() for path in paths}

    main(arguments)
    first = written()
    assert list(first) == ["a.csv", "a.pdf", "a.png"]
    code = "from pipeline.step_command import main; main()"
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
