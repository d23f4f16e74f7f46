"""The cells of a table's columns as texts, as numbers, or as numbers that words stand for.

The first cell that cannot be read is an error that names its line.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from calbias.logits.output_file import Place
from calbias.logits.table_files import Table, as_number

YES = {"1": 1, "true": 1, "yes": 1, "0": 0, "false": 0, "no": 0, "1.0": 1, "0.0": 0}
GRADES = YES | {"correct": 1, "right": 1, "pass": 1, "incorrect": 0, "wrong": 0, "fail": 0}
FILL = "fill it, or leave such rows out by --missing drop"
OF_ROW = "write one, or leave the cell empty and such rows out by --missing drop"
OF_CLASS = "write one, or drop a column of no class"


def is_binary(column: np.ndarray) -> bool:
    """Return whether a column holds 0 and 1, or yes and no, alone; cells may be empty."""
    if column.dtype.kind == "O":
        return {str(cell).strip().casefold() for cell in column if cell} <= {*YES}
    return column.dtype.kind in "iufb" and set(np.unique(column[column == column])) <= {0, 1}


def texts_of(table: Table, name: str | None) -> list[str | None]:
    """Return the cells of a column as stripped texts, None where empty."""
    cells = table[str(name)].tolist()
    return [None if cell is None or cell != cell else str(cell).strip() or None for cell in cells]


def by_text(
    table: Table, name: str | None, known: Mapping[str, int], remedy: str, place: Place
) -> np.ndarray:
    """Return the number of each cell's text, (n,), in any capitalisation."""
    texts = texts_of(table, name)
    numbers = np.empty(len(texts))
    for row, text in enumerate(texts):
        if text is None:
            raise place.error(f"column {name} is empty; {FILL}", row)
        if text.casefold() not in known:
            raise place.error(f"column {name} is {text!r}: {remedy}", row)
        numbers[row] = known[text.casefold()]
    return numbers


def has_words(column: np.ndarray) -> bool:
    """Return whether a cell is not a number."""
    return column.dtype.kind == "O" and any(
        cell is not None and cell.strip() and as_number(cell) is None for cell in column
    )


def numbers_of(
    table: Table, names: Sequence[str | None], place: Place, remedy: str = OF_ROW
) -> np.ndarray:
    """Return the named columns as float64, (n, len(names)); the first other cell is an error."""
    numbers = np.empty((len(next(iter(table.values()))), len(names)))
    for k, name in enumerate(names):
        column = table[str(name)]
        if column.dtype.kind == "M":
            raise place.error(f"column {name} holds times, not numbers; drop it")
        numbers[:, k] = column if column.dtype.kind != "O" else _parsed(column, name, place, remedy)
        empty = np.isnan(numbers[:, k])
        if empty.any():
            row = int(np.argmax(empty))
            raise place.error(f"column {name} is empty or NaN; {FILL}", row)
    return numbers


def _parsed(texts: np.ndarray, name: str | None, place: Place, remedy: str) -> np.ndarray:
    """Return texts as numbers, NaN where empty; decimals may have a comma."""
    numbers = np.full(len(texts), np.nan)
    for row, text in enumerate(texts):
        if text is None or not text.strip():
            continue
        number = as_number(text)
        if number is None:
            shown = " ".join(repr(text).split())[:40]
            if text.strip().endswith("%") and as_number(text.strip()[:-1]) is not None:
                remedy = "drop the sign and divide by 100"
            raise place.error(f"column {name}: {shown} is not a number; {remedy}", row)
        numbers[row] = number
    return numbers
