# What the rules share: names of the papers' workflow, tables and figures of this one.
import os
import shlex

from pipeline.guests import join
from pipeline.catalogue import available_figures
from pipeline.code_digest import code
from pipeline.table_schema import tables

config = papers.config
named, published, shown = papers.named, papers.published, papers.shown
table, tabled, estimator_paths = papers.table, papers.tabled, papers.estimator_paths

GUEST = join(HERE)
TABLES = [*tables(GUEST)]
FIGURES = available_figures(papers.EXPERIMENTS, papers.LACKING, GUEST)


def step(name, **fields):
    """The shell line of a step's rule, whose job finds this workflow's steps and tables too."""
    return papers.step(name, HERE, **fields)


def kept(name):
    """A file of the kept networks."""
    return local(os.path.relpath(HERE / "resources" / name))
