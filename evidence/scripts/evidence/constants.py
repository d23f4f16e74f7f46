"""What half and twice each constant of the audit do, on the laws of ``cells.fresh_2026``, paired.

    PYTHONPATH=scripts:evidence/scripts python -m evidence.constants verdict > verdict.csv

writes a line for each constant and factor: module, name, factor, what changes.
evidence/docs/constants.md says what the words of each part mean. Parts: verdict, clusters,
interval, posterior, subgroups, monitor.
"""

from __future__ import annotations

import argparse
import csv
import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from scipy.special import expit, logit

from calbias.auditing.error.interval import calibration_interval
from calbias.auditing.subgroups.subgroup_audit import audit_subgroups
from calbias.auditing.verdict.judge import judge
from calbias.engine import posterior
from calbias.monitoring import blocks, monitor
from calbias.samples.by_score import Scored
from evidence.cells import fresh_2026 as laws

SEED, FIRST = 240611, 1000
FACTORS = (0.5, 2.0)
Found = list[tuple[Any, ...]]
CONSTANTS = {
    "verdict": {
        "auditing.verdict.statistics": "LARGEST_ORDER LARGEST_GRID _PENALTY _PER_UNIT _DEPENDENT",
        "auditing.verdict.groups": "CELLS ATOM_ROWS ATOM_SHARE _LEAST _LEAST_32",
        "auditing.verdict.redraws": "BLOCK _MOST_ROWS _TAIL _BODY _DIGITS",
        "auditing.verdict.rounding": "_MOST _EXACT _SINGLE SAME _MANY _PEAK _OF_END _OF_END_ALONE"
        " _LARGEST_CUT _COMMON _LARGEST _MOST_IN_MEAN _MOST_SCORES _ROUNDS",
        "auditing.verdict.finding": "_CLEAR _ERRORS _SHARE",
        "auditing.verdict.verdict_result": "_IMPOSSIBLE",
    },
    "clusters": {
        "auditing.verdict.clusters": "FEW_WITH_RARER",
        "auditing.verdict.redraws": "LARGEST_NUMBER _LEAST_UNLIKELY",
    },
    "interval": {
        "auditing.error.interval": "_FOLDS _OF_CURVE _OF_L2 _POWER _OF_ROOT _FINER _CLEARLY _ROOM"
        " _LEAST_ROWS _LEAST_SHARE",
        "auditing.error.binned_gaps": "_ROUNDS _ENOUGH _STRAIGHT TINY",
        "auditing.error.calibration_curve": "_NOISE",
        "auditing.error.bins": "_NORMAL",
    },
    "posterior": {
        "engine.posterior": "CALIBRATED_ODDS _HALF_WAY GAUSSIAN_ODDS OTHER_ODDS LINES _ROUGHNESS"
        " LENGTHS _SEGMENTATIONS _FINER _DRAWS _HALVINGS _FARTHEST _INSIDE",
        "engine.posterior_cells": "FEWEST_CELLS _END _LEAST_SHRINKAGE",
        "engine.posterior_curves": "_ITERATIONS _HALVINGS _ENOUGH _LEAST_WEIGHT _SPREADS _ROUNDS"
        " _LONGEST_STEP _CLOSE",
        "engine.steep_line": "SPREAD _ITERATIONS _HALVINGS _ENOUGH",
    },
    "subgroups": {
        "auditing.subgroups.segment_test": "_SLOPE_PAYS _FEWEST_UNLIKELY _BLOCK",
        "auditing.subgroups.segment_rows": "_GRID _FARTHEST _STEPS",
        "auditing.subgroups.segments": "LEAST_ROWS",
    },
}
STREAM_CHANGES = {  # of the source of ``blocks``: half, and twice
    "_TAILS": ((("[0.001, 0.01]", "[0.0005, 0.005]"),), (("[0.001, 0.01]", "[0.002, 0.02]"),)),
    "_LIMIT": ((("1e6 - 1.0", "1e3 - 1.0"),), (("1e6 - 1.0", "1e12 - 1.0"),)),
    "_SLOPES": (
        (("(0.6, 0.8, 1.25, 1.7)", "(0.775, 0.894, 1.118, 1.304)"),),
        (("(0.6, 0.8, 1.25, 1.7)", "(0.36, 0.64, 1.5625, 2.89)"),),
    ),
    "_EVERYWHERE": (
        (("(0.12, 0.25, 0.5, 1.0)", "(0.06, 0.125, 0.25, 0.5)"),),
        (("(0.12, 0.25, 0.5, 1.0)", "(0.24, 0.5, 1.0, 2.0)"),),
    ),
    "_BANDS": (
        (("/ 40, 1.2)", "/ 40, 0.6)"), ("/ 40, 0.9)", "/ 40, 0.45)"), ("1.0, 1.2)", "1.0, 0.6)")),
        (("/ 40, 1.2)", "/ 40, 2.4)"), ("/ 40, 0.9)", "/ 40, 1.8)"), ("1.0, 1.2)", "1.0, 2.4)")),
    ),
    "PRIOR": (
        (("0.75 * _W", "0.875 * _W"), ("0.125 / len", "0.0625 / len")),
        (("0.75 * _W", "0.5 * _W"), ("0.125 / len", "0.25 / len")),
    ),
    "_SCALE": ((("0.5, 500.0", "0.5, 250.0"),), (("0.5, 500.0", "0.5, 1000.0"),)),
    "UNIT": (
        (("STEPS = 20,", "STEPS = 10,"),),
        (("STEPS = 20,", "STEPS = 40,"),),
    ),
}  # fmt: skip


