"""What no estimator of the calibration error can pass: a bound per scenario.

**Bound.** With gap δ = c(S) − S, the efficient influence functions of the errors are

    ℓ1:  |δ| − ℓ1 + sign(δ) (Y − c)              variance  Var |δ| + E 1{δ ≠ 0} c (1 − c)
    ℓ2:  [δ² − ℓ2² + 2 δ (Y − c)] / (2 ℓ2)       variance  [Var δ² + 4 E δ² c (1 − c)] / (4 ℓ2²)

The root of variance/n is the least standard error, for large n, of an estimator that is unbiased
near the curve (van der Vaart, *Asymptotic Statistics*, 1998, chapter 25). Where the model is
calibrated the errors have no derivative and there is no such bound: NaN. A biased estimator, which
pays at other curves, can be below the bound at one.
"""

import math

import numpy as np

from calbias.truth.scenarios import Scenario
from calbias.truth.targets import Population, population_of_scenario
from evidence.runner import Row


def information_limit(population: Population, norm: float = 1) -> float:
    """Return √n times the least standard error of an unbiased estimate; NaN if calibrated.

    ``population`` is weighted scores with their gaps, as of ``population_of_scenario(scenario)``.
    """
    scores, gaps, weights = population
    curve = np.clip(scores + gaps, 0.0, 1.0)
    noise = curve * (1.0 - curve)
    square = float(weights @ gaps**2)
    if square < 1e-18:
        return math.nan
    if norm == 1:
        mean = float(weights @ abs(gaps))
        return math.sqrt(square - mean * mean + float(weights @ (noise * (gaps != 0.0))))
    if norm == 2:
        spread = float(weights @ gaps**4) - square * square
        return math.sqrt((spread + 4.0 * float(weights @ (gaps**2 * noise))) / (4.0 * square))
    raise ValueError(f"no limit for norm {norm}")


def limit_row(scenario: Scenario, n_samples: int, norm: float = 1) -> Row:
    """Return a row for the league's figure: the limit at n, and as a share of the truth."""
    population = population_of_scenario(scenario, 1 << 16)
    _, gaps, weights = population
    truth = float(weights @ abs(gaps) ** norm) ** (1.0 / norm)
    limit = information_limit(population, norm) / math.sqrt(n_samples)
    return {
        "scenario": scenario.name,
        "target": f"l{norm:g}",
        "n_samples": n_samples,
        "truth": truth,
        "limit": limit,
        "relative_limit": limit / truth if truth > 1e-9 else math.nan,
    }
