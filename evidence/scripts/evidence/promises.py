"""Cells on which promises of docs/tool/method.md were judged: written first, run once.

    PYTHONPATH=scripts:evidence/scripts python -m evidence.promises > promises.csv

Lines of promise, cell, what was counted, value, Monte Carlo error, data sets.
"""

from __future__ import annotations

import csv
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import expit, logit, ndtr
from scipy.stats import binom

from calbias.auditing.audit import audit
from calbias.auditing.inputs import prepared
from calbias.auditing.page.advice import advised_method
from calbias.auditing.recalibrations import recalibration_map
from calbias.auditing.verdict.clusters import whole_clusters_p_value
from calbias.auditing.verdict.judge import judge
from calbias.monitoring.blocks import PRIOR, grown, likelihood_ratios, weight_after
from calbias.monitoring.monitor import Monitor
from calbias.monitoring.stream import read_stream
from calbias.reading.columns import Columns
from calbias.recalibration.isotonic import isotonic
from calbias.recalibration.logistic import ENDS
from calbias.recalibration.methods import OF_SCORES
from calbias.samples.by_score import Scored

SEED, REDRAWS = 68_2026, 199
Rows = tuple[np.ndarray, np.ndarray]
Line = tuple[str, str, str, float, float, int]


def _generator(name: str, k: int) -> np.random.Generator:
    return np.random.default_rng([SEED, *name.encode(), k])


def _share(promise: str, cell: str, what: str, decisions: list[bool]) -> Line:
    p = float(np.mean(decisions)) if decisions else float("nan")
    return (
        promise,
        cell,
        what,
        p,
        float(np.sqrt(p * (1 - p) / max(len(decisions), 1))),
        len(decisions),
    )


def more_than_4096_clusters() -> Iterator[Line]:
    """Clusters of one random number, sizes 1 to 6 by their score."""
    for number in (6000, 30_000):
        decisions = []
        for k in range(40):
            generator = _generator("clusters", k)
            scores = generator.beta(1.5, 1.5, number)
            sizes = 1 + np.floor(6 * scores).astype(int)
            hits = np.repeat(generator.random(number) < scores, sizes)
            ids = np.repeat(np.arange(number), sizes)
            sample = Scored.of(np.repeat(scores, sizes), hits * 1, clusters=ids)
            decisions.append(judge(sample, REDRAWS).p_value <= 0.05)
        yield _share(
            "0", f"{number} clusters of 1 to 6 equal rows", "calibrated, rejected", decisions
        )


def _until_third_miss(generator: np.random.Generator) -> Rows:
    scores = generator.beta(4, 2, 60)
    hits = generator.random(60) < scores
    n = int(np.argmax(np.cumsum(~hits) >= 3)) + 1 if (~hits).sum() >= 3 else 60
    return scores[:n], hits[:n]


def _leaves_after_a_miss(generator: np.random.Generator) -> Rows:
    scores, hits = list[float](), list[bool]()
    while len(scores) < 50:
        score = generator.uniform(0.1, 0.9)
        scores.append(score)
        hits.append(generator.random() < score)
        if generator.random() < (0.1 if hits[-1] else 0.5):
            break
    return np.array(scores), np.array(hits)


def _one_number(generator: np.random.Generator) -> Rows:
    scores = generator.beta(3, 2, generator.geometric(0.15))
    return scores, generator.random() < scores


def _wrong(generator: np.random.Generator) -> Rows:
    """A shift of −0.6, with a normal effect of the cluster of correlation 0.4."""
    scores = generator.beta(3, 2, generator.geometric(0.15))
    z = np.sqrt(0.4) * generator.standard_normal() + np.sqrt(0.6) * generator.standard_normal(
        scores.size
    )
    return scores, ndtr(z) < expit(logit(scores) - 0.6)


