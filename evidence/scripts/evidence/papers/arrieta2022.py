"""Arrieta-Ibarra, Gujral, Tannen, Tygert and Xu, JMLR 2022: a data set by its formula and seed.

Scores are s_j = √(j/n + 1/(2n)). The gap of the true curve is t_j − 1 + exp(−e² j/n), t the
sorted numbers round(j·8⁷/n) with each octal digit 1 to 7 replaced by 1, read as binary fractions.
"""

import math
import random
from functools import partial

import numpy as np

from calbias.estimators.ks import cumulative_extremes
from evidence.cells.forecasts import Forecasts
from evidence.runner import Method, each
from reproduction.judging import Drawn

PRINTED = {"arrieta2022": ("{cell}", "{quantity}", "printed", 1)}
_ROWS, _DIGITS, _SEED = 32_768, 7, 987_654_321


class FormulaCell(Drawn):
    """The data set: nothing is random in it but for the seed of the paper."""

    name = f"n={_ROWS}"

    def draw(self, n: int, seed: int, number: int) -> Forecasts:
        """Return the data set."""
        j = np.arange(n)
        octal = (oct(round(k * 8**_DIGITS / n))[2:] for k in j.tolist())
        binary = [int("".join("01"[digit > "0"] for digit in word), 2) for word in octal]
        t = np.sort(binary) / 2**_DIGITS / (1 - 2**-_DIGITS) - 1 + np.exp(-(math.e**2) * j / n)
        scores = np.sqrt(j / n + 1 / (2 * n))
        generator = random.Random(_SEED)
        return Forecasts(scores, np.array([generator.random() for _ in range(n)]) <= scores + t)


def extremes(data: Forecasts, name: str) -> float:
    """Return the largest deviation or the range of the cumulative gaps, in units of σ or not."""
    (low,), (high,) = cumulative_extremes(data.batch)
    sigma = math.sqrt(np.sum(data.scores * (1 - data.scores))) / data.scores.size
    value = high - low if name.startswith("ecce_r") else max(high, -low)
    return float(value / sigma if name.endswith("_over_sigma") else value)


def cells() -> list[tuple[FormulaCell, int]]:
    """Return the one cell."""
    return [(FormulaCell(), _ROWS)]


def methods(cell: FormulaCell, n: int, data_sets: int, seed: int) -> dict[str, Method]:
    """Return the four numbers."""
    names = (f"{name}{unit}" for name in ("ks", "ecce_r") for unit in ("", "_over_sigma"))
    return {name: Method("", each(partial(extremes, name=name)), 1) for name in names}
