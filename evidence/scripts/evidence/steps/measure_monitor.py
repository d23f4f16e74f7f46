"""The monitor's promises: how often a calibrated stream rings, and how soon a fault is found.

Beside a delay stands the least number of rows at which the verdict of an audit that begins at the
change calls half of the data sets miscalibrated.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd

from calbias.auditing.verdict.judge import judge
from calbias.engine.seeding import stream
from calbias.monitoring.blocks import PRIOR, grown, likelihood_ratios, weight_after
from calbias.monitoring.monitor import Monitor
from calbias.monitoring.sizes import SIZES, class_of, weights_after
from calbias.samples.by_score import Scored
from evidence.cells.streams import (
    CALIBRATED,
    FAULTS,
    GROWING,
    Fault,
    Floats,
    ReadAgain,
    Steps,
    StreamRows,
)
from evidence.runner import Method, Row, Values, each, run
from pipeline.steps import AtLeast, Seed
from pipeline.tables import write_table

LEVEL, ROWS, AT_ONCE = 0.05, 6000, 200
READ_UNTIL = 4000
_FEWEST, _MOST, _CLOSE = 20, 6000, 1.1


def calibrated_rows(streams: int, rows: int, seed: int) -> list[Row]:
    """Return a row of the table ``monitor`` for each kind of calibrated stream."""
    return [
        {
            "distribution": name, "stream": "none", "part": "calibrated", "n_rows": rows,
            "n_streams": streams, "alarms": int((largest >= 1 / LEVEL).sum()),
            "mean_evidence": float(last.mean()),
        }
        for name, steps in CALIBRATED.items()
        for largest, last in [evidence_of(steps(stream(seed, "monitor", name), streams), rows)]
    ]  # fmt: skip


def evidence_of(steps: Steps, rows: int) -> tuple[Floats, Floats]:
    """Return the largest and the last evidence of streams that run side by side.

    They end where the first of them has so many rows; a score of NaN is no row.
    """
    factors = 0
    for scores, hits in steps:
        is_row = ~np.isnan(scores)
        ratios = likelihood_ratios(np.where(is_row, scores, 0.5).ravel(), hits.ravel())
        gains = ratios.reshape(*scores.shape, -1) - 1.0
        if not factors:
            sums, largest = np.zeros((len(scores), PRIOR.size)), np.ones(len(scores))
            counts, done = np.zeros((len(scores), SIZES.size), np.int64), np.zeros(len(scores), int)
        ranks = np.arange(1, scores.shape[1] + 1)
        weights = weights_after(counts)[:, np.searchsorted(SIZES, ranks)] * is_row
        before, after = weight_after(np.array([factors, factors + 1]))
        sums = grown(sums, before - after, 1.0 + np.einsum("ij,ijk->ik", weights, gains))
        evidence = sums.sum(axis=1) + after
        largest = np.maximum(largest, evidence)
        sizes = is_row.sum(axis=1)
        counts[np.arange(len(scores)), class_of(sizes)] += 1
        done, factors = done + sizes, factors + 1
        if done.max() >= rows:
            break
    return largest, evidence


def repeated_verdict_rows(streams: int, seed: int) -> Iterator[Row]:
    """Yield the row of calibrated streams whose verdict is read every 200 rows up to 4000."""

    def reduce(
        cell: ReadAgain, n: int, methods: Mapping[str, Method], values: Values
    ) -> Iterator[Row]:
        yield {
            "distribution": cell.distribution, "stream": "none", "part": cell.name,
            "n_rows": n, "n_streams": streams, "alarms": int(values["verdict"].sum()),
        }  # fmt: skip

    methods = {"verdict": Method("", each(_rejects_once))}
    return run([(ReadAgain(), READ_UNTIL)], lambda *_: methods, streams, seed, reduce)


def _rejects_once(rows: StreamRows) -> bool:
    looks = range(AT_ONCE, len(rows.scores) + 1, AT_ONCE)
    samples = ((Scored.of(rows.scores[:n], rows.hits[:n]), n) for n in looks)
    return any(judge(scored, seed=n).miscalibrated for scored, n in samples)


CLUSTERS = {"march_madness_in_game_men": ["game"], "gpt_4_turbo": ["dataset", "question"]}
"""Columns of the clusters of genuine files; files without have their newest rows first."""


def genuine_row(path: Path) -> tuple[Row, Monitor]:
    """Return the row of a file of genuine forecasts or answers, and its Monitor."""
    rows, monitor, ids = pd.read_parquet(path), Monitor(LEVEL), None
    if path.stem in CLUSTERS:
        ids = rows[CLUSTERS[path.stem]].astype(str).agg("/".join, axis=1).to_numpy()
    else:
        rows = rows[::-1]
    monitor.update(rows["score"].to_numpy(), rows["hit"].to_numpy(), ids)
    return {
        "distribution": path.stem, "stream": "not known", "part": "genuine", "n_rows": monitor.n,
        "n_streams": 1, "alarms": int(monitor.alarm is not None), "alarm_row": monitor.alarm,
        "from_row": monitor.since and monitor.since.row,
    }, monitor  # fmt: skip


def draw(monitor: Monitor, path: Path) -> None:
    """Draw the picture of a monitor into a file."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6.4, 3.2), layout="constrained")
    monitor.plot(axes).set_title(path.stem.removeprefix("monitor_"))
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=80)


