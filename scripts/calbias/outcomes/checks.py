"""Columns of numbers that outcomes are made of, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calbias.engine.scores_and_hits import array_error, as_array

Floats = NDArray[np.float64]
RowError = Callable[..., Exception]


def column_of(
    name: str,
    values: ArrayLike,
    error: RowError | None = None,
    *,
    may_be_missing: bool = False,
    size: int | None = None,
) -> Floats:
    """Return a column (n,) of finite numbers; ``error`` makes the InputError of a file's row.

    Where numbers may be missing they are NaN; ``size`` is the number of rows, where that is known.
    """
    column = as_array(name, values)
    numbers = column.astype(np.float64).reshape(-1)
    if numbers.size != (len(column) if column.ndim else 1) or size not in (None, numbers.size):
        rows = "" if size is None else f", for {size} rows"
        raise (error or array_error)(
            f"{name} has the shape {column.shape}{rows}: give one number for each row"
        )
    wrong = np.isinf(numbers) if may_be_missing else ~np.isfinite(numbers)
    first_wrong(wrong, numbers, name, "give every row a number", error)
    return numbers


def first_wrong(
    wrong: NDArray[np.bool_], values: Floats, name: str, remedy: str, error: Any = None
) -> None:
    """Raise InputError for the first row that is wrong, with its value and the remedy."""
    rows = np.flatnonzero(wrong)
    if rows.size:
        row = int(rows[0])
        value = "missing" if np.isnan(values[row]) else f"{values[row]:g}"
        raise (error or array_error)(f"{name}: {value}; {remedy}", row)
