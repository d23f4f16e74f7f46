"""Which columns of a table hold the classes' logits or probabilities, and which an id or a count.

The columns of numbers are the classes. Columns whose rows sum to 1 are preferred to all of them. A
column of whole numbers beside them is refused: it is an id, a count or a predicted class, and never
a logit.
"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from calbias.logits.checks import SUM_TOLERANCE
from calbias.logits.columns import (
    FEWEST_IDS,
    in_class_order,
    listed,
    looks_like_ids,
    numbered_alike,
)
from calbias.logits.output_file import Place
from calbias.logits.table_files import Table, as_number

_MOSTLY, _MANY_COLUMNS, _MANY_ROWS = 0.9, 50, 30


def class_columns(
    table: Table, names: Sequence[str], place: Place
) -> tuple[list[str], list[str], list[str]]:
    """Return (classes, others, notes) of the columns that are no label."""
    if "" in names:
        number = [*table].index("") + 1
        raise place.error(f"column {number} has no name (a saved row index?); drop it")
    texts = [name for name in names if is_all_text(table[name])]
    of_text = {*texts}
    numbers = [name for name in names if name not in of_text]
    if texts and len(numbers) < 2:
        raise place.error(
            f"column {texts[0]} is not a number; write one, or drop a column of no class; a score "
            "is named with --score"
        )
    classes = _summing_to_one(table, numbers)
    whole = [name for name in classes if table[name].dtype.kind in "iub"]
    if not _sum_to_one(table, classes) or len(whole) == len(classes):
        n = len(table[names[0]])
        mixed = len(whole) < len(classes) and n >= FEWEST_IDS
        for name in whole:
            if mixed or _is_id(name, table[name].tolist()):
                raise place.error(
                    f"column {name} holds whole numbers: an id, a count or a predicted class, but "
                    "no logit or probability of a class; drop it, name it with --cluster, "
                    "or write logits with decimals (2.0); a score is named with --score"
                )
    taken = {*classes}
    others = [name for name in names if name not in taken]
    classes = in_class_order(classes)
    return classes, others, _notes(classes)


def validate_no_features(
    classes: Sequence[str], values: np.ndarray, labels: np.ndarray, place: Place
) -> None:
    """Raise InputError where labels are 0 and 1 alone and the columns of more classes miss them.

    A model of three or more classes would mostly predict the two classes that occur.
    """
    n = len(labels)
    if len(classes) < 3 or n < _MANY_ROWS or not np.isin(labels, (0, 1)).all():
        return
    hits = int(np.sum(values.argmax(axis=1) == labels))
    if hits <= n / 2:
        raise place.error(
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
    return bool(cells) and not any(as_number(cell) is not None for cell in cells)


def _is_id(name: str, cells: list) -> bool:
    """Return whether whole numbers are ids, by their name or all different, or only 0 and 1."""
    distinct = {*cells}
    is_count = len(cells) >= FEWEST_IDS and len(distinct) == len(cells)
    is_flag = len(cells) >= FEWEST_IDS and distinct <= {0, 1}
    return looks_like_ids(name, cells, False) or is_count or is_flag


def _summing_to_one(table: Table, names: list[str]) -> list[str]:
    """Return the columns whose rows sum to 1, if some of them do; else all of them."""
    if _sum_to_one(table, names):
        return names
    inside = [name for name in names if _is_fraction(table[name])]
    choices = [numbered_alike(names), inside]
    if len(inside) <= _MANY_COLUMNS:
        choices += [[*c] for c in combinations(inside, max(len(inside) - 1, 0))]
    return next((c for c in choices if len(c) >= 2 and _sum_to_one(table, c)), names)


def _sum_to_one(table: Table, names: Sequence[str]) -> bool:
    if not all(_is_fraction(table[name]) for name in names):
        return False
    total = sum(table[name].astype(np.float64) for name in names)
    return bool(np.mean(np.abs(total - 1) <= SUM_TOLERANCE) >= _MOSTLY)


def _is_fraction(column: np.ndarray) -> bool:
    """Return whether a column holds numbers in [0, 1] alone."""
    return column.dtype.kind in "iuf" and bool(np.all((column >= 0) & (column <= 1)))


def _notes(classes: list[str]) -> list[str]:
    """Return a note on classes that are not numbered: which columns count."""
    numbered = numbered_alike(classes)
    of_pattern = {*numbered}
    strangers = listed([name for name in classes if name not in of_pattern])
    if numbered and strangers:
        return [f"columns that count as classes besides {listed(numbered, 2)}: {strangers}"]
    return [f"classes, numbered from 0: {strangers}"] if strangers else []
