"""estimate(): a user's three lines, a user's own estimator, and every refusal."""

import pkgutil
from functools import partial

import numpy as np
import pandas as pd
import pytest
from checkout import ROOT
from refusals import refuses, refuses_texts

import calbias
from calbias import InputError, estimate
from calbias.engine.scores_and_hits import HIGHEST_NORM, MOST_BINS
from calbias.engine.sorted_batch import sorted_data_set
from calbias.estimation.loading import load_estimator
from calbias.estimation.registry import NO_BINS, known_estimators
from pipeline.table_schema import read_yaml


def test_the_three_lines_of_the_readme():
    assert calbias.estimate("ece_bin_ew", [0.1, 0.2, 0.9], [0, 0, 1], n_bins=2, norm=1)[:2] == (
        pytest.approx(0.4 / 3), 2
    )  # fmt: skip
    with pytest.raises(AttributeError, match="no attribute 'estimates'"):
        calbias.estimates  # noqa: B018


def test_no_module_stands_before_a_public_name():
    """Importing calbias.NAME would put it in the place of the function."""
    modules = {module.name for module in pkgutil.iter_modules(calbias.__path__)}
    assert modules & {*dir(calbias)} == set()


test_refusals_are_one_line = refuses(
    partial(estimate, estimator="ece_bin_ew", scores=[0.5, 0.7], hits=[0, 1]),
    ({"estimator": "ece_sweap_em"}, "unknown .* 'ece_sweap_em'. Did you mean ece_sweep_em"),
    ({"estimator": "zzz"}, "unknown estimator 'zzz'. Known: averaged_posterior, "),
    ({"estimator": ["kde"]}, r"estimator must be a name, such as .*, not \['kde'\]"),
    *(({"n_bins": n}, "n_bins must be a whole number of at least 1 and at most 1000000, not")
      for n in (10**12, 0, 2.5)),
    *(({"norm": norm}, "norm must be a finite number above 0 and at most 100, not")
      for norm in (0, float("inf"))),
    ({"scores": [[0.1], [0.2, 0.3]]}, "scores cannot be read as an array: setting"),
    ({"scores": np.ma.array([0.1, 0.2], mask=[0, 1])}, "scores must have no mask"),
)  # fmt: skip


def test_the_norm_is_1_unless_the_estimator_has_another_or_one_is_given():
    data = [0.5, 0.7, 0.9], [0, 1, 1]
    assert (estimate("ece_bin_ew", *data).norm, estimate("ece_debias_em", *data).norm) == (1, 2)
    assert estimate("ece_bin_ew", *data, norm=2).norm == 2
    with pytest.raises(InputError, match="ece_debias_em is defined for norm 2 only, not 1"):
        estimate("ece_debias_em", *data, norm=1)


def test_limits_are_those_of_the_configuration():
    schema = read_yaml(ROOT / "workflow/schemas/config.schema.yaml")
    n_bins = schema["$defs"]["experiment"]["properties"]["n_bins"]["items"]["maximum"]
    assert (n_bins, schema["properties"]["norm"]["maximum"]) == (
        MOST_BINS,
        HIGHEST_NORM,
    )


class Tensor:
    """What NumPy makes an array of by itself, as of torch's."""

    def __init__(self, values):
        self.values = np.array(values, np.float32)

    def __array__(self, dtype=None, copy=None):
        return self.values


def test_lists_columns_tensors_and_arrays_of_one_column():
    expected = estimate("kde", [0.5, 0.75], [False, True])
    frame = pd.DataFrame({"score": [0.5, 0.75], "hit": [0, 1]}, index=[7, 3])
    for scores, hits in (
        (np.array([[0.5], [0.75]]), np.array([[0], [1]], np.uint8)),
        (frame["score"], frame["hit"]),
        (frame[["score"]], frame[["hit"]]),
        (Tensor([0.5, 0.75]), Tensor([0, 1])),
    ):
        assert estimate("kde", scores, hits) == expected
    # a score above 1 by rounding counts as 1
    assert estimate("kde", [0.5, 1 + 1e-7], [0, 1]) == estimate("kde", [0.5, 1], [0, 1])


def test_estimator_descriptions():
    described = {entry.name: entry for entry in calbias.list_estimators()}
    assert set(described) == set(known_estimators())
    assert all(entry.summary and entry.formula for entry in described.values())
    assert described["ece_sweep_em"].bins == "chosen"
    assert described["ece_debias_em"].norms == (2.0,)
    assert described["kde_unrooted"].target == "lp_power"
    assert described["ece_debias_unclipped_em"].formula.startswith("sign(D)·√|D|; D = ")
    assert described["ece_bin_ew"].formula == "ECE_bin = (Σ_k n_k/n · |f_k - y_k|^p)^(1/p)"


