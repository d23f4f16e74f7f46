"""Read a user's table of model outputs, a row per sample, as docs/tool/input_files.md says.

The columns and options decide how it is read (``calbias.reading.readings``); this makes scores and
outcomes of it, and what folds, clusters and subgroups need.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from shlex import quote
from typing import Any

import numpy as np
from scipy.special import softmax

from calbias.defaults import LOGITS, PERCENT
from calbias.errors import InputError
from calbias.reading.cells import (
    FILL,
    OF_CLASS,
    OF_ROW,
    as_number,
    by_text,
    has_value,
    is_value,
    numbers_of,
    rows_where,
    texts_of,
)  # fmt: skip
from calbias.reading.checks import checked_labels
from calbias.reading.class_groups import sums_to_1
from calbias.reading.columns import DROP, Columns, listed, looked_up_column
from calbias.reading.facts import NUMBERS, TRUTH, Facts, facts_of
from calbias.reading.forms import as_probabilities, as_scores, forms_of
from calbias.reading.harness_logs import LOG, QUESTION
from calbias.reading.output_file import Fold, OutputFile, Place, are_folds, split_by_fold
from calbias.reading.plausibility import repeats
from calbias.reading.question import Judged, chosen, in_words
from calbias.reading.readings import (
    CLASSES,
    EVENT,
    HITS,
    PREDICTED,
    Header,
    Reading,
    follow_up,
)  # fmt: skip
from calbias.reading.table_files import Table, read_table
from calbias.reading.top_label import share_ties, top_label_of_scores
from calbias.reading.words import FOLD, GRADES, NOTHING, plain

_ROLES = ("score", "hit", "label", "prediction")


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
    table, location = _part(table, location, rows)
    reading, fold_name = reading_of(table, columns, (*by, *ids), location)
    _validate_by(reading, by, location)
    if missing := (*columns.missing, *reading.missing):
        kept, counts = rows_without_gaps(table, reading, missing)
        notes.append(_of_gaps(kept, counts, missing, reading, location))
        table, location = _part(table, location, np.flatnonzero(kept))
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
    if reading.kind == EVENT and len(reading.classes) == 2:
        form = None
    return OutputFile(
        split, form, {name: judged[name] for name in by} or None, clusters,
        (*notes,), (*hints,), (*_follow_up(table, reading),), reading.classes, reading.score,
        None if reading.kind == EVENT and len(reading.classes) > 2 else reading.values,
        in_words(reading),
    )  # fmt: skip


def named_columns(
    table: Table, columns: Columns, by: Sequence[str], location: Place
) -> tuple[Columns, tuple[str, ...], tuple[str, ...], bool]:
    """Return the columns that the user names as a table has them, and whether a log repeats."""
    names = [*table]
    by, ids = (
        tuple(dict.fromkeys(looked_up_column(name, names, location.file) for name in each))
        for each in (by, columns.cluster)
    )
    is_log = location.part == LOG
    has_several = is_log and np.unique(table[QUESTION]).size < table.n_rows
    roles: dict[str, Any] = {
        role: looked_up_column(name, names, location.file)
        for role in _ROLES
        if (name := getattr(columns, role))
    }
    if is_log:
        roles = {"score": "score", "hit": "hit"}
    if repeated := [name for name in (*roles.values(), *by, *ids) if name in table.repeated]:
        raise location.error(f"two columns are called {repeated[0]}; rename one, or drop it")
    return replace(columns, **roles), by, ids or ((QUESTION,) if has_several else ()), has_several


def reading_of(
    table: Table, columns: Columns, apart: Sequence[str], location: Place
) -> tuple[Reading, str | None]:
    """Return the reading of a table, and its column of folds; Question where there are several."""
    facts_by_name = dict[str, Facts]()

    def facts(name: str) -> Facts:
        if name not in facts_by_name:
            facts_by_name[name] = table.facts(name)
        return facts_by_name[name]

    def sums(names: Sequence[str], is_tight: bool) -> bool:
        return sums_to_1(_matrix(table, names, location), is_tight)

    def forms(names: Sequence[str]) -> list[str]:
        values = _matrix(table, names, location)
        return forms_of(values[~np.isnan(values).any(axis=1)])

    free = [name for name in table if name not in table.repeated]
    fold = None if columns.rows else next(filter(lambda n: _is_fold(n, facts(n)),
                                          [n for n in free if plain(n) in FOLD]), None)  # fmt: skip
    aside = frozenset((*apart, *([fold] if fold else ()))) - {getattr(columns, r) for r in _ROLES}
    used = {getattr(columns, role) for role in _ROLES}
    words = {"score", "hit", "label", "prediction"}
    aside = frozenset(name for name in aside if plain(name) not in words or name in used)
    header = Header(
        (*free,), facts, sums, forms, location.file, aside,
        lambda name: numbers_of(table, [name], location, OF_CLASS), table.repeated,
    )  # fmt: skip

    def judge(reading: Reading) -> Judged:
        part, part_location = table.head(), location
        if missing := (*columns.missing, *reading.missing):
            kept, _ = rows_without_gaps(part, reading, missing)
            part, part_location = _part(part, location, np.flatnonzero(kept))
        return judged_by(fold_of(part, reading, part_location), reading)

    reading = chosen(header, columns, location, judge)
    values = facts(str(reading.outcome)).values if columns.event and reading.outcome else None
    if values and reading.score and not any(is_value(each, columns.event or "") for each in values):
        raise _never(table, str(reading.outcome), columns.event or "", location)
    if reading.kind == CLASSES and table.repeated:
        raise location.error(f"two columns are called {table.repeated[0]}; rename one, or drop it")
    return reading, fold


def _is_fold(name: str, facts: Facts) -> bool:
    return bool(facts.values) and not facts.has_gaps and are_folds(facts.values or ())


def _matrix(table: Table, names: Sequence[str], location: Place) -> np.ndarray:
    """Return columns as numbers, NaN where a cell is empty or none."""
    from calbias.reading.cells import number_in

    numbers = np.empty((table.n_rows, len(names)))
    for k, name in enumerate(names):
        column = table[name]
        if column.dtype.kind == "O":
            column = np.array([np.nan if c is None else number_in(c) for c in column], float)
        numbers[:, k] = column
    return numbers


def judged_by(fold: Fold, reading: Reading) -> Judged:
    """Return what tells a reading apart from others."""
    values, labels = fold.values, np.ravel(fold.labels)
    if reading.group and (reading.kind == CLASSES or len(reading.classes) == 2):
        form = str(reading.values)
        if form == LOGITS:
            values = softmax(values.astype(float), axis=1)
        else:
            values = as_probabilities(values, form, fold.place)[0]
        if fold.labels.shape == values.shape:
            labels = fold.labels.argmax(axis=1)
        if reading.kind == CLASSES:
            checked = checked_labels(labels, len(values), values.shape[1], fold.place, "--missing")
            top = top_label_of_scores(values.max(axis=1), values.argmax(axis=1) == checked)
            values, _, _, labels = share_ties(top, fold.values, checked)
        else:
            values = values[:, 1]
    scores = np.ravel(as_scores(values, None if reading.group else reading.values,
                                fold.place.error)).astype(float)  # fmt: skip
    hits = np.ravel(labels).astype(float)
    kind = bytes([reading.kind == EVENT])  # hits of predictions are judged otherwise
    digest = hashlib.blake2b(kind + np.round(scores, 9).tobytes() + hits.tobytes()).digest()
    return Judged(len(scores), float(scores.mean()), float(hits.mean()), digest)


def fold_of(table: Mapping[str, np.ndarray], reading: Reading, location: Place) -> Fold:
    """Return the values and labels of all rows of a table, or of a part of it, by its reading."""
    if reading.group:
        return _of_classes(table, reading, location)
    score, outcome = str(reading.score), str(reading.outcome)
    scores = numbers_of(table, [score], location, OF_ROW, reading.values)
    if reading.kind == EVENT:
        return Fold(scores, events_of(table, outcome, str(reading.event), location), location)
    if reading.kind == PREDICTED:
        return Fold(scores, _equal(table, outcome, str(reading.prediction), location), location)
    remedy = "write 1 where the prediction was correct and 0 elsewhere, or correct and wrong"
    if table[outcome].dtype.kind == "O":
        return Fold(scores, by_text(table, outcome, GRADES, remedy, location), location)
    return Fold(scores, numbers_of(table, [outcome], location), location)


def events_of(
    table: Mapping[str, np.ndarray], label: str, event: str, location: Place
) -> np.ndarray:
    """Return 1 where a label is the event and else 0, (n,); a word for nothing is no outcome."""
    column = table[label]
    if column.dtype.kind in "iufb" and as_number(event) is not None:
        numbers = numbers_of(table, [label], location)[:, 0]
        return (numbers == float(event)).astype(float)
    texts = texts_of(table, label)
    numbers_by_text = dict[str, int]()
    for text in dict.fromkeys(filter(None, texts)):
        if text.casefold() not in NOTHING or text == event:
            numbers_by_text[text.casefold()] = int(is_value(text, event))
    return by_text(table, label, numbers_by_text, f"no outcome; {FILL}", location)


def _never(table: Mapping[str, np.ndarray], label: str, event: str, location: Place) -> InputError:
    values = [*dict.fromkeys(filter(None, texts_of(table, label)))]
    return location.error(f"column {label} is never {event!r:.60}: its values are {listed(values)}")


def _equal(
    table: Mapping[str, np.ndarray], label: str, prediction: str, location: Place
) -> np.ndarray:
    """Return where two columns are equal, (n,): as numbers if both hold some, else as texts.

    True and 1 are equal where one column has truth values and the other 0 and 1.
    """
    one, other = table[label], table[prediction]
    if one.dtype.kind in "iu" and other.dtype.kind in "iu":
        return np.asarray(one == other)
    pair = {name: texts_of(table, name) for name in (label, prediction)}
    for name, texts in pair.items():
        if None in texts:
            raise location.error(f"column {name} is empty; {FILL}", texts.index(None))
    kinds = {facts_of(column).kind for column in (one, other)}
    if kinds == {NUMBERS, TRUTH}:
        words = {"true": "1", "false": "0"}
        pair = {
            name: [words.get(str(t).casefold(), t) for t in each] for name, each in pair.items()
        }
    first, second = (np.array(texts, dtype=object) for texts in pair.values())
    return np.asarray(first == second)


def _of_classes(table: Mapping[str, np.ndarray], reading: Reading, location: Place) -> Fold:
    """Return the values of the classes and the labels; of an event of two in their order."""
    group, form = reading.group, reading.values
    assert group is not None
    event = None if reading.kind == CLASSES else group.index_of(str(reading.event))
    names, order = [*group.names], [*range(len(group.names))]
    if reading.kind == EVENT and event is None:
        raise location.error(
            f"--event {reading.event}: no class has this label; the classes are "
            f"{listed(group.labels or group.names)}"
        )
    if event is not None and len(names) == 2:
        order = [1 - event, event]
        names = [names[k] for k in order]
    values = numbers_of(table, names, location, OF_CLASS, form)
    if reading.one_hot:
        labels = numbers_of(table, reading.one_hot, location)
        _validate_one_hot(labels, reading, location)
        labels = labels[:, order]
    else:
        labels = _labels(table, reading, location)[:, None]
        if len(order) == 2 and event is not None and order != [0, 1]:
            labels = np.where(labels < 2, 1 - labels, labels)
    if event is not None and len(names) > 2:
        if form == LOGITS:
            p = softmax(values, axis=1)
        else:
            p = as_probabilities(values, str(form), location)[0]
        hot = labels[:, event] if reading.one_hot else labels[:, 0] == event
        return Fold(p[:, [event]], np.asarray(hot, float), location)
    return Fold(values, labels, location)


def _validate_one_hot(labels: np.ndarray, reading: Reading, location: Place) -> None:
    several = np.flatnonzero(labels.sum(axis=1) > 1)
    if several.size > 1:
        score, label = reading.classes[0], reading.one_hot[0]
        raise location.error(
            f"{several.size} rows have several labels (multi-label): judge one label, such as "
            f"--score {quote(score)} --label {quote(label)}"
        )


def _labels(table: Mapping[str, np.ndarray], reading: Reading, location: Place) -> np.ndarray:
    """Return class numbers (n,) of a column of labels."""
    group, label = reading.group, str(reading.outcome)
    assert group is not None
    column = table[label]
    if group.labels:
        numbers = {text.casefold(): k for k, text in enumerate(group.labels)}
        numbers |= {name.casefold(): k for k, name in enumerate(group.names)}
        remedy = (
            f"the classes are the columns {listed(group.names)}; name a class as its column, "
            "number the classes from 0, or leave such rows out by --missing and the label"
        )
        return by_text(table, label, numbers, remedy, location)
    if column.dtype.kind == "O" or column.dtype.kind == "b":
        small = {str(cell).strip().casefold() for cell in np.unique(column[column != None])}  # noqa: E711
        if small <= {"true", "false", "yes", "no"}:
            return by_text(table, label, GRADES, "", location)
    return numbers_of(table, [label], location)[:, 0] - group.count_from


def named_rows(
    table: Mapping[str, np.ndarray], rows: Sequence[str], n: int, location: Place
) -> tuple[np.ndarray, list[str]]:
    """Return the rows, of n, of which each COLUMN is its VALUE, and a note."""
    kept = np.ones(n, bool)
    for each in rows:
        name, _, value = each.partition("=")
        name = looked_up_column(name, [*table], location.file)
        rows_of = rows_where(table, name, partial(has_value, value=value))
        if not rows_of.any():
            raise _never(table, name, value, location)
        kept &= rows_of
    if not kept.any() and rows:
        raise location.error(f"no row is {' and '.join(rows)}: give one of them")
    notes = [f"--rows {' and '.join(rows)}: {kept.sum()} of {n} rows are judged"] if rows else []
    return np.flatnonzero(kept), notes


def rows_without_gaps(
    table: Mapping[str, np.ndarray], reading: Reading, missing: Sequence[str]
) -> tuple[np.ndarray, Counter[str]]:
    """Return which rows have a score and an outcome, (n,), and counts of the others by reason."""
    outcomes = [name for name in (reading.outcome, reading.prediction, *reading.one_hot) if name]
    values = [value for value in missing if value != DROP]
    counts, gone = Counter[str](), np.zeros(len(table[reading.names[0]]), bool)
    for name in reading.names:
        words = () if reading.prediction or reading.group else NOTHING
        codes: dict[str, Callable[[str | None], bool]] = {
            f" without {name}": partial(_is_nothing, words=words)
        }
        for value in values:
            if name in outcomes or as_number(value) is None:  # a number may be a score
                codes[f" with {name} {value}"] = partial(has_value, value=value)
        for reason, is_wanted in codes.items():
            is_gap = rows_where(table, name, is_wanted)
            counts[reason] += int(is_gap.sum())
            gone |= is_gap
    return ~gone, counts


def _is_nothing(text: str | None, words: Collection[str]) -> bool:
    return text is None or text.casefold() in words


def _of_gaps(
    kept: np.ndarray,
    counts: Counter[str],
    missing: Sequence[str],
    reading: Reading,
    location: Place,
) -> str:
    """Return the note on rows that are left out; InputError where none is left."""
    if not kept.any():
        raise location.error(
            f"no row has both a score and an outcome: columns {listed(reading.names)}"
        )
    options = " ".join(f"--missing {quote(value)}" for value in missing)
    reasons = ", ".join(f"{count}{reason}" for reason, count in counts.items() if count)
    note = f"{options}: {(~kept).sum()} of {kept.size} rows left out"
    return f"{note}: {reasons}" if reasons else note


def _part(table: Table, location: Place, rows: np.ndarray) -> tuple[Table, Place]:
    """Return these rows of a table, and their place."""
    if len(rows) == table.n_rows:
        return table, location
    return table.part(rows), location.part_of(rows)


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
