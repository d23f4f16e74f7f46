"""The evidence after the papers, as ``smoke.yaml`` runs them; what a run without the folder is."""

import re

import pytest
import test_smoke as papers
from checkout import SMOKE
from html_page import axe_violations

pytestmark = pytest.mark.nightly

test_every_table = papers.test_every_table_has_rows_and_the_columns_of_its_contract
test_every_figure = papers.test_every_figure_is_drawn_for_screens_and_for_papers
test_no_link_of_a_page_is_dead = papers.test_no_link_of_a_page_is_dead
test_a_second_run_has_nothing_to_do = papers.test_a_second_run_has_nothing_to_do
test_nothing_temporary_is_left = papers.test_nothing_temporary_is_left

FULL = {
    *("league_full", "league_full_ranking", "league_full_sensitivity"),
    *("multiclass_league_full", "multiclass_full_reading"),
}


@pytest.fixture
def made(evidence):
    """A checkout after the run, and the tables that it has not made."""
    return evidence, papers.ON_ITS_OWN | FULL


def test_the_page_links_the_numbers_of_each_figure(evidence):
    page = (evidence / "results/evidence.html").read_text("utf-8")
    figures = re.findall(r'src="figures/(\w+)\.png"', page)
    assert figures
    assert [name for name in figures if f'href="figures/{name}.csv"' not in page] == []


@pytest.mark.parametrize("page", ["evidence", "league", "audit/resnet110_c10"])
def test_axe_finds_nothing_wrong_in_a_page(page, evidence, tmp_path):
    assert axe_violations((evidence / f"results/{page}.html").read_text("utf-8"), tmp_path) == []


def test_a_comment_and_a_docstring_run_nothing_again(evidence, tmp_path):
    edited = evidence.copy(tmp_path / "edited")
    for file in ("league", "steps/measure_power"):
        path = edited / f"evidence/scripts/evidence/{file}.py"
        path.write_text("# a comment\n" + path.read_text("utf-8"), "utf-8")
    assert edited.planned("--", "all", "evidence", config=SMOKE) == []
