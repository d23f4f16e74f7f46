"""An estimator looks alike everywhere, known or not, and its name is put in words."""

import importlib

import matplotlib.colors
from made_up_tables import BINNED, MODELS, made_up_tables

from calbias.figures import labels, style
from calbias.pipeline import catalogue

KNOWN = (*BINNED, "ece_label_binned_em", "ece_label_binned_ew", "kde", "kde_unrooted")


def test_known_estimators_all_look_different():
    looks = {
        (s["color"], s["marker"], str(s["linestyle"]), s["markerfacecolor"])
        for s in map(style.estimator_style, KNOWN)
    }
    assert len(looks) == len(KNOWN)


def test_equal_mass_is_solid_and_filled_and_equal_width_dashed_and_hollow():
    mass, width = map(style.estimator_style, ("ece_bin_em", "ece_bin_ew"))
    assert mass["linestyle"] == "-"
    assert mass["markerfacecolor"] == mass["color"] == width["color"]
    assert width["linestyle"] != "-"
    assert width["markerfacecolor"] == "white"


def test_an_unknown_family_gets_a_look_from_its_name_that_no_known_one_has():
    look = style.estimator_style("my_smooth_em")
    assert look == style.estimator_style("my_smooth_em")
    assert look["color"] == style.estimator_style("my_smooth_ew")["color"]
    assert (look["color"], look["marker"]) not in style.FAMILIES.values()


def test_order_is_that_of_the_families_whatever_came_first():
    shuffled = ("kde", "zeta", "ece_bin_ew", "ece_sweep_em", "ece_bin_em", "alpha_em")
    expected = ["ece_bin_em", "ece_bin_ew", "ece_sweep_em", "kde", "alpha_em", "zeta"]
    assert style.estimator_order(shuffled) == expected


def test_estimators_in_words():
    words = ["ECE label-binned, equal width", "KDE, without the root", "my own, equal mass"]
    names = ("ece_label_binned_ew", "kde_unrooted", "my_own_em")
    assert [labels.estimator_label(name) for name in names] == words


def test_sample_sizes_are_darker_when_larger_and_do_not_depend_on_the_others():
    light = [sum(style.sample_size_style(n)["color"][:3]) for n in (100, 200, 1000, 20_000)]
    assert light == sorted(light, reverse=True)
    assert style.sample_size_style(10**6)["color"] == style.sample_size_style(20_000)["color"]


def test_an_estimator_has_the_same_style_in_two_figures():
    tables = made_up_tables(MODELS[:1], ("ece_bin_ew", "mine_em", "kde"))
    seen = []
    for name in ("fig4_realistic", "fig6_perfect"):
        entry = catalogue.figures()[name]
        draw = importlib.import_module(f"calbias.figures.{entry.module}").draw
        made = style.drawn(draw, {stem: tables[stem] for stem in entry.tables}, **entry.options)
        seen.append(
            {
                (matplotlib.colors.to_hex(line.get_color()), line.get_marker())
                for line in made.axes[0].lines
                if line.get_marker() not in ("None", "")
            }
        )
    assert seen[0] == seen[1]
    assert len(seen[0]) == 3
