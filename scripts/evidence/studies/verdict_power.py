"""The power of the verdict against nineteen alternatives, and of single tests of calibration.

An alternative is a law of scores with a direction δ(s): the rates are s + λ δ(s), kept within
[0, 1]. λ is chosen at each sample size so that the best single test has power of about 0.8. DESIGN
lists the alternatives that may be looked at while the verdict is designed, JUDGING those that are
looked at once.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import logit

from calbias.auditing.verdict.judge import judge
from calbias.calibration_tests.registry import load_test
from calbias.conventions import SIGNIFICANT
from calbias.engine.seeding import stream
from calbias.engine.sorted_batch import SortedBatch, of_sorted_scores
from evidence.scenarios.sets import SATURATED_ROUNDED, SPREAD, UNIFORM, line

Floats = NDArray[np.float64]
WANTED = 0.8
SINGLE_TESTS = (
    "spiegelhalter", "cox_score", "hosmer_lemeshow", "ecce_mad_series", "ecce_r_series",
    "tcal_adaptive", "redraw_ks", "redraw_ece_bin_ew", "redraw_ece_bin_em", "redraw_ece_sweep_em",
    "redraw_ece_debias_em", "redraw_mce_em", "redraw_tcal_sun", "redraw_corp_mcb",
)  # fmt: skip
_VERBAL = np.array([0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95])
_NULLS, _TUNING, _BATCH, _STEPS, _CLOSE = 2000, 200, 50, 6, 0.04


class Alternative(NamedTuple):
    """A law of the scores, and the direction in which the rates leave them."""

    draw: Callable[[np.random.Generator, int], Floats]
    delta: Callable[[Floats], Floats]

    def rates(self, scores: Floats, strength: float) -> Floats:
        """Return the probability of a hit at scores of any shape."""
        return np.clip(scores + strength * self.delta(scores), 0.0, 1.0)


def _beta(a: float, b: float) -> Callable[[np.random.Generator, int], Floats]:
    return lambda generator, n: np.clip(generator.beta(a, b, n), 1e-9, 1 - 1e-9)


def _line(a: float, b: float) -> Callable[[Floats], Floats]:
    return lambda s: line(a, b)(s) - s


def _inside(low: float, high: float) -> Callable[[Floats], Floats]:
    return lambda s: -0.2 * ((s > low) & (s < high))


def _wave(cycles: float) -> Callable[[Floats], Floats]:
    return lambda s: 0.1 * np.minimum(1, 8 * s * (1 - s)) * np.sin(2 * np.pi * cycles * s)


LAWS = {
    "beta_2_1": _beta(*SPREAD), "uniform": _beta(*UNIFORM), "rare": _beta(0.6, 30),
    "saturated": _beta(*SATURATED_ROUNDED), "u_shaped": _beta(0.5, 0.5),
    "verbal": lambda generator, n: generator.choice(_VERBAL, n),
}  # fmt: skip
DESIGN = {
    "shift, beta_2_1": Alternative(LAWS["beta_2_1"], _line(-0.3, 1.0)),
    "slope, beta_2_1": Alternative(LAWS["beta_2_1"], _line(0.0, 0.7)),
    "slope, uniform": Alternative(LAWS["uniform"], _line(0.0, 0.7)),
    "wave of 2 cycles, uniform": Alternative(LAWS["uniform"], _wave(2)),
    "band .60-.65, beta_2_1": Alternative(LAWS["beta_2_1"], _inside(0.6, 0.65)),
    "above .9, beta_2_1": Alternative(LAWS["beta_2_1"], _inside(0.9, 1.0)),
    "neighbours, verbal": Alternative(
        LAWS["verbal"], lambda s: np.where(np.searchsorted(_VERBAL, s - 1e-9) % 2, 0.1, -0.1)
    ),
    "shift and slope, rare": Alternative(LAWS["rare"], _line(-1.0, 0.75)),
    "jump at .5, uniform": Alternative(LAWS["uniform"], lambda s: np.where(s > 0.5, -0.05, 0.05)),
}
JUDGING = {
    "shift, rare": Alternative(LAWS["rare"], _line(-0.5, 1.0)),
    "slope, saturated": Alternative(LAWS["saturated"], _line(0.0, 0.6)),
    "wave of 6 cycles, uniform": Alternative(LAWS["uniform"], _wave(6)),
    "band .30-.33, uniform": Alternative(LAWS["uniform"], _inside(0.3, 0.33)),
    "one value, verbal": Alternative(LAWS["verbal"], _inside(0.79, 0.81)),
    "curved, u_shaped": Alternative(LAWS["u_shaped"], lambda s: -s * (1 - s) * logit(s) ** 2 / 10),
    "misses at the top, saturated": Alternative(LAWS["saturated"], _inside(0.9999, 1.0)),
    "stairs, beta_2_1": Alternative(LAWS["beta_2_1"], lambda s: (np.floor(s * 5) + 0.5) / 5 - s),
    "slope above .5, uniform": Alternative(
        LAWS["uniform"], lambda s: np.where(s > 0.5, _line(0.0, 0.5)(s), 0.0)
    ),
    "power, uniform": Alternative(LAWS["uniform"], lambda s: s**1.3 - s),
}


class _Drawn(NamedTuple):
    scores: Floats
    uniforms: Floats

    def hits(self, alternative: Alternative, strength: float) -> NDArray[np.bool_]:
        return self.uniforms < alternative.rates(self.scores, strength)


def power_against(
    alternatives: dict[str, Alternative],
    n: int,
    data_sets: int,
    tests: Iterable[str] = SINGLE_TESTS,
    replicates: int = 999,
    seed: int = 0,
) -> pd.DataFrame:
    """Return a row per alternative: its strength, the power of each test and of the verdict."""
    loaded = [load_test(name) for name in tests]
    sizes = n, data_sets, replicates, seed
    return pd.DataFrame(_row(loaded, name, of, *sizes) for name, of in alternatives.items())


def _row(tests, name, alternative, n, data_sets, replicates, seed):
    null = _drawn(alternative, n, _NULLS, seed, "null")
    none = _outcomes(tests, null, null.hits(alternative, 0.0))
    critical = {test: np.quantile(values, 1 - SIGNIFICANT) for test, values in none.items()}

    def powers(drawn, strength):
        outcomes = _outcomes(tests, drawn, drawn.hits(alternative, strength))
        rejects = {
            test.name: outcomes[test.name] <= SIGNIFICANT
            if test.p_values
            else outcomes[test.name] > critical[test.name]
            for test in tests
        }
        return {test: float(np.mean(rejected)) for test, rejected in rejects.items()}

    tuning = _drawn(alternative, n, _TUNING, seed, f"tuning {name}")
    strength = _tuned(lambda strength: max(powers(tuning, strength).values()))
    drawn = _drawn(alternative, n, data_sets, seed, name)
    of_tests = powers(drawn, strength)
    rows = zip(drawn.scores, drawn.hits(alternative, strength), strict=True)
    return {
        "alternative": name,
        "n_samples": n,
        "strength": strength,
        "verdict": np.mean([judge(*row, replicates=replicates).miscalibrated for row in rows]),
        "best": max(of_tests.values()),
        "best_test": max(of_tests, key=of_tests.get),
        **of_tests,
    }


def _drawn(alternative: Alternative, n: int, m: int, seed: int, name: str) -> _Drawn:
    generator = stream(seed, "verdict_power", name, str(n))
    scores = np.sort([alternative.draw(generator, n) for _ in range(m)], axis=1)
    return _Drawn(scores, generator.random((m, n)))


def _outcomes(tests, drawn, hits):
    """Return {test: p-values, or statistics where it has none, (m,)}."""
    values = {test.name: [] for test in tests}
    for first in range(0, len(hits), _BATCH):
        some = slice(first, first + _BATCH)
        rows = zip(drawn.scores[some], hits[some].astype(float), strict=True)
        batches = [of_sorted_scores(s, y[None]) for s, y in rows]
        if len({batch.tie_first.shape for batch in batches}) == 1:  # all have ties, or none has
            batches = [SortedBatch.concatenated(batches)]
        for batch in batches:
            for test in tests:
                values[test.name].append(np.array((test.p_values or test.statistics)(batch)))
    return {name: np.concatenate(parts) for name, parts in values.items()}


def _tuned(best: Callable[[float], float]) -> float:
    """Return the strength at which the best test has the power wanted."""
    low, high = 0.0, 1.0
    while best(high) < WANTED and high < 64:
        low, high = high, 2 * high
    for _ in range(_STEPS):
        middle = 0.5 * (low + high)
        reached = best(middle)
        if abs(reached - WANTED) < _CLOSE:
            return middle
        low, high = (middle, high) if reached < WANTED else (low, middle)
    return 0.5 * (low + high)
