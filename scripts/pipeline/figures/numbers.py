"""The numbers behind a figure, which stand as NAME.csv next to its picture.

A figure's module says which they are in ``numbers(tables, **options)``, with the options of its
``draw``. Without it they are the rows of the first of its TABLES, of its experiments and with the
values of its options.
"""

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pipeline.catalogue import Entry
from pipeline.figures.selection import Tables
from pipeline.tables import read_table

COLUMNS = {"model": "scenario"}  # where rows of an option's name stand, if not in a column of it


def numbers(entry: Entry, tables: Tables, **chosen: Any) -> pd.DataFrame:
    """Return the numbers of a figure from result tables; ``chosen`` are options of this drawing."""
    module, options = importlib.import_module(entry.module), entry.options | chosen
    if hasattr(module, "numbers"):
        rows: pd.DataFrame = module.numbers(tables, **options)
        return rows.reset_index(drop=True)
    rows = tables[entry.tables[0]]
    if entry.experiments and "experiment" in rows:
        rows = rows[rows["experiment"].isin(entry.experiments)]
    for option, value in options.items():
        column = option if option in rows else COLUMNS.get(option)
        if column in rows:
            rows = rows[rows[column] == value]
    return rows.reset_index(drop=True)


def is_of(drawn: Path, entry: Entry, tables: Tables) -> bool:
    """Return whether a figure's file of numbers is what these tables give; True without a file.

    It is not where a table was made again, such as with another seed, and the figure was not.
    """
    if not drawn.is_file() or not {*entry.tables} <= {*tables}:
        return True
    old, new = read_table(drawn), numbers(entry, tables)
    if [*old] != [*new] or len(old) != len(new):
        return False
    return all(_same(old[column], new[column]) for column in old)


def _same(old: pd.Series, new: pd.Series) -> bool:
    """Return whether two columns are equal, one of them written and read again."""
    if pd.api.types.is_numeric_dtype(old) and pd.api.types.is_numeric_dtype(new):
        drawn, now = (x.astype(float).to_numpy() for x in (old, new))
        return bool(np.allclose(drawn, now, rtol=1e-9, atol=0, equal_nan=True))
    return bool((old.fillna("").astype(str) == new.fillna("").astype(str)).all())
