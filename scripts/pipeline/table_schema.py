"""Which tables there are, and their columns: ``tables.yaml`` of each workflow."""

import os
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from calbias.errors import looked_up
from pipeline import CHECKOUT
from pipeline.guests import MAIN, Workflow, workflows


def tables(*selected: Workflow) -> dict[str, dict[str, Any]]:
    """Return {table: its entry, with rule file and step} of workflows, by default of all.

    Those of the papers come first. InputError for a rule or a step that is missing.
    """
    entries: dict[str, dict[str, Any]] = {}
    for workflow in selected or workflows():
        entries |= _tables(workflow, workflows())
    return entries


@cache
def _tables(workflow: Workflow, all_workflows: Sequence[Workflow]) -> dict[str, dict[str, Any]]:
    schema = _from_checkout(workflow.schemas / "tables.yaml")
    files = {
        rule: {"rule_file": _from_checkout(path)}
        for each in all_workflows
        for path in each.rule_files()
        for rule in re.findall(r"^rule (\w+):", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    steps = {path.stem: path for each in all_workflows for path in each.files("steps")}
    entries = {}
    for name, entry in _section(workflow, "tables").items():
        file = looked_up(f"rule of table {name} in {schema}", entry["rule"], files)
        step = looked_up(f"step in {schema}", entry["rule"], steps)
        columns = entry["columns"]
        if isinstance(columns, str):  # those of a table of the papers
            papers = _section(MAIN, "tables")
            columns = looked_up(f"columns of table {name} in {schema}", columns, papers)["columns"]
        entries[name] = {**entry, **file, "columns": columns, "script": _from_checkout(step)}
    return entries


def _from_checkout(path: Path) -> str:
    """Return the path as a reader in the checkout writes it."""
    return Path(os.path.relpath(path, CHECKOUT)).as_posix()


def columns_of(table: str) -> tuple[str, ...]:
    """Return the names of a table's columns, a tuple."""
    return tuple(looked_up("table in tables.yaml", table, tables())["columns"])


def columns_made_by(step: Path) -> dict[str, Sequence[str]]:
    """Return {table: columns} of the tables that a step's own workflow says it makes."""
    return {
        name: entry["columns"]
        for workflow in workflows()
        if step.is_relative_to(workflow.scripts)
        for name, entry in tables(workflow).items()
        if entry["rule"] == step.stem
    }


def column_meanings() -> dict[str, dict[str, str]]:
    """Return {column: {"meaning": words, "unit": unit where it has one}}."""
    return {
        column: meaning
        for workflow in workflows()
        for column, meaning in _section(workflow, "columns").items()
    }


def dictionary_rows(workflow: Workflow) -> list[tuple[str, str, str, str]]:
    """Return (table, column, unit, meaning) of every column; a table's first row has its caption.

    There the column is empty and the meaning says what a row of the table is.
    """
    meanings = column_meanings()
    return [
        row
        for name, entry in tables(workflow).items()
        for row in (
            (name, "", "", entry["caption"]),
            *((name, column, meanings[column].get("unit", ""), meanings[column]["meaning"])
              for column in entry["columns"]),
        )
    ]  # fmt: skip


@cache
def _section(workflow: Workflow, section: str) -> dict[str, Any]:
    path = workflow.schemas / "tables.yaml"
    return dict(read_yaml(path)[section]) if path.is_file() else {}


def read_yaml(path: Path) -> Any:
    """Return what a file says, by the loader in C where it is there: it takes a tenth."""
    import yaml  # only the workflow has it

    return yaml.load(path.read_text("utf-8"), getattr(yaml, "CSafeLoader", yaml.SafeLoader))
