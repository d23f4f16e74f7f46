"""What stands in the folders of the evidence: captions, config keys, and the example of a study."""

import re

from conftest import EVIDENCE

from pipeline import catalogue, guests
from pipeline.claims.ledger import all_claims
from pipeline.table_schema import read_yaml, tables

README = (EVIDENCE / "README.md").read_text("utf-8")
GUEST = guests.workflows()[1]


def test_the_example_of_a_study_has_a_row_for_each_cell_size_and_method():
    names = {}
    exec(re.search(r"```python\n(.*?)```", README, re.DOTALL)[1], names)
    rows = [*names["rounding_rows"](2, 1)]
    assert len(rows) == len(names["CELLS"]) * len(names["SIZES"]) * len(names["METHODS"])
    assert all(0 < row["mean_estimate"] < 1 for row in rows)


def test_the_readme_explains_every_key():
    keys = read_yaml(EVIDENCE / "schemas/config.schema.yaml")["properties"]
    assert set(re.findall(r"^\| `(\w+)` \|", README, re.MULTILINE)) == set(keys)
    assert set(read_yaml(EVIDENCE / "config.yaml")) <= set(keys)
    for key, entry in keys.items():
        assert entry["description"].endswith("."), key
        for part in entry.get("properties", ()):
            assert f"`{part}`" in README, part


def test_captions_begin_with_the_figures_place_and_name_its_claims():
    for figure, entry in catalogue.figures(GUEST).items():
        caption = " ".join((EVIDENCE / f"report/{figure}.rst").read_text("utf-8").split())
        assert caption.startswith(f"**{entry.place}**")
        assert " Data: " in caption
        assert set(entry.tables) <= {*tables(), "models"}
        named = []
        for first, last in re.findall(r"C(\d\d)(?: to C(\d\d))?", caption):
            named += [f"C{k:02}" for k in range(int(first), int(last or first) + 1)]
        assert named == [c.id for c in all_claims() if figure in c.figures.split()], figure


def test_claims_rest_on_figures_and_tables_that_exist_and_have_no_gap():
    claims = all_claims("evidence")
    assert [claim.id for claim in claims] == [f"C{k:02}" for k in range(1, len(claims) + 1)]
    for claim in claims:
        assert set(claim.figures.split()) <= set(catalogue.figures())
        assert set(claim.tables.split()) <= set(tables())
