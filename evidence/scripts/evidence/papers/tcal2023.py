"""Lee, Huang, Hassani and Dobriban, *T-Cal*, JMLR 2023: type II errors on waves.

Scores are uniform. On [1/4, 3/4] T(z) = z ± 100 w^(−0.6) exp(−1/(f(1 − f))), f the fractional part
and the sign by the integer part of 2w(z − 1/4). A printed critical value is the 95 % quantile of
1000 data sets of a calibrated model. The numbers have four decimals: taken as 10 000 data sets.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from calbias.defaults import N_BINS, SIGNIFICANT
from calbias.engine.seeding import stream
from calbias.estimators.ece_bin import estimate_data_sets as ece
from evidence.calibration_tests import TESTS
from evidence.cells.forecasts import Forecasts, audit_methods
from evidence.estimators.tcal import estimate_data_sets as t_cal
from evidence.runner import Method, each
from reproduction.judging import Drawn

PRINTED = {"tcal2023_type2": ("n={n_samples:g} waves={waves:g}", "{test}", "type_2", 10_000)}
_NULL, _OUR_NULLS = 1000, 10  # data sets of a printed critical value; ours as multiples
_STATISTICS: dict[str, Callable[[Forecasts], NDArray]] = {
    "t_cal": lambda x: t_cal(x.batch, n_bins=int(x.scores.size ** (2 / 3.4)))[0],
    "ece_15_bins_l1": lambda x: ece(x.batch, N_BINS, 1.0, "equal_width")[0],
    "logistic_score": lambda x: -TESTS["cox_score"].values(x.batch),
}


@dataclass(frozen=True)
class WaveCell(Drawn):
    """Uniform scores with so many waves, or calibrated with none."""

    n: int
    waves: int

    @property
    def name(self) -> str:
        """Both numbers."""
        return f"n={self.n} waves={self.waves}"

    def chances(self, z: NDArray) -> NDArray:
        """Return T(z), (n,)."""
        if not self.waves:
            return z
        half_wave, f = np.divmod(2 * self.waves * (z - 0.25), 1)
        with np.errstate(divide="ignore"):
            wave = 100 * self.waves**-0.6 * np.exp(-1 / (f * (1 - f)))
        return z + (np.abs(z - 0.5) <= 0.25) * (1 - 2 * (half_wave % 2)) * wave

    def draw(self, n: int, seed: int, number: int) -> Forecasts:
        """Return Forecasts."""
        generator = stream(seed, "tcal2023", self.name, str(number))
        scores = generator.random(n)
        return Forecasts(scores, generator.random(n) < self.chances(scores))


@cache
def limits(test: str, n: int, seed: int, data_sets: int) -> NDArray:
    """Return the critical value of a test, and the ones at ∓1 standard error of its level."""
    nulls = WaveCell(n, 0).batches(n, seed, data_sets)
    statistics = np.array([_STATISTICS[test](data) for (data,) in nulls])
    error = np.sqrt(SIGNIFICANT * (1 - SIGNIFICANT) * (1 / _NULL + 1 / data_sets))
    levels = np.clip(1 - SIGNIFICANT + error * np.array([0, -1, 1]), 0, 1)
    return np.quantile(statistics, levels)


def cells() -> list[tuple[WaveCell, int]]:
    """Return the waves of the paper, from 40 on, and three slower ones, whose T is clipped."""
    return [(WaveCell(n, w), n) for n in (2000, 5000, 10_000) for w in range(10, 200, 10)]


def methods(cell: WaveCell, n: int, data_sets: int, seed: int) -> dict[str, Method]:
    """Return the misses of the paper's tests, of the verdict and of the monitor."""

    def misses(data: Forecasts, test: str) -> NDArray:
        return _STATISTICS[test](data) <= limits(test, n, seed, _OUR_NULLS * data_sets)

    printed = {test: Method("", each(partial(misses, test=test))) for test in _STATISTICS}
    return printed | audit_methods(data_sets, rejected=False)
