"""A table in memory: columns by name, each made when it is asked for."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from calbias.reading.facts import LISTS, Facts, facts_of

INDEX = re.compile(r"__index_level_\d+__")  # a saved row index


class Table(Mapping[str, np.ndarray]):
    """{name: column (n,)}, each made when it is asked for.

    A column is of numbers, NaN where a cell is empty, of truth values or times; or of objects:
    texts, and None where a cell is empty. ``repeated`` are names that several columns have, of
    which the first is the column; ``left_out`` says which columns have no name, or are such.
    """

    def __init__(
        self, names: Sequence[str], n_rows: int, load: Callable[[str], np.ndarray],
        left_out: Sequence[str] = (), repeated: Sequence[str] = (),
    ) -> None:  # fmt: skip
        self.n_rows, self.left_out, self.repeated = n_rows, (*left_out,), (*repeated,)
        self._load = load
        self._columns: dict[str, np.ndarray | None] = dict.fromkeys(names)
        self._facts = dict[str, Facts]()

    def __getitem__(self, name: str) -> np.ndarray:
        if (column := self._columns[name]) is None:
            column = self._columns[name] = self._load(name)
        return column

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def facts(self, name: str) -> Facts:
        """Return the facts of a column."""
        if name not in self._facts:
            is_plain = self.is_plain(name)
            self._facts[name] = facts_of(self[name]) if is_plain else Facts(LISTS, None)
        return self._facts[name]

    def is_plain(self, name: str) -> bool:
        """Return whether the cells of a column are no lists, objects or bytes."""
        return True

    def part(self, rows: np.ndarray) -> "Table":
        """Return these rows."""
        if len(rows) == self.n_rows:
            return self
        part = Table([*self], len(rows), lambda name: self[name][rows], self.left_out,
                     self.repeated)  # fmt: skip
        part.is_plain = self.is_plain  # type: ignore[method-assign]
        return part

    def head(self) -> "Table":
        """Return the rows that tell readings apart: all that are in memory anyway."""
        return self


def table_of(
    path: Path, names: Sequence[str], columns: Sequence[np.ndarray], n_rows: int | None = None
) -> Table:
    """Return the Table of columns, without a saved row index and columns without a name.

    Of several columns of one name with equal cells the first stays; others are ``repeated``.
    """
    names = [name.strip() for name in names]
    kept, repeated = dict[str, np.ndarray](), dict[str, None]()
    for name, column in zip(names, columns, strict=True):
        if name in kept:
            if [*map(str, kept[name].tolist())] != [*map(str, column.tolist())]:
                repeated[name] = None
        elif name and not INDEX.fullmatch(name):
            kept[name] = column
    nameless = names.count("")
    left_out = [f"{nameless} without a name"] * bool(nameless)
    left_out += [f"{name} (several)" for name, k in Counter(names).items() if k > 1 and name]
    n_rows = len(columns[0]) if n_rows is None and columns else n_rows or 0
    return Table([*kept], n_rows, kept.__getitem__, left_out, [*repeated])


def column_of(cells: Sequence[Any] | np.ndarray) -> np.ndarray:
    """Return cells as a column of a Table: of numbers, if all that are not empty are."""
    values: list[Any] = [None if cell is None or cell != cell else cell for cell in cells]
    kinds = {type(value) for value in values}
    if kinds == {bool}:
        return np.array(values)
    is_long = any(isinstance(value, int) and not -(2**63) <= value < 2**63 for value in values)
    is_text = is_long or kinds == {bool, type(None)}  # long ids would be rounded
    if kinds <= {bool, int, float, type(None)} and not is_text:
        return np.array(values, dtype=np.int64 if kinds == {int} else np.float64)
    column = np.empty(len(values), object)
    column[:] = [value if value is None else str(value) for value in values]
    return column


def concatenated(columns: Sequence[np.ndarray]) -> np.ndarray:
    """Return the cells of columns, one after the other."""
    if len(columns) == 1:
        return columns[0]
    if {column.dtype.kind for column in columns} <= {"i", "u", "f"} or (
        len({column.dtype for column in columns}) == 1 and columns[0].dtype.kind != "O"
    ):
        return np.concatenate(columns)
    return column_of([cell for column in columns for cell in column.tolist()])
