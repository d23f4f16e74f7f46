"""The monitor's promises: how often a calibrated stream rings, and how soon a fault is found.

CALIBRATED has streams with P(hit | past, score) = score, FAULTS streams that are miscalibrated from
a row on. Those with ``design`` were looked at while the monitor was made; the others were chosen
before, and run once. Beside a delay stands the least number of rows at which the verdict of an
audit that begins at the change calls half of the data sets miscalibrated.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit, logit

from calbias.auditing.verdict.judge import judge
from calbias.conventions import SIGNIFICANT
from calbias.engine.seeding import stream
from calbias.monitoring.alternatives import PRIOR, grown, likelihood_ratios, weight_after
from calbias.monitoring.monitor import Monitor

Floats = NDArray[np.float64]
Distribution = Callable[[np.random.Generator, int], Floats]
Steps = Iterator[tuple[Floats, NDArray]]  # scores and hits (streams, rows of a cluster)
LEVEL, ROWS = 0.05, 6000
_VERBAL = np.array([0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95])
_FEWEST, _MOST, _CLOSE, _DATA_SETS = 20, 6000, 1.1, 200


def _beta(a: float, b: float) -> Distribution:
    return lambda generator, n: np.clip(generator.beta(a, b, n), 1e-9, 1 - 1e-9)


def _line(a: float, b: float) -> Callable[[Floats], Floats]:
    return lambda s: expit(a + b * logit(s))


def _band(low: float, high: float, by: float) -> Callable[[Floats], Floats]:
    return lambda s: np.clip(s + by * ((s >= low) & (s < high)), 0, 1)


def _wave(s: Floats) -> Floats:
    return s + 0.1 * np.minimum(1, 8 * s * (1 - s)) * np.sin(4 * np.pi * s)


def _growing(s: Floats) -> Floats:
    shift = -0.8 * np.minimum(np.arange(s.size) / 2000, 1)
    return expit(shift + logit(s))


DISTRIBUTIONS: dict[str, Distribution] = {
    "Beta(6, 1.5)": _beta(6, 1.5), "Beta(2, 1)": _beta(2, 1), "uniform": _beta(1, 1),
    "Beta(0.5, 0.5)": _beta(0.5, 0.5), "Beta(0.6, 30)": _beta(0.6, 30),
    "Beta(2.8, 0.05)": _beta(2.8, 0.05),
    "verbal": lambda generator, n: generator.choice(_VERBAL, n),
}  # fmt: skip


class Fault(NamedTuple):
    """Distribution of the scores, rates of hits from a row on, whether it was for the design."""

    distribution: str
    rates: Callable[[Floats], Floats]
    from_row: int
    design: bool = False

    def draw(self, generator: np.random.Generator, rows: int) -> tuple[Floats, NDArray]:
        """Return scores and hits of a stream of so many rows."""
        scores = DISTRIBUTIONS[self.distribution](generator, rows)
        before = self.from_row - 1
        rates = np.append(scores[:before], self.rates(scores[before:]))
        return scores, generator.random(rows) < rates


FAULTS = {
    "shift -0.2": Fault("Beta(6, 1.5)", _line(-0.2, 1), 1, True),
    "slope 0.8": Fault("Beta(6, 1.5)", _line(0, 0.8), 1, True),
    "shift -0.4": Fault("Beta(6, 1.5)", _line(-0.4, 1), 2001, True),
    "shift -0.8": Fault("Beta(6, 1.5)", _line(-0.8, 1), 2001, True),
    "slope 0.6": Fault("Beta(6, 1.5)", _line(0, 0.6), 2001, True),
    "10 points too high above 0.9": Fault("Beta(6, 1.5)", _band(0.9, 1.1, -0.1), 1, True),
    "band 0.60 to 0.65": Fault("Beta(6, 1.5)", _band(0.6, 0.65, -0.3), 1, True),
    "slope 0.7": Fault("uniform", _line(0, 0.7), 1001),
    "shift -0.3": Fault("Beta(2, 1)", _line(-0.3, 1), 3001),
    "shift +0.4": Fault("Beta(0.5, 0.5)", _line(0.4, 1), 1),
    "shift -0.7": Fault("Beta(0.6, 30)", _line(-0.7, 1), 1),
    "slope 0.6, saturated": Fault("Beta(2.8, 0.05)", _line(0, 0.6), 501),
    "wave of 2 cycles": Fault("uniform", _wave, 1),
    "0.8 is 20 points too high": Fault("verbal", _band(0.79, 0.81, -0.2), 2001),
    "shift that grows": Fault("Beta(6, 1.5)", _growing, 2001),
    "band 0.72 to 0.77": Fault("Beta(6, 1.5)", _band(0.72, 0.77, -0.3), 1),
    "band 0.30 to 0.35": Fault("Beta(2, 1)", _band(0.3, 0.35, 0.3), 1),
    "band 0.45 to 0.50": Fault("uniform", _band(0.45, 0.5, -0.3), 2001),
}


def _independent(name: str) -> Callable[[np.random.Generator, int], Steps]:
    def steps(generator: np.random.Generator, streams: int) -> Steps:
        while True:
            scores = DISTRIBUTIONS[name](generator, streams)[:, None]
            yield scores, generator.random(scores.shape) < scores

    return steps


def _recent_share(generator: np.random.Generator, streams: int) -> Steps:
    recent = generator.random((streams, 20)) < 0.5
    while True:
        scores = (1 + recent.sum(axis=1, keepdims=True)) / 22
        hits = generator.random(scores.shape) < scores
        yield scores, hits
        recent = np.append(recent[:, 1:], hits, axis=1)


def _after_a_miss(generator: np.random.Generator, streams: int) -> Steps:
    hits = np.zeros((streams, 1), bool)
    while True:
        scores = np.where(hits, 0.3, 0.9)
        hits = generator.random(scores.shape) < scores
        yield scores, hits


def _clusters(generator: np.random.Generator, streams: int) -> Steps:
    while True:
        scores = generator.beta(2, 1, (streams, generator.integers(1, 21)))
        yield scores, generator.random((streams, 1)) < scores


CALIBRATED = {
    **{x: _independent(x) for x in DISTRIBUTIONS if x not in ("Beta(2, 1)", "Beta(0.5, 0.5)")},
    "the share of hits in 20 rows": _recent_share,
    "0.9 after a miss, 0.3 after a hit": _after_a_miss,
    "clusters of one random number": _clusters,
}


def calibrated_rows(streams: int, rows: int, seed: int) -> list[dict]:
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
    """Return the largest and the last evidence of streams that run side by side."""
    done, factors = 0, 0
    for scores, hits in steps:
        ratios = likelihood_ratios(scores.ravel(), hits.ravel())
        ratios = ratios.reshape(*scores.shape, -1).mean(axis=1)
        if not factors:
            sums, largest = np.zeros((len(scores), PRIOR.size)), np.ones(len(scores))
        before, after = weight_after(np.array([factors, factors + 1]))
        sums = grown(sums, before - after, ratios)
        evidence = sums.sum(axis=1) + after
        largest = np.maximum(largest, evidence)
        done, factors = done + scores.shape[1], factors + 1
        if done >= rows:
            break
    return largest, evidence


def repeated_verdict_row(streams: int, seed: int) -> dict:
    """Return the row of calibrated streams whose verdict is read every 200 rows up to 4000."""
    alarms = 0
    for number in range(streams):
        generator = stream(seed, "verdict read again", str(number))
        scores = DISTRIBUTIONS["Beta(6, 1.5)"](generator, 4000)
        hits = generator.random(4000) < scores
        looks = range(200, 4001, 200)
        alarms += any(judge(scores[:n], hits[:n], seed=n).p_value <= SIGNIFICANT for n in looks)
    return {
        "distribution": "Beta(6, 1.5)", "stream": "none", "part": "verdict every 200 rows",
        "n_rows": 4000, "n_streams": streams, "alarms": alarms,
    }  # fmt: skip


CLUSTERS = {"march_madness_in_game_men": ["game"], "gpt_4_turbo": ["dataset", "question"]}
"""Columns of the clusters of genuine files; files without have their newest rows first."""


def genuine_row(path: Path) -> tuple[dict, Monitor]:
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


def fault_row(name: str, streams: int, seed: int) -> dict:
    """Return the row of the table ``monitor`` for one fault."""
    fault = FAULTS[name]
    alarms, holds = [], []
    for number in range(streams):
        scores, hits = fault.draw(stream(seed, "monitor", name, str(number)), ROWS)
        monitor, k = Monitor(LEVEL), 0
        while monitor.alarm is None and k < ROWS:
            monitor.update(scores[k : k + 200], hits[k : k + 200])
            k += 200
        alarms.append(monitor.alarm or np.inf)
        if monitor.since is not None and monitor.alarm >= fault.from_row:
            holds.append(monitor.since.low <= fault.from_row <= monitor.since.high)
    at = np.array(alarms)
    delays = at[at >= fault.from_row] - fault.from_row + 1
    median = float(np.median(delays))
    verdict = verdict_rows(fault, seed) if name != "shift that grows" else np.nan
    return {
        "distribution": fault.distribution, "stream": name,
        "part": "design" if fault.design else "judging",
        "from_row": fault.from_row, "n_rows": ROWS, "n_streams": streams,
        "alarms": int(np.isfinite(at).sum()), "early_alarms": int((at < fault.from_row).sum()),
        "median_delay": median,
        "delay_of_90_in_100": float(np.quantile(delays, 0.9, method="higher")),
        "verdict_delay": verdict, "delay_ratio": median / verdict,
        "since_coverage": float(np.mean(holds)),
    }  # fmt: skip


def verdict_rows(fault: Fault, seed: int) -> float:
    """Return the rows from the change on at which the verdict finds half of the data sets."""
    always = fault._replace(from_row=1)

    def is_found(n: int) -> bool:
        found = 0
        for number in range(_DATA_SETS):
            generator = stream(seed, "monitor verdict", str(n), str(number))
            found += judge(*always.draw(generator, n), seed=number).p_value <= SIGNIFICANT
        return 2 * found >= _DATA_SETS

    low, high = float(_FEWEST), float(_MOST)
    while high / low > _CLOSE:
        middle = np.sqrt(low * high)
        low, high = (low, middle) if is_found(round(middle)) else (middle, high)
    return round(np.sqrt(low * high))
