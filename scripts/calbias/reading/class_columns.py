"""Which columns of a table hold the classes, and which an id or a count.

The classes are the columns that the labels name, those whose rows sum to 1 or to 100, or all
columns of numbers. A column of whole numbers beside decimals is refused: it is an id, a count or a
predicted class, and never a logit.
"""

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import combinations
from pathlib import Path
from shlex import quote

import numpy as np

from calbias.errors import InputError
from calbias.reading.cells import has_signs, number_in, numbers_of
from calbias.reading.columns import (
    FEWEST_IDS,
    FOLD,
    in_class_order,
    listed,
    looks_like_ids,
    numbered_alike,
)
from calbias.reading.forms import MARGIN
from calbias.reading.output_file import Place
from calbias.reading.table_files import Table

_MOSTLY, _ROUNDED, _MANY_COLUMNS, _MANY_ROWS = 0.9, 0.02, 50, 30


def class_columns(
    table: Table, names: Sequence[str], labels: Sequence[str], location: Place
) -> tuple[list[str], list[str], list[str]]:
    """Return (classes, others, notes) of the columns that are no label.

    ``labels`` are the values of the labels where these are texts.
    """
    if "" in names:
        number = [*table].index("") + 1
        raise location.error(f"column {number} has no name (a saved row index?); drop it")
    texts = [name for name in names if is_all_text(table[name])]
    left_out = {*texts, *(name for name in names if name.strip().casefold() in FOLD)}
    numbers = [name for name in names if name not in left_out]
    if len(numbers) < 2:
        what = f"column {texts[0]} is not a number; write one" if texts else "one class only"
        raise location.error(f"{what}, or drop a column of no class; a score is named with --score")
    named = _named_by_labels(numbers, labels, location)
    classes, are_shares = _chosen(table, numbers, named)
    integers = [name for name in classes if table[name].dtype.kind in "iub"]
    if not are_shares:
        n = len(table[names[0]])
        is_mixed = len(integers) < len(classes) and n >= FEWEST_IDS
        for name in integers:
            if is_mixed or _is_id(name, table[name].tolist()):
                raise location.error(
                    f"column {name} holds whole numbers: an id, a count or a predicted class, but "
                    "no logit or probability of a class; drop it, name it with --cluster "
                    f"{quote(name)}, or write logits with decimals (2.0); a score is named with "
                    "--score"
                )
    taken = {*classes}
    others = [name for name in names if name not in taken]
    classes = in_class_order(classes)
    notes = _notes(classes)
    if signed := [name for name in classes if has_signs(table[name])]:
        notes.append(f"percent signs are read, 80 % as 0.8: {listed(signed)}")
    return classes, others, notes


def validate_no_features(
    classes: Sequence[str], values: np.ndarray, labels: np.ndarray, location: Place
) -> None:
    """Raise InputError where labels are 0 and 1 alone and the columns of more classes miss them.

    A model of three or more classes would mostly predict the two classes that occur.
    """
    n = len(labels)
    if len(classes) < 3 or n < _MANY_ROWS or len({*labels.tolist()}) != 2 or labels.max() > 1:
        return
    hits = int(np.sum(values.argmax(axis=1) == labels))
    if hits <= n / 2:
        raise location.error(
            f"labels are 0 and 1 alone, and the columns {listed(classes, 3)} would be the outputs "
            f"for {len(classes)} classes, the largest at the label in {hits} of {n} rows: if they "
            "are features, give the model's score (named with --score); if classes, save them as "
            "NPZ"
        )


def is_all_text(column: np.ndarray) -> bool:
    """Return whether no cell of a column of texts is a number; times are texts."""
    if column.dtype.kind != "O":
        return column.dtype.kind == "M"
    cells = {cell for cell in column if cell is not None and cell.strip()}
    return bool(cells) and not any(number_in(cell) is not None for cell in cells)


