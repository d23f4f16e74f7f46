"""Which tables there are, and their columns: ``tables.yaml`` of the papers and of the evidence."""

import re
from functools import cache
from pathlib import Path
from typing import Any

from calbias.errors import InputError, looked_up

SCRIPTS = Path(__file__).parents[1]
PLACE = "workflow/schemas"
SCHEMAS = [SCRIPTS.parent / PLACE / name for name in ("tables.yaml", "evidence/tables.yaml")]
RULES = SCRIPTS.parent / "workflow/rules"


@cache
def tables() -> dict[str, dict[str, Any]]:
    """Return {table: its entry, with rule file and step}, those of the papers first."""
    files = {}
    for path in RULES.rglob("*.smk"):
        for rule in re.findall(r"^rule (\w+):", path.read_text(encoding="utf-8"), re.MULTILINE):
            files[rule] = {"rule_file": path.relative_to(RULES.parents[1]).as_posix()}
    return {
        name: {
            **entry,
            **looked_up(f"rule of table {name} in {PLACE}", entry["rule"], files),
            "script": _step_file(entry["rule"]),
        }
        for name, entry in _both("tables").items()
    }


def _step_file(name: str) -> str:
    """Return the path, from the checkout, of the step of a rule."""
    for path in SCRIPTS.glob(f"*/steps/{name}.py"):
        return f"scripts/{path.relative_to(SCRIPTS).as_posix()}"
    raise InputError(f"{PLACE}: rule {name}: no house has steps/{name}.py")


def columns_of(table: str) -> tuple[str, ...]:
    """Return the names of a table's columns, a tuple."""
    return tuple(looked_up(f"table in {PLACE}", table, tables())["columns"])


def column_meanings() -> dict[str, dict[str, str]]:
    """Return {column: {"meaning": words, "unit": unit where it has one}}."""
    return _both("columns")


def dictionary_rows() -> list[tuple[str, str, str, str]]:
    """Return (table, column, unit, meaning) of every column; a table's first row has its caption.

    There the column is empty and the meaning says what a row of the table is.
    """
    meanings = column_meanings()
    return [
        row
        for name, entry in tables().items()
        for row in (
            (name, "", "", entry["caption"]),
            *((name, column, meanings[column].get("unit", ""), meanings[column]["meaning"])
              for column in entry["columns"]),
        )
    ]  # fmt: skip


@cache
def _both(section: str) -> dict[str, Any]:
    first, second = (read_yaml(path)[section] for path in SCHEMAS)
    return first | second


def read_yaml(path: Path) -> Any:
    """Return what a file says, by the loader in C where it is there: it takes a tenth."""
    import yaml  # only the workflow has it

    return yaml.load(path.read_text("utf-8"), getattr(yaml, "CSafeLoader", yaml.SafeLoader))