def fault_rows(
    streams: int, seed: int, faults: Iterable[Fault] = FAULTS, rows: int = ROWS
) -> Iterator[Row]:
    """Yield the rows of the table ``monitor`` for the faults."""

    def reduce(cell: Fault, n: int, methods: Mapping[str, Method], values: Values) -> Iterator[Row]:
        yield _fault_row(cell, n, values["alarm"], verdict_delay(cell, 2 * streams, seed))

    methods = {"alarm": Method("", each(_alarm))}
    return run(((fault, rows) for fault in faults), lambda *_: methods, streams, seed, reduce)


def _alarm(rows: StreamRows) -> tuple[float, float, float]:
    """Return the row of the alarm and the ends of its interval for the first row of the fault."""
    monitor, k = Monitor(LEVEL), 0
    while monitor.alarm is None and k < len(rows.scores):
        monitor.update(rows.scores[k : k + AT_ONCE], rows.hits[k : k + AT_ONCE])
        k += AT_ONCE
    since = monitor.since
    low, high = (np.nan, np.nan) if since is None else (since.low, since.high)
    return monitor.alarm or np.inf, low, high


def _fault_row(fault: Fault, n: int, alarms: Floats, verdict: float) -> Row:
    """Return the row of a fault; alarms (streams, 3) are alarm rows and ends of ``since``."""
    alarm_row, since_low, since_high = alarms.T
    after_change = alarm_row >= fault.from_row
    delays = alarm_row[after_change] - fault.from_row + 1
    has_interval = after_change & ~np.isnan(since_low)
    contains_change = (since_low <= fault.from_row) & (fault.from_row <= since_high)
    median = float(np.median(delays))
    return {
        "distribution": fault.distribution, "stream": fault.name, "part": fault.half,
        "from_row": fault.from_row, "n_rows": n, "n_streams": alarm_row.size,
        "alarms": int(np.isfinite(alarm_row).sum()), "early_alarms": int((~after_change).sum()),
        "median_delay": median,
        "delay_of_90_in_100": float(np.quantile(delays, 0.9, method="higher")),
        "verdict_delay": verdict, "delay_ratio": median / verdict,
        "since_coverage": (
            float(contains_change[has_interval].mean()) if has_interval.any() else np.nan
        ),
    }  # fmt: skip


def verdict_delay(fault: Fault, data_sets: int, seed: int) -> float:
    """Return the rows from the change on at which the verdict finds half of the data sets.

    NaN for a fault that grows: its rows from the change on are not alike.
    """
    if fault.name == GROWING:
        return np.nan
    always = replace(fault, from_row=1)

    def is_found(n: int) -> bool:
        n_found = missed = 0
        while 2 * n_found < data_sets and 2 * missed <= data_sets:
            number = n_found + missed
            generator = stream(seed, "monitor verdict", str(n), str(number))
            verdict = judge(Scored.of(*always.rows(generator, n)), seed=number)
            n_found, missed = n_found + verdict.miscalibrated, missed + (not verdict.miscalibrated)
        return 2 * n_found >= data_sets

    low, high = float(_FEWEST), float(_MOST)
    while high / low > _CLOSE:
        middle = np.sqrt(low * high)
        low, high = (low, middle) if is_found(round(middle)) else (middle, high)
    return round(np.sqrt(low * high))


def measure_monitor(
    *,
    streams: list[Path],
    replicates: Annotated[int, AtLeast(2)],
    n_rows: Annotated[int, AtLeast(100)],
    pictures: Path | None = None,
    seed: Seed,
    output: Path,
) -> None:
    """Measure the monitor's false alarms and delays, and watch genuine streams.

    streams: files of genuine streams (Parquet)
    replicates: simulated streams of each kind
    n_rows: rows of a calibrated stream
    pictures: folder for a picture of each genuine stream
    seed: seed of all random streams
    output: table to write
    """
    rows = calibrated_rows(replicates, n_rows, seed)
    rows += repeated_verdict_rows(replicates, seed)
    rows += fault_rows(replicates, seed)
    for path in streams:
        row, monitor = genuine_row(path)
        rows.append(row)
        if pictures:
            draw(monitor, pictures / f"monitor_{path.stem}.png")
    write_table(output, "monitor", rows)
