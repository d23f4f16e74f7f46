"""What no estimator of the calibration error can pass: a bound per scenario, and a certificate.

**Bound.** With gap δ = c(S) − S, the efficient influence functions of the errors are

    ℓ1:  |δ| − ℓ1 + sign(δ) (Y − c)              variance  Var |δ| + E 1{δ ≠ 0} c (1 − c)
    ℓ2:  [δ² − ℓ2² + 2 δ (Y − c)] / (2 ℓ2)       variance  [Var δ² + 4 E δ² c (1 − c)] / (4 ℓ2²)

The root of variance/n is the least standard error, for large n, of an estimator that is unbiased
near the curve (van der Vaart, *Asymptotic Statistics*, 1998, chapter 25). Where the model is
calibrated the errors have no derivative and there is no such bound: NaN. A biased estimator, which
pays at other curves, can be below the bound at one.

**Certificate.** For curves j with mean squared errors R_j of an estimator, each prior π gives

    min over estimators T of max_j MSE_j(T) / R_j  ≥  min_T Σ_j π_j MSE_j(T) / R_j ,

whose right side is attained by a posterior mean over the curves. No estimator is better than the
root of it times the given one on all curves at once, even if it knows the curves. π is improved by
multiplicative steps; the value is measured on other data sets than π was found with.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from calbias.engine.posterior.mixture import averaged
from calbias.engine.seeding import stream
from calbias.engine.sorted_batch import sorted_data_set
from calbias.truth.scenarios import Scenario
from calbias.truth.targets.population import Population, population_of_scenario
from evidence.studies.posterior_scenarios import CURVES, StudyScenario

Floats = NDArray[np.float64]
Run = Callable[[Floats, Floats], float]

_POINTS = 1 << 11  # scores of a certificate: a divisor of the law's grid
_STEPS, _RATE = 400, 0.3


def information_limit(population: Population, norm: float = 1) -> float:
    """Return √n times the least standard error of an unbiased estimate; NaN if calibrated.

    ``population`` is a score law with a curve, such as ``population_of_scenario(scenario)``.
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


def limit_row(
    scenario: Scenario | StudyScenario, n_samples: int, norm: float = 1
) -> dict[str, object]:
    """Return a row for the league's figure: the limit at n, and as a share of the truth.

    ``scenario`` is a ``Scenario`` or a ``StudyScenario``.
    """
    if isinstance(scenario, StudyScenario):
        points, weights = scenario.grid()
        population = Population(points, scenario.rates(points) - points, weights)
    else:
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


class Certificate(NamedTuple):
    """No estimator has RMSE below ``ratio`` times the given one's on all curves at once.

    ``prior`` (M,) weights the least favourable mixture, ``rmse`` (M,) is of the given estimator.
    """

    ratio: float
    ratio_se: float
    prior: Floats
    rmse: Floats


CERTIFIED_CURVES: list[tuple[str, tuple[float, ...]]] = [
    ("calibrated", ()),
    *(("slope", (b,)) for b in (0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.1, 1.2, 1.4, 1.6)),
    *(("shift", (a,)) for a in (-1, -0.7, -0.5, -0.3, -0.2, -0.1, 0.1, 0.2, 0.3, 0.5)),
    *(("line", (a, b)) for a in (-0.5, -0.25, 0.25, 0.5) for b in (0.6, 0.8, 1.25)),
    *(("wave", (a, k)) for a in (-0.08, -0.05, -0.02, 0.02, 0.05, 0.08) for k in (1, 2, 3, 6)),
    *(("jump", (x, h)) for x in (0.3, 0.5, 0.7, 0.9) for h in (-0.15, -0.06, 0.06, 0.15)),
    *(("bump", (x, w, h)) for x in (0.3, 0.5, 0.7, 0.9, 0.97) for w in (0.03, 0.08)
      for h in (-0.15, 0.15)),
    *(("stairs", (k,)) for k in (3, 5, 8)),
    *(("power", (x,)) for x in (0.7, 0.85, 1.2, 1.5, 2)),
]  # fmt: skip


