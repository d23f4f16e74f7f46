"""README and docs: their examples run, their code is valid, and what they name exists."""

import ast
import doctest
import re

import pytest
import yaml
from checkout import ROOT

PAGES = [
    *sorted(set(ROOT.glob("*.md")) - {ROOT / "CHANGELOG.md"}),  # names what is gone
    *sorted((ROOT / "docs").glob("*.md")),
    *(ROOT / "config/README.md", ROOT / "workflow/profiles/README.md"),
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_examples_run_code_is_valid_and_links_lead_somewhere(page):
    text = page.read_text(encoding="utf-8")
    test = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    assert doctest.DocTestRunner().run(test).failed == 0
    for language, code in re.findall(r"^```(\w+)\n(.*?)^```$", text, re.M | re.S):
        if language == "python" and ">>>" not in code:
            ast.parse(code)
        elif language == "yaml":
            assert isinstance(yaml.safe_load(code), dict)
    for target, anchor in re.findall(r"\]\(([^)#: ]*)(?:#([^) ]*))?\)", text):
        linked = page.parent / target if target else page
        assert linked.exists(), target
        assert not anchor or anchor in anchors(linked), f"{target}#{anchor}"
    folders = "config|docs|envs|resources|scripts|tests|workflow"
    for path in re.findall(rf"`((?:{folders})/[^`*: ]*)`", text):
        assert (ROOT / path).exists() or "my_" in path, path


def anchors(page):
    """The names that GitHub and the site give to a page's headings."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_page_is_in_the_contents_of_the_site():
    blocks = re.findall(r"```{toctree}(.*?)```", (ROOT / "docs/index.md").read_text(), re.S)
    listed = [line for block in blocks for line in block.split() if not line.startswith(":")]
    pages = {path.stem for path in (ROOT / "docs").iterdir() if path.suffix in (".md", ".rst")}
    assert pages - {"index"} <= set(listed)


def test_every_row_of_the_fault_table_names_tests_that_there_are():
    page = (ROOT / "workflow/profiles/README.md").read_text("utf-8")
    lines = page[page.index("## Faults") :].splitlines()
    rows = [line.rstrip("| ").split("|")[-1] for line in lines if line.startswith("| ")][1:]
    files = {path.name: path.read_text("utf-8") for path in (ROOT / "tests").rglob("test_*.py")}
    assert len(rows) >= 14
    for row in rows:
        names = re.findall(r"test_\w+(?:\.py)?", row)
        assert names, row
        for name in names:
            assert name in files or any(f"def {name}(" in text for text in files.values()), name
