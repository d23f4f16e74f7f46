"""Which project files a script needs: itself and, transitively, what it imports of ``calbias``.

Snakemake tracks declared inputs only, so each rule declares these. Found by parsing, without
importing anything; imports inside functions count.
"""

import ast
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[1]
SCRIPTS = PACKAGE.parent
CHECKOUT = SCRIPTS.parent


def code_files(*files):
    """Return the sorted paths of ``files`` and of every calbias module that they import."""
    needed, waiting = set(), [Path(file).resolve() for file in files]
    while waiting:
        path = waiting.pop()
        if path not in needed:
            needed.add(path)
            waiting.extend(_imported_files(path))
    return sorted(needed)


@cache
def _imported_files(path):
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except (SyntaxError, UnicodeDecodeError):
        return ()  # its own job reports it
    modules = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            modules.add(node.module)
            modules.update(f"{node.module}.{alias.name}" for alias in node.names)
    return tuple(
        file
        for module in sorted(modules)
        if module.split(".")[0] == "calbias"
        for file in _files(module)
    )


def _files(module):
    """Return the files that importing ``calbias.x.y`` runs: the packages' and the module's own."""
    parts = module.split(".")
    files = [SCRIPTS.joinpath(*parts[:k], "__init__.py") for k in range(1, len(parts) + 1)]
    files.append(SCRIPTS.joinpath(*parts).with_suffix(".py"))
    return [file for file in files if file.exists()]
