import math
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from calbias.defaults import N_BINS
from calbias.engine.sorted_batch import sorted_data_set
from calbias.estimation.loading import load_estimator
from pipeline.provenance import timed
from pipeline.steps import AtLeast
from pipeline.tables import write_table

ROUNDS, LEAST = 5, 0.005
"""Rounds of which the fastest counts, and the CPU seconds that one takes at least."""
LONGEST = 10.0  # CPU seconds that a call is expected to take at most, or else it is left out


def time_estimator(
    *,
    estimators: dict[str, Path],
    n_samples: list[Annotated[int, AtLeast(2)]],
    norm: float,
    output: Path,
) -> None:
    """Time one call of each estimator on sorted rows, beside numpy.sort of as many scores.

    estimators: files of the estimators, as NAME=PATH
    n_samples: sample sizes, the smallest first
    norm: p of the ℓp error
    output: table to write
    """
    rows = [
        row
        for name, path in estimators.items()
        for row in _rows(name, load_estimator(name, path), n_samples, norm)
    ]
    write_table(output, "estimator_cost", rows)


def _rows(
    name: str, run: Callable[..., Any], sizes: list[int], norm: float
) -> Iterator[dict[str, Any]]:
    """Yield a row for each sample size."""
    timings: list[tuple[int, float]] = []
    for n in sizes:
        generator = np.random.default_rng(n)
        scores = generator.random(n)
        data = sorted_data_set(scores, generator.random(n) < scores)
        seconds, peak = math.nan, math.nan
        if _expected(timings, n) <= LONGEST:
            call = partial(_estimate, run, data, norm)
            if not timings:
                call()  # the first one compiles
            seconds = _fastest(call)
            peak = _peak(call)
            timings.append((n, seconds))
        sort = _fastest(partial(np.sort, scores))
        yield {
            "estimator": name,
            "n_samples": n,
            "milliseconds": 1e3 * seconds,
            "ratio_to_sort": seconds / sort,
            "peak_mebibytes": peak,
        }


def _estimate(run: Callable[..., Any], data: Any, norm: float) -> None:
    run(data.first(1), N_BINS, norm)  # a new batch: it caches what estimators calculate


def _expected(timings: list[tuple[int, float]], n: int) -> float:
    """Return the seconds of a call at n rows if it goes on to grow as it did, at least linearly."""
    if not timings:
        return 0.0
    power = max(_power(timings), 1.0)
    return timings[-1][1] * (n / timings[-1][0]) ** power


def _power(timings: list[tuple[int, float]]) -> float:
    """Return the power of n with which the seconds of the last two sizes grow."""
    if len(timings) < 2:
        return 1.0
    (a, s), (b, t) = timings[-2:]
    return math.log(t / s) / math.log(b / a)


def _fastest(call: Callable[[], Any]) -> float:
    """Return the CPU seconds of a call, the fastest of some rounds of many calls."""
    once = timed(call)
    if once > 1.0:
        return once
    number = max(1, round(LEAST / max(once, 1e-7)))
    calls = partial(_repeat, call, number)
    return min(timed(calls) for _ in range(ROUNDS)) / number


def _repeat(call: Callable[[], Any], number: int) -> None:
    for _ in range(number):
        call()


def _peak(call: Callable[[], Any]) -> float:
    """Return the MiB that Python and NumPy have allocated at most during a call."""
    tracemalloc.start()
    call()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / 2**20
