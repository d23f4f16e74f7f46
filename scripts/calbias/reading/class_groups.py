"""Which columns may be the classes: named by the labels, numbered, or those that sum to 1."""

from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np

from calbias.engine.scores_and_hits import EXCESS
from calbias.reading.class_group import (
    NUMBERED,
    OWN,
    FactsOf,
    Group,
    affixes,
    as_numbers,
    in_class_order,
    starts_of,
)
from calbias.reading.facts import Facts
from calbias.reading.forms import MARGIN
from calbias.reading.words import (
    CLASS,
    FOLLOW_UP,
    NO_SCORE,
    PAIRS,
    plain,
    positive,
    words_of,
)  # fmt: skip

_MOST_COLUMNS = 50
SumsTo1 = Callable[[Sequence[str], bool], bool]


def groups_of(
    names: Sequence[str],
    values: Sequence[str],
    facts: FactsOf,
    sums: SumsTo1,
    by_sums: bool = True,
) -> list[Group]:
    """Return the groups of classes that labels of these values may have.

    ``by_sums`` says that sums of rows may show the classes where no name does.
    """
    words, numbers = [value.casefold() for value in values], as_numbers(values)
    groups = list[Group]()
    if numbers is not None and all(value.isdigit() for value in values):
        for stem, run in _runs(names, facts):
            groups += _of_run(stem, run, numbers, facts, sums)
    if not groups:
        for frame in _frames(names, words):
            groups += _of_frame(names, words, frame, facts, sums)
    groups = groups or _of_plain_names(names, values, facts, sums)
    if not groups and {*values} <= {"0", "1"}:  # no and yes are 0 and 1
        for pair in PAIRS[1:]:
            for frame in _frames(names, pair):
                framed = _of_frame(names, pair, frame, facts, sums)
                framed = [g for g in framed if len(g.names) == 2]
                groups += [group for g in framed for group in _by_words(g.names, True)]
    if not groups and numbers is None:
        groups = _of_initials(names, words, facts)
        groups = groups or [
            Group((*run,), (*sorted(words),), 0, False)  # as encoders number labels
            for _, run in _runs(names, facts)
            if len(run) == len(words) and sums(run, False)
        ]
    if numbers is not None and not groups:
        groups = _of_stem(names, numbers, facts, sums)
        groups = groups or (_of_sums(names, numbers, facts, sums) if by_sums else [])
    written_by_calbias = [
        group for group in groups if all(name.startswith(OWN) for name in group.names)
    ]
    return written_by_calbias or [*dict.fromkeys(groups)]


def _frames(names: Sequence[str], words: Sequence[str]) -> list[tuple[str, str]]:
    """Return what stands before and after the labels in names of columns, for all labels."""
    if not words:
        return []
    lower_names = {name.casefold() for name in names}
    longest = max(words, key=len)
    frames = {
        (name[:k], name[k + len(longest) :])
        for name in lower_names
        for k in range(len(name) - len(longest) + 1)
        if name.startswith(longest, k)
    }

    def is_whole(start: str, end: str) -> bool:
        """Return whether no label is a part of a word or of a number."""
        if any(word.isdigit() for word in words):
            return not (start[-1:].isdigit() or end[:1].isdigit())
        return not (start[-1:].isalnum() or end[:1].isalnum())

    return sorted(
        (start, end)
        for start, end in frames
        if is_whole(start, end) and all(f"{start}{word}{end}" in lower_names for word in words)
    )


