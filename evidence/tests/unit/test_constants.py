"""The study of constants: what it scales, what it says, and the page that quotes it."""

import csv
import re
from pathlib import Path

import numpy as np

from calbias.engine import posterior
from evidence import constants

ROOT = next(path for path in Path(__file__).parents if (path / "docs/tool/method.md").exists())
KEPT = ROOT / "resources" / "evidence" / "constants.csv"


def test_a_constant_is_scaled_where_it_is_used_and_put_back():
    before = posterior.LINES, posterior._MODELS
    with constants.changed("engine.posterior", "LINES", 2.0):
        assert posterior.LINES == (0.2, 0.6, 1.6)
        assert posterior._MODELS[0, 0] == 0.2
    assert posterior.LINES is before[0]
    np.testing.assert_array_equal(posterior._MODELS, before[1])
    assert constants.scaled((1, 3, 9), 2.0, "_FINER") == (1, 5, 17)
    assert constants.scaled(3, 0.5, "CELLS") == 2
    assert constants.scaled(((0.5, 2),), 0.5, "_SEGMENTATIONS") == ((0.5, 1.0),)


def test_changes_in_words():
    before = [(True, False, "", 0.5), (False, True, "too sure", 0.01), (False, True, "x", 0.01)]
    after = [(True, True, "y", 0.5), (False, True, "in shape", 0.01), (False, False, "", 0.2)]
    words = constants.verdict_change(before, after)
    assert words == "false +1, found -1, worded 1"
    assert constants.verdict_change(before, before) == "0"
    rows = [("a", 0.1, True, 0.2, True), ("b", 0.1, False, 0.2, True)]
    wide = [("a", 0.2, True, 0.2, True), ("b", 0.2, True, 0.2, True)]
    assert constants.interval_change(rows, wide) == "ℓ1 ×2.00, +1"
    assert constants.subgroup_change([("pair", True, "a")], [("pair", False, "b")]) == (
        "pair -1, first 1"
    )


def test_the_page_says_what_was_measured():
    page = (ROOT / "docs/tool/method.md").read_text(encoding="utf-8")
    rows = [line.strip("|").split("|") for line in page.splitlines() if line.startswith("|`")]
    with KEPT.open(encoding="utf-8") as file:
        measured = list(csv.reader(file))
    assert {row[0] for row in measured} == {*constants.PANELS, "monitor"}
    for _, module, name, factor, text in measured:
        (row,) = (row for row in rows if re.match(rf"`{module}`: .*`{name}`", row[0]))
        cell = row[-2 if factor == "0.5" else -1]
        text = re.sub(r"(?<=\d\d) ×", "/", text)
        assert text in cell or text == "0", (module, name, factor)


def test_each_constant_of_a_part_is_measured_twice(monkeypatch):
    panel = (lambda: lambda: [(True, False, "", 0.5)]), constants.verdict_change
    monkeypatch.setitem(constants.PANELS, "clusters", panel)
    rows = list(constants.rows_of_part("clusters"))
    assert {row[3] for row in rows} == {"0"}
    assert [row[1] for row in rows][::2] == ["FEW_WITH_RARER", "LARGEST_NUMBER", "_LEAST_UNLIKELY"]