def monitors() -> Iterator[Line]:
    """Calibrated streams of clusters whose sizes depend on their hits, and a fault."""
    cells: dict[str, Callable[[np.random.Generator], Rows]] = {
        "until the third miss": _until_third_miss, "leaves after a miss": _leaves_after_a_miss,
        "one random number": _one_number,
    }  # fmt: skip
    for name, draw in cells.items():
        decisions = []
        for k in range(60):
            generator = _generator(name, k)
            rows = [draw(generator) for _ in range(400)]
            ids = np.repeat(np.arange(400), [s.size for s, _ in rows])
            monitor = Monitor()
            scores, hits = (np.concatenate(x) for x in zip(*rows, strict=True))
            monitor.update(scores, hits, ids)
            decisions.append(monitor.alarm is not None)
        yield _share("1", name, "calibrated, alarms", decisions)
    delays = []
    for k in range(40):
        generator = _generator("wrong", k)
        rows = [_wrong(generator) for _ in range(500)]
        ids = np.repeat(np.arange(500), [s.size for s, _ in rows])
        monitor = Monitor()
        scores, hits = (np.concatenate(x) for x in zip(*rows, strict=True))
        monitor.update(scores, hits, ids)
        delays.append((monitor.alarm or np.inf, _row_of_means(rows)))
    ours, means = np.array(delays).T
    yield _share("1", "shift −0.6, geometric sizes", "found", np.isfinite(ours).tolist())
    for name, row in (("weights", ours), ("means", means)):
        middle = float(np.median(row))
        spread = 1.25 * float(np.std(row[np.isfinite(row)])) / np.sqrt(len(row))
        yield "1", "shift −0.6, geometric sizes", f"median row by {name}", middle, spread, len(row)
    decisions = []
    for k in range(40):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "patients.csv"
            _patients(_generator("patients", k)).to_csv(file, index=False)
            stream = read_stream(file, "day", Columns(cluster=("patient",)), False)
        monitor = Monitor()
        monitor.update(stream.scores, stream.hits, stream.clusters)
        decisions.append(monitor.alarm is not None)
    yield _share("1", "watch: staggered patients until the event", "calibrated, alarms", decisions)


def _row_of_means(rows: list[Rows]) -> float:
    """Return the row of the alarm if a cluster's factor were the mean of its ratios."""
    sums, done = np.zeros(PRIOR.size), 0
    for k, (scores, hits) in enumerate(rows):
        before, after = weight_after(np.array([k, k + 1]))
        sums = grown(sums, before - after, likelihood_ratios(scores, hits).mean(axis=0))
        done += scores.size
        if sums.sum() + after >= 20.0:
            return float(done)
    return np.inf


def _patients(generator: np.random.Generator) -> pd.DataFrame:
    rows = []
    for patient in range(250):
        begin, frailty = int(generator.integers(25)), generator.uniform(0.5, 1.5)
        for day in range(begin, begin + 10):
            risk = frailty * generator.uniform(0.05, 0.3)
            event = generator.random() < risk
            rows.append((day, patient, risk, int(event)))
            if event:
                break
    return pd.DataFrame(rows, columns=["day", "patient", "score", "label"]).sort_values("day")


LAWS: dict[str, tuple[Callable, Callable]] = {
    "slope 0.5, Beta(2, 5)": (lambda g, n: g.beta(2, 5, n), lambda s: expit(0.5 * logit(s))),
    "shift 0.6, Beta(2, 8)": (lambda g, n: g.beta(2, 8, n), lambda s: expit(logit(s) + 0.6)),
    "slope 1.6, N(0, 1)": (lambda g, n: expit(g.normal(0, 1, n)), lambda s: expit(1.6 * logit(s))),
    "calibrated, Beta(0.8, 0.8)": (lambda g, n: g.beta(0.8, 0.8, n), lambda s: s),
    "too sure above 0.98, N(4, 2)": (
        lambda g, n: expit(g.normal(4, 2, n)), lambda s: np.where(s > 0.98, s - 0.03, s)),
}  # fmt: skip


def advice() -> Iterator[Line]:
    """What an audit advises, and the isotonic maps."""
    for n in (100, 300):
        harmed, n_audits = [], 0
        for name, (draw, curve) in LAWS.items():
            fresh = np.clip(draw(_generator(f"fresh {name}", 0), 20_000), 1e-9, 1 - 1e-9)
            for k in range(20):
                generator = _generator(f"{name} {n}", k)
                scores = np.clip(draw(generator, n), 1e-9, 1 - 1e-9)
                hits = generator.random(n) < curve(scores)
                if not 0 < hits.sum() < n:
                    continue
                n_audits += 1
                method = advised_method(audit(scores, hits))
                if method != "none":
                    after = recalibration_map(prepared(scores, hits), method).predict(fresh)
                    rate = curve(fresh)
                    harmed.append(bool(np.mean((after - rate) ** 2) > np.mean((fresh - rate) ** 2)))
        yield _share("3", f"five laws, n = {n}", f"harmed of advised, {n_audits} audits", harmed)
    for name in ("slope 0.5, Beta(2, 5)", "calibrated, Beta(0.8, 0.8)"):
        draw, curve = LAWS[name]
        changes = []
        fresh = np.clip(draw(_generator("fresh", 1), 20_000), 1e-9, 1 - 1e-9)
        rate = curve(fresh)
        for k in range(40):
            generator = _generator(f"isotonic {name}", k)
            scores = np.clip(draw(generator, 500), 1e-9, 1 - 1e-9)
            sample = Scored.of(scores, (generator.random(500) < curve(scores)) * 1)
            p, q = (
                np.clip(each.predict(fresh), 1e-12, 1 - 1e-12)
                for each in (isotonic(sample), OF_SCORES["isotonic"](sample, ENDS))
            )
            brier = np.mean((p - rate) ** 2 - (q - rate) ** 2)
            log = np.mean(rate * np.log(q / p) + (1 - rate) * np.log((1 - q) / (1 - p)))
            changes.append((1e4 * brier, 1e4 * log))
        mean, error = np.mean(changes, axis=0), np.std(changes, axis=0) / np.sqrt(40)
        for column, what in enumerate(("Brier", "log score")):
            text = f"gain of a row towards Platt's line, {what} (10⁻⁴)"
            yield "3", f"{name}, n = 500", text, float(mean[column]), float(error[column]), 40


