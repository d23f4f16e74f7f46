"""The cells of a table's columns as texts or as numbers; the first that is none is an error."""

import re
from collections.abc import Callable, Mapping, Sequence
from shlex import quote
from typing import Any

import numpy as np

from calbias.defaults import PERCENT
from calbias.reading.output_file import Place
from calbias.reading.words import NOTHING

FILL = "fill it, or leave such rows out by --missing drop"
OF_ROW = "write one, or leave the cell empty and such rows out by --missing drop"
OF_CLASS = "write one, or drop a column of no class"
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|infinity)", re.A | re.I)
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?")
_Table = Mapping[str, np.ndarray]


def as_number(text: str) -> float | None:
    """Return the number of a text in plain digits, or None."""
    return float(text) if _NUMBER.fullmatch(text) else None


def number_in(text: str) -> float | None:
    """Return the number of a cell, which may have a percent sign, or None."""
    text = text.strip()
    if not text.endswith("%"):
        return as_number(text)
    number = as_number(text[:-1].strip())
    return None if number is None else number / 100


def text_of(cell: Any) -> str:
    """Return a cell as a label: a whole number without its point."""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell).strip()


def texts_of(table: _Table, name: str | None) -> list[str | None]:
    """Return the cells of a column as labels, None where empty."""
    cells = table[str(name)].tolist()
    return [None if cell is None or cell != cell else text_of(cell) or None for cell in cells]


def is_value(text: str, value: str) -> bool:
    """Return whether a cell is a value that the user names: the same text, or the same number."""
    if text.casefold() == value.strip().casefold():
        return True
    number = as_number(value.strip())
    return number is not None and as_number(text) == number


def has_value(text: str | None, value: str) -> bool:
    """Return whether a cell is there and is a value that the user names."""
    return text is not None and is_value(text, value)


def rows_where(table: _Table, name: str, is_wanted: Callable[[str | None], bool]) -> np.ndarray:
    """Return the rows, (n,) of bool, whose label, None where empty, is wanted."""
    import pandas as pd

    codes, distinct = pd.factorize(table[name])
    wanted = [is_wanted(text_of(cell) or None) for cell in distinct.tolist()]
    return np.array([*wanted, is_wanted(None)], bool)[codes]


def by_text(
    table: _Table, name: str | None, numbers: Mapping[str, int], remedy: str, location: Place
) -> np.ndarray:
    """Return the number of each cell's text, (n,), in any capitalisation."""
    import pandas as pd

    texts = texts_of(table, name)
    codes, distinct = pd.factorize(np.array(texts, object), use_na_sentinel=True)
    values = np.empty(len(distinct) + 1)
    values[-1] = np.nan
    for k, text in enumerate(distinct):
        values[k] = numbers.get(text.casefold(), np.nan)
    result: np.ndarray = values[codes]
    if np.isnan(result).any():
        row = int(np.argmax(np.isnan(result)))
        if texts[row] is None:
            raise location.error(f"column {name} is empty; {FILL}", row)
        raise location.error(f"column {name} is {texts[row]!r:.60}: {remedy}", row)
    return result


def numbers_of(
    table: _Table,
    names: Sequence[str | None],
    location: Place,
    remedy: str = OF_ROW,
    form: str | None = None,
) -> np.ndarray:
    """Return the named columns as float64, (n, len(names)); the first other cell is an error.

    80 % is 0.8, or 80 where the ``form`` of the columns is percent.
    """
    columns = [table[str(name)] for name in names]
    numbers = np.empty((len(columns[0]), len(names)))
    for k, (name, column) in enumerate(zip(names, columns, strict=True)):
        if column.dtype.kind == "M":
            raise location.error(f"column {name} holds times, not numbers; drop it")
        is_text = column.dtype.kind == "O"
        numbers[:, k] = _parsed(column, name, location, remedy) if is_text else column
        if not is_text:
            _validate_no_thousands(numbers[:, k], name, location)
        elif form == PERCENT and any(str(cell).strip().endswith("%") for cell in column[:1]):
            numbers[:, k] *= 100
        empty = np.isnan(numbers[:, k])
        if empty.any():
            row = int(np.argmax(empty))
            raise location.error(f"column {name} is empty or NaN; {FILL}", row)
    return numbers


def _validate_no_thousands(numbers: np.ndarray, name: str | None, location: Place) -> None:
    """Raise InputError where 1.234 beside 12 may be 1234: points where semicolons separate."""
    if not location.has_semicolons:
        return
    is_whole = numbers == np.rint(numbers)
    decimals = numbers[~is_whole]
    if not decimals.size or not is_whole.any() or np.abs(decimals).min() < 1:
        return
    has_three_digits = np.abs(decimals * 1000 - np.rint(decimals * 1000)).max() < 1e-6
    if has_three_digits and np.abs(decimals * 100 - np.rint(decimals * 100)).max() > 1e-6:
        row = int(np.argmin(is_whole))
        raise location.error(
            f"column {name}: is {numbers[row]:.3f} a number of thousands? All decimals have three "
            "digits; write 1234, or 1.2340",
            row,
        )


def _parsed(texts: np.ndarray, name: str | None, location: Place, remedy: str) -> np.ndarray:
    """Return texts as numbers, NaN where empty."""
    numbers = np.full(len(texts), np.nan)
    signed = None
    for row, text in enumerate(texts):
        if text is None or not text.strip():
            continue
        number = number_in(text)
        if number is None:
            shown = " ".join(text.split())
            if shown.startswith(("[", "{")) or shown.startswith(("list<", "struct<", "map<")):
                raise location.error(
                    f"column {name} holds lists or objects, such as {shown!r:.40}: split them into "
                    "a column per class",
                    row,
                )
            if THOUSANDS.fullmatch(shown):
                remedy = "is it a number of thousands? Write it without commas"
            if shown.casefold() in NOTHING:
                remedy = f"{FILL} --missing {quote(shown)}"
            raise location.error(f"column {name}: {shown!r:.60} is not a number; {remedy}", row)
        is_signed = text.strip().endswith("%")
        if signed is not None and is_signed != signed:
            raise location.error(
                f"column {name}: {text!r:.40} and cells before it differ in the percent sign; "
                "write all with it, or none",
                row,
            )
        numbers[row], signed = number, is_signed
    return numbers
