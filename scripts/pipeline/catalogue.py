"""Which tables and figures there are, and which of them a configuration can make.

Figures are read from the modules in ``reproduction/figures`` and ``figures`` of guest workflows,
without importing them: a module is a figure's when it has ``TABLES``, the stems under
``results/tables`` that ``draw(tables, **options)`` wants, a list or a dict of lists by figure. It
draws the figure of its own name, or those that its ``FIGURES`` maps to options, under ``TITLE``, in
which {an option} may stand. It rests on the experiments in ``EXPERIMENTS``, or on the one that its
options name. All are literals, so the workflow learns the inputs of a figure without matplotlib,
and a new figure is a new file and nothing else. A name begins with the figure's place, which orders
the figures: ``fig2a_…``, ``fig13_…``, ``table1_…``, ``guo_fig1_…``; others come last.
"""

import os
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from calbias.errors import InputError, did_you_mean
from calbias.io.python_files import is_python, literal
from pipeline.guests import MAIN, Workflow, workflows
from pipeline.step_command import step_file
from pipeline.table_schema import tables

PAPERS = {"guo": "Guo et al. 2017", "gupta": "Gupta et al. 2021"}
_PLACE = re.compile(r"(?:(guo|gupta)_)?(fig|table)(\d+)([a-z]?)(?=_|$)")


class Entry(NamedTuple):
    """A figure: its module, what it rests on, options of ``draw``, place and title."""

    module: str
    tables: tuple
    options: dict
    experiments: tuple = ()
    place: str = ""
    title: str = ""


def default_tables(*selected: Workflow) -> dict[str, tuple[str, ...]]:
    """Return {table: the experiments it is made from} of the tables that every run makes."""
    return {
        name: tuple(entry.get("experiments", ()))
        for name, entry in tables(*selected).items()
        if entry.get("by_default", True)
    }


def figures(*selected: Workflow) -> dict[str, Entry]:
    """Return {figure: Entry} of workflows, by default of all.

    A file that is not Python has no tables: its own job will say what is wrong, others still run.
    """
    entries = {}
    for path in (
        path for workflow in selected or workflows() for path in workflow.files("figures")
    ):
        needed = literal(path, "TABLES", default=None if is_python(path) else ())
        if needed is None:
            continue
        experiments = tuple(literal(path, "EXPERIMENTS", default=()))
        title = literal(path, "TITLE", default="")
        for name, options in literal(path, "FIGURES", default={path.stem: {}}).items():
            entry_experiments = (options["experiment"],) if "experiment" in options else experiments
            words = title.format(**options) or name
            needed_tables = tuple(needed[name] if isinstance(needed, dict) else needed)
            for table in set(needed_tables) - {*tables(), "models"}:
                raise InputError(f"{path}: TABLES: {table!r}? {did_you_mean(table, tables())}")
            entries[name] = Entry(
                ".".join([*path.parts[-3:-1], path.stem]),
                needed_tables,
                options,
                entry_experiments,
                place(name),
                words,
            )
    return dict(sorted(entries.items(), key=lambda item: _order(item[0])))


def validate() -> None:
    """Raise InputError for a part that a run would stumble over: a caption, a rule's step."""
    tables()
    _validate_captions()
    for workflow in workflows():
        for path in workflow.rule_files():
            for name in re.findall(r"\b(?:given|step)\(\s*\"(\w+)\"", path.read_text("utf-8")):
                try:
                    step_file(name)
                except InputError as error:
                    raise InputError(f"{os.path.relpath(path)}: {error}") from None


def _validate_captions() -> None:
    """Raise InputError for a figure without a caption, which a report would stumble over."""
    for workflow in workflows():
        for name, entry in figures(workflow).items():
            caption = caption_file(workflow, name, entry)
            if not caption.is_file():
                raise InputError(
                    f"{os.path.relpath(caption)}: no such file; write the caption of the figure "
                    f"in {entry.module} there"
                )


def caption_file(workflow: Workflow, figure: str, entry: Entry) -> Path:
    """Return the file of a figure's caption: its own, or that of the figures of its module."""
    own, shared = (workflow.report / f"{x}.rst" for x in (figure, entry.module.split(".")[-1]))
    return shared if shared.is_file() and not own.is_file() else own


def place(figure: str) -> str:
    """Return a figure's place in words: ``guo_fig4_x`` is ``Guo et al. 2017, Figure 4``."""
    match = _PLACE.match(figure)
    if not match:
        return figure.replace("_", " ").capitalize()
    words = f"{'Figure' if match[2] == 'fig' else 'Table'} {match[3]}{match[4]}"
    return f"{PAPERS[match[1]]}, {words}" if match[1] else words


def _order(figure: str) -> tuple[str, str, int, str]:
    found = _PLACE.match(figure)
    return (found[1] or "", found[2], int(found[3]), found[4]) if found else ("~", "", 0, figure)


def paper_experiments() -> list[str]:
    """Return the names of the experiments that tables and figures rest on, a sorted list."""
    of_figures = (entry.experiments for entry in figures().values())
    return sorted({name for needs in (*default_tables().values(), *of_figures) for name in needs})


def available_tables(
    experiments: Collection[str], lacking: Collection[str] = (), *selected: Workflow
) -> list[str]:
    """Return the names of a config's tables, by default of the papers.

    ``lacking`` are the ``needs`` of the schema that no model fulfils.
    """
    entries = tables(*selected or (MAIN,))
    return [
        name
        for name, needs in default_tables(*selected or (MAIN,)).items()
        if set(needs) <= set(experiments) and entries[name].get("needs") not in lacking
    ]


def available_figures(
    experiments: Mapping[str, Any], lacking: Collection[str] = (), *selected: Workflow
) -> dict[str, Entry]:
    """Return {figure: Entry} of the figures that a config can make, by default of the papers."""
    made = {*available_tables(experiments, lacking, *workflows()), "models"}
    return {
        name: entry
        for name, entry in figures(*selected or (MAIN,)).items()
        if set(entry.tables) <= made
        and set(entry.experiments) <= set(experiments)
        and _has_model(entry, experiments)
    }


def _has_model(entry: Entry, experiments: Mapping[str, Any]) -> bool:
    model = entry.options.get("model")
    wanted = [experiments[name].get("models", []) for name in entry.experiments]
    return model is None or all(model in models for models in wanted)