def scaled(value: Any, factor: float, name: str) -> Any:
    """Return a constant times a factor; of finer bins and of jumps what is beyond the first."""
    if name == "_FINER" and isinstance(value, tuple):
        return (1, *(round(1 + (x - 1) * factor) for x in value[1:]))
    if name == "_SEGMENTATIONS":
        return tuple((share, jumps * factor) for share, jumps in value)
    if isinstance(value, tuple):
        return tuple(scaled(x, factor, "") for x in value)
    return max(1, round(value * factor)) if isinstance(value, int) else value * factor


@contextmanager
def changed(path: str, name: str, factor: float) -> Iterator[None]:
    """Scale a constant in its module and, if it is public, where it was imported."""
    module = importlib.import_module(f"calbias.{path}")
    original = getattr(module, name)
    users = [module]
    if not name.startswith("_"):
        loaded = (each for key, each in list(sys.modules.items()) if key.startswith("calbias."))
        users += [each for each in loaded if getattr(each, name, None) is original]
    try:
        _set(users, name, scaled(original, factor, name))
        yield
    finally:
        _set(users, name, original)


def _set(modules: list[ModuleType], name: str, value: Any) -> None:
    for module in modules:
        setattr(module, name, value)
    posterior._MODELS = posterior.curve_models()  # made from three of the constants


def _data(cells: dict[str, int], sets: int) -> list[tuple[str, int, list[Scored]]]:
    return [
        (
            name,
            n,
            [Scored.of(*laws.rows_of(name, n, SEED, FIRST + number)) for number in range(sets)],
        )
        for name, n in cells.items()
    ]


def _verdict_panel() -> Callable[[], Found]:
    cells = {
        "beta_3_3": 400, "fourteen": 400, "odds_5_2": 2000, "temp_1.3": 400,
        "shift_-.3": 400, "saturated_.7": 2000, "stairs_7": 2000,
        "band_.35_.42": 2000, "two_values": 400, "tenths_narrow": 4000,
        "percent_saturated": 4000, "half_tenths": 4000, "mean_two_percent": 4000,
        "votes_10_one": 400, "twentieths_two": 4000, "percent_top": 4000,
    }  # fmt: skip
    data = _data(cells, 8)

    def run() -> Found:
        results: Found = []
        for name, _, samples in data:
            for sample in samples:
                verdict = judge(sample, 199)
                words = verdict.sentence.split(" by ")[0].split(":")[0].split("(")[0]
                is_right = name in laws.CALIBRATED or name in laws.ROUNDED
                results.append((is_right, verdict.miscalibrated, words, verdict.p_value))
        return results

    return run


def _cluster_panel() -> Callable[[], Found]:
    names = (
        "percent_sure_30x20", "verbal_.99_200x5", "votes_12x60", "slope_100x10",
        "verbal_fault_40x25",
    )  # fmt: skip
    data = [
        (name, [laws.clusters_of(name, SEED, FIRST + number) for number in range(20)])
        for name in names
    ]

    def run() -> Found:
        results: Found = []
        for name, samples in data:
            for scores, hits, ids in samples:
                verdict = judge(Scored.of(scores, hits, clusters=ids), 199)
                is_right = "fault" not in name and "slope" not in name
                results.append((is_right, verdict.miscalibrated, verdict.finding.kind,
                              verdict.p_value))  # fmt: skip
        return results

    return run


