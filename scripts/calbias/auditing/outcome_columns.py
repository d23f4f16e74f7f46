"""Columns of a file that make outcomes: follow-up, weights, a judge, shares.

The reader finds the scores, and an outcome that it understands: the status, the judge's label or
the share. The table is then read again for the other columns of the rows that are judged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from calbias.auditing.data import EVENT, TOP_LABEL, Data
from calbias.auditing.inputs import read_data
from calbias.errors import InputError
from calbias.outcomes.causes import causes_of
from calbias.outcomes.checks import RowError
from calbias.outcomes.follow_up import BY_RISK, MARGINAL
from calbias.outcomes.given import Given, has_shares, shares_of
from calbias.reading.cells import as_number, is_value, numbers_of, texts_of
from calbias.reading.columns import DROP, Columns, listed, looked_up_column
from calbias.reading.output_file import Place
from calbias.reading.table import Table
from calbias.reading.table_files import read_table
from calbias.reading.words import GRADES, NOTHING

TIMES = ("time", "times", "futime", "followup", "follow_up", "months", "days", "years", "duration",
         "rfstime", "os_time", "survival_time")  # fmt: skip
STATUSES = ("status", "event", "delta", "cause", "fustat", "died", "death")
"""Whole names that decide; the words of ``reading.words`` only raise a question."""


@dataclass(frozen=True)
class OutcomeColumns:
    """The columns of outcomes that a user names; ``event`` is that of ``Columns``.

    ``censored`` is a value of the status, 0 by default, or the other one of two texts.
    ``censoring`` is a column, by-risk or marginal; ``labelled`` a column or a number.
    """

    time: str | None = None
    status: str | None = None
    horizon: float | None = None
    censored: str | None = None
    censoring: str = BY_RISK
    weight: str | None = None
    judge: str | None = None
    labelled: str | None = None

    def __post_init__(self) -> None:
        if self.horizon is None and (self.time or self.status):
            given = "--time" if self.time else "--status"
            raise InputError(
                f"{given} goes with --horizon: until when are the risks, in the unit of the times?"
            )
        if self.horizon is None and (self.censored or self.censoring != BY_RISK):
            raise InputError("--censored and --censoring go with --horizon")
        if self.labelled is not None and self.judge is None:
            raise InputError("--labelled goes with --judge")
        if self.horizon is not None and (self.weight or self.judge):
            raise InputError(
                f"--horizon goes without {'--weight' if self.weight else '--judge'}: of follow-up "
                "the outcomes are pseudo-observations"
            )


def read_outcomes(
    path: Path | str | Sequence[Path | str],
    by: Sequence[str],
    columns: Columns,
    top_label: bool,
    asked: OutcomeColumns,
) -> Data:
    """Return the Data of a table with outcomes that its columns make.

    Where no column of ``asked`` is named, hits may be shares between 0 and 1.
    """
    if asked == OutcomeColumns():
        try:
            return read_data(path, by, columns=columns, top_label=top_label)
        except InputError as error:
            if not (columns.hit or columns.label) or columns.prediction or columns.event:
                raise
            try:
                return _with_outcomes(path, by, columns, top_label, asked)
            except InputError:
                raise error from None
    return _with_outcomes(path, by, columns, top_label, asked)


def _with_outcomes(
    path: Path | str | Sequence[Path | str],
    by: Sequence[str],
    columns: Columns,
    top_label: bool,
    asked: OutcomeColumns,
) -> Data:
    if top_label:
        raise InputError("outcomes that are right on average go without --top-label")
    table, location = read_table(path)
    if asked.horizon is not None:
        return _follow_up(path, by, columns, asked, table, location)
    human = columns.hit or columns.label
    if asked.judge is not None and human is None:
        raise InputError("--judge needs --hit or --label: the column of the human labels")
    outcome = _named(str(asked.judge or human), table, location) if asked.judge or human else None
    is_share = outcome is not None and not columns.event and has_shares(_floats(table, outcome))
    others = [name for name in (asked.weight, asked.judge, asked.labelled, human) if name]
    used = [n for n in dict.fromkeys(others) if n in table and n not in (outcome, columns.score)]
    if outcome is None or not (asked.judge or is_share):
        used = [name for name in used if name != human]
        data = _without(read_data(path, (*by, *used), columns=columns), by)
        return _outcomes_of(data, asked, data.single.hit.astype(float), table)
    values = texts_of(table, outcome)
    one = next((text for text in values if text not in (None, "0", "0.0")), "1")
    named = replace(columns, hit=None, label=outcome, event=one)
    data = _without(read_data(path, (*by, *used), columns=named), by)
    human, error = _named(str(human), table, location), _place(data).error
    hits = _labels(_column(data, table, human), human, columns.event, error)
    hits = shares_of(hits, human, may_be_missing=asked.judge is not None, error=error)
    data = replace(
        data, kind=TOP_LABEL if columns.hit else EVENT, warnings=(), hints=(),
        notes=(f"column {outcome} holds the outcomes", *data.notes[1:]),
    )  # fmt: skip
    return _outcomes_of(data, asked, hits, table)


def _without(data: Data, by: Sequence[str]) -> Data:
    """Return the Data with the columns of subgroups alone, not those of outcomes."""
    return replace(data, by={name: x for name, x in (data.by or {}).items() if name in by} or None)


def _follow_up(
    path: Path | str | Sequence[Path | str],
    by: Sequence[str],
    columns: Columns,
    asked: OutcomeColumns,
    table: Table,
    location: Place,
) -> Data:
    """Return the Data of risks by a horizon."""
    if columns.hit or (asked.status and columns.label):
        raise InputError(
            f"--horizon goes without {'--hit' if columns.hit else '--label'}: the outcome is that "
            "of the time and the status"
        )
    time = _found(asked.time, TIMES, "--time", table, location)
    status = _found(asked.status or columns.label, STATUSES, "--status", table, location)
    event = columns.event or "1"
    named = replace(columns, hit=None, prediction=None, label=status, event=event, is_status=True)
    used = [time] if asked.censoring not in table else [time, asked.censoring]
    data = _without(read_data(path, (*by, *used), columns=named), by)
    data = replace(
        data, warnings=(), hints=(),
        notes=(
            f"{data.score or 'the score'} is the risk of {status} {event} by {asked.horizon:g}, "
            f"column {time} the follow-up",
            *(note for note in data.notes[1:] if not note.startswith("no event happened")),
        ),
    )  # fmt: skip
    if DROP in columns.missing:
        data = _without_gaps(data, table, time)
    location = _place(data)
    times = numbers_of(_column(data, table, time), [time], location)[:, 0]
    texts = texts_of(_column(data, table, status), status)
    _validate_words(texts, (event, asked.censored), status, location)
    causes, code, censored = causes_of(
        texts, event, asked.censored, status, location.error, texts_of(table, status)
    )
    censoring: Any = asked.censoring
    if censoring not in (BY_RISK, MARGINAL):
        name = _named(censoring, table, location)
        censoring = np.array(texts_of(_column(data, table, name), name), object)
    given = Given(
        times=times, events=causes, horizon=asked.horizon, event=code, censored=censored,
        censoring=censoring, names={"times": time, "events": status}, error=location.error,
    )  # fmt: skip
    return data.with_outcomes(given.outcomes(data.single.score, np.zeros(times.size)))


def _validate_words(
    texts: Sequence[str | None], named: Sequence[str | None], status: str, location: Place
) -> None:
    """Raise InputError for a word for nothing that would be taken for a competing event.

    Of two texts none is what no event is called; other such words are named.
    """
    named_words = {text.casefold() for text in named if text}
    words = {text.casefold() for text in texts if text} - named_words
    for word in words & NOTHING:
        if word != "none" or len(words) > 1:
            row = next(k for k, text in enumerate(texts) if text and text.casefold() == word)
            raise location.error(
                f"column {status} is {texts[row]!r}: say --censored {word} where it is no event, "
                f"or --missing {word} where it is unknown",
                row,
            )


def _without_gaps(data: Data, table: Table, name: str) -> Data:
    """Return the rows where a column is not empty, with a note on the others."""
    texts = texts_of(_column(data, table, name), name)
    rows = np.flatnonzero([text is not None for text in texts])
    if rows.size == len(texts):
        return data
    part = data.part(rows)
    return replace(
        data, scored=part.scored, rows=part.rows, clusters=part.clusters, by=part.by,
        place=_place(data)._replace(rows=_place(data).at(rows)),
        notes=(*data.notes, f"rows without {name}, which are left out: {len(texts) - rows.size}"),
    )  # fmt: skip


def _outcomes_of(data: Data, asked: OutcomeColumns, hits: np.ndarray, table: Table) -> Data:
    """Return the Data with weights, a judge or shares."""
    location = _place(data)

    def column(name: str | None) -> Any:
        if name is None:
            return None
        name = _named(name, table, location)
        return numbers_of(_column(data, table, name), [name], location)[:, 0]

    labelled: Any = asked.labelled
    if labelled is not None:
        try:
            labelled = float(labelled)
        except ValueError:
            labelled = column(labelled)
    names = {"weights": asked.weight or "weight", "judge": asked.judge or "judge"}
    given = Given(
        weights=column(asked.weight), judge=column(asked.judge), labelled=labelled, names=names,
        error=location.error,
    )  # fmt: skip
    return data.with_outcomes(given.outcomes(data.single.score, hits))


def _place(data: Data) -> Place:
    if data.place is None:
        raise InputError("follow-up, weights, a judge and shares need a table of columns")
    return data.place


def _rows(data: Data) -> np.ndarray:
    """Return the rows of the table that are judged."""
    return _place(data).at(np.arange(data.single.score.size))


def _column(data: Data, table: Table, name: str) -> dict[str, np.ndarray]:
    """Return a column of the rows that are judged."""
    return {name: table[name][_rows(data)]}


def _named(name: str, table: Table, location: Place) -> str:
    return looked_up_column(name, [*table], location.file)


def _found(
    name: str | None, usual: Sequence[str], option: str, table: Table, location: Place
) -> str:
    """Return a column that the user names, or the only one with a usual name."""
    if name is not None:
        return _named(name, table, location)
    likely = [each for each in table if each.casefold() in usual]
    if len(likely) == 1:
        return likely[0]
    which = f"{' or '.join(likely)}?" if likely else f"columns are {', '.join(table):.300}"
    raise InputError(f"{location.file}: --horizon needs {option} COLUMN: {which}")


def _labels(
    column: dict[str, np.ndarray], name: str, event: str | None, error: RowError
) -> np.ndarray:
    """Return the labels (n,) of a human, NaN where a cell is empty.

    They are numbers, or words for yes and no; with an event they are two values, 1 where it is.
    """
    texts, numbers = texts_of(column, name), _floats(column, name)
    if event is None:
        wrong = [text is not None and number != number
                 for text, number in zip(texts, numbers, strict=True)]  # fmt: skip
        remedy = "give 0, 1 or a share between, or name words by --label and --event"
    else:
        is_event = [text and is_value(text, event) for text in texts]
        numbers = np.array([np.nan if each is None else float(each) for each in is_event])
        others = Counter(
            str(text) for text, each in zip(texts, is_event, strict=True) if each is False
        )
        other = max(others, key=others.__getitem__, default="")
        if True not in is_event:
            raise error(f"column {name} is never {event!r:.60}: its values are {listed([*others])}")
        wrong = [
            each is False and not is_value(str(text), other)
            for text, each in zip(texts, is_event, strict=True)
        ]
        remedy = f"of a label that is neither {event} nor {other} nothing is known"
    if True in wrong:
        row = wrong.index(True)
        raise error(
            f"column {name} is {texts[row]!r:.60}: {remedy}; leave the cell empty where there is "
            "no label",
            row,
        )
    return numbers


def _floats(table: Mapping[str, np.ndarray], name: str) -> np.ndarray:
    """Return a column as numbers, NaN where a cell is empty or none."""
    numbers = np.full(len(table[name]), np.nan)
    for row, text in enumerate(texts_of(table, name)):
        if text is not None:
            number = as_number(text)
            numbers[row] = GRADES.get(text.casefold(), np.nan) if number is None else number
    return numbers
