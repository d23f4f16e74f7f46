"""Tables with a row per sample and class, which are no sample of rows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import numpy as np

from calbias.reading.facts import WORDS
from calbias.reading.outcomes import MOST_LABELS
from calbias.reading.output_file import Place
from calbias.reading.reading import Header
from calbias.reading.table import Table
from calbias.reading.words import words_of

_IDS = {"id", "ids", "index", "idx", "sample", "example", "row", "case", "item"}


def validate_is_wide(
    table: Table, header: Header, used: Sequence[str | None], location: Place
) -> None:
    """Raise InputError where each id has one row for every class of a label that is its own."""
    ids = [name for name in header.names if _IDS & words_of(name) and table.is_plain(name)]
    classes = [name for name in header.names if _are_classes(header, name)] if ids else []
    for id_name in ids:
        for class_name, label in permutations(classes, 2):
            labels = header.facts(label).labels <= header.facts(class_name).labels
            if id_name not in used and labels and _is_long(table, id_name, class_name, label):
                raise location.error(
                    f"each {id_name} has a row per class of {class_name} (long form): write one "
                    f"row per {id_name}, with a column of probabilities per class and {label}"
                )


def _are_classes(header: Header, name: str) -> bool:
    facts = header.facts(name)
    is_word = facts.kind == WORDS and not facts.is_binary and not facts.has_gaps
    return is_word and 1 < len(facts.labels) <= MOST_LABELS


def _is_long(table: Table, id_name: str, class_name: str, label: str) -> bool:
    """Return whether rows are all pairs of an id and a class, and an id has one label."""
    import pandas as pd

    columns = (id_name, class_name, label)
    ids, classes, labels = (pd.factorize(np.asarray(table[name]))[0] for name in columns)
    n_ids, n_classes = ids.max() + 1, classes.max() + 1
    if ids.min() < 0 or n_ids * n_classes != table.n_rows or n_ids < 2:
        return False
    is_each = np.unique(ids * n_classes + classes).size == table.n_rows
    return bool(is_each and np.unique(ids * (labels.max() + 1) + labels).size == n_ids)
