"""Henzi, Puke, Dimitriadis and Ziegel, NEJSDS 2023: how often Hosmer and Lemeshow's test rejects.

x is uniform on (−3, 3), the log-odds are quadratic in x, P(−1.5) = 0.05, P(3) = 0.95, P(−3) = J. A
logistic line is fitted on n rows, and n other rows are tested; at J = 0.007 with their true
probabilities. Ten groups of equal size, printed with 9 degrees of freedom; 10 are right.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.special import expit, logit

from calbias.defaults import SIGNIFICANT
from calbias.engine.seeding import stream
from evidence.calibration_tests import hosmer_lemeshow
from evidence.cells.forecasts import Forecasts, audit_methods
from evidence.logistic_line import fit_line
from evidence.runner import Method, each
from reproduction.judging import Drawn

PRINTED = {"henzi2023_hosmer_lemeshow": ("n={n_samples:g} J={j:g}", "{test}", "rejected", 1000)}
_CALIBRATED = 0.007
_PLACES = np.array([-1.5, 3.0, -3.0])


@dataclass(frozen=True)
class QuadraticCell(Drawn):
    """Quadratic log-odds with P(−3) = j, forecast by a logistic line in x."""

    n: int
    j: float

    @property
    def name(self) -> str:
        """Both numbers."""
        return f"n={self.n} J={self.j:g}"

    def draw(self, n: int, seed: int, number: int) -> Forecasts:
        """Return Forecasts of the rows that the line was not fitted on."""
        generator = stream(seed, "henzi2023", self.name, str(number))
        b = np.linalg.solve(np.vander(_PLACES), logit([0.05, 0.95, self.j]))
        x = generator.uniform(-3, 3, 2 * n)
        rates = expit(np.polyval(b, x))
        hits = generator.random(2 * n) < rates
        if self.j == _CALIBRATED:
            return Forecasts(rates[n:], hits[n:])
        intercept, slope = fit_line(x[:n], hits[:n].astype(float), 0.0)
        return Forecasts(expit(intercept + slope * x[n:]), hits[n:])


def cells() -> list[tuple[QuadraticCell, int]]:
    """Return the cells in the order of the paper."""
    return [(QuadraticCell(n, k / 1000), n) for n in (1024, 4096) for k in range(7, 108, 2)]


def methods(cell: QuadraticCell, n: int, data_sets: int, seed: int) -> dict[str, Method]:
    """Return the rejections of the test with 9 and 10 degrees, of the verdict and the monitor."""

    def rejects(data: Forecasts, lost: int) -> bool:
        return bool(hosmer_lemeshow(data.batch, lost)[0] <= SIGNIFICANT)

    printed = {
        f"hosmer_lemeshow_{10 - lost}_df": Method("", each(partial(rejects, lost=lost)))
        for lost in (1, 0)
    }
    return printed | audit_methods(data_sets)
