"""The networks after the papers, as the smoke configuration runs them."""

import pytest
import test_smoke as papers
from html_page import axe_violations

from pipeline import catalogue, guests, table_schema

for name in ("no_link_of_a_page_is_dead", "a_second_run_has_nothing_to_do"):
    globals()[f"test_{name}"] = pytest.mark.nightly(getattr(papers, f"test_{name}"))
GUEST = guests.workflows()[1]


@pytest.fixture
def made(networks):
    """A checkout after the run, and the tables that it has not made."""
    return networks, papers.ON_ITS_OWN


def test_the_statements_need_no_run_of_the_papers(pristine):
    steps = {"measure_networks", "select_on_networks", "judge_networks", "write_networks_page"}
    assert {*pristine.planned("--", "networks")} - {"describe_networks", "networks"} == steps


@pytest.mark.nightly
def test_every_table_and_figure_is_made(networks):
    for name, entry in table_schema.tables(GUEST).items():
        with open(networks / f"results/tables/{name}.csv", encoding="utf-8") as file:
            assert file.readline().strip().split(",") == entry["columns"]
            assert file.readline()
    for name in catalogue.figures(GUEST):
        assert (networks / f"results/figures/{name}.png").stat().st_size > 10_000


@pytest.mark.nightly
def test_axe_finds_nothing_wrong_in_the_page(networks, tmp_path):
    page = (networks / "results/networks.html").read_text("utf-8")
    assert axe_violations(page, tmp_path) == []
