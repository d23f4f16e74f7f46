"""The subgroups that columns of values name: all rows, each value, and each pair of two columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calbias.engine.scores_and_hits import any_array, array_error
from calbias.errors import InputError
from calbias.samples.by_score import Ints

if TYPE_CHECKING:
    import pandas as pd

By = ArrayLike | Sequence[ArrayLike] | Mapping[str, ArrayLike]

LEAST_ROWS = 50
"""A segment of fewer rows is not judged."""
MOST_VALUES, MOST_SEGMENTS = 100, 5000
_FEW_NUMBERS, _PARTS = 10, 4  # a column of more numbers is cut at its quartiles


class Segments(NamedTuple):
    """Segments of rows, each a union of cells, the combinations of all columns' values.

    ``words`` has a text for each segment. ``cell`` (n,) is each row's cell, and ``members``
    (m, cells), sparse, is 1 where a segment contains a cell. ``small`` names the values with fewer
    than 50 rows, ``cut`` the columns of numbers that were cut at their quartiles, and ``columns``
    all of them.
    """

    words: tuple[str, ...]
    cell: Ints
    members: Any
    small: tuple[str, ...]
    cut: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()

    @property
    def cells(self) -> list[Ints]:
        """The cells of each segment."""
        return np.split(self.members.indices, self.members.indptr[1:-1])


def segments_of(by: By, n: int) -> Segments:
    """Return the Segments of one column (n,) or several, with at least 50 rows each.

    Numbers of more than ten values are cut at their quartiles. Texts are codes, also those that
    look like numbers. A missing value is a value. Raises InputError for a column of another length,
    of one value, of more than 100 texts, and of texts and numbers.
    """
    from scipy import sparse

    named = named_columns(by, n)
    columns = [_coded(name, column, n) for name, column in named]
    cell = np.zeros(n, np.int64)
    for codes, words in columns:
        _, cell = np.unique(cell * len(words) + codes, return_inverse=True)
    first = np.unique(cell, return_index=True)[1]
    accepted, small = [("all rows", np.arange(first.size))], list[str]()
    cell_sizes = np.bincount(cell)
    for text, inside, is_pair, least in _candidates(columns, first, cell_sizes):
        size = int(cell_sizes[inside].sum())
        if size < LEAST_ROWS:
            if not is_pair:
                small.append(f"{text} ({size} row{'s' * (size != 1)})")
        elif size < least:
            accepted.append((text, np.flatnonzero(inside)))
        if len(accepted) > MOST_SEGMENTS:
            raise InputError(
                f"by: more than {MOST_SEGMENTS} subgroups are too many: leave columns out"
            )
    inside = np.concatenate([cells for _, cells in accepted])
    upto = np.cumsum([0, *(cells.size for _, cells in accepted)])
    members = sparse.csr_matrix((np.ones(inside.size), inside, upto), (len(accepted), first.size))
    cut = tuple(
        name for name, column in named
        if column.dtype != object and column.nunique() > _FEW_NUMBERS
    )  # fmt: skip
    names = tuple(name for name, _ in named)
    return Segments(tuple(words for words, _ in accepted), cell, members, tuple(small), cut, names)


def ending(small: int, cut: Sequence[str]) -> str:
    """Return the end of a sentence: how many are too small, and which columns were cut."""
    text = f"; {small} {'is' if small == 1 else 'are'} too small to tell" if small else ""
    if cut:
        text += (
            f"; {', '.join(cut)}: numbers, cut at their quartiles (codes go as texts, or with "
            "--codes)"
        )
    return text


def with_codes(columns: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return columns of which the named ones are texts, so that their numbers are not cut."""
    plain = {name.casefold(): name for name in columns}
    if unknown := [name for name in names if name.casefold() not in plain]:
        raise InputError(f"--codes {unknown[0]}: name a column of --by")
    texts = {plain[name.casefold()] for name in names}
    return {
        name: [_code(value) for value in column] if name in texts else column
        for name, column in columns.items()
    }


def _code(value: Any) -> str | None:
    """Return a value as a text, None where it is missing; 7.0 is the code 7."""
    if value is None or value != value:
        return None
    return f"{value:.15g}" if _is_number(value) else str(value)


def _candidates(
    columns: Sequence[tuple[Ints, list[str]]], first: Ints, cell_sizes: Ints
) -> Iterator[tuple[str, NDArray[np.bool_], bool, int]]:
    """Yield (words, cells inside, is a pair, and the number of rows that tells nothing new)."""
    values = [
        [(text, codes[first] == code) for code, text in enumerate(words)]
        for codes, words in columns
    ]
    for words, inside in (value for column in values for value in column):
        yield words, inside, False, int(cell_sizes.sum()) + 1
    for one, other in combinations(values, 2):
        for words, inside in one:
            for more, within in other:
                least = min(cell_sizes[inside].sum(), cell_sizes[within].sum())
                yield f"{words} and {more}", inside & within, True, int(least)


