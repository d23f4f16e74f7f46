"""Recalibration maps of parts of the rows: of subgroups, of the other rows, or of ``--rows``.

A map remembers its rows by conditions. Each row takes the first map whose conditions it meets; a
row that meets none is refused.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from calbias.auditing.data import EVENT, Data
from calbias.defaults import PROBABILITIES
from calbias.engine.scores_and_hits import array_error
from calbias.errors import InputError, reading
from calbias.io.files import not_utf8, validate_file_exists
from calbias.reading.top_label import top_label_of_scores
from calbias.reading.words import FOLD, plain
from calbias.recalibration.map_text import GENERATOR, LARGEST_TEXT
from calbias.recalibrator import Recalibrator, read_text

VERSION = 1
_MOST_MAPS, _MOST_CONDITIONS = 100, 10

Columns = Mapping[str, Sequence[Any]]


class Condition(NamedTuple):
    """What holds for the cells of a column: a value, None for an empty cell, or a range.

    With ``value`` "" numbers above ``above`` and at most ``at_most`` hold, each None without limit.
    """

    column: str
    value: str | None = ""
    above: float | None = None
    at_most: float | None = None

    @property
    def is_range(self) -> bool:
        """Whether it is of numbers between two ends."""
        return self.value == ""

    def __str__(self) -> str:
        if self.value is None:
            return f"{self.column} is missing"
        if not self.is_range:
            return f"{self.column} = {self.value}"
        ends = [f"above {self.above:g}"] * (self.above is not None)
        ends += [f"at most {self.at_most:g}"] * (self.at_most is not None)
        return f"{self.column} {' and '.join(ends) or 'is a number'}"

    def holds(self, cells: Sequence[Any]) -> NDArray[np.bool_]:
        """Return for which cells (n,) it holds."""
        texts = [None if is_missing(cell) else str(cell).strip() for cell in cells]
        if self.value is None:
            return np.array([text is None for text in texts], bool)
        numbers = np.array([number_of(text) for text in texts])
        if self.is_range:
            low = -math.inf if self.above is None else self.above
            high = math.inf if self.at_most is None else self.at_most
            return (numbers > low) & (numbers <= high)
        number = number_of(self.value)
        same = np.array([text == self.value for text in texts], bool)
        return same if math.isnan(number) else same | (numbers == number)


class RowMap(NamedTuple):
    """A map, and the conditions of the rows that it is for, all of which hold; none for all."""

    rows: tuple[Condition, ...]
    map: Recalibrator

    def __str__(self) -> str:
        return " and ".join(map(str, self.rows)) or "the other rows"


class RowMaps(NamedTuple):
    """Maps in the order in which rows take them."""

    maps: tuple[RowMap, ...]

    @property
    def columns(self) -> list[str]:
        """The columns that conditions are of."""
        return list(dict.fromkeys(each.column for one in self.maps for each in one.rows))

    def to_json(self) -> str:
        """Return the maps as a JSON text; one map for all rows is ``Recalibrator.to_json``."""
        if len(self.maps) == 1 and not self.maps[0].rows:
            return self.maps[0].map.to_json()
        maps = [
            {"rows": [each._asdict() for each in one.rows], "map": json.loads(one.map.to_json())}
            for one in self.maps
        ]
        head = {"generator": GENERATOR, "calbias_maps": VERSION}
        return json.dumps(head | {"maps": maps}, allow_nan=False, ensure_ascii=False)

    def parts(
        self, columns: Columns, n: int, error: Callable[[str, int], InputError]
    ) -> Iterator[tuple[Recalibrator, NDArray[np.int64]]]:
        """Yield each map with the rows of n that take it; ``error`` makes the error of a row."""
        free = np.ones(n, bool)
        for each in self.maps:
            takes = free.copy()
            for condition in each.rows:
                takes &= condition.holds(columns[condition.column])
            free &= ~takes
            if takes.any():
                yield each.map, np.flatnonzero(takes)
        if free.any():
            names = "; ".join(str(each) for each in self.maps)
            raise error(
                f"no map is for this row, but for {names:.200}: fit maps of all rows with --by",
                int(free.argmax()),
            )


def rows_of_option(rows: Sequence[str]) -> tuple[Condition, ...]:
    """Return the conditions of ``--rows COLUMN=VALUE``.

    A fold is none: a map is fitted on one and applied to others.
    """
    pairs = (each.partition("=") for each in rows)
    return tuple(
        Condition(column.strip(), value.strip() or None)
        for column, _, value in pairs
        if plain(column) not in FOLD
    )


def read_map(path: Path | str) -> RowMaps:
    """Return the maps of a file; InputError, with its name, where it holds none."""
    if str(path) == "-":
        raise InputError("-: a map is not read from standard input: give its file")
    validate_file_exists(path)
    with open(path, "rb") as file:
        data = file.read(LARGEST_TEXT + 1)
    try:
        return read_maps(data.decode("utf-8-sig"), path)
    except UnicodeDecodeError:
        raise not_utf8(path, data) from None
    except InputError as error:
        start = "" if str(error).startswith(f"{path}: ") else f"{path}: "
        raise InputError(f"{start}{error}") from None


def read_maps(text: str, name: object) -> RowMaps:
    """Return the maps of a JSON text; ``name`` says in errors where it comes from."""
    with reading(name, "recalibration map", "give what calbias recalibrate wrote"):
        state = json.loads(text) if isinstance(text, str) and len(text) <= LARGEST_TEXT else None
        if not isinstance(state, dict) or "calbias_maps" not in state:
            return RowMaps((RowMap((), read_text(text, name)),))
        heads = ({**state, "maps": 0}, {"generator": GENERATOR, "calbias_maps": VERSION, "maps": 0})
        if len({json.dumps(each, sort_keys=True) for each in heads}) > 1:  # true is not 1
            raise InputError("the maps are of another version: use the calbias that wrote them")
        maps = tuple(_row_map(each, name) for each in state["maps"])
        if not 1 <= len(maps) <= _MOST_MAPS:
            raise InputError(f"{len(maps)} maps: a file has 1 to {_MOST_MAPS}")
        return RowMaps(maps)


def _row_map(state: Any, name: object) -> RowMap:
    conditions = tuple(Condition(**each) for each in state["rows"])
    for each in conditions:
        ends = [end for end in each[2:] if end is not None]
        is_good = isinstance(each.column, str) and isinstance(each.value, str | None)
        is_good &= sorted(ends) == ends
        are_numbers = all(type(end) in (int, float) and math.isfinite(end) for end in ends)
        if not (is_good and are_numbers and (each.is_range or not ends)):
            raise InputError("the recalibration map is damaged: rows; fit it again")
    if len(conditions) > _MOST_CONDITIONS or {*state} != {"rows", "map"}:
        raise InputError("the recalibration map is damaged: rows; fit it again")
    return RowMap(conditions, read_text(json.dumps(state["map"]), name))


def is_missing(cell: Any) -> bool:
    """Return whether a cell holds nothing."""
    return cell is None or cell != cell or (isinstance(cell, str) and not cell.strip())


def number_of(text: str | None) -> float:
    """Return the number that a text is, NaN where it is none."""
    try:
        return float(text) if text is not None else math.nan
    except ValueError:
        return math.nan


def corrected(data: Data, maps: RowMaps, name: str, score: str | None = None) -> Data:
    """Return the same rows with the scores after the maps; ``name`` is their file's.

    ``data.by`` has the columns that the conditions are of, and ``score`` is the column of the
    scores that the user names. Of class probabilities the largest is judged.
    """
    top, scores, hits = data.single, np.empty(data.scored.n), data.single.hit.astype(np.uint8)

    def error(problem: str, row: int) -> InputError:
        return array_error(f"{name}: {problem}", row)

    parts = [*maps.parts(data.by or {}, scores.size, error)]
    for recalibrator, rows in parts:
        if (recalibrator.n_classes_ is None) != (data.logits is None):
            kinds = (
                f"{k} classes" if k else "scores"
                for k in (recalibrator.n_classes_, 0 if data.logits is None else data.n_classes)
            )
            raise InputError("{}: the map is of {}, and {} are given".format(name, *kinds))
        if data.logits is None or data.labels is None:
            fitted, judged = recalibrator.score_, data.score
            if not score and fitted and judged and fitted.casefold() != judged.casefold():
                raise InputError(
                    f"{name}: the map was made from column {fitted}, and {judged} is judged: name "
                    "the column that the map is for by --score"
                )
            scores[rows] = recalibrator.predict(top.score[rows])
            continue
        is_of_shares, order = recalibrator.values == PROBABILITIES, _order(recalibrator, data, name)
        if is_of_shares != (data.form == PROBABILITIES):
            raise InputError(
                f"{name}: the map is of {recalibrator.values}, and {data.form} are given"
            )
        values = data.logits[rows][:, order].astype(np.float64)
        predicted = recalibrator.predict(softmax(values, axis=1) if is_of_shares else values)
        if predicted.ndim == 2:
            hits[rows] = order[predicted.argmax(axis=1)] == data.labels[rows]
            predicted = predicted.max(axis=1)
        scores[rows] = predicted
    notes = [*data.notes, f"the scores are those after the map in {name}"]
    if all(recalibrator.n_rows_ == rows.size for recalibrator, rows in parts):
        notes.append(
            "the map was fitted on as many rows as these: if they are the same rows, the scores "
            "look better than they are; audit others"
        )
    return Data.of(
        top_label_of_scores(scores, hits), data.clusters, kind=data.kind, by=data.by,
        warnings=data.warnings, hints=data.hints, place=data.place, score=data.score,
        notes=tuple(notes),
    )  # fmt: skip


def _order(recalibrator: Recalibrator, data: Data, name: str) -> NDArray[np.int64]:
    """Return the positions (K,) of a map's classes in the data, by their names."""
    fitted, given = ([each.casefold() for each in x] for x in (recalibrator.columns_, data.classes))
    if not (fitted and given) or fitted == given:
        return np.arange(data.n_classes or 0)
    if sorted(fitted) != sorted(given) or data.kind == EVENT:
        raise InputError(
            f"{name}: the map is of the classes {', '.join(recalibrator.columns_):.200}, in this "
            f"order, and {', '.join(data.classes):.200} are given"
        )
    return np.array([given.index(each) for each in fitted])
