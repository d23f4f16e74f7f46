"""The table of faults in workflow/profiles/README.md: every row names a test that there is."""

import re

from checkout import ROOT


def rows():
    page = (ROOT / "workflow/profiles/README.md").read_text("utf-8")
    lines = page[page.index("## Faults") :].splitlines()
    return [line.rstrip("| ").split("|")[-1] for line in lines if line.startswith("| ")][1:]


def test_every_row_of_the_fault_table_names_tests_that_there_are():
    files = {path.name: path.read_text("utf-8") for path in (ROOT / "tests").rglob("test_*.py")}
    assert len(rows()) >= 14
    for row in rows():
        names = re.findall(r"test_\w+(?:\.py)?", row)
        assert names, row
        for name in names:
            assert name in files or any(f"def {name}(" in text for text in files.values()), name