def _of_frame(
    names: Sequence[str],
    words: Sequence[str],
    frame: tuple[str, str],
    facts: FactsOf,
    sums: SumsTo1,
) -> list[Group]:
    """Return the columns that labels name, with or without further ones of the same form.

    Where sums do not tell, two groups are a question: a further column may be an unseen class.
    """
    (start, end), small = frame, {name.casefold(): name for name in names}
    named = [small[f"{start}{word}{end}"] for word in words]
    inner = {name: name[len(start) : len(name) - len(end)] for name in names}
    if not all(facts(name).is_number for name in named):
        return []
    if words[0].isdigit() and not _is_class(start):
        return []
    more = [
        name
        for name in names
        if name.casefold().startswith(start)
        and name.casefold().endswith(end)
        and inner[name].isdigit() == words[0].isdigit()
        and name not in named
        and inner[name]
        and _is_decimal(facts(name))
        and not (NO_SCORE | FOLLOW_UP) & words_of(name)
    ]

    def group(chosen: Sequence[str]) -> Group:
        taken = {*chosen}
        ordered = in_class_order([name for name in names if name in taken])
        return Group((*ordered,), tuple(inner[name] for name in ordered))

    sizes = range(len(more) + 1) if len(more) <= 4 else (0, len(more))
    choices = [[*named, *few] for size in sizes for few in combinations(more, size)]
    choices = [each for each in choices if len(each) > 1]
    for is_tight in (True, False):
        if fit := [each for each in choices if sums(each, is_tight)]:
            return [group(fit[0])]
    if not choices or all(facts(name).is_score for name in named):
        return []  # fractions that do not sum to 1 are several scores
    return [group(each) for each in dict.fromkeys(map(tuple, (choices[0], choices[-1])))]


def _of_plain_names(
    names: Sequence[str], values: Sequence[str], facts: FactsOf, sums: SumsTo1
) -> list[Group]:
    """Return the groups that labels name if signs, spaces and camelCase are _ in both."""
    columns = {plain(name): name for name in names}
    labels = {plain(value): value for value in values}
    if len(columns) < len(names) or len(labels) < len(values) or not all(labels):
        return []
    if any(label.isdigit() for label in labels):
        return []  # -1, or <5

    def sums_of(each: Sequence[str], is_tight: bool) -> bool:
        return sums([columns[name] for name in each], is_tight)

    return [
        Group(tuple(columns[n] for n in group.names), tuple(labels.get(x, x) for x in group.labels))
        for frame in _frames([*columns], [*labels])
        for group in _of_frame(
            [*columns], [*labels], frame, lambda name: facts(columns[name]), sums_of
        )
    ]


def _runs(names: Sequence[str], facts: FactsOf) -> list[tuple[str, list[str]]]:
    """Return (stem, columns) of names that are one text and the numbers from 0 or 1 on."""
    stems = dict[str, list[tuple[int, str]]]()
    for name in names:
        if match := NUMBERED.fullmatch(name):
            stems.setdefault(match[1], []).append((int(match[2]), name))
    runs = []
    for stem, numbered in stems.items():
        run = list[str]()
        for number, name in sorted(numbered):
            expected = int(NUMBERED.fullmatch(run[-1])[2]) + 1 if run else number  # type: ignore[index]
            if (not run and number > 1) or number != expected or not facts(name).is_number:
                break
            run.append(name)
        if len(run) > 1:
            runs.append((stem, run))
    return runs


def _of_run(
    stem: str, columns: Sequence[str], numbers: Sequence[int], facts: FactsOf, sums: SumsTo1
) -> list[Group]:
    """Return the groups of numbered columns, by what labels count from."""
    first, k = int(NUMBERED.fullmatch(columns[0])[2]), len(columns)  # type: ignore[index]
    is_sum = sums(columns, False)
    if max(numbers) > k or all(facts(name).is_binary for name in columns):
        return []
    if all(facts(name).is_score for name in columns) and not is_sum:
        return []
    is_class = _is_class(stem)
    if k == 2 and first == 1 and min(numbers) == 0:
        return _by_words(columns, False)  # is the first 0, or named by 1?
    lacks_labels = {*numbers} <= {0, 1} and k > 2  # two of three labels: features of an event?
    return [
        Group(
            (*columns,),
            (),
            start,
            is_sum or (is_class and not lacks_labels and start in (0, first)),
        )
        for start in starts_of(first, k, numbers)
    ]


def _of_initials(names: Sequence[str], words: Sequence[str], facts: FactsOf) -> list[Group]:
    """Return, as an offer, columns of one form whose own parts begin with a label each."""
    stems = dict[str, list[str]]()
    for name in names:
        start, _, end = name.rpartition("_")
        if end and facts(name).is_number:
            stems.setdefault(start, []).append(name)
    groups = []
    for columns in stems.values():
        inner = [name.rpartition("_")[2].casefold() for name in columns]
        labels = [[word for word in words if each.startswith(word)] for each in inner]
        if len(columns) == len(words) and all(len(each) == 1 for each in labels):
            groups.append(Group((*columns,), tuple(each[0] for each in labels), 0, False))
    return groups


