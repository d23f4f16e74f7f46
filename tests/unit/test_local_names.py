"""Local names say what they hold."""

import ast
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
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
        f"{path.relative_to(CHECKOUT)}, {function.name}: {name}"
        for folder in ("scripts", "evidence/scripts", "evidence/networks")
        for path in sorted((CHECKOUT / folder).rglob("*.py"))
        for function in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(function, ast.FunctionDef) and function.end_lineno - function.lineno >= SHORT
        for name in sorted(local_names(function))
        if name in VAGUE or name.startswith("of_")
    ]
    assert not vague, "\n".join(vague)
