"""What docs/extend.md says: examples run, and a file that lacks a part is refused in one line."""

import json
import re
import shutil

import pytest
from checkout import ROOT
from claims_data import BINNED, TABLES, experiment
from command import python

from pipeline.claims.evidence import Evidence
from pipeline.figures import style

TRY = """
import contextlib, importlib, io, json, pathlib, sys
from calbias import estimate
from pipeline.claims.ledger import all_claims, judge
from calbias.errors import InputError
from pipeline.door import main

uses = {
    "estimators": lambda: estimate("mine", [0.2, 0.7], [0, 1]),
    "figures": lambda: main(
        ("draw_figure --figure mine --tables --output-png a --output-pdf b").split()
    ),
    "claims": lambda: [judge(claim, None) for claim in all_claims() if claim.id == "C99"],
}
for folder, text in json.load(sys.stdin):
    package = "reproduction" if folder in ("figures", "claims") else "calbias"
    path = pathlib.Path("scripts", package, folder, "mine.py").resolve()
    path.write_text(text)
    importlib.invalidate_caches()
    try:
        with contextlib.redirect_stderr(io.StringIO()) as screen:
            uses[folder]()
        print("nothing")
    except (InputError, SystemExit) as error:
        print(screen.getvalue().strip().removeprefix("error: ") or error)
    path.unlink()
    sys.modules.pop(package + "." + folder.replace("/", ".") + ".mine", None)
"""
CLAIM = (
    "from pipeline.claims.verdicts import claim\n\n\n@claim('C99', 'here', 'bias', says='A claim.'"
)
CLAIM += (
    ", published='1', rule='none', errors='none')\ndef rule(evidence):\n    return 'reproduced'"
)
LACKING = (  # folder, text of mine.py, what is said after its path
    ("estimators", "", ": define estimate(scores, hits, n_bins, norm) in it"),
    ("figures", "TABLES = ()", ": define draw(tables) in it"),
    ("claims", CLAIM, ": claim C99: its rule must return a Ruling"),
)


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """What using each of the files says, a list of lines."""
    folder = tmp_path_factory.mktemp("plug_ins").resolve()
    for part in ("scripts", "workflow"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    lines = json.dumps([(kind, text) for kind, text, _ in LACKING])
    # mine.py changes within a second, by which bytecode is found
    environment = {"PYTHONPATH": str(folder / "scripts"), "PYTHONDONTWRITEBYTECODE": "1"}
    found = python(TRY, folder=folder, lines=lines, **environment)
    return [
        re.sub(rf"^{re.escape(str(folder))}/scripts/\w+/", "", line) for line in found.splitlines()
    ]


@pytest.mark.parametrize("number", range(len(LACKING)), ids=[row[0] for row in LACKING])
def test_what_a_file_lacks_is_said_in_one_line(said, number):
    folder, _, message = LACKING[number]
    assert len(said) == len(LACKING)
    expected = f"{folder}/mine.py{message}" if message else "nothing"
    assert said[number].startswith(expected)


def example(first_line):
    """Run the example of docs/extend.md that begins so; return its names."""
    blocks = re.findall(
        r"```python\n(.*?)```", (ROOT / "docs/extend.md").read_text("utf-8"), re.DOTALL
    )
    [text] = [block for block in blocks if block.startswith(f'"""{first_line}')]
    names = {}
    exec(text, names)
    return names


def test_the_example_of_a_figure_is_drawn_and_that_of_a_claim_judged():
    tables = {**TABLES, "bias": experiment("realistic", 1.0, BINNED)}
    names = example("Standard deviations")
    [axes] = style.drawn(names["draw"], {name: tables[name] for name in names["TABLES"]}).axes
    assert len(axes.patches) == len(BINNED)
    assert example("C90")["none_varies_much_more"].judge(Evidence(tables)).verdict == "reproduced"


def test_the_example_of_a_study_has_a_row_for_each_cell_size_and_method():
    names = example("The ECE of rounded scores")
    rows = [*names["rounding_rows"](2, 1)]
    assert len(rows) == len(names["CELLS"]) * len(names["SIZES"]) * len(names["METHODS"])
    assert all(0 < row["mean_estimate"] < 1 for row in rows)
