"""Which file holds an estimator, learnt without importing it."""

import os

import pytest
from refusals import refuses_texts

from calbias.errors import InputError
from calbias.estimation import registry
from calbias.estimation.registry import CHOSEN, FOLDER, NO_BINS, estimator_file, known_estimators
from calbias.io.python_files import literal

OWN = "def estimate(scores, hits, n_bins, norm): ...\n"


@pytest.fixture
def mine(tmp_path):
    """A function that writes the file of an estimator and returns its path."""

    def write(text, stem="mine"):
        (tmp_path / f"{stem}.py").write_text(text)
        return tmp_path / f"{stem}.py"

    return write


@pytest.mark.parametrize(
    ("estimator", "stem", "options", "target", "bins"),
    [
        ("ece_bin_ew", "ece_bin", {"binning": "equal_width"}, "lp", [2, 4]),
        ("ece_sweep_em", "ece_sweep", {"binning": "equal_mass"}, "lp", [CHOSEN]),
        ("kde", "kde", {"rooted": True}, "lp", [NO_BINS]),
        ("kde_unrooted", "kde", {"rooted": False}, "lp_power", [NO_BINS]),
    ],
)
def test_what_a_file_says(estimator, stem, options, target, bins):
    path = FOLDER / f"{stem}.py"
    assert (estimator_file(estimator), registry.bin_numbers(path, [2, 4])) == (path, bins)
    assert registry.estimator_options(estimator) == options
    assert registry.estimator_target(estimator) == target


@pytest.mark.parametrize(
    ("text", "bins", "names"),
    [
        (OWN, [15], {"mine"}),
        ("def estimate(:\n", [15], {"mine"}),  # a broken file is its own job's error
        ('BINS: str = "none"\nNORMS: tuple\nVARIANTS: dict = {"mine_ew": {}}\n', [NO_BINS],
         {"mine_ew"}),
    ],
)  # fmt: skip
def test_a_file_of_ones_own(mine, text, bins, names):
    path = mine(text)
    assert registry.bin_numbers(path, [15]) == bins
    assert set(known_estimators((path.parent,))) == names
    assert registry.estimator_options("mine", path) == {}
    assert registry.estimator_target("mine", path) == "lp"


def test_own_folders_come_after(mine, tmp_path):
    path = mine(OWN)
    mine("", "_helper")
    two = mine('VARIANTS = {"two_ew": {}, "two_em": {}}\n', "two")
    folders = (FOLDER, tmp_path)
    assert (estimator_file("mine", folders), estimator_file("two_em", folders)) == (path, two)
    assert {"_helper", "two"}.isdisjoint(known_estimators(folders))
    assert "kde" in known_estimators((FOLDER, FOLDER))


@pytest.mark.parametrize(
    ("name", "stem", "message"),
    [
        ("kde", "kde", r"kde.py: .*/kde.py defines kde already: give"),
        ("ece_bin", "mine", r"unknown estimator 'ece_bin'\. Did you mean ece_bin_e"),
        ("xyz", "mine", r"unknown estimator 'xyz'\. Known: averaged_posterior, ece_bin_em, "),
    ],
)
def test_names_that_are_taken_or_unknown(mine, name, stem, message):
    with pytest.raises(InputError, match=message):
        estimator_file(name, (FOLDER, mine(OWN, stem).parent))
    with pytest.raises(InputError, match=r"there is no folder .*/no of estimators; correct its"):
        estimator_file("kde", (FOLDER, mine(OWN, stem).parent / "no"))


test_what_a_file_says_of_itself_must_be_of_its_type = refuses_texts(
    lambda path: registry.literal(path, path.read_text().split()[0], default=None),
    "mine.py",
    ('\nVARIANTS = tuple("ab")', "mine.py, line 2: VARIANTS must be written out"),
    ("\nNORMS = 2", r"mine.py, line 2: NORMS must be a list of numbers, such as \(2,\), not 2"),
    ("VARIANTS = 5", r"VARIANTS must be a dict from names to options, such as .*, not 5"),
    ('VARIANTS = ("mine",)', r"VARIANTS must be a dict from names to options, .*, not \('mine"),
    ('VARIANTS = {"a": {2: 3}}', r"VARIANTS must be a dict from names to options"),
    ("TARGET = 2", r'TARGET must be a name, such as "lp", or a dict .*, not 2'),
    ('BINS = "no"', r'BINS must be one of "fixed", "chosen", "none", not \'no\''),
)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("my-est", "def estimate(): ...", r"my-est.py: 'my-est' cannot be an .*: rename it to let"),
        ("mine", "x = 1", r"mine.py: define estimate\(scores, hits, n_bins, norm\) in it"),
    ],
)
def test_files_that_no_job_could_run(mine, name, text, message):
    with pytest.raises(InputError, match=message):
        registry.validate_unusable(name, mine(text, name))


@pytest.mark.parametrize(
    "text",
    [
        "def estimate_data_sets(data, n_bins, norm): ...",
        "from elsewhere import estimate",
        "from elsewhere import *",
        "try:\n    from fast import estimate\nexcept ImportError:\n    estimate = max",
        "estimate: object = max",
        "def estimate(:",  # its own job tells the line
    ],
)
def test_a_function_may_come_from_anywhere(mine, text):
    registry.validate_unusable("mine", mine(text))


def test_an_edit_is_seen(mine):
    path = mine('VARIANTS = {"one": {}}\n')
    assert set(known_estimators((path.parent,))) == {"one"}
    mine('VARIANTS = {"two": {}}\n')
    os.utime(path, ns=(1, 1))
    assert set(known_estimators((path.parent,))) == {"two"}


def test_a_constant_that_a_rule_reads_must_be_there(tmp_path):
    path = tmp_path / "renamed.py"
    path.write_text("OTHER = ()\n")
    with pytest.raises(InputError, match=r"renamed\.py: assign the constant ESTIMATORS"):
        literal(path, "ESTIMATORS")
    assert literal(path, "ESTIMATORS", default=()) == ()
