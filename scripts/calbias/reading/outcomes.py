"""Which rows of a table are judged, which have no outcome, and where an event happened."""

from collections import Counter
from collections.abc import Mapping, Sequence
from shlex import quote

import numpy as np

from calbias.reading.cells import FILL, NOTHING, YES, by_text, is_value, texts_of
from calbias.reading.columns import DROP, Roles, listed, looked_up_column, numbered_alike
from calbias.reading.output_file import Place
from calbias.reading.table_files import Table, as_number

MOST_LABELS = 20
"""A column of more values next to a score is no label of an event, unless one of them is named."""


def named_rows(
    table: Mapping[str, np.ndarray], rows: str, location: Place
) -> tuple[np.ndarray, str]:
    """Return the rows of which COLUMN is VALUE, and a note."""
    name, _, value = rows.partition("=")
    name = looked_up_column(name, [*table], location.file)
    texts = texts_of(table, name)
    chosen = np.flatnonzero([text is not None and is_value(text, value) for text in texts])
    if not chosen.size:
        values = [str(text) for text in dict.fromkeys(texts)]
        raise location.error(
            f"column {name} is never {value!r:.60}: its values are {listed(values)}"
        )
    return chosen, f"--rows {rows}: {chosen.size} of {len(texts)} rows are judged"


def rows_without_gaps(
    table: Table, roles: Roles, missing: Sequence[str], location: Place
) -> tuple[np.ndarray, str]:
    """Return the rows that have a score and an outcome, and a note on the others."""
    outcomes = [*filter(None, roles[2:5]), *roles.one_hot]
    names = [*filter(None, roles[1:2]), *outcomes]
    if not roles.form:
        names += numbered_alike([*roles.others])
    values = [value for value in missing if value != DROP]
    counts, gone = [], np.zeros(len(next(iter(table.values()))), bool)
    for name in names:
        texts = texts_of(table, name)
        words = () if roles.prediction or not roles.form else NOTHING
        empty = np.array([text is None or text.casefold() in words for text in texts])
        counts += [f"{empty.sum()} without {name}"] * bool(empty.any())
        gone |= empty
        for value in values:
            if name not in outcomes and as_number(value) is not None:
                continue  # a code for a missing outcome, which may be a score
            equal = np.array([text is not None and is_value(text, value) for text in texts])
            counts += [f"{equal.sum()} with {name} {value}"] * bool(equal.any())
            gone |= equal
    if gone.all():
        raise location.error(f"no row has both a score and an outcome: columns {listed(names)}")
    options = " ".join(f"--missing {quote(value)}" for value in missing)
    note = f"{options}: {gone.sum()} of {gone.size} rows left out" + ": " * bool(counts)
    return np.flatnonzero(~gone), note + ", ".join(counts)


def events_of(
    table: Table, label: str | None, event: str | None, location: Place
) -> tuple[np.ndarray, list[str]]:
    """Return 1 where a label is the event, by default 1, true or yes, and else 0, (n,), and notes.

    A word for nothing is no outcome.
    """
    texts = texts_of(table, label)
    for row, text in enumerate(texts):
        if text is not None and text.casefold() in NOTHING and text != event:
            raise location.error(f"column {label} is {text!r}, no outcome; {FILL}", row)
    counts = Counter(filter(None, texts))
    values = sorted(counts, key=_order)
    if event is None:
        return by_text(
            table, label, YES, _event_remedy(label, counts, values, location), location
        ), []
    happened = {text.casefold(): int(is_value(text, event)) for text in values}
    if not any(happened.values()):
        raise location.error(
            f"column {label} is never {event!r:.60}: its values are {listed(values)}"
        )
    events = by_text(table, label, happened, "", location)
    others = [text for text in values if not happened[text.casefold()]]
    if len(others) < 2:
        return events, []
    counted = listed([f"{counts[text]} rows of {text}" for text in others])
    return events, [
        f"no event happened in {counted}; leave rows without an outcome out by --missing and their "
        f"label, such as --missing {quote(min(others, key=counts.__getitem__))}"
    ]


def _order(text: str) -> tuple[float, str]:
    """Return what labels are sorted by: their number, then their text."""
    return as_number(text) or 0.0, text


def _event_remedy(
    label: str | None, counts: Counter[str], values: Sequence[str], location: Place
) -> str:
    """Return what to do about labels that are neither 0 nor 1, in words."""
    unknown = [text for text in values if text.casefold() not in YES]
    has_ties = {as_number(text) for text in values} <= {0.0, 0.5, 1.0}
    if unknown and (has_ties or len(unknown) < len(values) - 1):
        return (
            f"its values are {listed(values)}: leave rows without an outcome, such as ties, out "
            f"by --missing {quote(min(unknown, key=counts.__getitem__))}, or name the label whose "
            "probability the score is by --event"
        )
    if len(values) > MOST_LABELS:
        raise location.error(
            f"column {label} has {len(values)} values, such as {values[0]}, and is no label; "
            "name the column of 0 and 1 by --label, or one value of this column by --event"
        )
    likely = max((text for text, _ in counts.most_common(2)), key=_order, default="")
    return (
        f"its values are {listed(values)}: name the one whose probability the score is, "
        f"such as --event {quote(likely)}, or add hit (1 where the prediction was correct) or "
        "prediction"
    )
