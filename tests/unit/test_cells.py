"""The sets of cells: each has a half, and no two cells of the table have one name."""

import re
from itertools import islice

import pytest
import yaml
from checkout import ROOT

from evidence.cells.sets import SETS
from evidence.cells.streams import FAULTS
from evidence.cells.subgroups import CELLS
from evidence.runner import DESIGN, JUDGING

HALVES = {DESIGN, JUDGING}


def test_every_set_is_of_a_half_and_no_cell_stands_twice():
    assert {of.half for of in SETS.values()} == HALVES
    names = [(cell.name, n) for of in SETS.values() for cell, n in of.cells()]
    assert len(names) == len(set(names)) == 222
    assert {cell.half for cell in (*CELLS, *FAULTS)} == HALVES


def test_the_workflow_and_its_configuration_have_all_sets():
    rule = (ROOT / "workflow/rules/evidence/coverage.smk").read_text("utf-8")
    schema = yaml.safe_load((ROOT / "workflow/schemas/config.schema.yaml").read_text("utf-8"))
    _, names = schema["properties"]["coverage_of"]["oneOf"]
    of_rule = re.search(r"ALL_CELLS = \((.*)\)", rule)[1]
    assert {*names["items"]["enum"]} == {*re.findall(r'"(\w+)"', of_rule)} == {*SETS}


@pytest.mark.parametrize("name", SETS)
def test_a_data_set_depends_on_the_seed_and_its_number_alone(name):
    for cell, _ in islice(SETS[name].cells(), 3):
        few, many = ([*cell.batches(50, 7, m)] for m in (2, 3))
        for one, other in zip(few, many, strict=False):
            assert (one[0].scores == other[0].scores).all()
            assert (one[0].hits == other[0].hits).all()
        assert cell.truth("l1") <= cell.truth("l2") * (1 + 1e-9) or name == "clusters"