def verdict_change(before: Found, after: Found) -> str:
    """Return how many more are called miscalibrated, how many are worded otherwise, or p's move."""
    pairs, texts = list(zip(before, after, strict=True)), []
    for label, is_right in (("false", True), ("found", False)):
        change = sum(y[1] - x[1] for x, y in pairs if x[0] == is_right)
        texts += [f"{label} {change:+d}"] if change else []
    worded = sum(x[2] != y[2] for x, y in pairs if x[1] and y[1])
    texts += [f"worded {worded}"] if worded else []
    moved = np.mean([abs(x[3] - y[3]) for x, y in pairs])
    return ", ".join(texts) or (f"p ± {moved:.3f}" if moved >= 5e-4 else "0")


def _interval_panel() -> Callable[[], Found]:
    cells = {
        "t3": 400, "odds_5_2": 80, "temp_1.3": 400, "saturated_.7": 2000,
        "rare_x.7": 400, "stairs_7": 2000, "threshold_.55": 400, "two_values": 400,
        "band_.35_.42": 2000,
    }  # fmt: skip
    data = _data(cells, 5)
    errors = {name: laws.errors_of(name) for name in cells}

    def run() -> Found:
        results: Found = []
        for name, _, samples in data:
            for sample in samples:
                interval = calibration_interval(sample)
                row: list[Any] = [name]
                for norm in (1, 2):
                    low, high = interval.at(norm)
                    row += [high - low, low <= errors[name][norm - 1] + 1e-12 <= high + 1e-12]
                results.append(tuple(row))
        return results

    return run


def interval_change(before: Found, after: Found) -> str:
    """Return the ratio of the mean width, and how many more intervals hold the truth."""
    texts = []
    for label, k in (("ℓ1", 1), ("ℓ2", 3)):
        logs = [
            np.log(sum(y[k] for y in after if y[0] == name))
            - np.log(sum(x[k] for x in before if x[0] == name))
            for name in dict.fromkeys(x[0] for x in before)
        ]
        ratio = float(np.exp(np.mean(logs)))
        more = sum(y[k + 1] for y in after) - sum(x[k + 1] for x in before)
        if abs(ratio - 1) >= 5e-4 or more:
            texts.append(f"{label} ×{ratio:.2f}" + (f", {more:+d}" if more else ""))
    return "; ".join(texts) or "0"


def _posterior_panel() -> Callable[[], Found]:
    cells = {
        "t3": 400, "beta_3_3": 2000, "odds_5_2": 12000, "temp_1.3": 400,
        "saturated_.7": 2000, "line_-.3_.8": 80, "stairs_7": 2000,
        "threshold_.55": 400, "jump_.7": 2000, "top_1pct": 2000,
    }  # fmt: skip
    data = _data(cells, 8)
    errors = {name: laws.errors_of(name)[0] for name in cells}

    def run() -> Found:
        results: Found = []
        for name, _, samples in data:
            rows = (sample.by_score for sample in samples)
            off = [posterior.average_of(x.scores, x.rows, x.hits).l1 - errors[name] for x in rows]
            results.append((name, float(np.sqrt(np.mean(np.square(off))))))
        return results

    return run


def posterior_change(before: Found, after: Found) -> str:
    """Return the ratio of the RMSE where calibrated, with everyday faults, and with hard ones."""
    ratios = {x[0]: y[1] / x[1] for x, y in zip(before, after, strict=True)}
    groups = (laws.CALIBRATED, laws.EVERYDAY, laws.HARD)
    means = [np.exp(np.mean([np.log(ratios[k]) for k in ratios if k in g])) for g in groups]
    return "0" if max(abs(x - 1) for x in means) < 5e-4 else " ".join(f"×{x:.2f}" for x in means)


def _subgroup_panel() -> Callable[[], Found]:
    data = []
    for kind in ("false", "pair", "slope", "value"):
        for number in range(8):
            generator, n = laws._generator(17, "subgroups", kind, number), 1500
            scores = generator.beta(2, 1.3, n)
            by = {name: generator.integers(0, 4, n).astype(str) for name in "abc"}
            x = logit(scores)
            if kind == "pair":
                x -= 0.9 * ((by["a"] == "1") & (by["b"] == "2"))
            if kind == "slope":
                x = np.where(by["a"] == "1", 0.55 * x, x)
            if kind == "value":
                x -= 0.35 * (by["c"] == "3")
            data.append((kind, scores, (generator.random(n) < expit(x)).astype(int), by))

    def run() -> Found:
        results: Found = []
        for kind, scores, hits, by in data:
            result = audit_subgroups(scores, hits, by, replicates=199)
            results.append((kind, result.p_value <= 0.05, result.table["segment"][0]))
        return results

    return run


