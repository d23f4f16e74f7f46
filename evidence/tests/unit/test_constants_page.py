"""The page of the constants has a row for each numeric constant of an audit, and no other row."""

import ast
import importlib
import re
from pathlib import Path

SCRIPTS = Path(__file__).parents[3] / "scripts"
PAGE = Path(__file__).parents[2] / "docs/constants.md"
ROOMS = (
    "auditing/verdict/*.py", "auditing/segment*.py", "auditing/subgroups.py",
    "auditing/interval.py", "auditing/binned_gaps.py", "auditing/calibration_curve.py",
    "auditing/bins.py", "engine/posterior*.py", "engine/steep_line.py", "monitoring/*.py",
)  # fmt: skip


def constants():
    """Yield (module, name) of each module-level name whose value is written with a number."""
    for path in sorted(path for room in ROOMS for path in (SCRIPTS / "calbias").glob(room)):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Assign) and any(
                isinstance(part, ast.Constant) and type(part.value) in (int, float)
                for part in ast.walk(node.value)
            ):
                names = (x.id for x in ast.walk(node.targets[0]) if isinstance(x, ast.Name))
                yield from ((path, name) for name in names)


def test_every_constant_has_a_row_with_its_value():
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    described = {
        (module, name): value
        for module, cell in rows
        for name, value in re.findall(r"`(\w+)`(?: ([\d.e-]+)(?=[,;]| *$))?", cell)
    }
    found = {(path.stem, name): path for path, name in constants()}
    assert described.keys() == found.keys()
    for (module, name), value in described.items():
        path = found[module, name].relative_to(SCRIPTS).with_suffix("")
        actual = getattr(importlib.import_module(".".join(path.parts)), name)
        assert not value or float(value) == actual, f"{module}.{name}"