SAID = np.array([0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.65, 0.7, 0.8, 0.85, 0.9, 0.92, 0.95, 0.97,
                 0.98, 1])  # fmt: skip


def unequal_steps() -> Iterator[Line]:
    """Values of unequal steps, and log odds."""

    def said(meant: np.ndarray) -> np.ndarray:
        return SAID[np.abs(meant[:, None] - SAID).argmin(axis=1)]

    def steps_of_log_odds(meant: np.ndarray) -> np.ndarray:
        return expit(np.rint(3 * logit(np.clip(meant, 1e-9, 1 - 1e-9))) / 3)

    for name, rounded, n, sets in (
        ("18 values, Beta(5, 1)", said, 8000, 60), ("the same", said, 40_000, 30),
        ("log odds in thirds, Beta(5, 1)", steps_of_log_odds, 20_000, 40),
    ):  # fmt: skip
        decisions, wrong = [], []
        for k in range(sets):
            generator = _generator(f"{name} {n}", k)
            meant = generator.beta(5, 1, n)
            scores, u = rounded(meant), generator.random(n)
            decisions.append(judge(Scored.of(scores, (u < meant) * 1), REDRAWS).p_value <= 0.05)
            if n == 8000:
                hits = (u < meant - 0.05 * (scores == 0.85)) * 1
                wrong.append(judge(Scored.of(scores, hits), REDRAWS).p_value <= 0.05)
        yield _share("4", f"{name}, n = {n}", "calibrated, rejected", decisions)
        if wrong:
            yield _share("4", f"{name}, n = {n}", "0.85 wrong by 5 points, found", wrong)


def whole_clusters() -> Iterator[Line]:
    """Exact sizes for clusters of no hit, or of a share."""
    for number, share, chance in ((15, 5 / 12, 0.3), (40, 0.9, 0.05), (300, 0.5, 0.004)):
        counts = np.arange(number + 1)
        p = [
            whole_clusters_p_value(
                np.full(number, share * chance), np.where(np.arange(number) < k, share, 0.0)
            )
            for k in counts
        ]
        size = float(binom.pmf(counts, number, chance)[np.array(p) <= 0.05].sum())
        yield "5", f"{number} clusters, share {share:.2g} with {chance}", "exact size", size, 0.0, 1


def names_of_faults() -> Iterator[Line]:
    """Gaps next to 0 and 1, and slopes."""
    cells = {
        "5 points above 0.985 alone, N(5, 2.5)": (
            lambda g, n: expit(g.normal(5, 2.5, n)), lambda s: np.where(s > 0.985, s - 0.05, s),
            "local"),
        "5 points below 0.015 alone, N(−5, 2.5)": (
            lambda g, n: expit(g.normal(-5, 2.5, n)), lambda s: np.where(s < 0.015, s + 0.05, s),
            "local"),
        "slope 0.7, N(3, 2)": (
            lambda g, n: expit(g.normal(3, 2, n)), lambda s: expit(0.7 * logit(s)), "line level"),
        "slope 1.4, Beta(3, 3)": (
            lambda g, n: g.beta(3, 3, n), lambda s: expit(1.4 * logit(s)), "line level"),
    }  # fmt: skip
    for name, (draw, curve, kinds) in cells.items():
        named = []
        for k in range(40):
            generator = _generator(name, k)
            scores = np.clip(draw(generator, 2000), 1e-9, 1 - 1e-9)
            verdict = judge(
                Scored.of(scores, (generator.random(2000) < curve(scores)) * 1), REDRAWS
            )
            if verdict.miscalibrated:
                named.append(verdict.finding.kind in kinds.split())
        yield _share("5", f"{name}, n = 2000", f"named {kinds}", named)


PARTS = (
    whole_clusters, names_of_faults, monitors, unequal_steps, advice, more_than_4096_clusters,
)  # fmt: skip


def main() -> None:
    """Write the lines of all parts."""
    writer = csv.writer(sys.stdout)
    writer.writerow(("promise", "cell", "what", "value", "error", "data_sets"))
    for part in PARTS:
        for promise, cell, what, value, error, sets in part():
            writer.writerow((promise, cell, what, f"{value:.4g}", f"{error:.2g}", sets))
            sys.stdout.flush()


if __name__ == "__main__":
    main()
