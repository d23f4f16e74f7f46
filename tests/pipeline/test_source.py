"""The source: local names say what they hold, and each constant of an audit has its row."""

import ast
import importlib
import re

from checkout import ROOT

VAGUE = {
    *("found", "known", "said", "told", "mine", "theirs", "own"),
    *("place", "places", "whole", "rest", "of"),
}
SHORT = 5  # lines in which a reader sees what a name holds


def local_names(function):
    """Return the parameters and variables of a function and of those in it."""
    nodes = list(ast.walk(function))
    names = {x.id for x in nodes if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Store)}
    return names | {x.arg for x in nodes if isinstance(x, ast.arg)}


def test_local_names_say_what_they_hold():
    vague = [
        f"{path.relative_to(ROOT)}, {function.name}: {name}"
        for folder in ("scripts", "evidence/scripts", "networks")
        for path in sorted((ROOT / folder).rglob("*.py"))
        for function in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(function, ast.FunctionDef) and function.end_lineno - function.lineno >= SHORT
        for name in sorted(local_names(function))
        if name in VAGUE or name.startswith("of_")
    ]
    assert not vague, "\n".join(vague)


ROOMS = (
    "auditing/verdict/*.py", "auditing/subgroups/*.py",
    "auditing/error/interval.py", "auditing/error/binned_gaps.py",
    "auditing/error/calibration_curve.py", "auditing/error/bins.py",
    "engine/posterior*.py", "engine/steep_line.py",
    "monitoring/blocks.py", "monitoring/sizes.py", "monitoring/monitor.py", "monitoring/state.py",
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
    page = (ROOT / "docs/tool/method.md").read_text(encoding="utf-8")
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
