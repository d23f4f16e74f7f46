"""What a user says about a file: the options that are the same in every command."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from calbias.defaults import FORMS
from calbias.errors import InputError, did_you_mean

DROP = "drop"
"""The value of ``missing`` for empty cells."""


@dataclass(frozen=True)
class Columns:
    """The columns that a user names: of score, hit, label, prediction, classes and clusters.

    Several columns of clusters, such as benchmark and question, are one identifier together.
    ``event`` is the label whose probability is judged; ``top_label`` asks for the predicted class
    of two instead. ``classes`` are the columns of the classes, each as COLUMN, LABEL=COLUMN or a
    pattern with a star; labels that are numbers count from ``count_from``. ``missing`` are the
    values of rows to leave out: ``drop`` stands for an empty score or outcome, any other text or
    number for itself. ``values`` is one of ``calbias.defaults.FORMS``, or None where the values
    show it. ``rows`` are COLUMN=VALUE, which hold for all rows that are judged. Where the label
    ``is_status``, of follow-up, words for nothing are values: none may stand for censored.
    """

    score: str | None = None
    hit: str | None = None
    label: str | None = None
    prediction: str | None = None
    classes: Sequence[str] = field(default=())
    count_from: int | None = None
    cluster: Sequence[str] = field(default=())
    event: str | None = None
    missing: Sequence[str] = field(default=())
    values: str | None = None
    rows: Sequence[str] = field(default=())
    top_label: bool = False
    is_status: bool = False

    def __post_init__(self) -> None:
        for name in ("cluster", "missing", "rows", "classes"):
            value = getattr(self, name)
            several = (value,) if isinstance(value, str) else tuple(map(str, value or ()))
            object.__setattr__(self, name, several)
        if self.values is not None and self.values not in FORMS:
            raise InputError(f"values must be one of {', '.join(FORMS)}, not {self.values!r:.60}")
        for each in self.rows:
            if "=" not in each:
                raise InputError(f"--rows {each!r:.60} needs COLUMN=VALUE, such as split=test")
        if self.hit and (self.label or self.prediction):
            raise InputError("--hit stands for --label with --prediction: name it alone")
        if self.event is not None and (self.hit or self.prediction):
            raise InputError("--event names a value of the column --label: name no other outcome")
        if self.prediction and not self.label:
            raise InputError("--prediction needs --label: name the column of the true classes too")
        if self.classes and (self.score or self.hit or self.prediction):
            raise InputError("--classes goes with --label, not with a score or its outcome")


def looked_up_column(name: str, names: Sequence[str], path: Path | str) -> str:
    """Return a column's name as the table has it; InputError, with the nearest, if it has none."""
    if name not in names:
        same = [other for other in names if other.casefold() == name.casefold()]
        if len(same) != 1:
            raise InputError(f"{path}: there is no column {name!r}. {did_you_mean(name, names)}")
        name = same[0]
    return name


def listed(names: Sequence[str], most: int = 6) -> str:
    """Return the first names, with an ellipsis for the others."""
    return ", ".join(names[:most]) + (", …" if len(names) > most else "")
