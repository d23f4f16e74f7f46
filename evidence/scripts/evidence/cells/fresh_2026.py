"""Laws of November 2026 on which rules and constants of the audit are switched off or scaled.

They were written down before any of this was measured on them. CALIBRATED and EVERYDAY faults are
as in life, HARD ones jump or bend. ROUNDED laws are calibrated before the scores are recorded,
STATED values have a fault, CLUSTERED rows share a normal effect of their cluster.
"""

import zlib
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtr
from scipy.special import logit as log_odds

Floats = NDArray[np.float64]
Scores = Callable[[np.random.Generator, int], Floats]
Curve = Callable[[Floats], Floats]
_LEAST = 1e-12


def _beta(a: float, b: float) -> Scores:
    return lambda generator, n: np.clip(generator.beta(a, b, n), _LEAST, 1 - _LEAST)


def _odds(mean: float, deviation: float) -> Scores:
    return lambda generator, n: expit(generator.normal(mean, deviation, n))


def _student(mean: float, scale: float) -> Scores:
    return lambda generator, n: expit(mean + scale * generator.standard_t(3, n))


def _two_heaps(generator: np.random.Generator, n: int) -> Floats:
    is_first = generator.random(n) < 0.7
    return np.where(is_first, _beta(12, 2)(generator, n), _beta(2, 6)(generator, n))


def _values(*values: float, p: tuple[float, ...] | None = None) -> Scores:
    return lambda generator, n: generator.choice(values, n, p=p)


def _line(a: float, b: float) -> Curve:
    return lambda s: expit(a + b * log_odds(np.clip(s, 1e-15, 1 - 1e-15)))


def _steps(number: int) -> Curve:
    return lambda s: np.round(number * s) / number


def _decimals(digits: int) -> Curve:
    return lambda s: np.round(s, digits)


def _same(s: Floats) -> Floats:
    return s


CALIBRATED: dict[str, Scores] = {
    "beta_3_3": _beta(3, 3),
    "beta_.3_.5": _beta(0.3, 0.5),
    "beta_9_.7": _beta(9, 0.7),
    "t3": _student(1, 1.2),
    "two_heaps": _two_heaps,
    "rare_.8_60": _beta(0.8, 60),
    "odds_5_2": _odds(5, 2),
    "fourteen": _values(
        0.02, 0.07, 0.13, 0.21, 0.34, 0.41, 0.55, 0.62, 0.73, 0.79, 0.86, 0.92, 0.97, 0.993
    ),
}
EVERYDAY: dict[str, tuple[Scores, Curve]] = {
    "temp_1.3": (_odds(1.5, 1.8), _line(0, 1 / 1.3)),
    "shift_-.3": (_beta(3, 3), _line(-0.3, 1)),
    "shift_+.35": (_beta(9, 0.7), _line(0.35, 1)),
    "power_1.15": (_beta(4, 1), lambda s: s**1.15),
    "noise_5": (_odds(2, 2), lambda s: 0.05 + 0.9 * s),
    "slope_above_half": (_student(0.5, 1.2), lambda s: np.where(s > 0.5, _line(0, 0.7)(s), s)),
    "cautious_1.4": (_beta(5, 4), _line(0, 1.4)),
    "rare_x.7": (_beta(0.8, 60), lambda s: 0.7 * s),
    "saturated_.7": (_odds(4, 2.2), _line(0, 0.7)),
    "line_-.3_.8": (_odds(-1, 1.2), _line(-0.3, 0.8)),
}
HARD: dict[str, tuple[Scores, Curve]] = {
    "stairs_7": (_beta(1, 1), lambda s: (np.minimum(np.floor(7 * s), 6) + 0.5) / 7),
    "band_.35_.42": (_beta(2, 2), lambda s: np.clip(s - 0.2 * ((s > 0.35) & (s < 0.42)), 0, 1)),
    "saw_3": (_beta(1.5, 1), lambda s: np.clip(s + 0.06 * (2 * (3 * s % 1) - 1), 0, 1)),
    "two_values": (_values(0.6, 0.65), lambda s: np.where(s < 0.62, 0.66, 0.58)),
    "jump_.7": (_beta(2, 1), lambda s: s - 0.12 * (s > 0.7)),
    "top_1pct": (_odds(2, 1.5), lambda s: np.where(s > 0.975, s - 0.07, s)),
    "threshold_.55": (_beta(1.2, 1), lambda s: np.where(s > 0.55, 0.97, 0.03)),
    "hump": (_beta(1, 1), lambda s: np.clip(s + 0.5 * s * (1 - s) * (0.5 - s), 0, 1)),
}
ROUNDED: dict[str, tuple[Scores, Curve | None]] = {  # None: half to tenths, half to percent
    "tenths": (_beta(3, 2), _steps(10)),
    "tenths_narrow": (_beta(20, 5), _steps(10)),
    "percent_saturated": (_odds(4, 2), _decimals(2)),
    "percent_narrow": (_beta(60, 40), _decimals(2)),
    "twentieths": (_beta(1, 4), _steps(20)),
    "float16": (_odds(2, 2), lambda s: s.astype(np.float16).astype(float)),
    "mille": (_beta(8, 0.5), _decimals(3)),
    "half_percent": (_beta(2, 5), _steps(200)),
    "half_tenths": (_beta(2, 2), None),
    "mean_two_percent": (_beta(4, 2), None),
}
STATED: dict[str, tuple[Scores, Curve, Curve]] = {
    "tenths_.75": (_beta(2, 2), _steps(10), _line(0, 0.75)),
    "percent_top": (_odds(2, 1.5), _decimals(2), lambda s: np.where(s > 0.97, s - 0.05, s)),
    "votes_10_one": (
        _beta(2, 1), _steps(10), lambda s: np.where(abs(s - 0.7) < 0.01, 0.58, s),
    ),
    "twentieths_shift": (_beta(3, 2), _steps(20), _line(-0.25, 1)),
    "twentieths_two": (_beta(2, 2), _steps(20), lambda s: s + 0.06 * np.sign(np.sin(60 * s))),
}  # fmt: skip
_SURE = (0.5, 0.8, 0.9, 0.95, 0.99)
CLUSTERED: dict[str, tuple[int, int, float, Scores, Curve, bool]] = {
    "percent_sure_30x20": (
        30, 20, 0.3, lambda generator, n: np.round(_odds(4, 1.5)(generator, n), 2), _same, False,
    ),
    "verbal_.99_40x25": (40, 25, 0.4, _values(*_SURE, p=(0.1, 0.2, 0.2, 0.2, 0.3)), _same, False),
    "verbal_.99_200x5": (
        200, 5, 0.8, _values(0.7, 0.9, 0.99, 0.999, p=(0.2, 0.2, 0.3, 0.3)), _same, False,
    ),
    "rare_atoms_60x30": (60, 30, 0.3, _values(0.01, 0.02, 0.05, 0.1), _same, False),
    "shared_25x40": (25, 40, 0.5, _beta(2, 1), _same, True),
    "votes_12x60": (
        12, 60, 0.2, lambda generator, n: np.round(generator.beta(6, 1, n), 1), _same, False,
    ),
    "verbal_fault_40x25": (
        40, 25, 0.2, _values(*_SURE), lambda s: np.where(abs(s - 0.9) < 0.01, 0.75, s), False,
    ),
    "slope_100x10": (100, 10, 0.3, _beta(2, 1), _line(0, 0.7), False),
}  # fmt: skip
"""Clusters, rows of each, correlation, scores, curve, and whether a cluster shares its score."""


