"""Columns of classes with their labels: as the user names them, and in what order they stand."""

import re
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from calbias.errors import InputError
from calbias.reading.columns import Columns, looked_up_column
from calbias.reading.facts import Facts
from calbias.reading.words import GRADES, positive

OWN = "calbias_"
"""The start of the names of columns that calbias wrote: they hold probabilities."""
NUMBERED = re.compile(r"(.*?)(\d+)")
FactsOf = Callable[[str], Facts]


class Group(NamedTuple):
    """Columns of classes, and the label that each has; no labels where these count from a number.

    ``is_admitted`` says that names suffice: else the group needs ``--classes`` or ``--count-from``.
    """

    names: tuple[str, ...]
    labels: tuple[str, ...] = ()
    count_from: int = 0
    is_admitted: bool = True

    def index_of(self, label: str) -> int | None:
        """Return the number of a label's class."""
        if self.labels:
            small = [each.casefold() for each in self.labels]
            return small.index(label.casefold()) if label.casefold() in small else None
        number = int(label) - self.count_from if re.fullmatch(r"-?\d+", label) else -1
        return number if 0 <= number < len(self.names) else None


def named_groups(
    columns: Columns, names: Sequence[str], path: Path, values: Sequence[str], facts: FactsOf
) -> list[Group]:
    """Return the groups that the user names by ``--classes``: two where labels count from 0 or 1.

    Labels that are no numbers, or no numbers from 0 on, name their columns.
    """
    chosen, labels = list[str](), list[str]()
    for text in columns.classes:
        label, _, name = text.partition("=")
        name = name if name and text not in names else text
        labels += [label] if name != text else []
        if "*" in name and name not in names:
            matching = [each for each in names if fnmatchcase(each, name) and facts(each).is_number]
            chosen += in_class_order(matching)
        else:
            chosen.append(looked_up_column(name, names, path))
    if len({*chosen}) != len(chosen) or len(chosen) < 2 or len(labels) not in (0, len(chosen)):
        raise InputError(
            "--classes needs two or more columns, each once, as COLUMN or each as LABEL=COLUMN"
        )
    if labels:
        return [Group((*chosen,), (*labels,))]
    start, end = affixes(chosen)
    inner = [name[len(start) : len(name) - len(end)] for name in chosen]
    numbers = as_numbers(values)
    is_word = not all(value.isdigit() for value in values)
    if is_word or numbers is None or not {*numbers} <= {*range(len(chosen) + 1)}:
        for each in (chosen, inner):
            if {value.casefold() for value in values} <= {name.casefold() for name in each}:
                return [Group((*chosen,), (*each,))]
    ends = [match[2] for name in chosen if (match := NUMBERED.fullmatch(name))]
    first = int(ends[0]) if len(ends) == len(chosen) and _is_run(ends) else 0
    return [Group((*chosen,), (), s) for s in starts_of(first, len(chosen), numbers or [0])]


def starts_of(first: int, k: int, numbers: Sequence[int]) -> list[int]:
    """Return what labels may count from: the number of the first of k columns, or 0."""
    low, high = min(numbers), max(numbers)
    starts = [s for s in dict.fromkeys((first, 0)) if s <= low and high < s + k]
    return starts or ([1] if low >= 1 and high <= k else [0])


def in_class_order(names: Sequence[str]) -> list[str]:
    """Return names in the order of the numbers that they end in, where all do."""
    numbered = [match for name in names if (match := NUMBERED.fullmatch(name))]
    if len(numbered) < len(names) or len({match[1] for match in numbered}) > 1:
        return [*names]
    return sorted(names, key=lambda name: int(NUMBERED.fullmatch(name)[2]))  # type: ignore[index]


def affixes(names: Sequence[str]) -> tuple[str, str]:
    """Return what all names begin and end with, up to a separator: p_ of p_cat and p_cow."""

    def common(texts: Sequence[str]) -> str:
        ends = [k + 1 for k, letter in enumerate(texts[0]) if not letter.isalnum()]
        length = max((k for k in ends if len({text[:k] for text in texts}) == 1), default=0)
        return texts[0][:length]

    return common(names), common([name[::-1] for name in names])[::-1]


def as_numbers(values: Sequence[str]) -> list[int] | None:
    """Return labels as numbers of classes; true and no are 1 and 0; None for others."""
    if values and positive({value.casefold() for value in values}) in ("true", "yes"):
        return [GRADES[value.casefold()] for value in values]
    is_whole = values and all(re.fullmatch(r"\d{1,6}", value) for value in values)
    return [int(value) for value in values] if is_whole else None


def _is_run(texts: Sequence[str]) -> bool:
    """Return whether texts are the numbers from 0 or 1 on."""
    numbers = sorted(map(int, texts))
    return numbers[0] <= 1 and all(b - a == 1 for a, b in pairwise(numbers))
