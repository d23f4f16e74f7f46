"""README and docs: their examples run, and the files that they link to exist."""

import doctest
import re

import pytest
from checkout import ROOT

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_run_and_links_lead_somewhere(page):
    text = page.read_text(encoding="utf-8")
    test = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    assert doctest.DocTestRunner().run(test).failed == 0
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
        assert (page.parent / target).exists(), target
    folders = "config|docs|envs|resources|scripts|tests|workflow"
    for path in re.findall(rf"`((?:{folders})/[^`*]*)`", text):
        assert (ROOT / path).exists() or "my_" in path, path
