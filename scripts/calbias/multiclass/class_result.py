"""A row for each class, and the result that shows them: words, DataFrame, HTML."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, NamedTuple

from calbias.conventions import SIGNIFICANT
from calbias.multiclass.holm import MISCALIBRATED, NONE_FOUND, TOO_SMALL
from calbias.multiclass.noise import NoiseFloor

if TYPE_CHECKING:
    import pandas as pd

_PRINTED_ROWS = 20


class ClassRow(NamedTuple):
    """One class; the measure's values are fractions.

    ``power`` is the probability that the class's test at 5 % finds a model whose truth is p^(2/3),
    normalised: temperature 1.5.
    """

    group: int
    n_labels: int
    n_predicted: int
    mean_probability: float
    share: float
    value: float
    floor: float
    floor_sd: float
    corrected: float
    p_value: float
    corrected_p_value: float
    power: float
    finding: str


@dataclass(frozen=True)
class ClassWise:
    """What ``class_wise`` returns; ``print`` shows it.

    Attributes
    ----------
    whole : NoiseFloor
        The measure over all classes.
    rows : tuple of ClassRow
        One a class, in the order of the class numbers: ``n_labels`` and ``n_predicted`` rows of
        this label and of this top class, ``mean_probability`` and the ``share`` of labels,
        ``value``, ``floor``, ``floor_sd``, ``corrected``, ``p_value``, ``corrected_p_value``
        (Holm), ``power`` and ``finding``: "miscalibrated", "too small to tell" or "none found".
    notes : tuple of str
        What a reader has to know about these probabilities, one sentence each.
    """

    whole: NoiseFloor
    rows: tuple[ClassRow, ...]
    notes: tuple[str, ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """The verdict in words, then the notes."""
        return (self.verdict, _findings(self.rows), *self.notes)

    @property
    def verdict(self) -> str:
        """What the measure over all classes says, in one sentence."""
        assert self.whole.p_value is not None
        verdict = (
            "miscalibrated" if self.whole.p_value <= SIGNIFICANT else "not found miscalibrated"
        )
        return f"The model is {verdict}: {self.whole}."

    def to_frame(self) -> pd.DataFrame:
        """Return the rows as a DataFrame indexed by ``group``, the class number."""
        import pandas as pd

        return pd.DataFrame(self.rows, columns=ClassRow._fields).set_index("group")

    def to_html(self) -> str:
        """Return the sentences and the table as an HTML fragment."""
        words = "".join(f"<p>{escape(text)}</p>" for text in self.sentences)
        head = "".join(f"<th>{name}</th>" for name in _COLUMNS.values())
        body = "".join(
            "<tr>" + "".join(f"<td>{cell}</td>" for cell in _shown(row)) + "</tr>"
            for row in self.rows
        )
        return f"{words}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def __str__(self) -> str:
        worst = sorted(self.rows, key=lambda row: (row.corrected_p_value, -row.corrected))
        lines = [[*_COLUMNS.values()], *(_shown(row) for row in worst[:_PRINTED_ROWS])]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        table = ["  ".join(map(str.rjust, line, widths)) for line in lines]
        left = len(worst) - _PRINTED_ROWS
        more = [f"… and {left} classes more: see to_frame()"] if left > 0 else []
        return "\n".join([*self.sentences, *table, *more])


def _findings(rows: tuple[ClassRow, ...]) -> str:
    counts = {
        finding: sum(row.finding == finding for row in rows)
        for finding in (MISCALIBRATED, TOO_SMALL, NONE_FOUND)
    }
    return (
        f"Of {len(rows)} classes {counts[MISCALIBRATED]} are found miscalibrated at 5 % after "
        f"Holm's correction, {counts[TOO_SMALL]} are too small to tell and in {counts[NONE_FOUND]} "
        "nothing is found."
    )


_COLUMNS = {
    "group": "class",
    "n_labels": "labels",
    "n_predicted": "predicted",
    "mean_probability": "mean p",
    "share": "share",
    "value": "value",
    "floor": "floor",
    "floor_sd": "± sd",
    "corrected": "corrected",
    "p_value": "p",
    "corrected_p_value": "p (Holm)",
    "finding": "finding",
}


def _shown(row: ClassRow) -> list[str]:
    cells = (getattr(row, name) for name in _COLUMNS)
    return [f"{cell:.4g}" if isinstance(cell, float) else str(cell) for cell in cells]
