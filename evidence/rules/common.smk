# What the rules share: names of the papers' workflow, estimators, tables and figures of this one.
import os
import shlex

from calbias.errors import InputError, looked_up
from calbias.estimation.registry import FOLDER, estimator_file, known_estimators
from calbias.io.python_files import literal
from pipeline.guests import join
from pipeline.catalogue import available_figures, available_tables, figures
from pipeline.table_schema import columns_of

config = papers.config  # complete, with this workflow's keys
EXPERIMENTS, MODELS, REAL = papers.EXPERIMENTS, papers.MODELS, papers.REAL
OTHERS, OUTPUT_FILES, MEASURED = papers.OTHERS, papers.OUTPUT_FILES, papers.MEASURED
AUDITED, AUDITS, OWN = papers.AUDITED, papers.AUDITS, papers.OWN
loaded, one_of, step = papers.loaded, papers.one_of, papers.step
published, resource, shown = papers.published, papers.resource, papers.shown
table, tabled = papers.table, papers.tabled

GUEST = join(HERE)
TABLES = available_tables(EXPERIMENTS, papers.LACKING, GUEST)
FIGURES = available_figures(EXPERIMENTS, papers.LACKING, GUEST)
ESTIMATORS = HERE / "scripts/evidence/estimators"
FOLDERS = [
    FOLDER,
    ESTIMATORS,
    *map(Path, [config["estimator_dir"]] if config["estimator_dir"] else []),
]


def given(name, **values):
    """The params of a rule that runs a step, which finds this workflow's steps and tables too."""
    return papers.given(name, HERE, of=rules, **values)


def estimator_paths(*names):
    """The files that define estimators, by their names, each file once."""
    files = {estimator_file(name, FOLDERS) for name in names}
    return sorted(map(os.path.relpath, files))


def data(name):
    """A file in this workflow's `resources`."""
    return local(os.path.relpath(HERE / "resources" / name))


def parts_of(tables):
    """The parts of these tables, of those that are joined."""
    return [
        f"results/{PARTS[name][0]}/{item}.parquet"
        for name in tables
        if name in PARTS
        for item in PARTS[name][1]
    ]


def page_files(*names):
    """The templates of a page, with those that all pages share."""
    return [
        *papers.page_files(),
        *(local(os.path.relpath(HERE / "report" / name)) for name in names),
    ]


wildcard_constraints:
    table="[a-z_0-9]+",
