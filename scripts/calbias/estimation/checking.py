"""``calbias check``: an estimator's file, tried on the small data that estimators stumble over.

Each failure is one line with the smallest data that show it: of the rows on which a check fails,
those that it does not need are dropped one by one.
"""

import math
import re
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from calbias.defaults import N_BINS
from calbias.engine.sorted_batch import sorted_data_set
from calbias.errors import InputError
from calbias.estimation.loading import estimate_sums, is_of_sums, load_estimator
from calbias.estimation.registry import estimator_names, validate_unusable
from calbias.io.python_files import literal
from calbias.samples.by_score import Scored

SECONDS, ROWS = 1.0, 10_000
"""The time that an estimate of so many rows may take."""
PAGE_NORM = 2
"""The norm at which ``make estimator`` judges, by the default configuration."""
FEWER_ROWS = (100, 1000, 3000)
"""Tried before, so that a slow loop is told with a size that it can do."""
ALIKE = 1e-9
Sample = Sequence[tuple[float, int]]  # (score, hit)

_SPREAD = [(k / 20, int(k * k % 7 < 4)) for k in range(1, 20)]
DATA: dict[str, list[Sample]] = {
    "one row": [[(0.5, 1)], [(0.5, 0)]],
    "two rows": [[(0.3, 0), (0.7, 1)], [(0.3, 1), (0.7, 0)]],
    "scores of exactly 0 and 1": [[(0.0, 0)], [(1.0, 1)], [(0.0, 1), (0.0, 0), (1.0, 0), (1.0, 1)]],
    "all hits": [[(c, 1) for c, _ in _SPREAD]],
    "no hits": [[(c, 0) for c, _ in _SPREAD]],
    "one score": [[(0.8, int(k % 3 > 0)) for k in range(6)]],
    "ties": [[(round(c, 1), y) for c, y in _SPREAD]],
    "copies of rows": [_SPREAD[:4] * 25],
    "other rows": [_SPREAD, [*_SPREAD, (1.0, 0)] * 6],
}
Value = Callable[[Sample], float]


def failures(
    path: Path, seconds: float = SECONDS, doing: Callable[[str], object] = lambda text: None
) -> list[str]:
    """Return a line for each check that the estimators of a file fail.

    ``seconds`` is the time that an estimate of 10 000 rows may take; ``doing`` hears what is tried.
    """
    lines: list[str] = []
    for name in estimator_names(path):
        doing(f"{name}, small data")
        try:
            validate_unusable(name, path)
            run = load_estimator(name, path)
            for norm in literal(path, "NORMS", default=(1, 2)):
                at_norm = partial(run, n_bins=N_BINS, norm=float(norm))
                if faults := [*_failures(name, path, at_norm)]:
                    break
            lines += faults or _slow(name, at_norm, seconds, doing)
        except InputError as error:
            lines.append(f"{name}: {_without(path, error)}")
    return [f"{path}: {line}" for line in dict.fromkeys(lines)]


def notes(path: Path) -> list[str]:
    """Return what the author of a file that passes should know, a line each."""
    lines: list[str] = []
    norms = literal(path, "NORMS", default=())
    if norms and PAGE_NORM not in norms:
        lines.append(f"NORMS has no {PAGE_NORM}, at which make estimator judges: it makes no page")
    for name in estimator_names(path):
        run = load_estimator(name, path)
        norm = float(norms[0]) if norms else float(PAGE_NORM)
        for rows in DATA["other rows"]:
            value = float(run(sorted_data_set(*np.transpose(rows)), n_bins=N_BINS, norm=norm)[0][0])
            if value < 0:
                lines.append(
                    f"{name}: returned {value:.4g}: right where the estimate of a number that is "
                    "never below 0 may be, as after a correction of its bias"
                )
                break
    return lines


