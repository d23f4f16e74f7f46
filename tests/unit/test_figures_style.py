"""An estimator looks alike everywhere, known or not."""

from made_up_tables import BINNED

from calbias.figures import style

KNOWN = (*BINNED, "ece_label_binned_em", "ece_label_binned_ew", "kde", "kde_unrooted")


def test_known_estimators_all_look_different():
    looks = {
        (s["color"], s["marker"], str(s["linestyle"]), s["markerfacecolor"])
        for s in map(style.estimator_style, KNOWN)
    }
    assert len(looks) == len(KNOWN)


def test_an_unknown_family_gets_a_look_from_its_name_that_no_known_one_has():
    look = style.estimator_style("my_smooth_em")
    assert look == style.estimator_style("my_smooth_em")
    assert look["color"] == style.estimator_style("my_smooth_ew")["color"]
    assert (look["color"], look["marker"]) not in style.FAMILIES.values()


def test_order_is_that_of_the_families_whatever_came_first():
    shuffled = ("kde", "zeta", "ece_bin_ew", "ece_sweep_em", "ece_bin_em", "alpha_em")
    expected = ["ece_bin_em", "ece_bin_ew", "ece_sweep_em", "kde", "alpha_em", "zeta"]
    assert style.estimator_order(shuffled) == expected
