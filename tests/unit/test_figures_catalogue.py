"""Which figure is drawn by which module, from which tables."""

import re

import pytest
from checkout import ROOT

from calbias.claims.ledger import all_claims
from calbias.errors import InputError
from calbias.io.table_schema import tables
from calbias.pipeline import catalogue
from calbias.truth.paper import HEATMAP_MODELS

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
    claims = all_claims()
    for figure in catalogue.figures():
        text = " ".join((CAPTIONS / f"{figure}.rst").read_text(encoding="utf-8").split())
        named = []
        for paper, first, last in re.findall(r"([RCGS])(\d\d)(?: to [RCGS](\d\d))?", text):
            named += [f"{paper}{k:02}" for k in range(int(first), int(last or first) + 1)]
        resting = [c.id for c in claims if figure in c.figures.split()]
        assert named == resting, figure


def test_a_new_file_is_a_new_figure(tmp_path):
    (tmp_path / "mine.py").write_text('TABLES = ("bias",)\nEXPERIMENTS = ("intro",)\nTITLE = "y"\n')
    (tmp_path / "pair.py").write_text(
        'TABLES = ("bias",)\n\nFIGURES = {"fig10a_a": {"experiment": "fits"}, "fig2_b": '
        '{"experiment": "intro"}}\nTITLE = "of {experiment}"\n'
    )
    (tmp_path / "helper.py").write_text("WIDTH = 3\n")
    figures = catalogue.figures(tmp_path)
    assert list(figures) == ["fig2_b", "fig10a_a", "mine"]
    assert figures == {
        "fig2_b": ("pair", ("bias",), {"experiment": "intro"}, ("intro",), "Figure 2", "of intro"),
        "fig10a_a": ("pair", ("bias",), {"experiment": "fits"}, ("fits",), "Figure 10a", "of fits"),
        "mine": ("mine", ("bias",), {}, ("intro",), "Mine", "y"),
    }


def test_tables_that_are_not_a_literal_are_refused(tmp_path):
    (tmp_path / "mine.py").write_text("TABLES = tuple(x for x in y)\n")
    with pytest.raises(InputError, match=r"line 1: TABLES must be written out"):
        catalogue.figures(tmp_path)
