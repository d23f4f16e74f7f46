"""Why a table has no reading: the first cause found, with its remedy.

Causes are repeated names, swapped columns, a column that is not a label, cells that are not
numbers, a missing column.
"""

from __future__ import annotations

from shlex import quote

from calbias.defaults import LOGITS, ODDS, PERCENT
from calbias.reading.cells import THOUSANDS
from calbias.reading.columns import Columns, listed
from calbias.reading.facts import LISTS, MIXED, WORDS
from calbias.reading.outcomes import MOST_LABELS, labels_of
from calbias.reading.reading import Header
from calbias.reading.scores import Score, scores_of
from calbias.reading.words import CONFIDENCE, LABEL, plain


def why_unreadable(header: Header, columns: Columns) -> str:
    """Return why a table has no reading, and the remedy."""
    if header.repeated:
        return f"two columns are called {header.repeated[0]}; rename one, or drop it"
    names = [name for name in header.names if name not in header.apart]
    scores = scores_of(header, columns)
    labels = labels_of(header, columns, scores)
    labels = labels or [name for name in names if plain(name) in LABEL]
    not_labels = (_not_a_label(header, name, bool(scores)) for name in labels)
    return (
        _swapped(header, names)
        or next(filter(None, not_labels), "")
        or _bad_cells(header, names, labels)
        or _missing_column(header, names, scores, labels)
    )


def _swapped(header: Header, names: list[str]) -> str:
    """Say that a score holds 0 and 1 alone and a label probabilities; or return ""."""
    scores = [name for name in names if plain(name) in CONFIDENCE and header.facts(name).is_binary]
    labels = [name for name in names if plain(name) in LABEL and header.facts(name).is_fraction]
    if not (scores and labels):
        return ""
    return (
        f"column {scores[0]} holds 0 and 1 alone and column {labels[0]} probabilities: if "
        f"they are swapped, give --score {quote(labels[0])} --label {quote(scores[0])}"
    )


def _not_a_label(header: Header, name: str, with_scores: bool) -> str:
    """Say why a column is not a label, though its name says so; or return ""."""
    facts = header.facts(name)
    n_values = len(facts.values) if facts.values is not None else None
    if n_values is None or ((n_values > MOST_LABELS or not facts.is_whole) and facts.is_number):
        many = f"{n_values} values" if n_values else "many values"
        first = f", such as {facts.values[0]}" if facts.values else ""
        return (
            f"column {name} has {many}{first}, and is no label; name the column of 0 and 1 "
            "by --label, or one value of this column by --event"
        )
    if facts.is_number and (n_values or 0) > 2 and with_scores:
        return (
            f"column {name} has the values {listed(facts.values or ())}: counts and grades "
            "are not an event; write a column of 0 and 1, or name one value by --event"
        )
    return ""


def _bad_cells(header: Header, names: list[str], labels: list[str]) -> str:
    """Say which cells are not numbers, or return "". Where a label is known, raise with the row."""
    for name in names:
        values = header.facts(name).values or ()
        if cell := next(filter(THOUSANDS.fullmatch, values), None):
            return f"column {name}: {cell!r} may be a number of thousands: write it without commas"
        if labels and header.facts(name).kind == MIXED and name not in labels:
            header.validate(name)
    if lists := [name for name in names if header.facts(name).kind == LISTS]:
        return f"column {lists[0]} holds lists or objects: split them into a column per class"
    return ""


def _missing_column(
    header: Header, names: list[str], scored: list[Score], labels: list[str]
) -> str:
    """Say whether the score or the outcome is missing, and by which options to name them."""
    few = [n for n in names if header.facts(n).is_binary or header.facts(n).kind == WORDS]
    outcomes = labels or [n for n in few if 1 < len(header.facts(n).labels) <= MOST_LABELS]
    problem, options = "", ""
    if scored and scored[0].is_admitted and not outcomes:
        problem = f"{scored[0].name} is a score, but no column is its outcome, a label or a hit"
    elif outcomes and not scored:
        problem = f"{listed(outcomes)} may be the outcome, but no column is named as a score"
        options = f", with --values {PERCENT}, {ODDS} or {LOGITS} if they hold no probabilities"
    problem = problem or (
        "needs a column label (or label_0, label_1, …) and one per class; score and hit (1 "
        "where the prediction was correct); score, label and prediction; or label and score "
        "(the probability of label 1)"
    )
    return (
        f"{problem}; found {listed(names)}; the first line names the columns, or name them by "
        f"--score and --hit or --label, or by --label and --classes{options}"
    )
