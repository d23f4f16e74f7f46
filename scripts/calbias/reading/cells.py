"""The cells of a table's columns as texts, as numbers, or as numbers that words stand for.

The first cell that cannot be read is an error that names its line.
"""

from collections.abc import Mapping, Sequence
from shlex import quote

import numpy as np

from calbias.defaults import PERCENT
from calbias.reading.output_file import Place
from calbias.reading.table_files import Table, as_number

YES = {"1": 1, "true": 1, "yes": 1, "0": 0, "false": 0, "no": 0, "1.0": 1, "0.0": 0}
GRADES = YES | {"correct": 1, "right": 1, "pass": 1, "incorrect": 0, "wrong": 0, "fail": 0}
NOTHING = {"none", "nan", "na", "n/a", "null", "?", "."}
"""Words for no outcome, where an outcome is not the name of a class."""
FILL = "fill it, or leave such rows out by --missing drop"
OF_ROW = "write one, or leave the cell empty and such rows out by --missing drop"
OF_CLASS = "write one, or drop a column of no class"


def is_binary(column: np.ndarray) -> bool:
    """Return whether a column holds 0 and 1, or yes and no, alone; cells may be empty."""
    if column.dtype.kind == "O":
        return {str(cell).strip().casefold() for cell in column if cell} - NOTHING <= {*YES}
    return column.dtype.kind in "iufb" and set(np.unique(column[column == column])) <= {0, 1}


def texts_of(table: Mapping[str, np.ndarray], name: str | None) -> list[str | None]:
    """Return the cells of a column as stripped texts, None where empty."""
    cells = table[str(name)].tolist()
    return [None if cell is None or cell != cell else str(cell).strip() or None for cell in cells]


def is_value(text: str, value: str) -> bool:
    """Return whether a cell is a value that the user names: the same text, or the same number."""
    if text.casefold() == value.strip().casefold():
        return True
    number = as_number(value)
    return number is not None and as_number(text) == number


def by_text(
    table: Table, name: str | None, numbers: Mapping[str, int], remedy: str, location: Place
) -> np.ndarray:
    """Return the number of each cell's text, (n,), in any capitalisation."""
    texts = texts_of(table, name)
    result = np.empty(len(texts))
    for row, text in enumerate(texts):
        if text is None:
            raise location.error(f"column {name} is empty; {FILL}", row)
        if text.casefold() not in numbers:
            raise location.error(f"column {name} is {text!r:.60}: {remedy}", row)
        result[row] = numbers[text.casefold()]
    return result


def number_in(text: str) -> float | None:
    """Return the number of a cell, which may have a decimal comma or a percent sign, or None."""
    text = text.strip()
    number = as_number(text[:-1]) if text.endswith("%") else as_number(text)
    return number / 100 if number is not None and text.endswith("%") else number


def has_words(column: np.ndarray) -> bool:
    """Return whether a cell is not a number."""
    return column.dtype.kind == "O" and any(
        cell is not None and cell.strip() and as_number(cell) is None for cell in column
    )


def has_signs(column: np.ndarray) -> bool:
    """Return whether all cells have percent signs."""
    cells = [cell.strip() for cell in column if cell] if column.dtype.kind == "O" else []
    return bool(cells) and all(cell.endswith("%") for cell in cells)


def numbers_of(
    table: Table,
    names: Sequence[str | None],
    location: Place,
    remedy: str = OF_ROW,
    form: str | None = None,
) -> np.ndarray:
    """Return the named columns as float64, (n, len(names)); the first other cell is an error.

    80 % is 0.8, or 80 where the ``form`` of the columns is percent.
    """
    numbers = np.empty((len(next(iter(table.values()))), len(names)))
    for k, name in enumerate(names):
        column = table[str(name)]
        if column.dtype.kind == "M":
            raise location.error(f"column {name} holds times, not numbers; drop it")
        numbers[:, k] = (
            column if column.dtype.kind != "O" else _parsed(column, name, location, remedy)
        )
        if form == PERCENT and has_signs(column):
            numbers[:, k] *= 100
        empty = np.isnan(numbers[:, k])
        if empty.any():
            row = int(np.argmax(empty))
            raise location.error(f"column {name} is empty or NaN; {FILL}", row)
    return numbers


def _parsed(texts: np.ndarray, name: str | None, location: Place, remedy: str) -> np.ndarray:
    """Return texts as numbers, NaN where empty; decimals may have a comma."""
    numbers = np.full(len(texts), np.nan)
    signed = None
    for row, text in enumerate(texts):
        if text is None or not text.strip():
            continue
        number = number_in(text)
        if number is None:
            shown = " ".join(repr(text).split())[:40]
            if text.strip().casefold() in NOTHING:
                remedy = f"{FILL} --missing {quote(text.strip())}"
            raise location.error(f"column {name}: {shown} is not a number; {remedy}", row)
        is_signed = text.strip().endswith("%")
        if signed is not None and is_signed != signed:
            raise location.error(
                f"column {name}: {text!r:.40} and cells before it differ in the percent sign; "
                "write all with it, or none",
                row,
            )
        numbers[row], signed = number, is_signed
    return numbers
