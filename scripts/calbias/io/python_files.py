"""Python files that are read and not run: which others they import, and their constants.

A job runs again, and a kernel is compiled again, where a file has changed that the script needs:
itself and, transitively, what it imports of the project. Import statements are found as text, also
those inside functions: parsing took a third of a second at each start of Snakemake. Constants are
read from syntax trees: no file is imported before it is used, and a fault in one disturbs no other.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from numbers import Real
from pathlib import Path
from typing import Any

from calbias.errors import InputError

PACKAGE = Path(__file__).parents[1]
SCRIPTS = PACKAGE.parent
PACKAGES = dict.fromkeys(("calbias", "pipeline", "reproduction"), SCRIPTS)
"""Where each package of the project is; a guest workflow adds its own."""
_IMPORT = re.compile(
    r"(?:^|[;:])[ \t]*(?:from\s+([a-z_][.\w]*)\s+)?import\b\s*(\([^)]*\)|[^;\n]*)",
    re.MULTILINE,
)


def code_files(*files: Path | str) -> list[Path]:
    """Return the sorted paths of ``files`` and of every project module that they import.

    A file that is no part of the project, and that reaches what loads estimators by their names,
    may load any: all of calbias's are among the paths.
    """
    needed: set[Path] = set()
    for file in map(Path, files):
        reached = _reached([file.resolve()])
        is_own = any(file.resolve().is_relative_to(root) for root in {*PACKAGES.values()})
        if not is_own and PACKAGE / "estimation/loading.py" in reached:
            reached |= _reached((PACKAGE / "estimators").glob("*.py"))
        needed |= reached
    return sorted(needed)


def _reached(files: Iterable[Path]) -> set[Path]:
    needed, waiting = set(), [*files]
    while waiting:
        path = waiting.pop()
        if path not in needed:
            needed.add(path)
            waiting.extend(_imported_files(path))
    return needed


@cache
def _imported_files(path: Path) -> set[Path]:
    text = re.sub(r"#.*|\\\n", "", path.read_text(encoding="utf-8", errors="replace"))
    modules: set[str] = set()
    for package, names in _IMPORT.findall(text):
        names = [*re.findall(r"[.\w]+", names), *(["*"] if "*" in names else [])]
        modules.update([package, *(f"{package}.{name}" for name in names)] if package else names)
    modules |= {module for name in PACKAGES for module in _used_names(name, text)}
    modules |= {made for module in modules for made in _named_later(module)}
    for root in {*PACKAGES.values()}:
        if path.is_relative_to(root):  # its packages' files run before it
            modules.add(".".join(path.relative_to(root).parts[:-1]))
    return {file for module in modules for file in _files(module)}


def _used_names(package: str, text: str) -> list[str]:
    """Return what a text uses of a package that it imports whole: ``calbias.ece`` of ``cb.ece``.

    ``calbias.*`` where the package is used without a name behind it.
    """
    names = re.findall(rf"^[ \t]*import\b[^\n]*?\b{package}(?![.\w])(?: +as +(\w+))?", text, re.M)
    used = []
    for name in {name or package for name in names}:
        uses = re.sub(r"^[ \t]*(?:from\b.*)?import\b.*", "", text, flags=re.M)
        used += re.findall(rf"(?<![.\w]){name}\b(?: *\. *(\w+))?", uses)
    return [f"{package}.{name or '*'}" for name in used]


def _named_later(module: str) -> list[str]:
    """Return the modules that a package's ``_MODULES`` has for a name in it, or for all names."""
    package, _, name = module.rpartition(".")
    if package not in PACKAGES:
        return []
    file = PACKAGES[package] / package / "__init__.py"
    named = literal(file, "_MODULES", default={}) if file.is_file() else {}
    return [*named.values()] if name == "*" else [named[name]] if name in named else []


@cache
def _files(module: str) -> Sequence[Path]:
    """Return the files that importing ``calbias.x.y`` runs: the packages' and the module's own.

    Of a name in a module, those of the module.
    """
    package, _, _ = module.rpartition(".")
    if module.partition(".")[0] not in PACKAGES:
        return ()
    above = _files(package) if package else ()
    if above and above[-1].name != "__init__.py":
        return above
    path = PACKAGES[module.partition(".")[0]].joinpath(*module.split("."))
    own_files = (path / "__init__.py", path.with_suffix(".py"))
    return (*above, *(file for file in own_files if file.exists()))


REQUIRED: Any = object()
"""The default of a constant that a file must assign."""


def literal(path: Path | str, name: str, default: Any = REQUIRED) -> Any:
    """Return the value of the module-level assignment ``name = <literal>`` in a Python file.

    InputError if the assignment is missing and has no default. A file with a syntax error, or not
    in UTF-8, yields the default: its own job reports the error.
    """
    path = Path(path)
    value = _value(path, path.stat().st_mtime_ns, name)
    if value is not REQUIRED:
        return value
    if default is REQUIRED:
        raise InputError(f"{path}: assign the constant {name} in it, which a rule reads")
    return default


@cache
def _value(path: Path, modified: int, name: str) -> Any:
    """Return a constant's value, checked once per change of its file; REQUIRED if it has none."""
    assigned = _assignments(_tree(path, modified))
    if name not in assigned:
        return REQUIRED
    location = f"{path}, line {assigned[name].lineno}: {name}"
    try:
        value = ast.literal_eval(assigned[name])
    except Exception:  # also of sets of lists, and of numbers that are added
        raise InputError(
            f"{location} must be written out, without calls or names: it is read without running "
            "the file"
        ) from None
    is_valid, form = _FORMS.get(name, (None, None))
    if is_valid and not is_valid(value):
        raise InputError(f"{location} must be {form}, not {value!r:.60}")
    return value


def is_python(path: Path) -> bool:
    """Return whether a file can be parsed."""
    return _tree(path, path.stat().st_mtime_ns) is not None


def bound_names(path: Path) -> set[str] | None:
    """Return the names that a file defines, imports or assigns anywhere; None if not parsed."""
    tree = _tree(path, path.stat().st_mtime_ns)
    return None if tree is None else _bound(tree)


@cache
def _bound(tree: ast.Module) -> set[str]:
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.alias):
            names.add(node.asname or node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
    return names


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
    "NORMS": (_is_list_of_numbers, "a list of numbers, such as (2,)"),
}


@cache
def _tree(path: Path, modified: int) -> ast.Module | None:
    """Return the syntax tree of a file, parsed once per change; None if it has none."""
    try:
        return ast.parse(path.read_bytes())  # in the encoding that the file names, as Python does
    except Exception:  # its own job says what is wrong
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
