"""Which tables and figures there are, and which of them a configuration can make.

Figures are read from the modules in ``reproduction/figures``, without importing them: a module is a
figure's when it has ``TABLES``, the stems under ``results/tables`` that ``draw(tables, **options)``
wants, a list or a dict of lists by figure. It draws the figure of its own name, or those that its
``FIGURES`` maps to options, under ``TITLE``, in which {an option} may stand. It rests on the
experiments in ``EXPERIMENTS``, or on the one that its options name. All are literals, so the
workflow learns the inputs of a figure without matplotlib, and a new figure is a new file and
nothing else. A name begins with the figure's place, which orders the figures: ``fig2a_…``,
``fig13_…``, ``table1_…``, ``guo_fig1_…``; others come last.
"""

import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from calbias.errors import InputError, did_you_mean
from calbias.io.python_files import is_python, literal
from pipeline.table_schema import tables

FOLDERS = tuple(
    Path(__file__).parents[1] / house / "figures" for house in ("reproduction", "evidence")
)
CAPTIONS = Path(__file__).parents[2] / "workflow" / "report"
PAPERS = {"guo": "Guo et al. 2017", "gupta": "Gupta et al. 2021"}
_PLACE = re.compile(r"(?:(guo|gupta)_)?(fig|table)(\d+)([a-z]?)(?=_|$)")
# Table → the experiments it is made from, of the tables that every run makes.
TABLES = {
    name: tuple(entry.get("experiments", ()))
    for name, entry in tables().items()
    if entry.get("by_default", True)
}


class Entry(NamedTuple):
    """A figure: its module, what it rests on, options of ``draw``, place and title."""

    module: str
    tables: tuple
    options: dict
    experiments: tuple = ()
    place: str = ""
    title: str = ""


def figures(*folders: Path) -> dict[str, Entry]:
    """Return {figure: Entry} of all modules in ``folders``, by default of both houses.

    A file that is not Python has no tables: its own job will say what is wrong, others still run.
    """
    found = {}
    for path in (
        path for folder in folders or FOLDERS for path in sorted(Path(folder).glob("*.py"))
    ):
        needed = literal(path, "TABLES", default=None if is_python(path) else ())
        if needed is None:
            continue
        experiments = tuple(literal(path, "EXPERIMENTS", default=()))
        title = literal(path, "TITLE", default="")
        for name, options in literal(path, "FIGURES", default={path.stem: {}}).items():
            own = (options["experiment"],) if "experiment" in options else experiments
            words = title.format(**options) or name
            mine = tuple(needed[name] if isinstance(needed, dict) else needed)
            for table in set(mine) - {*tables(), "models"}:
                raise InputError(f"{path}: TABLES: {table!r}? {did_you_mean(table, tables())}")
            found[name] = Entry(
                ".".join([*path.parts[-3:-1], path.stem]), mine, options, own, place(name), words
            )
    return dict(sorted(found.items(), key=lambda item: _order(item[0])))


def validate_captions() -> None:
    """Raise InputError for a figure without a caption, which a report would stumble over."""
    for name, entry in figures().items():
        if not (CAPTIONS / f"{name}.rst").is_file():
            raise InputError(
                f"workflow/report/{name}.rst: no such file; write the caption of the figure in "
                f"{entry.module} there"
            )


def place(figure: str) -> str:
    """Return a figure's place in words: ``guo_fig4_x`` is ``Guo et al. 2017, Figure 4``."""
    found = _PLACE.match(figure)
    if not found:
        return figure.replace("_", " ").capitalize()
    words = f"{'Figure' if found[2] == 'fig' else 'Table'} {found[3]}{found[4]}"
    return f"{PAPERS[found[1]]}, {words}" if found[1] else words


def _order(figure: str) -> tuple[str, str, int, str]:
    found = _PLACE.match(figure)
    return (found[1] or "", found[2], int(found[3]), found[4]) if found else ("~", "", 0, figure)


def paper_experiments() -> list[str]:
    """Return the names of the experiments that tables and figures rest on, a sorted list."""
    of_figures = (entry.experiments for entry in figures().values())
    return sorted({name for needs in (*TABLES.values(), *of_figures) for name in needs})


def available_tables(
    experiments: Collection[str], lacking: Collection[str] = ()
) -> tuple[list[str], list[str]]:
    """Return the names of a config's tables: of the papers, and of the evidence.

    ``lacking`` are the ``needs`` of the schema that no model fulfils.
    """
    known = [
        name
        for name, needs in TABLES.items()
        if set(needs) <= set(experiments) and tables()[name].get("needs") not in lacking
    ]
    evidence = [name for name in known if "/evidence/" in tables()[name]["rule_file"]]
    return [name for name in known if name not in evidence], evidence


def available_figures(
    experiments: Mapping[str, Any], lacking: Collection[str] = ()
) -> tuple[dict[str, Entry], ...]:
    """Return {figure: Entry} of the figures that a config can make: the papers', the evidence's."""
    papers, evidence = available_tables(experiments, lacking)
    known = {*papers, *evidence, "models"}
    found = {
        name: entry
        for name, entry in figures().items()
        if set(entry.tables) <= known
        and set(entry.experiments) <= set(experiments)
        and _has_model(entry, experiments)
    }
    houses = {name: entry.module.partition(".")[0] for name, entry in found.items()}
    return tuple(
        {name: entry for name, entry in found.items() if houses[name] == house}
        for house in ("reproduction", "evidence")
    )


def _has_model(entry: Entry, experiments: Mapping[str, Any]) -> bool:
    model = entry.options.get("model")
    wanted = [experiments[name].get("models", []) for name in entry.experiments]
    return model is None or all(model in models for models in wanted)
