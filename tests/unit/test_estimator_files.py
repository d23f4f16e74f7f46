"""Which file holds an estimator, learnt without importing it."""

import pytest

from calbias.errors import InputError
from calbias.estimation.registry import (
    CHOSEN,
    FOLDER,
    NO_BINS,
    bin_numbers,
    estimator_file,
    estimator_options,
    estimator_target,
    known_estimators,
    literal,
    validate_unusable,
)


@pytest.mark.parametrize(
    ("estimator", "stem"),
    [
        ("ece_bin_ew", "ece_bin"),
        ("ece_sweep_em", "ece_sweep"),
        ("ece_debias_unclipped_ew", "ece_debias"),
        ("kde_unrooted", "kde"),
    ],
)
def test_an_estimators_file(estimator, stem):
    assert estimator_file(estimator) == FOLDER / f"{stem}.py"


def test_own_folders_come_after(tmp_path):
    (tmp_path / "mine.py").write_text("def estimate(scores, hits, n_bins, norm): ...\n")
    (tmp_path / "_helper.py").write_text("")
    (tmp_path / "two.py").write_text('VARIANTS = {"two_ew": {}, "two_em": {}}\n')
    folders = (FOLDER, tmp_path)
    assert estimator_file("mine", folders) == tmp_path / "mine.py"
    assert estimator_file("two_em", folders) == tmp_path / "two.py"
    assert {"_helper", "two"}.isdisjoint(known_estimators(folders))


def test_a_name_that_is_taken_is_refused(tmp_path):
    (tmp_path / "kde.py").write_text("def estimate(scores, hits, n_bins, norm): ...\n")
    with pytest.raises(InputError, match=r"kde.py: .*/kde.py defines an estimator kde already: gi"):
        known_estimators((FOLDER, tmp_path))
    assert "kde" in known_estimators((FOLDER, FOLDER))


def test_a_folder_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(
        InputError, match=r"there is no folder .*/no of estimators; correct its name"
    ):
        estimator_file("kde", (FOLDER, tmp_path / "no"))


def test_unknown_names_are_refused_with_the_nearest():
    with pytest.raises(InputError, match=r"unknown estimator 'ece_bin'\. Did you mean ece_bin_e"):
        estimator_file("ece_bin")
    with pytest.raises(InputError, match=r"unknown estimator 'xyz'\. Known: beta_kernel, "):
        estimator_file("xyz")


def test_a_broken_file_is_its_own_jobs_error(tmp_path):
    (tmp_path / "broken.py").write_text("def estimate(:\n")
    assert estimator_file("broken", (FOLDER, tmp_path)) == tmp_path / "broken.py"
    assert bin_numbers(tmp_path / "broken.py", [15]) == [15]


def test_variants_that_are_computed_are_refused(tmp_path):
    (tmp_path / "odd.py").write_text('\nVARIANTS = tuple("ab")\n')
    with pytest.raises(InputError, match=r"odd.py, line 2: VARIANTS must be written out"):
        known_estimators((tmp_path,))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("VARIANTS = 5", r"VARIANTS must be a dict from names to options, such as .*, not 5"),
        ('VARIANTS = ("mine",)', r"VARIANTS must be a dict from names to options, .*, not \('mine"),
        ("VARIANTS = {}", r"VARIANTS must be a dict from names to options"),
        ('VARIANTS = {"a": {}, 2: {}}', r"VARIANTS must be a dict from names to options"),
        ('VARIANTS = {"a": {2: 3}}', r"VARIANTS must be a dict from names to options"),
        ("TARGET = 2", r'TARGET must be a name, such as "lp", or a dict .*, not 2'),
        ("NORMS = 2", r"NORMS must be a list of numbers, such as \(2,\), not 2"),
        ("NORMS = ()", r"NORMS must be a list of numbers"),
        ("NORMS = (True,)", r"NORMS must be a list of numbers"),
        ('BINS = "no"', r'BINS must be one of "fixed", "chosen", "none", not \'no\''),
    ],
)
def test_what_a_file_says_of_itself_must_be_of_its_type(tmp_path, text, message):
    path = tmp_path / "mine.py"
    path.write_text(f"\n{text}\n")
    with pytest.raises(InputError, match=f"mine.py, line 2: {message}"):
        literal(path, text.split()[0], default=None)


def test_an_annotated_assignment_counts(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text('BINS: str = "none"\nNORMS: tuple\nVARIANTS: dict = {"mine_ew": {}}\n')
    assert bin_numbers(path, [15]) == [NO_BINS]
    assert set(known_estimators((tmp_path,))) == {"mine_ew"}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("my-est", "def estimate(): ...", r"my-est.py: 'my-est' cannot be an .*: rename it to let"),
        ("mine", "x = 1", r"mine.py: define estimate\(scores, hits, n_bins, norm\) in it"),
    ],
)
def test_files_that_no_job_could_run(tmp_path, name, text, message):
    path = tmp_path / f"{name}.py"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        validate_unusable(name, path)


@pytest.mark.parametrize(
    "text",
    [
        "def estimate_data_sets(data, n_bins, norm): ...",
        "from elsewhere import estimate",
        "from elsewhere import ks as estimate",
        "from elsewhere import *",
        "try:\n    from fast import estimate\nexcept ImportError:\n    estimate = max",
        "estimate: object = max",
        "def estimate(:",  # its own job tells the line
    ],
)
def test_a_function_may_come_from_anywhere(tmp_path, text):
    (tmp_path / "mine.py").write_text(text)
    validate_unusable("mine", tmp_path / "mine.py")


def test_an_edit_is_seen(tmp_path):
    import os

    path = tmp_path / "mine.py"
    path.write_text('VARIANTS = {"one": {}}\n')
    assert set(known_estimators((tmp_path,))) == {"one"}
    path.write_text('VARIANTS = {"two": {}}\n')
    os.utime(path, ns=(1, 1))
    assert set(known_estimators((tmp_path,))) == {"two"}


def test_numbers_of_bins():
    assert bin_numbers(FOLDER / "ece_bin.py", [2, 4]) == [2, 4]
    assert bin_numbers(FOLDER / "ece_sweep.py", [2, 4]) == [CHOSEN]
    assert bin_numbers(FOLDER / "kde.py", [2, 4]) == [NO_BINS]


def test_options_and_targets_of_names():
    assert estimator_options("ece_bin_ew") == {"binning": "equal_width"}
    assert estimator_options("kde_unrooted") == {"rooted": False}
    assert (estimator_target("kde"), estimator_target("kde_unrooted")) == ("lp", "lp_power")


def test_a_file_without_variants_has_no_options_and_the_usual_target(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text("def estimate(scores, hits, n_bins, norm): ...\n")
    assert estimator_options("mine", path) == {}
    assert estimator_target("mine", path) == "lp"
