"""Which file holds an estimator, and which estimators there are, without importing any of them."""

import ast
from functools import cache
from pathlib import Path

from calbias.errors import InputError, did_you_mean

CHOSEN = -1  # the number of bins of an estimator that chooses it
NO_BINS = 0  # … and of one that has none
FOLDER = Path(__file__).parent / "estimators"


def estimator_file(estimator, folders=(FOLDER,)):
    """Return the path of the file that defines ``estimator``.

    ``folders`` are searched in order. Raises InputError, with the nearest name, for an unknown one.
    """
    known = known_estimators(folders)
    if estimator in known:
        return known[estimator]
    raise InputError(f"unknown estimator {estimator!r}. {did_you_mean(estimator, sorted(known))}")


def known_estimators(folders=(FOLDER,)):
    """Return {name: path} of every estimator: a file's VARIANTS, or its stem if it lists none.

    Raises InputError where two files define one name.
    """
    known = {}
    for folder in folders:
        for path in sorted(Path(folder).glob("*.py")):
            if not path.stem.startswith("_"):
                for name in literal(path, "VARIANTS", default=(path.stem,)):
                    if name in known and not known[name].samefile(path):
                        raise InputError(
                            f"{path}: {known[name]} defines an estimator {name} already: give "
                            "yours another name"
                        )
                    known[name] = path
    return known


def bin_numbers(path, n_bins):
    """Return the numbers of bins, out of ``n_bins``, at which the estimator in ``path`` is run.

    [CHOSEN] if its file says ``CHOOSES_BINS = True``, [NO_BINS] if it says ``NEEDS_BINS = False``.
    """
    if literal(path, "CHOOSES_BINS", default=False):
        return [CHOSEN]
    return list(n_bins) if literal(path, "NEEDS_BINS", default=True) else [NO_BINS]


def literal(path, name, default):
    """Return the value of the module-level assignment ``name = <literal>`` in a Python file.

    A file with a syntax error, or not in UTF-8, yields the default: its own job reports the error.
    Raises InputError where something else than a literal is assigned.
    """
    path = Path(path)
    assigned = _assignments(path, path.stat().st_mtime_ns)
    if name not in assigned:
        return default
    try:
        return ast.literal_eval(assigned[name])
    except ValueError:
        raise InputError(
            f"{path}, line {assigned[name].lineno}: {name} must be written out, without calls or "
            f"names: it is read without running the file"
        ) from None


@cache
def _assignments(path, modified):
    """Return {name: syntax tree} of a file's module-level assignments, parsed once per change."""
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except (SyntaxError, UnicodeDecodeError):
        return {}
    return {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