def _generator(seed: int, *words: str | int) -> np.random.Generator:
    number = zlib.crc32(" ".join(map(str, words)).encode())
    return np.random.Generator(np.random.Philox(key=seed + number * 1000003))


def rows_of(name: str, n: int, seed: int, number: int) -> tuple[Floats, NDArray]:
    """Return scores and hits (n,) of one data set of a law of independent rows."""
    if name in CALIBRATED or name in EVERYDAY or name in HARD:
        group = "C" if name in CALIBRATED else "E" if name in EVERYDAY else "H"
        generator = _generator(seed, group, name, n, number)
        draw, curve = (CALIBRATED[name], _same) if group == "C" else (EVERYDAY | HARD)[name]
        scores = draw(generator, n)
        return scores, generator.random(n) < np.clip(curve(scores), 0, 1)
    if name in STATED:
        generator = _generator(seed, "F", name, n, number)
        draw, record, curve = STATED[name]
        scores = record(draw(generator, n))
        return scores, generator.random(n) < np.clip(curve(scores), 0, 1)
    generator = _generator(seed, "K", name, n, number)
    draw, recorded = ROUNDED[name]
    scores = draw(generator, n)
    hits = generator.random(n) < scores
    if name == "half_tenths":
        is_coarse = generator.random(n) < 0.5
        scores = np.where(is_coarse, np.round(scores, 1), np.round(scores, 2))
    elif name == "mean_two_percent":  # of two persons whose mean is the score
        gap = generator.normal(0, 0.03, n)
        both = (np.round(np.clip(scores + sign * gap, 0, 1), 2) for sign in (1, -1))
        scores = np.round(sum(both) / 2, 4)
    elif recorded is not None:
        scores = recorded(scores)
    return np.clip(scores, 0, 1), hits


def clusters_of(name: str, seed: int, number: int) -> tuple[Floats, NDArray, NDArray]:
    """Return scores, hits and clusters (n,) of one data set of CLUSTERED."""
    clusters, rows, correlation, draw, curve, is_shared = CLUSTERED[name]
    generator = _generator(seed, "G", name, number)
    ids = np.repeat(np.arange(clusters), rows)
    scores = draw(generator, clusters)[ids] if is_shared else draw(generator, ids.size)
    effect = np.sqrt(correlation) * generator.standard_normal(clusters)
    noise = np.sqrt(1 - correlation) * generator.standard_normal(ids.size)
    return scores, ndtr(effect[ids] + noise) < curve(scores), ids


def errors_of(name: str) -> tuple[float, float]:
    """Return the ℓ1 and the ℓ2 error of a law of independent rows, by a million scores."""
    if name in CALIBRATED:
        return 0.0, 0.0
    draw, curve = (EVERYDAY | HARD)[name]
    scores = draw(_generator(0, "truth", name), 1_000_000)
    gaps = np.clip(curve(scores), 0, 1) - scores
    return float(np.mean(abs(gaps))), float(np.sqrt(np.mean(gaps**2)))