def affixes(names: Sequence[str]) -> tuple[str, str]:
    """Return what all names begin and end with, up to a separator: p_ of p_cat and p_cow."""

    def common(texts: Sequence[str]) -> str:
        ends = [k + 1 for k, letter in enumerate(texts[0]) if not letter.isalnum()]
        length = max((k for k in ends if len({text[:k] for text in texts}) == 1), default=0)
        return texts[0][:length]

    return common(names), common([name[::-1] for name in names])[::-1]


def _named_by_labels(names: Sequence[str], labels: Sequence[str], location: Place) -> list[str]:
    """Return the columns that labels name, with one text before and one after them all; or [].

    Columns with the names themselves count before others, such as yes before cal_yes.
    """
    plain = {name.casefold(): name for name in names}
    words = [label.casefold() for label in labels]
    if not words or all(word in plain for word in words):
        return [plain[word] for word in words]
    frames = {
        (name[:k], name[k + len(words[0]) :])
        for name in plain
        for k in range(len(name) - len(words[0]) + 1)
        if name[k:].startswith(words[0])
    }
    groups = [
        [plain[name] for name in plain if name.startswith(start) and name.endswith(end)]
        for start, end in sorted(frames)
        if all(f"{start}{word}{end}" in plain for word in words)
    ]
    if len(groups) > 1:
        raise location.error(
            f"the labels name the columns {listed(groups[0], 3)} and {listed(groups[1], 3)}: drop "
            "those that are not to be judged, or name a score with --score"
        )
    return groups[0] if groups else []


def _chosen(table: Table, names: list[str], named: list[str]) -> tuple[list[str], bool]:
    """Return the columns of the classes, and whether their rows sum to 1 or 100.

    Columns that labels name in one form count, else those whose sums are nearest, else all.
    """
    values = dict[str, np.ndarray]()
    for name in names:
        with suppress(InputError):  # a gap
            values[name] = numbers_of(table, [name], Place(Path(), ""))[:, 0]
    fractions = [name for name in names if name in values and np.all(values[name] <= 1)]
    choices = [named, numbered_alike(names), names, fractions]
    for each in (fractions, names):
        if len(each) <= _MANY_COLUMNS:
            choices += [[*choice] for choice in combinations(each, max(len(each) - 1, 0))]
    distances = [_distance(values, choice) for choice in choices]
    if distances[0] < math.inf or (named and affixes(named) != ("", "")):
        chosen = {*named}
        return [name for name in names if name in chosen], True
    nearest = min(range(len(choices)), key=lambda k: (round(distances[k], 2), k))
    is_near = distances[nearest] < math.inf
    return choices[nearest] if is_near else names, is_near


def _distance(values: Mapping[str, np.ndarray], names: Sequence[str]) -> float:
    """Return how far the rows sum from 1, or from 100, as a fraction; infinite for other sums."""
    if len(names) < 2 or not all(name in values and values[name].min() >= 0 for name in names):
        return math.inf
    total = 1 if max(values[name].max() for name in names) <= 1 else 100
    sums = sum(values[name] for name in names)
    distance = float(np.quantile(np.abs(sums / total - 1), _MOSTLY))
    return distance if distance <= (_ROUNDED if total == 1 else MARGIN) else math.inf


def _is_id(name: str, cells: list) -> bool:
    """Return whether whole numbers are ids, by their name or all different, or only 0 and 1."""
    distinct = {*cells}
    is_count = len(cells) >= FEWEST_IDS and len(distinct) == len(cells)
    is_flag = len(cells) >= FEWEST_IDS and distinct <= {0, 1}
    return looks_like_ids(name, cells, False) or is_count or is_flag


def _notes(classes: list[str]) -> list[str]:
    """Return a note that lists the classes whose names do not number them, or nothing."""
    numbered = numbered_alike(classes)
    in_numbered = {*numbered}
    others = listed([name for name in classes if name not in in_numbered])
    if not others:
        return []
    if numbered:
        return [f"columns that count as classes besides {listed(numbered, 2)}: {others}"]
    return [f"classes, numbered from 0: {others}"]
