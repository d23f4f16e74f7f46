"""Files that add something: what docs/extend.md says runs; which file draws which figure."""

import json
import re
import shutil

import pandas as pd
import pytest
from checkout import ROOT
from claims_data import TABLES, experiment
from command import python

from calbias.errors import InputError
from pipeline import catalogue
from pipeline.claims.evidence import Evidence
from pipeline.claims.ledger import all_claims
from pipeline.figures import style
from pipeline.paper import BINNED, HEATMAP_MODELS
from pipeline.table_schema import tables
from reproduction.figures import fig3_fits

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


CAPTIONS = ROOT / "workflow" / "report"


def test_every_figure_has_a_caption_of_its_place_and_tables_of_the_schema():
    entries = catalogue.figures()
    assert {f"fig7_bias_{HEATMAP_MODELS[0]}", "fig4_realistic", "league_errors"} <= set(entries)
    for figure, entry in entries.items():
        caption = (CAPTIONS / f"{figure}.rst").read_text(encoding="utf-8")
        assert caption.startswith(f"**{entry.place}**")
        assert "\nData: " in caption
        assert set(entry.tables) <= {*tables(), "models"}, figure


def test_captions_name_the_claims_that_rest_on_the_figure():
    for figure in catalogue.figures():
        text = " ".join((CAPTIONS / f"{figure}.rst").read_text(encoding="utf-8").split())
        named = []
        for paper, first, last in re.findall(r"([RCGS])(\d\d)(?: to [RCGS](\d\d))?", text):
            named += [f"{paper}{k:02}" for k in range(int(first), int(last or first) + 1)]
        assert named == [c.id for c in all_claims() if figure in c.figures.split()], figure


def test_a_new_file_is_a_new_figure(tmp_path):
    for name, text in {
        "mine": 'TABLES = ("bias",)\nEXPERIMENTS = ("intro",)\nTITLE = "y"\n',
        "pair": 'TABLES = ("bias",)\n\nFIGURES = {"fig10a_a": {"experiment": "fits"}, "fig2_b": '
        '{"experiment": "intro"}}\nTITLE = "of {experiment}"\n',
        "helper": "WIDTH = 3\n",
    }.items():
        (tmp_path / f"{name}.py").write_text(text)
    names, figures = zip(*catalogue.figures(tmp_path).items(), strict=True)
    assert names == ("fig2_b", "fig10a_a", "mine")
    figures = tuple(f._replace(module=f.module.rpartition(".")[2]) for f in figures)
    assert figures == (
        ("pair", ("bias",), {"experiment": "intro"}, ("intro",), "Figure 2", "of intro"),
        ("pair", ("bias",), {"experiment": "fits"}, ("fits",), "Figure 10a", "of fits"),
        ("mine", ("bias",), {}, ("intro",), "Mine", "y"),
    )
    (tmp_path / "mine.py").write_text("TABLES = tuple(x for x in y)\n")
    with pytest.raises(InputError, match=r"line 1: TABLES must be written out"):
        catalogue.figures(tmp_path)
    (tmp_path / "mine.py").write_text('TABLES = ("bia",)\n')
    with pytest.raises(InputError, match=r"TABLES: 'bia'\? Did you mean bias"):
        catalogue.figures(tmp_path)


def test_a_figure_needs_a_caption(monkeypatch, tmp_path):
    monkeypatch.setattr(catalogue, "CAPTIONS", tmp_path)
    with pytest.raises(InputError, match=r"\.rst: no such file; write the caption"):
        catalogue.validate_captions()


def test_figure_3_tells_ten_models_of_one_group_apart():
    models = pd.DataFrame({"model": [f"mine_{k}" for k in range(10)], "group": "own"})
    for name in ("linestyle", "marker"):
        looks = {(look["color"], look[name]) for look in fig3_fits.looks(models).values()}
        assert len(looks) == 10


KNOWN = (*BINNED, "ece_label_binned_em", "ece_label_binned_ew", "kde", "kde_unrooted")


def test_known_estimators_look_different_and_an_unknown_family_has_a_look_of_its_own():
    styles = [style.estimator_style(name) for name in KNOWN]
    names = ("color", "marker", "linestyle", "markerfacecolor")
    assert len({tuple(str(look[name]) for name in names) for look in styles}) == len(KNOWN)
    look = style.estimator_style("my_smooth_em")
    assert look == style.estimator_style("my_smooth_em")
    assert look["color"] == style.estimator_style("my_smooth_ew")["color"]
    assert (look["color"], look["marker"]) not in style.FAMILIES.values()


def test_order_is_that_of_the_families_whatever_came_first():
    shuffled = ("kde", "zeta", "ece_bin_ew", "ece_sweep_em", "ece_bin_em", "alpha_em")
    expected = ["ece_bin_em", "ece_bin_ew", "ece_sweep_em", "kde", "alpha_em", "zeta"]
    assert style.estimator_order(shuffled) == expected
