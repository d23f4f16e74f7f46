"""docs/method.md has a row for each numeric constant of an audit, and no other row."""

import ast
import importlib
import re

from checkout import ROOT

ROOMS = (
    "auditing/verdict/*.py", "auditing/segment*.py", "auditing/shared_fault.py",
    "auditing/subgroup*.py",
    "auditing/interval.py", "auditing/binned_gaps.py", "auditing/calibration_curve.py",
    "auditing/bins.py", "engine/posterior*.py", "engine/steep_line.py", "monitoring/*.py",
)  # fmt: skip


def constants():
    """Yield (module, name) of each module-level name whose value is written with a number."""
    for path in sorted(path for room in ROOMS for path in (ROOT / "scripts/calbias").glob(room)):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Assign) and any(
                isinstance(part, ast.Constant) and type(part.value) in (int, float)
                for part in ast.walk(node.value)
            ):
                names = (x.id for x in ast.walk(node.targets[0]) if isinstance(x, ast.Name))
                yield from ((path, name) for name in names)


def test_every_constant_has_a_row_with_its_value():
    page = (ROOT / "docs/method.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\|`(\w+)`: (.*?)\|(.+?)\|(.+?)\|(.+?)\|$", page, re.MULTILINE)
    described = {
        (module, name): value
        for module, cell, *_ in rows
        for name, value in re.findall(r"`(\w+)`(?: ([\d.e-]+)(?=[,;]| *$))?", cell)
    }
    written = {(path.stem, name): path for path, name in constants()}
    assert described.keys() == written.keys()
    for (module, name), value in described.items():
        path = written[module, name].relative_to(ROOT / "scripts").with_suffix("")
        actual = getattr(importlib.import_module(".".join(path.parts)), name)
        assert not value or float(value) == actual, f"{module}.{name}"