def _is_class(stem: str) -> bool:
    """Return whether the first or the last word before a number is one for a class."""
    words = plain(stem).split("_")
    return bool({words[0], words[-1]} & CLASS)


def _of_stem(
    names: Sequence[str], numbers: Sequence[int], facts: FactsOf, sums: SumsTo1
) -> list[Group]:
    """Return groups of names that begin with a word for a class, in their order."""
    stems = dict[str, list[str]]()
    for name in names:
        start, _, end = name.replace(".", "_").partition("_")
        if end and start.casefold() in CLASS - {"y", "c"} and facts(name).is_number:
            stems.setdefault(start, []).append(name)
    groups = []
    for columns in stems.values():
        if len(columns) < 2 or max(numbers) >= len(columns):
            continue
        is_sum = sums(columns, False)
        if all(facts(name).is_score for name in columns) and not is_sum:
            continue
        lacks_labels = {*numbers} <= {0, 1} and len(columns) > 2 and not is_sum
        groups += _by_words(columns, not lacks_labels)
    return groups


def _of_sums(
    names: Sequence[str], numbers: Sequence[int], facts: FactsOf, sums: SumsTo1
) -> list[Group]:
    """Return all columns of numbers, or all but one, if their rows sum to 1 or 100; else none.

    Columns that do not are offered where there are as many as labels count.
    """
    columns = [name for name in names if facts(name).is_number and not facts(name).is_binary]
    if not 2 <= len(columns) <= 10 * _MOST_COLUMNS:
        return []
    fractions = [name for name in columns if facts(name).is_score]
    choices = [columns, fractions]
    if len(columns) <= _MOST_COLUMNS:
        for each in (fractions, columns):
            choices += [[*choice] for choice in combinations(each, max(len(each) - 1, 0))]
    for choice in choices:
        if len(choice) > max(1, *numbers) and sums(choice, True):
            return _by_words(choice, True)
    decimals = [name for name in columns if _is_decimal(facts(name))]
    if len(decimals) == max(numbers) + 1 > 2 and not all(facts(n).is_score for n in decimals):
        return _by_words(decimals, False)
    return []


def _by_words(names: Sequence[str], is_admitted: bool) -> list[Group]:
    """Return a group in the order of its columns; of two, yes is 1 and no is 0.

    Where the names of two say nothing, either may be 1: both orders are offered. Of more words the
    order of the columns and of the alphabet, in which encoders number labels, are offered.
    """
    names = in_class_order(names)
    if len(names) != 2:
        orders = [names, sorted(names, key=str.casefold)]
        if any(map(NUMBERED.fullmatch, names)) or orders[0] == orders[1]:
            return [Group((*names,), (), 0, is_admitted)]
        return [Group((*order,), (), 0, False) for order in orders]
    start, end = affixes(names)
    inner = {name[len(start) : len(name) - len(end)].casefold(): name for name in names}
    if (event := positive({*inner})) is not None and len(inner) == 2:
        return [Group((*sorted(names, key=inner[event].__eq__),), (), 0, is_admitted)]
    return [Group((*order,), (), 0, False) for order in (names, names[::-1])]


def _is_decimal(facts: Facts) -> bool:
    return facts.is_number and not facts.is_whole


def sums_to_1(values: np.ndarray, is_tight: bool) -> bool:
    """Return whether rows (n, K) of at least 0 sum to 1, or to 100; rows with a gap do not count.

    Nine of ten rows of fractions lie within 0.15 of 1, or within 0.02 where only the sums tell; all
    rows of larger numbers lie within 15 of 100, or within 6.
    """
    values = values[~np.isnan(values).any(axis=1)]
    if not values.size or not np.all(values >= 0):
        return False
    sums = values.sum(axis=1)
    if values.max() <= 1 + EXCESS:
        return bool(np.quantile(np.abs(sums - 1), 0.9) <= (0.02 if is_tight else MARGIN))
    return bool(np.all(np.abs(sums - 100) <= (6 if is_tight else 100 * MARGIN)))
