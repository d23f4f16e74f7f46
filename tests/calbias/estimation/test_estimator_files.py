"""Which file holds an estimator, learnt without importing it."""

import os

import pytest
from refusals import refuses_texts

from calbias.command import main
from calbias.errors import InputError
from calbias.estimation import registry
from calbias.estimation.checking import failures
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


WRONG = {  # body of estimate: the checks that fail, and the smallest data
    "return 100 * abs(np.mean(scores - hits))": (
        "one row, all hits, no hits, one score, ties, copies of rows, other rows",
        "scores [0.5], hits [1]: estimator mine returned 50.0",
    ),
    "return abs(np.log(hits.mean())) / 10": (
        "one row, scores of exactly 0 and 1, no hits",
        "scores [0.5], hits [0]: estimator mine returned inf",
    ),
    "scores -= hits; return abs(scores.mean())": (
        "one row, two rows, scores of exactly 0 and 1, all hits, no hits, one score, ties, copies "
        "of rows, other rows",
        "scores [0.5], hits [1]: line 4: estimator mine fails on a data set of 1 samples: "
        "ValueError: output array is read-only",
    ),
    "return float(np.var(scores) ** 0.5 / (np.ptp(scores) if scores.size > 1 else 1))": (
        "one score",
        "scores [0.8, 0.8], hits [1, 1]: estimator mine returned nan",
    ),
    "estimate.calls = getattr(estimate, 'calls', 0) + 1; return 1 / max(estimate.calls - 9, 1)": (
        "the same number twice",
        "seed the generator in each call",
    ),
    "import time; time.sleep(0.3 if scores.size > 1000 else 0); return 0.0": (
        "time",
        "more than 0.2 s for 10000 rows",
    ),
}


@pytest.mark.parametrize("body", WRONG)
def test_a_failure_is_one_line_with_the_smallest_data(body, tmp_path, capsys):
    path = tmp_path / "mine.py"
    path.write_text(
        f'"""Mine."""\nimport numpy as np\ndef estimate(scores, hits, n_bins, norm):\n    {body}\n'
    )
    checks, data = WRONG[body]
    seconds = 0.2 if checks == "time" else 600  # a busy machine is slow too
    [line] = failures(path, seconds=seconds)
    assert line.startswith(f"{path}: mine: {checks}: ")
    assert data in line
    with pytest.raises(SystemExit, match="2"):
        main(["check", str(path), "--seconds", str(seconds)])
    said = capsys.readouterr()
    assert said.out.count("\n") == 1
    assert said.err == f"error: {path}: failed checks: 1\n"


COMPILED = '''
"""A compiled one."""
import numpy as np
VARIANTS = {{"first": {{"kind": 0}}, "second": {{"kind": 1}}}}
def estimate_data_sets(data, n_bins, norm, kind):
    {body}
    return np.full(len(data.scores), 0.1), np.full(len(data.scores), 1)
def estimate_scored(scored, n_bins, norm, kind):
    return 0.1 * {weight}, 1
'''


def test_a_compiled_file_is_checked_for_each_variant(tmp_path):
    path = tmp_path / "compiled.py"
    path.write_text(COMPILED.format(body="data.cum_gap[:] = kind", weight="1"))
    lines = failures(path)
    assert [line.split(": ")[1] for line in lines] == ["first", "second"]
    assert "it changes the data that it is given" in lines[0]
    other = tmp_path / "weighted.py"
    other.write_text(COMPILED.format(body="pass", weight="scored.total"))
    assert failures(other)[0].startswith(
        f"{other}: first: sample weights: scores [0.9], hits [0]: returned 0.1 without weights and "
        "0.3"
    )


@pytest.mark.parametrize(
    "path",
    sorted(FOLDER.glob("[a-z]*.py")),
    ids=lambda path: path.stem,
)
def test_all_estimators_of_the_house_pass(path):
    assert failures(path, seconds=60) == []
