"""``calbias check``: each failure is one line with the smallest data that show it."""

import pytest

from calbias.command import main
from calbias.estimation.checking import failures
from calbias.estimation.registry import FOLDER

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
    "import time; time.sleep(0.3 if scores.size > 1000 else 0); return 0.0": (
        "time",
        "s for 10000 rows, more than 0.2 s",
    ),
}


@pytest.mark.parametrize("body", WRONG)
def test_a_failure_is_one_line_with_the_smallest_data(body, tmp_path, capsys):
    path = tmp_path / "mine.py"
    path.write_text(
        f'"""Mine."""\nimport numpy as np\ndef estimate(scores, hits, n_bins, norm):\n    {body}\n'
    )
    checks, data = WRONG[body]
    [line] = failures(path, seconds=0.2)
    assert line.startswith(f"{path}: mine: {checks}: ")
    assert data in line
    with pytest.raises(SystemExit, match="2"):
        main(["check", str(path), "--seconds", "0.2"])
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
