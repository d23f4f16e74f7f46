"""The reading of a table, or the question which one it is: a line each, with its options."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, replace
from shlex import quote
from typing import Any, NamedTuple

from calbias.errors import InputError, Question
from calbias.reading.columns import Columns, listed
from calbias.reading.outcomes import follow_up
from calbias.reading.output_file import Place
from calbias.reading.reading import CLASSES, EVENT, HITS, PREDICTED, Header, Reading
from calbias.reading.readings import readings_of
from calbias.reading.unreadable import why_unreadable

_MOST_LINES = 12
_ROLES = {HITS: "hit", PREDICTED: "label", EVENT: "label", CLASSES: "label"}


class JudgedRows(NamedTuple):
    """What a reading judges: rows, mean score, share of hits, a digest of scores and hits."""

    rows: int
    mean: float
    share: float
    digest: bytes


Judge = Callable[[Reading], JudgedRows]


def chosen(header: Header, columns: Columns, location: Place, judge: Judge) -> Reading:
    """Return the one reading that is admitted; Question for several, InputError for none.

    Readings of which all scores and hits are equal are one.
    """
    readings = readings_of(header, columns)
    if len(readings) == 1 and readings[0].is_admitted:
        return readings[0]
    if not readings:
        raise location.error(why_unreadable(header, columns))
    judged: list[tuple[Reading, JudgedRows | None, str]] = []
    for reading in readings[: 4 * _MOST_LINES]:
        try:
            facts, problem = judge(reading), ""
        except InputError as error:
            facts, problem = None, str(error)
        if facts is None or all(other is None or facts != other for _, other, _ in judged):
            judged.append((reading, facts, problem))
    if len(judged) == 1 and readings[0].is_admitted:
        return readings[0]
    lines = [line for each in judged if (line := _line(header, columns, *each))]
    if not any(facts for _, facts, _ in judged) and judged[0][2]:
        raise InputError(judged[0][2])
    if not lines:
        raise location.error(why_unreadable(header, columns))
    which = "this is one" if len(lines) == 1 else f"which of {len(lines)}"
    raise Question(
        f"{location.file}: a reading has to be chosen ({which}): "
        f"{_follow_up_first(header, columns, readings)}add the options of a line",
        lines[:_MOST_LINES] + ["…"] * (len(lines) > _MOST_LINES),
    )


def _follow_up_first(header: Header, columns: Columns, readings: Sequence[Reading]) -> str:
    """Return the options of a follow-up, which no reading judges, where there may be one; or ""."""
    times = [(each.outcome, time) for each in readings if (time := follow_up(header, each))]
    if not times or columns.label or columns.hit:
        return ""
    outcome, time = times[0]
    return (
        f"for the risk by a horizon H add {_with_value('--time', time)} "
        f"{_with_value('--status', str(outcome))} --horizon H (audit, recalibrate, plan), else "
    )


def of_rows(
    reading: Reading, rows: Sequence[str], judge: Callable[[str], JudgedRows], location: Place
) -> Question:
    """Return the question which rows are judged, each COLUMN=VALUE, where a column may be folds."""
    lines = list[str]()
    for each in rows:
        try:
            numbers = _numbers(reading, judge(each))
        except InputError as error:
            numbers = f"cannot be read ({error})"
        lines.append(f"{_with_value('--rows', each)}: {in_words(reading)}; {numbers}")
    name = rows[0].partition("=")[0]
    return Question(
        f"{location.file}: column {name} may say which rows are of the test: add the option of a "
        "line, or drop the column to judge all rows",
        lines,
    )


def in_words(reading: Reading) -> str:
    """Return what a reading judges, in a few words."""
    if reading.kind == HITS:
        text = f"{reading.score} is the confidence in a prediction, {reading.outcome} says whether "
        return text + "it was correct"
    if reading.kind == PREDICTED:
        return (
            f"{reading.score} is the confidence in {reading.prediction}, which is correct where "
            f"it equals {reading.outcome}"
        )
    outcome = reading.outcome or "the one-hot label"
    if reading.kind == EVENT and reading.score and not reading.group:
        return f"{reading.score} is the probability that {outcome} is {reading.event}"
    classes = f"{listed(reading.classes)} are {reading.values}"
    if reading.score:
        classes = f"{reading.score} is the recalibrated score of {classes}"
    counted = reading.group if _counts(reading) else None
    start = f"; {outcome} counts from {counted.count_from}" if counted else ""
    if reading.kind == EVENT:
        return f"{classes}{start}; judged is the probability that {outcome} is {reading.event}"
    return f"{classes}{start}; judged is the confidence in the largest, right where {outcome} is it"


def _counts(reading: Reading) -> bool:
    return reading.group is not None and not reading.group.labels


def _line(
    header: Header, columns: Columns, reading: Reading, facts: JudgedRows | None, problem: str
) -> str:
    """Return a line of a question: the options of a reading, and what tells it apart; or ""."""
    options = options_of(header, columns, reading)
    if options is None:
        return ""
    numbers = f"cannot be read ({problem})"
    if facts is not None:
        numbers = _numbers(reading, facts)
    why = f" ({reading.why})" if reading.why else ""
    return f"{options}: {in_words(reading)}{why}; {numbers}"


def _numbers(reading: Reading, facts: JudgedRows) -> str:
    share = "events" if reading.kind == EVENT else "hits"
    return (
        f"{facts.rows} rows, mean score {100 * facts.mean:.1f} %, {100 * facts.share:.1f} % {share}"
    )


def options_of(header: Header, columns: Columns, reading: Reading) -> str | None:
    """Return the fewest options that leave this reading alone, or None where none do."""
    given = _all_options(reading, columns)
    for names_labels in (False, True):
        try:
            full = replace(columns, **given, **_classes_option(reading, names_labels))
        except InputError:
            continue
        if not _leaves(header, full, reading):
            continue
        for name in ("values", "score", "count_from", "classes", "label", "hit", "prediction",
                     "event", "top_label"):  # fmt: skip
            try:
                fewer = replace(full, **{name: getattr(columns, name)})
            except InputError:
                continue
            if fewer != full and _leaves(header, fewer, reading):
                full = fewer
        return " ".join(_as_text(columns, full))
    return None


def _leaves(header: Header, columns: Columns, reading: Reading) -> bool:
    try:
        readings = readings_of(header, columns)
    except InputError:
        return False
    return len(readings) == 1 and readings[0].is_admitted and _key(readings[0]) == _key(reading)


def _key(reading: Reading) -> Any:
    """Return what tells a reading apart, without the rows to leave out, which are options."""
    group = reading.group
    labels = tuple(each.casefold() for each in group.labels) if group else ()
    return (
        reading.kind, reading.score, reading.outcome, reading.prediction,
        str(reading.event).casefold(), reading.classes, labels, group and group.count_from,
        reading.one_hot, reading.values, reading.top_label,
    )  # fmt: skip


def _all_options(reading: Reading, columns: Columns) -> dict[str, Any]:
    options: dict[str, Any] = {"score": None if reading.group else reading.score}
    if reading.outcome:
        options[_ROLES[reading.kind]] = reading.outcome
    options["prediction"] = reading.prediction
    options["event"] = reading.event
    options["top_label"] = reading.top_label or columns.top_label
    options["values"] = reading.values
    if reading.missing:
        options["missing"] = (*columns.missing, *reading.missing)
    if _counts(reading) and reading.group:
        options["count_from"] = reading.group.count_from
    return options


def _classes_option(reading: Reading, names_labels: bool) -> dict[str, Any]:
    group = reading.group
    if group is None:
        return {}
    if names_labels and group.labels:
        return {"classes": [f"{a}={b}" for a, b in zip(group.labels, group.names, strict=True)]}
    return {"classes": group.names}


def _as_text(columns: Columns, options: Columns) -> Iterator[str]:
    """Yield the words of the options that were added to those that the user gave."""
    for each in fields(Columns):
        value, before = getattr(options, each.name), getattr(columns, each.name)
        option = f"--{each.name.replace('_', '-')}"
        if value == before:
            continue
        if value is True:
            yield option
        elif each.name == "classes":
            yield f"{option} {' '.join(map(quote, value))}"
        elif isinstance(value, tuple):
            yield from (_with_value(option, text) for text in value[len(before) :])
        else:
            yield _with_value(option, str(value))


def _with_value(option: str, text: str) -> str:
    """Return an option for a shell; argparse takes -100, but no other value with a dash."""
    is_number = text[1:].replace(".", "", 1).isdigit()
    separator = "=" if text.startswith("-") and not is_number else " "
    return f"{option}{separator}{quote(text)}"
