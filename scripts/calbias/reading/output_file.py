"""What a reader found in a file of model outputs: folds, the form of the values, other columns.

A ``Fold`` is no sample yet: nothing of it is checked, and its place says where an error is.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from calbias.errors import InputError

FOLDS = ("validation", "test")
_WORDS = {
    **dict.fromkeys(("test", "testing", "holdout", "hold-out", "hold_out", "te"), "test"),
    **dict.fromkeys(
        ("validation", "validate", "valid", "val", "dev", "development", "va"), "validation"
    ),
    **dict.fromkeys(("train", "training", "tr"), "train"),
}


class Place(NamedTuple):
    """Where values come from: a file, the part of it, and each value's row there (None: all).

    ``where`` names the file and the line that an editor shows of a row, for files of text; in one
    whose cells are separated by semicolons a point may be one of thousands.
    """

    file: Path
    part: str
    rows: np.ndarray | None = None
    where: Callable[[int], str] | None = None
    has_semicolons: bool = False

    def part_of(self, rows: np.ndarray) -> "Place":
        """Return the place of these rows of the array at hand."""
        return self._replace(rows=self.at(rows))

    def at(self, rows: np.ndarray) -> np.ndarray:
        """Return the rows in the file of rows of the array at hand."""
        return rows if self.rows is None else self.rows[rows]

    def named(self, row: int) -> str:
        """Return the file and the row, of the array at hand, in words."""
        row = row if self.rows is None else int(self.rows[row])
        if self.where is not None:
            return self.where(row)
        return f"{self.file}: {self.part}, row {row} (counted from 0)"

    def error(self, problem: str, row: int | None = None) -> InputError:
        """Return the InputError for a problem, in a row of the array at hand if one is given."""
        name = f"{self.file}: {self.part}" if row is None else self.named(row)
        return InputError(f"{name}: {problem}")

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
    ``probabilities`` are those that the logits are logarithms of, if a file holds these; ``key``
    is a hash of each row's other columns, if a table has some.
    """

    values: np.ndarray
    labels: np.ndarray
    place: Place = _ARRAYS
    probabilities: np.ndarray | None = None
    key: np.ndarray | None = None

    @property
    def logits(self) -> np.ndarray:
        """The values, where these are logits."""
        return self.values

    def __iter__(self) -> Iterator[np.ndarray]:
        return iter((self.values, self.labels))

    def part(self, rows: np.ndarray, name: str = "") -> "Fold":
        """Return these rows, of a part of the file with a name of its own if it has one."""
        location = self.place._replace(part=name or self.place.part, rows=self.place.at(rows))
        key = None if self.key is None else self.key[rows]
        return replace(
            self, values=self.values[rows], labels=self.labels[rows], place=location, key=key
        )


class OutputFile(NamedTuple):
    """The folds of a file by name, ``validation`` and ``test`` or ``test`` alone.

    ``form`` is ``scores`` (labels are then hits), ``event`` (values are probabilities of label 1),
    ``logits``, ``probabilities``, or None: their values show it. ``by`` holds columns of subgroups
    and ``clusters`` a number for each row of fold ``test``, where these were asked for. ``notes``
    say in a line each how the columns were read, ``hints`` which options may be missing, and
    ``warnings`` what looks like a mistake. ``classes`` are the names of the columns of classes,
    ``score`` is the one of the scores, and ``read_as`` what the values were read as, one of
    ``FORMS``, where the user or the values say it. ``reading`` says all of it in a sentence.
    """

    folds: Mapping[str, Fold]
    form: str | None = None
    by: dict[str, Any] | None = None
    clusters: np.ndarray | None = None
    notes: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    score: str | None = None
    read_as: str | None = None
    reading: str = ""


def are_folds(names: Collection[str | None]) -> bool:
    """Return whether all names are words for folds, and not of training alone."""
    words = {_WORDS.get((name or "").casefold()) for name in names}
    return None not in words and words != {"train"}


def is_word(name: str) -> bool:
    """Return whether a name is a word for a fold."""
    return name.casefold() in _WORDS


def judged_words(values: Collection[str]) -> set[str]:
    """Return which of the words for folds name the rows that are judged, as ``split_by_fold``."""
    folds = {value: _WORDS[value.casefold()] for value in values}
    judged = "test" if "test" in folds.values() else "validation"
    return {value for value, fold in folds.items() if fold == judged}


def split_by_fold(fold: Fold, names: Sequence[str | None]) -> tuple[dict[str, Fold], list[str]]:
    """Return ``{fold: Fold}`` by a fold name per row, all of them words, and notes.

    Where no row is of fold test, the rows of fold validation are judged. Rows of training are left
    out.
    """
    if len(names) != len(fold.values) or len(fold.labels) != len(fold.values):
        raise fold.place.error(
            f"{len(fold.values)} rows of outputs, {len(fold.labels)} labels and {len(names)} fold "
            "names; give one each per row"
        )
    words = np.array([_WORDS[str(name).casefold()] for name in names])
    n_train, has_test = int(np.sum(words == "train")), bool(np.any(words == "test"))
    notes = [f"{n_train} rows of training are left out"] if n_train else []
    if not has_test:
        words[words == "validation"] = "test"
        notes.append("no row is of fold test: the rows of fold validation are judged")
    rows = {name: np.flatnonzero(words == name) for name in FOLDS}
    return {name: fold.part(at, f"fold {name}") for name, at in rows.items() if len(at)}, notes
