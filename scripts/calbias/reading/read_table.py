"""Read a user's table of model outputs, a row per sample, as docs/tool/input_files.md says.

The columns and options decide how it is read (``calbias.reading.readings``); this puts together
what folds, clusters and subgroups need.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from shlex import quote

import numpy as np

from calbias.defaults import PERCENT
from calbias.reading.cells import (
    is_value,
    texts_of,
)
from calbias.reading.chosen_reading import named_columns, reading_of
from calbias.reading.columns import Columns, listed
from calbias.reading.folds_of_readings import fold_of
from calbias.reading.harness_logs import LOG
from calbias.reading.judged_rows import named_rows, of_gaps, part_of, rows_without_gaps
from calbias.reading.outcomes import follow_up
from calbias.reading.output_file import Fold, OutputFile, Place, split_by_fold
from calbias.reading.plausibility import repeats
from calbias.reading.question import in_words
from calbias.reading.reading import CLASSES, EVENT, HITS, PREDICTED, Header, Reading
from calbias.reading.table import Table
from calbias.reading.table_files import read_table
from calbias.reading.words import FOLD, plain


def read_table_file(
    path: Path | str | Sequence[Path | str],
    by: Sequence[str] = (),
    columns: Columns | None = None,
) -> OutputFile:
    """Return the ``OutputFile`` of one table, or of several with the same columns.

    ``by`` names columns of subgroups; ``columns`` are the ``Columns`` that the user names.
    InputError, with its line, if it is none.
    """
    table, location = read_table(path)
    columns, by, ids, has_several = named_columns(table, columns or Columns(), by, location)
    if not table.n_rows:
        raise location.error("no rows, only the names of the columns; give at least two")
    everything, first_location = table, location
    rows, notes = named_rows(table, columns.rows, table.n_rows, location)
    table, location = part_of(table, location, rows)
    reading, fold_name = reading_of(table, columns, (*by, *ids), location)
    _validate_by(reading, by, location)
    if missing := (*columns.missing, *reading.missing):
        kept, counts = rows_without_gaps(table, reading, missing)
        notes.append(of_gaps(kept, counts, missing, reading, location))
        table, location = part_of(table, location, np.flatnonzero(kept))
    split = {"test": fold_of(table, reading, location)}
    if fold_name:
        split, more = split_by_fold(split["test"], texts_of(table, fold_name))
        notes += more
    test = split["test"].place
    numbers = test.at(np.arange(len(split["test"].labels)))
    judged = {name: everything[name][numbers] for name in (*by, *ids)}
    clusters = _clusters(judged, ids, test) if ids else None
    used = {*reading.names, *by, *ids, fold_name}
    others = [name for name in everything if name not in used] if first_location.part != LOG else []
    notes += _of_columns(table, reading, columns, others, fold_name, has_several)
    if others and not reading.score and reading.kind == CLASSES:
        split = {name: _with_key(fold, everything, others) for name, fold in split.items()}
    plain_others = [name for name in others if everything.is_plain(name)]
    outcomes = split["test"].labels
    hints = [] if ids else [*repeats(everything, plain_others, numbers, outcomes)]
    form = {HITS: "scores", PREDICTED: "scores", EVENT: "event", CLASSES: None}[reading.kind]
    if reading.group and reading.score:
        form = "event" if reading.kind == EVENT else "scores"
    elif reading.kind == EVENT and len(reading.classes) == 2:
        form = None
    return OutputFile(
        split, form, {name: judged[name] for name in by} or None, clusters,
        (*notes,), (*hints,), (*_follow_up(table, reading),), reading.classes, reading.score,
        None if reading.group and form else reading.values,
        in_words(reading),
    )  # fmt: skip


def _validate_by(reading: Reading, by: Sequence[str], location: Place) -> None:
    """Raise InputError for subgroups by the score or the outcome."""
    if outcome := [name for name in by if name in (reading.score, reading.outcome)]:
        raise location.error(
            f"--by {outcome[0]}: subgroups by the score or the outcome are miscalibrated by "
            "their choice; name a column of something else"
        )


def _of_columns(
    table: Table,
    reading: Reading,
    columns: Columns,
    others: Sequence[str],
    fold: str | None,
    has_several: bool,
) -> Iterator[str]:
    """Yield notes on the columns that are read, and on those that are not."""
    if has_several:
        yield "rows of one question depend on each other: they are a cluster"
    if not fold and not columns.rows:
        for name in [name for name in others if plain(name) in FOLD][:1]:
            folds = [str(value) for value in dict.fromkeys(texts_of(table, name))]
            yield (
                f"column {name} has the values {listed(folds, 4)}, which are no words for folds: "
                f"all rows are judged; --rows {quote(f'{name}={folds[0]}')} judges some"
            )
    signed = [n for n in (reading.score, *reading.classes) if n and table.facts(n).has_signs]
    if signed and reading.values != PERCENT:
        yield f"percent signs are read, 80 % as 0.8: {listed(signed)}"
    if reading.kind == EVENT and reading.score and table.facts(str(reading.outcome)).values:
        values = table.facts(str(reading.outcome)).values or ()
        none: list[str] = [v for v in values if not is_value(v, str(reading.event))]
        if len(none) > 1:
            yield f"no event happened in rows of {listed(none)}"
    if reading.kind == EVENT and len(reading.classes) == 2:
        yield "--top-label judges the confidence in the predicted class instead"
    if unused := [*others, *table.left_out]:
        yield f"columns not used: {listed(unused)}"


def _follow_up(table: Table, reading: Reading) -> Iterator[str]:
    """Warn of a time of follow-up beside an outcome that the user names."""
    header = Header((*table,), table.facts, lambda *_: False, lambda _: [], Path())
    if time := follow_up(header, reading):
        yield (
            f"column {time} looks like a time of follow-up: rows whose follow-up ended before the "
            f"event count as {reading.outcome} says, as if all had been followed to the end"
        )


def _with_key(fold: Fold, table: Table, names: Sequence[str]) -> Fold:
    """Return a fold with a hash of each row of these columns."""
    import pandas as pd

    rows = fold.place.at(np.arange(len(fold.labels)))
    frame = pd.DataFrame({name: table[name][rows] for name in names if table.is_plain(name)})
    if frame.empty:
        return fold
    key = pd.util.hash_pandas_object(frame.astype(str), index=False).to_numpy()
    return replace(fold, key=key)


def _clusters(table: Mapping[str, np.ndarray], names: Sequence[str], location: Place) -> np.ndarray:
    """Return a number of each row's cluster, (n,), by the texts of these columns."""
    import pandas as pd

    codes: np.ndarray | None = None
    for name in names:
        texts = texts_of(table, name)
        missing = [k for k, text in enumerate(texts) if text is None or text.lower() == "nan"]
        if missing:
            raise location.error(
                f"column {name} is empty: every row needs the name of its cluster; fill it",
                missing[0],
            )
        each = pd.factorize(np.array(texts, object), sort=True)[0]
        both = each if codes is None else codes * (int(each.max()) + 1) + each
        _, codes = np.unique(both, return_inverse=True)
    assert codes is not None
    return codes