def named_columns(by: Any, n: int) -> list[tuple[str, pd.Series]]:
    """Return the columns with their names; without one it is "by", or "by 1", "by 2", …"""
    import pandas as pd

    if isinstance(by, (pd.DataFrame, Mapping)):
        columns = [(str(name), by[name]) for name in by]
    else:
        nested = isinstance(by, (list, tuple)) and any(np.ndim(each) for each in by)
        if not nested and np.ndim(by) == 2:
            by, nested = list(np.asarray(by).T), True
        listed = list(by) if nested else [by]
        unnamed = [f"by {k + 1}" if nested else "by" for k in range(len(listed))]
        columns = [
            (str(getattr(column, "name", None) or name), column)
            for name, column in zip(unnamed, listed, strict=True)
        ]
    if not columns:
        raise InputError("by: name at least one column")
    for name, column in columns:
        shape = any_array(f"by: column {name}", column).shape
        if shape != (n,):
            raise InputError(
                f"by: column {name} has the shape {shape}, not ({n},): give one value for each row"
            )
    names = [name for name, _ in columns]
    if len(set(names)) < len(names):
        raise InputError(f"by: two columns have the name {max(names, key=names.count)}: rename one")
    return [(name, _series(column)) for name, column in columns]


def _series(column: Any) -> pd.Series:
    """Return a Series of numbers, or of objects with None where a value is missing."""
    import pandas as pd

    values = column if isinstance(column, pd.Series) else np.asarray(column)
    if isinstance(column, (list, tuple)) and values.dtype.kind in "US":
        values = np.asarray(column, dtype=object)  # keeps numbers and None among texts
    if isinstance(values, np.ndarray) and values.dtype.kind in "OU":
        values = np.array([_storable(value) for value in values.tolist()], dtype=object)
    series = pd.Series(values).reset_index(drop=True)
    if pd.api.types.is_numeric_dtype(series) and not pd.api.types.is_bool_dtype(series):
        return series.astype(np.float64)
    series = series.astype(object)
    series = series.where(series.notna() & (series != ""), None)
    is_number = [_is_number(value) for value in series.dropna()]
    is_code = isinstance(getattr(column, "dtype", None), pd.CategoricalDtype) or not is_number
    return series if is_code or not all(is_number) else series.astype(np.float64)


def _storable(value: Any) -> Any:
    """Return a value; of a text half characters, which JSON may have, are escaped."""
    if not isinstance(value, str) or value.isascii():
        return value
    return value.encode("utf-8", "backslashreplace").decode("utf-8")


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.number)) and not isinstance(value, (bool, np.bool_))


def _coded(name: str, column: pd.Series, n: int) -> tuple[Ints, list[str]]:
    """Return each row's code (n,) and the words of each code."""
    import pandas as pd

    missing = column.isna().to_numpy()
    present = column[~missing]
    if column.dtype == object:
        number = present.map(_is_number).astype(bool)
        if number.any() and not number.all():
            raise _mixed(name, present[~number])
        readable = pd.to_numeric(present, errors="coerce").notna()
        if readable.mean() > 0.5 and not readable.all() and present.nunique() > MOST_VALUES:
            raise _mixed(name, present[~readable])
    codes = np.zeros(n, np.int64)
    if present.dtype == object:
        texts = present.astype(str)
        inner, distinct = pd.factorize(texts, sort=True)
        words = [f"{name} = {text}" for text in distinct]
        if len(words) > MOST_VALUES:
            raise InputError(
                f"by: column {name} has {len(words)} values, such as {distinct[0]!r:.40}: at most "
                f"{MOST_VALUES} can be judged. Join them into groups, or give numbers, which are "
                "cut at their quartiles; if rows of one value depend on each other, give the "
                "column as clusters"
            )
    else:
        inner, words = _of_numbers(name, present.to_numpy(np.float64))
    codes[~missing] = inner
    if missing.any():
        codes[missing] = len(words)
        words = [*words, f"{name} missing"]
    if len(words) < 2:
        value = words[0] if words else f"{name} missing"
        raise InputError(f"by: all rows have {value}: leave the column {name} out")
    return codes, words


def _mixed(name: str, texts: pd.Series) -> InputError:
    """Return the error of a column of numbers in which there are texts."""
    return array_error(
        f"by: column {name} has numbers and the text {str(texts.iloc[0])!r:.40}: leave the value "
        "missing, or write all values as texts",
        int(texts.index[0]),
    )


def _of_numbers(name: str, values: NDArray[np.float64]) -> tuple[Ints, list[str]]:
    """Return codes and words of numbers: of each value, or of parts between quartiles."""
    distinct, codes = np.unique(values, return_inverse=True)
    if distinct.size <= _FEW_NUMBERS:
        return codes, [f"{name} = {value:.6g}" for value in distinct]
    shares = np.arange(1, _PARTS) / _PARTS
    cuts = np.unique(np.quantile(values, shares, method="inverted_cdf"))
    inner = np.searchsorted(cuts, values, side="left")
    present, codes = np.unique(inner, return_inverse=True)
    ends = [(values[inner == k].min(), values[inner == k].max()) for k in present]
    same = [f"{name} = {low:.6g}" if low == high else "" for low, high in ends]
    return codes, [
        text or f"{name} {low:.6g} to {high:.6g}"
        for text, (low, high) in zip(same, ends, strict=True)
    ]
