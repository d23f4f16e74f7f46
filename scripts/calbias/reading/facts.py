"""What the cells of a column are: its kind, its range and its few values. Facts of parts add up."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from calbias.engine.scores_and_hits import EXCESS
from calbias.reading.cells import number_in, text_of
from calbias.reading.words import NOTHING, PAIRS, positive

NUMBERS, WORDS, MIXED, TRUTH, TIMES, EMPTY, LISTS = (
    *("numbers", "words", "numbers and words", "true or false", "times", "nothing", "lists"),
)  # fmt: skip
MOST_VALUES = 10_000
"""A column of more values is no label."""
_FIRST = 1 << 14


class Facts(NamedTuple):
    """Facts of one column; ``values`` are its distinct texts, None where they are too many."""

    kind: str
    values: tuple[str, ...] | None
    low: float = math.nan
    high: float = math.nan
    is_whole: bool = False
    has_signs: bool = False
    has_gaps: bool = False

    def __add__(self, other: Facts) -> Facts:  # type: ignore[override]
        """Return the facts of both parts of a column."""
        if EMPTY in (self.kind, other.kind):
            facts = other if self.kind == EMPTY else self
            return facts._replace(has_gaps=self.has_gaps or other.has_gaps)
        values = None
        if self.values is not None and other.values is not None:
            values = (*dict.fromkeys((*self.values, *other.values)),)
            values = values if len(values) <= MOST_VALUES else None
        return Facts(
            self.kind if self.kind == other.kind else MIXED, values,
            min(self.low, other.low), max(self.high, other.high),
            self.is_whole and other.is_whole, self.has_signs and other.has_signs,
            self.has_gaps or other.has_gaps,
        )  # fmt: skip

    @property
    def is_number(self) -> bool:
        """Whether every cell is a number."""
        return self.kind == NUMBERS

    @property
    def labels(self) -> set[str]:
        """The values in small letters, without words for nothing."""
        return {value.casefold() for value in self.values or ()} - NOTHING

    @property
    def is_binary(self) -> bool:
        """Whether the values are one of the pairs of which one is the event."""
        return self.values is not None and positive(self.labels) is not None

    @property
    def is_fraction(self) -> bool:
        """Whether all numbers are in [0, 1], and not 0 and 1 alone."""
        inside = self.is_number and self.low >= 0 and self.high <= 1 + EXCESS
        return inside and not self.is_whole

    @property
    def is_score(self) -> bool:
        """Whether all numbers are in [0, 1]."""
        return self.is_number and self.low >= 0 and self.high <= 1 + EXCESS


def facts_of(column: np.ndarray) -> Facts:
    """Return the facts of a column of a table, or of a part of it."""
    kind = column.dtype.kind
    if kind == "M":
        return Facts(TIMES, None)
    if kind == "O":
        return _of_objects(column)._replace(has_gaps=None in column)
    if kind == "b":
        return Facts(TRUTH, tuple(str(value) for value in np.unique(column)))
    if kind not in "iuf":
        return Facts(LISTS, None)
    numbers = column[column == column] if kind == "f" else column
    if not numbers.size:
        return Facts(EMPTY, (), has_gaps=True)
    low, high = float(numbers.min()), float(numbers.max())
    is_whole = kind != "f" or bool(np.isfinite((low, high)).all() and _all_whole(numbers))
    values = _values(numbers)
    has_gaps = numbers.size < column.size
    return Facts(NUMBERS, values, low, high, is_whole, has_gaps=has_gaps)


def _all_whole(numbers: np.ndarray) -> bool:
    first = numbers[:_FIRST]
    return bool(np.all(first == np.rint(first)) and np.all(numbers == np.rint(numbers)))


def _values(numbers: np.ndarray) -> tuple[str, ...] | None:
    import pandas as pd

    if len(pd.unique(numbers[:_FIRST])) > MOST_VALUES:
        return None
    values = pd.unique(numbers)
    return None if len(values) > MOST_VALUES else tuple(map(text_of, values.tolist()))


def _of_objects(column: np.ndarray) -> Facts:
    import pandas as pd

    distinct = [
        cell.strip() for cell in pd.unique(column) if cell is not None and str(cell).strip()
    ]
    if not distinct:
        return Facts(EMPTY, ())
    values = (*dict.fromkeys(distinct),)
    if all(text.startswith(("[", "{")) for text in values):
        return Facts(LISTS, None)
    few = values if len(values) <= MOST_VALUES else None
    numbers, has_words = [], False
    for text in values:
        number = number_in(text)
        if number is None:
            has_words = True
        else:
            numbers.append(number)
        if has_words and numbers:
            return Facts(MIXED, few)
    if has_words:
        is_truth = {text.casefold() for text in values} <= {*PAIRS[1]}
        return Facts(TRUTH if is_truth else WORDS, few)
    signs = [text.endswith("%") for text in values]
    is_whole = all(number == int(number) for number in numbers if math.isfinite(number))
    return Facts(NUMBERS, few, min(numbers), max(numbers), is_whole, all(signs))