def _failures(name: str, path: Path, run: Callable[..., Any]) -> Iterator[str]:
    """Yield a line for each check that one estimator fails at one norm."""

    def value(rows: Sample) -> float:
        data = sorted_data_set(*np.transpose(rows))
        before = [array.copy() for array in data]
        estimate = float(run(data)[0][0])
        if not all(map(np.array_equal, before, data)):
            raise InputError("it changes the data that it is given")
        return estimate

    checks: dict[str, tuple[Callable[[Sample], str], list[Sample]]] = {
        what: (partial(_invalid, value), list_of_rows) for what, list_of_rows in DATA.items()
    }
    several = [*DATA["ties"], *DATA["other rows"]]
    checks["the same number twice"] = (partial(_differs_again, value), several)
    if is_of_sums(path):
        weighted = partial(_weighted, name, path, run.keywords)  # type: ignore[attr-defined]
        checks["sample weights"] = (partial(_depends_on_scale, value, weighted), several)
    causes: dict[str, tuple[list[str], Sample, str]] = {}  # one line for each, with its checks
    for what, (fault, list_of_rows) in checks.items():
        failing = next((rows for rows in list_of_rows if _fault(fault, rows)), None)
        if failing is not None:
            rows = _smallest(fault, failing)
            text = _without(path, _fault(fault, rows))
            cause = causes.setdefault(re.sub(r"[-+.\de]*\d", "", text), ([], rows, text))
            cause[0].append(what)
    for whats, rows, text in causes.values():
        scores, hits = [c for c, _ in rows], [y for _, y in rows]
        yield f"{name}: {', '.join(whats)}: scores {scores}, hits {hits}: {text}"


def _fault(fault: Callable[[Sample], str], rows: Sample) -> str:
    """Return what is wrong on these rows in words, or nothing."""
    with warnings.catch_warnings(action="ignore"):
        return fault(rows)


def _smallest(fault: Callable[[Sample], str], rows: Sample) -> Sample:
    """Return the rows without those that the fault does not need."""
    k = 0
    while k < len(rows) > 1:
        fewer = [*rows[:k], *rows[k + 1 :]]
        if _fault(fault, fewer):
            rows = fewer
        else:
            k += 1
    return rows


def _invalid(value: Value, rows: Sample) -> str:
    try:
        value(rows)
    except InputError as error:
        return str(error)
    return ""


def _differs_again(value: Value, rows: Sample) -> str:
    """Return how a second value of the rows differs; their order cannot: they are sorted first."""
    try:
        a, b = value(rows), value(rows)
    except InputError:  # another check says so
        return ""
    return "" if a == b else f"returned {a} and then {b}: seed the generator in each call"


def _depends_on_scale(
    value: Value, weighted: Callable[[Sample, float], float], rows: Sample
) -> str:
    """Return how an estimate with equal weights differs from one without; empty if it does not."""
    try:
        a, values = value(rows), {w: weighted(rows, w) for w in (1.0, 3.0)}
    except InputError:  # refused in one line, as it may be
        return ""
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "; ".join(
        f"returned {a} without weights and {b} where all weights are {w:g}"
        for w, b in values.items()
        if not math.isclose(a, b, rel_tol=ALIKE, abs_tol=ALIKE)
    )


def _weighted(name: str, path: Path, given: dict[str, Any], rows: Sample, weight: float) -> float:
    """Return the estimate of rows of equal weights."""
    scores, hits = np.transpose(rows)
    scored = Scored.weighted(scores, hits.astype(np.uint8), np.full(len(rows), weight))
    return estimate_sums(name, scored, given["n_bins"], given["norm"], path)[0]


def _slow(
    name: str, run: Callable[..., Any], seconds: float, doing: Callable[[str], object]
) -> list[str]:
    """Return a line if an estimate of ROWS rows, or already of fewer, takes longer than it may."""
    for rows in (*FEWER_ROWS, ROWS):
        doing(f"{name}, {rows} rows")
        generator = np.random.default_rng(0)
        scores = generator.random(rows)
        data = sorted_data_set(scores, generator.random(rows) < scores)
        if rows == FEWER_ROWS[0]:
            run(data.first(1))  # the first one compiles
        start = time.perf_counter()
        run(data.first(1))
        taken = time.perf_counter() - start
        if taken > seconds:
            most = f"more than {seconds:g} s" + f" for {ROWS} rows" * (rows < ROWS)
            return [f"{name}: time: {taken:.2g} s for {rows} rows, {most}"]
    return []


def _without(path: Path, words: object) -> str:
    """Return a message without the file that it begins with."""
    return str(words).removeprefix(str(path)).lstrip(":, ")
