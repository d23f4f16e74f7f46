"""The digest of the code that a step reaches: ``params: code=…`` of its rule.

A job runs again when the syntax trees of its step, of all that the step imports and of the files
that it loads by name have changed, or the columns of the tables that the schema says it makes.
Comments, docstrings and blank lines are no part of a tree.
"""

import ast
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType

from calbias.io.python_files import code_files
from pipeline import CHECKOUT
from pipeline.kept_digests import kept
from pipeline.step_command import step_file
from pipeline.table_schema import columns_made_by

_ROOT = CHECKOUT.resolve()  # as the paths of ``code_files``
_NO_TABLES: Mapping[str, Sequence[str]] = MappingProxyType({})
_PARTS: dict[str, str] = {}


def code(step: str, *loaded: Path | str) -> str:
    """Return the digest of a step's code; ``loaded`` are files that it loads by name."""
    file = step_file(step)
    return digest(code_files(file, *loaded), columns_made_by(file))


def digest(files: Iterable[Path], columns: Mapping[str, Sequence[str]] = _NO_TABLES) -> str:
    """Return one digest of the syntax of these files, and of the columns of tables by name."""
    parts: dict[str, str] = {}
    for path in files:  # outside the checkout two files may have one name
        parts[_name(path)] = parts.get(_name(path), "") + _of_file(path)[:12]
    parts |= {f"table {name}": _shortened(json.dumps(names)) for name, names in columns.items()}
    _PARTS.update(parts)
    return _shortened(json.dumps(parts, sort_keys=True))


def parts() -> dict[str, str]:
    """Return {file, or ``table NAME``: digest} of all that this process combined."""
    return dict(_PARTS)


def _shortened(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:20]


@cache
def _name(path: Path) -> str:
    """Return what a file is called in a digest: the same wherever the checkout stands."""
    return path.relative_to(_ROOT).as_posix() if path.is_relative_to(_ROOT) else path.name


@cache
def _of_file(path: Path) -> str:
    state = path.stat()  # parsing all files takes 1 s
    name = _name(path) if path.is_relative_to(CHECKOUT) else path  # a copy of the checkout has them
    key = f"{name} {state.st_size} {state.st_mtime_ns}"
    return kept(key, lambda: _syntax(path.read_bytes()))


def _syntax(text: bytes) -> str:
    """Return the digest of a file's syntax tree, or of its bytes where it is not Python."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return hashlib.sha256(text).hexdigest()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            is_text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
            if is_text and not _is_claim(node):
                del node.body[0]
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest()


def _is_claim(node: ast.AST) -> bool:
    """Return whether a function is a claim's rule, whose docstring the ledger prints."""
    decorators = getattr(node, "decorator_list", ())
    return any(getattr(getattr(each, "func", None), "id", "") == "claim" for each in decorators)
