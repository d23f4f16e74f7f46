"""Which figure is drawn by which module, from which tables: read from the modules, not imported.

A module beside this file is a figure's when it has ``TABLES``, the stems under ``results/tables``
that ``draw(tables, **options)`` wants. It draws the figure of its own name, or those that its
``FIGURES`` maps to options. It rests on the experiments in ``EXPERIMENTS``, or on the one that its
options name. All are literals, so the workflow learns the inputs of a figure
without importing matplotlib, and a new figure is a new file and nothing else.
"""

import ast
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parents[1] / "figures"


class Entry(NamedTuple):
    """A figure: its module in ``calbias.figures``, the tables and experiments it rests on.

    ``options`` are those of the module's ``draw``.
    """

    module: str
    tables: tuple
    options: dict
    experiments: tuple = ()


def figures(folder=FOLDER):
    """Return {figure: Entry} of all modules in ``folder``, sorted by file name.

    A file that is not Python is listed as a figure without tables: its own job will say what is
    wrong, and those of the others still run.
    """
    catalogue = {}
    for path in sorted(Path(folder).glob("*.py")):
        literals = _literals(path, ("TABLES", "FIGURES", "EXPERIMENTS"))
        if "TABLES" in literals:
            for figure, options in literals.get("FIGURES", {path.stem: {}}).items():
                experiments = literals.get("EXPERIMENTS", ())
                if "experiment" in options:
                    experiments = (options["experiment"],)
                catalogue[figure] = Entry(
                    path.stem, tuple(literals["TABLES"]), options, tuple(experiments)
                )
    return catalogue


def _literals(path, names):
    """Return the values of the module-level assignments ``NAME = literal`` among ``names``."""
    try:
        statements = ast.parse(path.read_text(encoding="utf-8")).body
    except SyntaxError:
        return {"TABLES": ()}
    assignments = (
        (target.id, node.value)
        for node in statements
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name) and target.id in names
    )
    return {name: ast.literal_eval(value) for name, value in assignments}
