"""A guest workflow in a repository of its own, written by docs/workflow/extend.md, is exact too."""

import os
import re

import pandas as pd
import pytest
from checkout import ROOT, Checkout

FILES = {
    "config.yaml": "my_power: 2\nmy_shift: 5\n",
    "schemas/config.schema.yaml": "properties:\n"
    + "".join(
        f"  my_{name}: {{description: A number., type: integer, default: 1}}\n"
        for name in ("power", "shift")
    ),
    "schemas/tables.yaml": "tables:\n  fits_by_link:\n    caption: Powers.\n    rule: count_fits\n"
    "    columns: [row, n_fits]\ncolumns:\n  row: {meaning: a row of the guest's}\n"
    "  n_fits: {meaning: a number of the guest's}\n",
    "scripts/my_package/__init__.py": "",
    "scripts/my_package/steps/__init__.py": "",
    "scripts/my_package/helper.py": "def number(x, power, shift):\n    return x**power + shift\n",
    "scripts/my_package/steps/count_fits.py": '''from pathlib import Path

from my_package.helper import number
from pipeline.tables import write_table


def count_fits(*, fits: Path, power: int, shift: int, output: Path) -> None:
    """Count.

    fits: a file
    power: a power
    shift: what is added
    output: table to write
    """
    numbers = [int(line) for line in fits.read_text().split()]
    rows = [{"row": x, "n_fits": number(x, power, shift)} for x in numbers]
    write_table(output, "fits_by_link", rows)
''',
    "own.csv": "6\n6\n12\n",
}


@pytest.fixture
def guest(pristine, tmp_path):
    """The example of the documentation, on a file and two numbers of its own."""
    folder = tmp_path / "guest"
    text = (ROOT / "docs/workflow/extend.md").read_text("utf-8")
    snakefile = re.search(r"^```\n(from pathlib .*?module papers.*?)^```", text, re.M | re.S)[1]
    for old, new in (
        ('"../workflow/Snakefile"', f'"{pristine / "workflow/Snakefile"}"'),
        ('papers.table("glm_fits")', '"own.csv"'),
        ('"count_fits", ', '"count_fits", shift=papers.config["my_shift"], '),
    ):
        assert old in snakefile
        snakefile = snakefile.replace(old, new)
    for name, content in {**FILES, "Snakefile": snakefile}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content, "utf-8")
    return Checkout(folder)


def test_it_works_at_the_first_try_and_nothing_that_changes_is_left_stale(guest, monkeypatch):
    monkeypatch.setenv("PATH", "/usr/bin:/bin")  # where no Python has the lock
    target = "results/tables/fits_by_link.csv"

    def numbers():
        said = guest.run("--", target, config=None)
        return said, [*pd.read_csv(guest / target)["n_fits"]]

    assert numbers()[1] == [41, 41, 149]
    assert "Nothing to be done" in numbers()[0]
    (guest / "config.yaml").write_text("my_power: 5\nmy_shift: 2\n")  # exchanged
    said, made = numbers()
    assert made == [7778, 7778, 248834]
    assert "changed since the last run: config: my_power, my_shift" in said.splitlines()
    (guest / "older.csv").write_text("1\n")
    os.utime(guest / "older.csv", (1, 1))
    (guest / "older.csv").rename(guest / "own.csv")
    assert numbers()[1] == [3]
    guest.edit("scripts/my_package/helper.py", "x**power", "2 * x**power")
    assert numbers()[1] == [4]
