"""What a table means: its columns, its rows, and what a hit or the event is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from calbias.reading.class_group import Group
from calbias.reading.facts import Facts

HITS, PREDICTED, EVENT, CLASSES = "hits", "predicted", "event", "classes"


@dataclass(frozen=True)
class Reading:
    """What a table means: its score and its outcome, or its classes and labels.

    ``kind`` is HITS (the outcome says whether the prediction was correct), PREDICTED (the outcome
    and ``prediction`` are equal where it was), EVENT (the outcome is ``event``, whose probability
    is the score or a column of the ``classes``), or CLASSES. ``is_status`` is that of ``Columns``.
    ``why`` says what an offered reading takes for granted.
    """

    kind: str
    score: str | None = None
    outcome: str | None = None
    prediction: str | None = None
    event: str | None = None
    group: Group | None = None
    one_hot: tuple[str, ...] = ()
    values: str | None = None
    missing: tuple[str, ...] = ()
    top_label: bool = False
    is_status: bool = False
    is_admitted: bool = True
    why: str = ""

    @property
    def classes(self) -> tuple[str, ...]:
        """The columns of classes."""
        return self.group.names if self.group else ()

    @property
    def names(self) -> list[str]:
        """The columns that are read, the score first."""
        each = (self.score, *self.classes, self.outcome, *self.one_hot, self.prediction)
        return [*dict.fromkeys(name for name in each if name)]


@dataclass(frozen=True)
class Header:
    """What the conventions see of a table: names, facts of columns, and sums of rows."""

    names: tuple[str, ...]
    facts: Callable[[str], Facts]
    sums: Callable[[Sequence[str], bool], bool]
    forms: Callable[[Sequence[str]], list[str]]
    file: Path
    apart: frozenset[str] = frozenset()
    """Columns that the command uses for something else: clusters, subgroups, ids, times."""
    validate: Callable[[str], object] = id
    """Raises the error of the first cell of a column that is no number."""
    repeated: tuple[str, ...] = ()