DATA = sorted_data_set([0.2, 0.8, 0.8], [0, 1, 0])


def returning(value, what="scores, hits"):
    """The text of an estimator's file whose function returns an expression's value."""
    name = "estimate" if what == "scores, hits" else "estimate_data_sets"
    imports = "import numpy as np\nfrom fractions import Fraction\n"
    return f"{imports}\ndef {name}({what}, n_bins, norm):\n    return {value}\n"


OWN = returning("abs(np.mean(scores) - np.mean(hits))")


@pytest.fixture
def own(tmp_path):
    """A function that writes an estimator's file and returns what it gives for three samples."""

    def run(text, name="mine", stem="mine", folder="", n_bins=7, norm=2.0):
        (tmp_path / folder).mkdir(exist_ok=True)
        file = tmp_path / folder / f"{stem}.py"
        file.write_text(text)
        values, bins = load_estimator(name, file)(DATA, n_bins, norm)
        assert values.dtype == np.float64
        return [*values.tolist(), *bins.tolist()]

    return run


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (OWN, [0.6 - 1 / 3, 7]),
        ('BINS = "none"\n' + OWN, [0.6 - 1 / 3, NO_BINS]),
        ('TARGET = "none"\n' + returning("2.5"), [2.5, 7]),  # without a target it may exceed 1
        *((returning(one), [1, 7])
          for one in ("1", "np.float32(1)", "np.array(1.0)", "Fraction(1)", "True")),
    ],
)  # fmt: skip
def test_an_estimator_in_plain_numpy(own, text, expected):
    assert own(text) == pytest.approx(expected, rel=1e-15)


def test_files_of_one_stem_are_not_confused_and_leave_calbias_alone(own):
    expected = load_estimator("kde")(DATA, 0)[0].tolist()
    for k, value in enumerate((0.25, 0.5)):
        text = 'VARIANTS = {"kde_mine": {}}\n' + returning(value)
        assert own(text, "kde_mine", stem="kde", folder=str(k)) == [value, 7]
    assert load_estimator("kde")(DATA, 0)[0].tolist() == expected


def test_a_file_that_failed_is_loaded_once_it_is_corrected(own):
    with pytest.raises(InputError, match=r"mine.py, line 1: estimator mine cannot be loaded"):
        own("import no_such_module\n")
    own(OWN + "# and longer than before, so that Python compiles it again\n")


def test_variants_give_options_to_an_estimator_in_plain_numpy(own):
    text = (
        'VARIANTS = {"mine": {}, "mine_twice": {"factor": 2}}\nNORMS = (1, 2)\n\n\n'
        "def estimate(scores, hits, n_bins, norm, factor=1):\n    return factor * 0.25\n"
    )
    assert (own(text)[0], own(text, "mine_twice")[0]) == (0.25, 0.5)
    with pytest.raises(InputError, match="mine is defined for norm 1 or 2 only, not 3"):
        own(text, norm=3)


test_a_bad_estimator_of_ones_own = refuses_texts(
    lambda path: load_estimator("mine", path)(DATA, 7, 2.0), "mine.py",
    ("x = 1\n", r"mine.py: define estimate\(scores, hits, n_bins, norm\) in it"),
    (returning("np.nan"), "estimator mine returned nan for a data set of 3"),
    (returning("50"), "returned 50.0 .*: an estimate .* divide percentages"),
    (returning("np.random.default_rng().random()"),
     "mine returned 0.* and then 0.* for the same data set: it must not depend on"),
    # it changes its arguments
    (OWN.replace("    return", "    scores *= 0.5\n    return"),
     "estimator mine fails on .*: ValueError: .*read-only"),
    *((returning(value), f"mine.py: estimate must return one number, not a {kind}$")
      for value, kind in {
          "0.5, 15": "tuple", "scores": "ndarray", "scores[:1]": "ndarray", "'0.5'": "str",
          "None": "NoneType", "0.5j": "complex",
      }.items()),
    *((returning(value, "data"), r"mine.py: estimate_data_sets must return two ")
      for value in (
          "0.5", "None", "np.zeros(1)", "np.zeros(2), np.zeros(2, int)", "[0.5], [15]",
          "np.zeros((1, 1)), np.zeros(1, int)", "np.zeros(1), np.zeros(1)",
          "np.array(['0.5']), np.zeros(1, int)", "np.zeros(1), np.zeros(1, int), None",
      )),
    (returning("exit(3)"), r"mine.py, line 5: estimator mine fails on a .* SystemExit: 3"),
    ("import sys\nsys.exit('no')", r"mine.py, line 2: .* cannot be loaded: SystemExit: no"),
)  # fmt: skip
