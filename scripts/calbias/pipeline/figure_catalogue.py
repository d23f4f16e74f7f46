"""The figures in the paper's order, each with its place, title, module, tables and options.

Read from the modules in ``calbias/figures``, without importing them. A module there is a figure's
when it has ``TABLES``, the stems under ``results/tables`` that ``draw(tables, **options)`` wants.
It draws the figure of its own name, under ``TITLE``, or those that its ``FIGURES`` maps to options
and ``TITLES`` to titles. It rests on the experiments in ``EXPERIMENTS``, or on the one that its
options name. All are literals, so the workflow learns the inputs of a figure without importing
matplotlib, and a new figure is a new file and nothing else. A name begins with the figure's place,
which orders the figures: ``fig2a_…``, ``fig13_…``, ``table1_…``; others come last.
"""

import ast
import re
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parents[1] / "figures"
LITERALS = ("TABLES", "FIGURES", "EXPERIMENTS", "TITLE", "TITLES")
_PLACE = re.compile(r"(fig|table)(\d+)([a-z]?)(?=_|$)")


class Entry(NamedTuple):
    """A figure: its module, what it rests on, the options of ``draw``, its place and title."""

    module: str
    tables: tuple
    options: dict
    experiments: tuple = ()
    place: str = ""
    title: str = ""


def figures(folder=FOLDER):
    """Return {figure: Entry} of all modules in ``folder``, in the paper's order.

    A file that is not Python has no tables: its own job will say what is wrong, others still run.
    """
    catalogue = {}
    for path in sorted(Path(folder).glob("*.py")):
        literals = _literals(path)
        if "TABLES" not in literals:
            continue
        titles = literals.get("TITLES", {path.stem: literals.get("TITLE", "")})
        for figure, options in literals.get("FIGURES", {path.stem: {}}).items():
            experiments = literals.get("EXPERIMENTS", ())
            if "experiment" in options:
                experiments = (options["experiment"],)
            catalogue[figure] = Entry(
                path.stem,
                tuple(literals["TABLES"]),
                options,
                tuple(experiments),
                place(figure),
                titles.get(figure, figure),
            )
    return dict(sorted(catalogue.items(), key=lambda item: _order(item[0])))


def place(figure):
    """Return a figure's place in words: ``fig2a_curves`` is ``Figure 2a``."""
    found = _PLACE.match(figure)
    if not found:
        return figure.replace("_", " ").capitalize()
    return f"{'Figure' if found[1] == 'fig' else 'Table'} {found[2]}{found[3]}"


def _order(figure):
    found = _PLACE.match(figure)
    return (found[1], int(found[2]), found[3]) if found else ("~", 0, figure)


def _literals(path):
    """Return the values of the module-level assignments ``NAME = literal`` among ``LITERALS``."""
    try:
        statements = ast.parse(path.read_text(encoding="utf-8")).body
    except SyntaxError:
        return {"TABLES": ()}
    assignments = (
        (target.id, node.value)
        for node in statements
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name) and target.id in LITERALS
    )
    return {name: ast.literal_eval(value) for name, value in assignments}