def certificate(
    alpha: float, beta: float, n: int, run: Run, count: int = 60, curves=CERTIFIED_CURVES
) -> Certificate:
    """Return the Certificate of an estimator of ℓ1, ``run(scores, hits)``, for Beta scores.

    Of ``count`` data sets per curve one half finds the mixture, the other measures it.
    """
    law = StudyScenario("certificate", ("beta", (alpha, beta)), ("calibrated", ()))
    points = law.grid()[0].reshape(_POINTS, -1).mean(axis=1)
    rates = np.array([np.clip(CURVES[kind](points, *x), 1e-12, 1 - 1e-12) for kind, x in curves])
    truths = np.mean(abs(rates - points), axis=1)
    values, likelihoods = _simulate(points, rates, n, run, count)
    squares = (values - truths[:, None]) ** 2
    half = count // 2
    risk = np.maximum(squares[:, :half].mean(axis=1), 1e-12)
    prior = _least_favourable(likelihoods[:, :half], truths, risk)
    weights = prior / risk
    ideal = _bayes_errors(weights, likelihoods[:, half:], truths)
    ours = squares[:, half:]
    total = float(weights @ ours.mean(axis=1))
    value = float(weights @ ideal.mean(axis=1)) / total
    spread = (ideal - value * ours).var(axis=1, ddof=1) / (count - half)
    error = math.sqrt(float(weights**2 @ spread)) / total
    ratio = math.sqrt(value)
    rmse = np.sqrt(squares.mean(axis=1))
    return Certificate(ratio, error / (2.0 * max(ratio, 1e-9)), prior, rmse)


def _simulate(points: Floats, rates: Floats, n: int, run: Run, count: int):
    """Return estimates (M, R) and log likelihoods (M, R, M) of data sets at each curve."""
    m = len(rates)
    log_hit, log_miss = np.log(rates), np.log1p(-rates)
    values, likelihoods = np.empty((m, count)), np.empty((m, count, m))
    for j in range(m):
        for r in range(count):
            generator = stream(0, "certificate", str(n), str(j), str(r))
            places = np.sort(generator.integers(0, points.size, n))
            hits = generator.random(n) < rates[j, places]
            values[j, r] = run(points[places], hits.astype(float))
            hit = np.bincount(places[hits], minlength=points.size)
            miss = np.bincount(places[~hits], minlength=points.size)
            likelihoods[j, r] = log_hit @ hit + log_miss @ miss
    return values, likelihoods


def _bayes_errors(weights: Floats, likelihoods: Floats, truths: Floats) -> Floats:
    """Return squared errors (M, R) of the estimate of least Σ_j weights_j MSE_j."""
    with np.errstate(divide="ignore"):
        shares = softmax(likelihoods + np.log(weights), axis=2)
    estimates = shares @ truths
    return np.asarray((estimates - truths[:, None]) ** 2)


def _least_favourable(likelihoods: Floats, truths: Floats, risk: Floats) -> Floats:
    """Return the prior (M,) of greatest Bayes risk per ``risk``, by multiplicative steps."""
    prior = np.full(truths.size, 1.0 / truths.size)
    best, best_value = prior, 0.0
    for step in range(_STEPS):
        errors = _bayes_errors(prior / risk, likelihoods, truths)
        each = errors.mean(axis=1) / risk
        value = float(prior @ each)
        if value > best_value:
            best, best_value = prior, value
        scale = _RATE / math.sqrt(1.0 + step / 20.0)
        prior = prior * np.exp(scale * (each - value))
        prior /= prior.sum()
    return best


def averaged_posterior_l1(scores: Floats, hits: Floats) -> float:
    """Return the averaged posterior of the ℓ1 error, for ``certificate``."""
    data = sorted_data_set(scores, hits)
    return averaged(data.scores[0], data.cum_hit[0]).l1
