"""Means and rates that a paper prints of its simulations, next to recomputed ones.

A paper is a file of printed numbers in ``evidence/resources/published`` and a file of settings in
``scripts/evidence/papers``, which has ``cells()``, pairs of a cell and its number of rows,
``methods(cell, n, data_sets, seed)``, and ``PRINTED``: for each printed file the name of a cell, of
a quantity and of the column with the number, by the row's columns, and the paper's data sets.

A quantity is a mean over data sets. Both numbers have the Monte Carlo error of the recomputed ones'
spread; where those are yes or no, of both shares together. The printed one is also rounded. A rate
at a critical value that was drawn has its values in three columns: at that critical value, and at
the ones a standard error of their level lower and higher, which widen the printed error.
"""

import csv
import importlib
import math
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from evidence.runner import Cell, Method, Row, Values, run
from pipeline.steps import AtLeast, Seed
from pipeline.tables import write_table

Printed = dict[tuple[str, str], tuple[str, int]]


def simulation_rows(
    paper: ModuleType, printed: list[Path], data_sets: int, seed: int
) -> Iterator[Row]:
    """Yield the rows of table ``printed_simulations``."""
    numbers = printed_numbers(paper, printed)

    def reduce(cell: Cell, n: int, methods: Mapping[str, Method], values: Values) -> Iterator[Row]:
        for quantity, set_values in values.items():
            names = {"paper": paper.__name__.rpartition(".")[2], "cell": cell.name}
            printed_values = numbers.get((cell.name, quantity))
            yield {**names, "quantity": quantity, **compared(set_values, *printed_values or ())}

    methods = partial(paper.methods, data_sets=data_sets, seed=seed)

    def number(cell: Any, n: int) -> int:
        return max(2, round(data_sets * getattr(cell, "share", 1)))

    return run(paper.cells(), methods, number, seed, reduce)


def printed_numbers(paper: ModuleType, files: list[Path]) -> Printed:
    """Return {(cell, quantity): (printed text, data sets)}."""
    numbers = {}
    for path in files:
        cell, quantity, column, sets = paper.PRINTED[path.stem]
        with open(path, encoding="utf-8") as lines:
            for row in csv.DictReader(lines):
                fields = {name: _number(text) for name, text in row.items()}
                numbers[cell.format(**fields), quantity.format(**fields)] = row[column], sets
    return numbers


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def compared(values: NDArray, printed: str = "nan", sets: int = 0) -> Row:
    """Return a row's numbers from values (m,) or (m, 3) and the printed text."""
    m, number = len(values), float(printed)
    columns = values.reshape(m, -1).astype(float)
    if values.dtype == bool:
        hits = columns[:, 0].sum() + (number * sets if sets else 0)
        share = (hits + 1) / (m + sets + 2)  # never 0 nor 1
        sd = math.sqrt(share * (1 - share))
    else:
        sd = columns[:, 0].std(ddof=1) if m > 1 else 0.0
    mean, error = columns[:, 0].mean(), sd / math.sqrt(m)
    row = {"recomputed": mean, "error": error}
    if not sets:
        return row
    critical = np.ptp(columns[:, 1:].mean(axis=0)) / 2 if columns.shape[1] > 1 else 0.0
    rounding = 10.0 ** -len(printed.partition(".")[2]) / math.sqrt(12)
    printed_error = math.hypot(sd / math.sqrt(sets), critical, rounding)
    z = (mean - number) / math.hypot(error, printed_error)
    return {**row, "printed": number, "printed_error": printed_error, "z": z}


def compare_simulations(
    *,
    paper: str,
    printed: list[Path],
    data_sets: Annotated[int, AtLeast(2)],
    seed: Seed,
    output: Path,
) -> None:
    """Simulate the data of a paper and compare with the numbers that it prints.

    paper: name of a file in scripts/evidence/papers
    printed: its files in evidence/resources/published
    data_sets: data sets of each cell
    seed: seed of all random streams
    output: table to write
    """
    settings = importlib.import_module(f"evidence.papers.{paper}")
    rows = simulation_rows(settings, printed, data_sets, seed)
    write_table(output, "printed_simulations", rows)
