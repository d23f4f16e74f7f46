"""What a reader found in a file of model outputs: folds, the form of the values, other columns.

A ``Fold`` is no sample yet: nothing of it is checked, and its place says where an error is.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from calbias.errors import InputError

FOLDS = ("validation", "test")


class Place(NamedTuple):
    """Where values come from: a file, the part of it, and each value's row there (None: all).

    ``line_of`` returns the line that an editor shows of a row, for files of text.
    """

    file: Path
    part: str
    rows: np.ndarray | None = None
    line_of: Callable[[int], int] | None = None

    def at(self, rows: np.ndarray) -> np.ndarray:
        """Return the rows in the file of rows of the array at hand."""
        return rows if self.rows is None else self.rows[rows]

    def error(self, problem: str, row: int | None = None) -> InputError:
        """Return the InputError for a problem, in a row of the array at hand if one is given."""
        if row is None:
            return InputError(f"{self.file}: {self.part}: {problem}")
        row = row if self.rows is None else int(self.rows[row])
        if self.line_of is not None:
            return InputError(f"{self.file}, line {self.line_of(row)}: {problem}")
        return InputError(f"{self.file}: {self.part}, row {row} (counted from 0): {problem}")

    def validate_rows(self, good: np.ndarray, problem: Callable[[int], str]) -> None:
        """Raise the error of the first row that is not good, with what ``problem(row)`` says."""
        if not good.all():
            row = int(np.argmin(good))
            raise self.error(problem(row), row)


_ARRAYS = Place(Path("arrays"), "array")


@dataclass(frozen=True, eq=False)
class Fold:
    """Values and labels of the rows of one fold, and their place in a file.

    As a reader gives them, unchecked; after the checks logits (n, K), float32, and labels (n,),
    int64, or scores (n,) and hits (n,). The pair of values and labels is what iteration gives.
    """

    values: np.ndarray
    labels: np.ndarray
    place: Place = _ARRAYS

    @property
    def logits(self) -> np.ndarray:
        """The values, where these are logits."""
        return self.values

    def __iter__(self) -> Iterator[np.ndarray]:
        return iter((self.values, self.labels))


class OutputFile(NamedTuple):
    """The folds of a file by name, ``validation`` and ``test`` or ``test`` alone.

    ``form`` is ``scores`` (labels are then hits), ``event`` (values are probabilities of label 1),
    ``logits``, ``probabilities``, or None: their values show it. ``by`` holds columns of subgroups
    and ``clusters`` a number for each row of fold ``test``, where these were asked for. ``notes``
    say in a line each how the columns were read, ``hints`` which options may be missing, and
    ``warnings`` what looks like a mistake. ``classes`` are the names of the columns of classes.
    """

    folds: Mapping[str, Fold]
    form: str | None = None
    by: dict[str, Any] | None = None
    clusters: np.ndarray | None = None
    notes: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()


def split_by_fold(whole: Fold, names: Sequence[str | None]) -> dict[str, Fold]:
    """Split a ``Fold`` by a fold name per row (None: empty) into ``{fold: Fold}``."""
    values, labels, place = whole.values, whole.labels, whole.place
    if len(names) != len(values) or len(labels) != len(values):
        raise place.error(
            f"{len(values)} rows of outputs, {len(labels)} labels and {len(names)} fold names; "
            "give one each per row"
        )
    for row, name in enumerate(names):
        if name not in FOLDS:
            problem = f"fold {name!r} is unknown" if name else "column fold is empty"
            raise place.error(f"{problem}; write {' or '.join(FOLDS)}", row)
    of_row = np.asarray(names)
    rows = {fold: np.flatnonzero(of_row == fold) for fold in FOLDS}
    if not len(rows["test"]):
        raise place.error("no row of fold test; drop the column fold to judge all rows")
    return {
        fold: Fold(values[at], labels[at], place._replace(part=f"fold {fold}", rows=place.at(at)))
        for fold, at in rows.items()
        if len(at)
    }