def subgroup_change(before: Found, after: Found) -> str:
    """Return how many more are rejected, and in how many another segment comes first."""
    pairs, texts = list(zip(before, after, strict=True)), []
    for kind in dict.fromkeys(x[0] for x in before):
        change = sum(y[1] - x[1] for x, y in pairs if x[0] == kind)
        texts += [f"{kind} {change:+d}"] if change else []
    first = sum(x[2] != y[2] for x, y in pairs)
    return ", ".join(texts + [f"first {first}"] * bool(first)) or "0"


PANELS: dict[str, tuple[Callable[[], Callable[[], Found]], Callable[[Found, Found], str]]] = {
    "verdict": (_verdict_panel, verdict_change),
    "clusters": (_cluster_panel, verdict_change),
    "interval": (_interval_panel, interval_change),
    "posterior": (_posterior_panel, posterior_change),
    "subgroups": (_subgroup_panel, subgroup_change),
}


def rows_of_part(part: str) -> Iterator[tuple[str, str, float, str]]:
    """Yield module, name, factor and what changes, for the constants of a part."""
    if part == "monitor":
        yield from _monitor_rows()
        return
    make, change = PANELS[part]
    run = make()
    before = run()
    for path, names in CONSTANTS[part].items():
        for name in names.split():
            for factor in FACTORS:
                with changed(path, name, factor):
                    yield path.split(".")[-1], name, factor, change(before, run())


def _streams() -> Found:
    """Return the stream and the delay of each of six streams, six times."""
    results: Found = []
    for name, (a, b), change, first in (
        ("shift", (4, 2), lambda s: expit(logit(s) - 0.35), 501),
        ("slope", (5, 1.2), lambda s: expit(0.7 * logit(s)), 1),
        ("band", (5, 2), lambda s: s - 0.3 * ((s >= 0.64) & (s < 0.69)), 1),
        ("wide band", (2, 2), lambda s: s - 0.12 * ((s >= 0.4) & (s < 0.6)), 1),
        ("top", (8, 1), lambda s: s - 0.06 * (s >= 0.95), 1),
        ("saturated top", (5, 0.2), lambda s: s - 0.03 * (s >= 0.99), 1),
    ):
        for number in range(6):
            generator, n = laws._generator(99, name, number), 5000
            scores = np.clip(generator.beta(a, b, n), 1e-9, 1 - 1e-9)
            rates = np.where(np.arange(1, n + 1) < first, scores, change(scores))
            hits, watched = generator.random(n) < rates, monitor.Monitor()
            for k in range(0, n, 500):
                watched.update(scores[k : k + 500], hits[k : k + 500])
                if watched.alarm:
                    break
            results.append((name, max((watched.alarm or n + 1) - first, 1)))
    return results


def _monitor_rows() -> Iterator[tuple[str, str, float, str]]:
    source, before = Path(str(blocks.__file__)).read_text(encoding="utf-8"), _streams()

    def load(text: str) -> None:
        exec(compile(text, str(blocks.__file__), "exec"), blocks.__dict__)  # its lists are derived
        importlib.reload(monitor)

    for name, changes in STREAM_CHANGES.items():
        for factor, pairs in zip(FACTORS, changes, strict=True):
            text = source
            for old, new in pairs:
                if old not in text:
                    raise ValueError(f"{old} is not in the source of blocks")
                text = text.replace(old, new)
            load(text)
            after = _streams()
            load(source)
            ratios = [
                np.exp(np.mean([
                    np.log(y[1] / x[1]) for x, y in zip(before, after, strict=True)
                    if x[0] in streams
                ]))
                for streams in (("shift", "slope"), ("band", "wide band"), ("top", "saturated top"))
            ]  # fmt: skip
            yield "blocks", name, factor, " ".join(f"×{x:.2f}" for x in ratios)


def main() -> None:
    """Write the lines of the parts that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="+", choices=[*PANELS, "monitor"])
    writer = csv.writer(sys.stdout, lineterminator="\n")
    for part in parser.parse_args().parts:
        for row in rows_of_part(part):
            writer.writerow((part, *row))
            sys.stdout.flush()


if __name__ == "__main__":
    main()
