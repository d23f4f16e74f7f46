# What the rules share: names of the papers' workflow, tables and figures of this one.
import os
import shlex

from pipeline.guests import join
from pipeline.catalogue import available_figures
from pipeline.table_schema import tables

config = papers.config
published, shown, step = papers.published, papers.shown, papers.step
table, tabled, estimator_paths = papers.table, papers.tabled, papers.estimator_paths

GUEST = join(HERE)
TABLES = [*tables(GUEST)]
FIGURES = available_figures(papers.EXPERIMENTS, papers.LACKING, GUEST)


def given(name, **values):
    """The params of a rule that runs a step, which finds this workflow's steps and tables too."""
    return papers.given(name, HERE, of=rules, **values)


def kept(name):
    """A file of the kept networks."""
    return local(os.path.relpath(HERE / "resources" / name))
