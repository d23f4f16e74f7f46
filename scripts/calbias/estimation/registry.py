"""Which file holds an estimator, and which estimators there are, without importing any of them."""

import ast
import re
from functools import cache
from numbers import Real
from pathlib import Path

from calbias.errors import InputError, looked_up, validate_defines

CHOSEN = -1  # the number of bins of an estimator that chooses it
NO_BINS = 0  # … and of one that has none
FOLDER = Path(__file__).parents[1] / "estimators"
BINS = ("fixed", "chosen", "none")
INPUTS = ("top_label", "probabilities")  # of a measure
FUNCTIONS = ("estimate", "estimate_data_sets")  # a file defines one of them
FORM = "estimate(scores, hits, n_bins, norm)"


def estimator_file(estimator, folders=(FOLDER,)):
    """Return the path of an estimator's file in the first of ``folders`` that has it."""
    if not isinstance(estimator, str):
        raise InputError(f"estimator must be a name, such as 'ece_sweep_em', not {estimator!r:.60}")
    return looked_up("estimator", estimator, known_estimators(folders))


def known_estimators(folders=(FOLDER,)):
    """Return {name: path} of every estimator: those of a file's VARIANTS, or else its stem."""
    known = {}
    for folder in folders:
        if not Path(folder).is_dir():
            raise InputError(f"there is no folder {folder} of estimators; correct its name")
        for path in sorted(Path(folder).glob("*.py")):
            if not path.stem.startswith("_") and path.is_file():
                for name in _variants(path):
                    if name in known and not known[name].samefile(path):
                        raise InputError(
                            f"{path}: {known[name]} defines {name} already: give yours another name"
                        )
                    known[name] = path
    return known


def validate_unusable(estimator, path):
    """Raise InputError for a name that no job can have, and for a file without the function."""
    if not re.fullmatch(r"\w+", estimator):
        raise InputError(
            f"{path}: {estimator!r} cannot be an estimator's name: rename it to letters, digits "
            f"and underscores"
        )
    tree = _tree(path, path.stat().st_mtime_ns)
    if tree:
        validate_defines(path, _bound_names(tree), (*FUNCTIONS, "*"), FORM)


def estimator_options(estimator, path=None):
    """Return the options, a dict, that VARIANTS in an estimator's file gives to this name."""
    return _variants(path or estimator_file(estimator)).get(estimator, {})


def estimator_target(estimator, path=None):
    """Return what an estimator estimates: TARGET in its file, or ``lp``, the ℓp error."""
    target = literal(path or estimator_file(estimator), "TARGET", default="lp")
    return target.get(estimator, "lp") if isinstance(target, dict) else target


def usable_norm(estimator, wanted, path=None):
    """Return the norm wanted where the estimator is defined for it, else the first of its NORMS."""
    norms = literal(path or estimator_file(estimator), "NORMS", default=())
    return float(wanted if not norms or wanted in norms else norms[0])


def bin_numbers(path, n_bins):
    """Return those of ``n_bins`` at which the estimator is run; else [CHOSEN] or [NO_BINS]."""
    bins = literal(path, "BINS", default="fixed")
    return {"chosen": [CHOSEN], "none": [NO_BINS]}.get(bins) or list(n_bins)


def _variants(path):
    """Return {name: options} of the estimators in a file."""
    return literal(path, "VARIANTS", default={Path(path).stem: {}})


def literal(path, name, default):
    """Return the value of the module-level assignment ``name = <literal>`` in a Python file.

    A file with a syntax error, or not in UTF-8, yields the default: its own job reports the error.
    """
    path = Path(path)
    assigned = _assignments(_tree(path, path.stat().st_mtime_ns))
    if name not in assigned:
        return default
    place = f"{path}, line {assigned[name].lineno}: {name}"
    try:
        value = ast.literal_eval(assigned[name])
    except ValueError:
        raise InputError(
            f"{place} must be written out, without calls or names: it is read without running the "
            f"file"
        ) from None
    is_valid, form = _FORMS.get(name, (None, None))
    if form and not is_valid(value):
        raise InputError(f"{place} must be {form}, not {value!r:.60}")
    return value


def is_python(path):
    """Return whether a file can be parsed."""
    return _tree(path, path.stat().st_mtime_ns) is not None


def _is_mapping(value, kind):
    """Return whether a value is a dict from names to values of one type, and not empty."""
    return isinstance(value, dict) and 0 < len(value) == sum(
        isinstance(name, str) and isinstance(content, kind) for name, content in value.items()
    )


def _is_variants(value):
    return _is_mapping(value, dict) and all(
        isinstance(key, str) for options in value.values() for key in options
    )


def _is_list_of_numbers(value):
    return isinstance(value, tuple | list) and 0 < len(value) == sum(
        isinstance(number, Real) and not isinstance(number, bool) for number in value
    )


_FORMS = {  # of what a user's file may assign: (check, form in words)
    "VARIANTS": (
        _is_variants,
        'a dict from names to options, such as {"mine_ew": {"binning": "equal_width"}}',
    ),
    "TARGET": (
        lambda value: isinstance(value, str) or _is_mapping(value, str),
        'a name, such as "lp", or a dict from estimators to names',
    ),
    "BINS": (lambda value: value in BINS, 'one of "fixed", "chosen", "none"'),
    "INPUT": (lambda value: value in INPUTS, 'one of "top_label", "probabilities"'),
    "NORMS": (_is_list_of_numbers, "a list of numbers, such as (2,)"),
}


@cache
def _tree(path, modified):
    """Return the syntax tree of a file, parsed once per change; None if it has none."""
    try:
        return ast.parse(path.read_text(encoding="utf-8"))
    except (SyntaxError, ValueError):  # a ValueError where it is not in UTF-8
        return None


@cache
def _assignments(tree):
    """Return {name: syntax tree of its value} of the module-level assignments, annotated or not."""
    return {
        target.id: node.value
        for node in (tree.body if tree else ())
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }


@cache
def _bound_names(tree):
    """Return the names that a file defines, imports or assigns anywhere, a set."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.alias):
            names.add(node.asname or node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
    return names
