"""The one reader of one-file things: estimators, measures, tests, targets, methods, figures.

A folder holds a file a thing. A file may list several names with their options in ``VARIANTS``;
without it the file's stem is the name. Names and constants are read from the text of a file, so no
file is imported before it is used, and a fault in one file disturbs no other.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import importlib.util
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from numbers import Real
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from calbias.errors import InputError, looked_up, validate_defines
from calbias.io.code_files import SCRIPTS

REQUIRED: Any = object()
"""The default of a constant that a file must assign."""


class Kind(NamedTuple):
    """A kind of one-file thing: its noun, its folder, and the functions of which a file has one.

    ``form`` shows how a function is called; a file of the folder without ``marks`` in its
    constants, or named in ``helpers``, is no such thing.
    """

    noun: str
    folder: Path
    functions: tuple[str, ...]
    form: str
    marks: tuple[str, ...] = ()
    helpers: tuple[str, ...] = ()

    def files(self, folders: Iterable[Path | str] | None = None) -> dict[str, Path]:
        """Return {name: path} of everything in ``folders``, by default the kind's own folder."""
        known: dict[str, Path] = {}
        for folder in (self.folder,) if folders is None else folders:
            if not Path(folder).is_dir():
                raise InputError(f"there is no folder {folder} of {self.noun}s; correct its name")
            for path in sorted(Path(folder).glob("*.py")):
                if not self._holds(path):
                    continue
                for name in variants(path):
                    if name in known and not known[name].samefile(path):
                        raise InputError(
                            f"{path}: {known[name]} defines {name} already: give yours another name"
                        )
                    known[name] = path
        return known

    def file(self, name: str, folders: Iterable[Path | str] | None = None) -> Path:
        """Return the file of a name; InputError, with the nearest name, if there is none."""
        return looked_up(self.noun, name, self.files(folders))

    def options(self, name: str, path: Path | str | None = None) -> dict[str, Any]:
        """Return the options that VARIANTS in the file gives to a name."""
        return variants(path or self.file(name)).get(name, {})

    def module(self, path: Path | str) -> ModuleType:
        """Return the imported file; InputError if it lacks the function."""
        module = imported(Path(path))
        validate_defines(path, vars(module), self.functions, self.form)
        return module

    def _holds(self, path: Path) -> bool:
        if path.stem.startswith("_") or path.stem in self.helpers or not path.is_file():
            return False
        return not self.marks or any(has(path, mark) for mark in self.marks)


def variants(path: Path | str) -> dict[str, dict[str, Any]]:
    """Return {name: options} of the things in a file."""
    return literal(path, "VARIANTS", default={Path(path).stem: {}})


def has(path: Path, name: str) -> bool:
    """Return whether a file assigns a constant of this name."""
    return name in _assignments(_tree(path, path.stat().st_mtime_ns))


def literal(path: Path | str, name: str, default: Any = REQUIRED) -> Any:
    """Return the value of the module-level assignment ``name = <literal>`` in a Python file.

    InputError if the assignment is missing and has no default. A file with a syntax error, or not
    in UTF-8, yields the default: its own job reports the error.
    """
    path = Path(path)
    assigned = _assignments(_tree(path, path.stat().st_mtime_ns))
    if name not in assigned:
        if default is REQUIRED:
            raise InputError(f"{path}: assign the constant {name} in it, which a rule reads")
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
    if is_valid and not is_valid(value):
        raise InputError(f"{place} must be {form}, not {value!r:.60}")
    return value


def is_python(path: Path) -> bool:
    """Return whether a file can be parsed."""
    return _tree(path, path.stat().st_mtime_ns) is not None


def validate_parsed(path: Path, functions: tuple[str, ...], form: str) -> None:
    """Raise InputError for a file that can be parsed but binds none of ``functions``."""
    tree = _tree(path, path.stat().st_mtime_ns)
    if tree:
        validate_defines(path, _bound_names(tree), (*functions, "*"), form)


def imported(path: Path) -> ModuleType:
    """Return the module of a file; one outside our packages gets a name made from its path."""
    path, scripts = path.resolve(), SCRIPTS.resolve()
    if path.is_relative_to(scripts) and (path.parent / "__init__.py").exists():
        return importlib.import_module(".".join(path.relative_to(scripts).with_suffix("").parts))
    name = f"{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:12]}"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, path)
        if spec is None or spec.loader is None:
            raise InputError(f"{path}: this is not a Python file; name one that ends in .py")
        sys.modules[name] = importlib.util.module_from_spec(spec)
        try:
            spec.loader.exec_module(sys.modules[name])
        except BaseException:
            del sys.modules[name]  # once corrected, it can be loaded
            raise
    return sys.modules[name]


def _is_mapping(value: Any, kind: type) -> bool:
    """Return whether a value is a dict from names to values of one type, and not empty."""
    return isinstance(value, dict) and 0 < len(value) == sum(
        isinstance(name, str) and isinstance(content, kind) for name, content in value.items()
    )


def _is_variants(value: Any) -> bool:
    return _is_mapping(value, dict) and all(
        isinstance(key, str) for options in value.values() for key in options
    )


def _is_list_of_numbers(value: Any) -> bool:
    return isinstance(value, tuple | list) and 0 < len(value) == sum(
        isinstance(number, Real) and not isinstance(number, bool) for number in value
    )


BINS = ("fixed", "chosen", "none")
INPUTS = ("top_label", "probabilities")  # of a measure
_FORMS: Mapping[str, tuple[Any, str]] = {  # of a constant: (check, form in words)
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
def _tree(path: Path, modified: int) -> ast.Module | None:
    """Return the syntax tree of a file, parsed once per change; None if it has none."""
    try:
        return ast.parse(path.read_text(encoding="utf-8"))
    except (SyntaxError, ValueError):  # a ValueError where it is not in UTF-8
        return None


@cache
def _assignments(tree: ast.Module | None) -> dict[str, ast.expr]:
    """Return {name: syntax tree of its value} of the module-level assignments, annotated or not."""
    return {
        target.id: node.value
        for node in (tree.body if tree else ())
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }


@cache
def _bound_names(tree: ast.Module) -> set[str]:
    """Return the names that a file defines, imports or assigns anywhere."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.alias):
            names.add(node.asname or node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
    return names
