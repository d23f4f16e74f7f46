"""Which is nearer to the truth, the equal-mass debiased estimate or the equal-mass sweep, and why.

Both biases (ℓ2) follow from the population to second order; ``docs/tool/debias_or_sweep.md``
derives the formulas. g = c − T is the gap, E² = E g². Of b bins of equal mass: γ_k = E[g | bin k],
T_k = E[T | bin k], u_k = var(c − hit | bin k); g(q_k) is the gap at the bin's upper edge.

    D, the debiased square     mean_k γ_k² + Σ_k (u_k − T_k(1 − T_k))/n
    Q, the square of b bins    the same + N_b
    influence of a row         ψ = 2 γ_k g + 2 Σ_{edges j ≥ k} g(q_j)(γ_{j+1} − γ_j), less its mean
                               (tends to g² − E² with b), and of its label −2 γ_k (hit − T)
    variance of both           [E ψ² + 4 E γ_k² T(1 − T)]/n + 2 Σ_k u_k²/n²
    third cumulant             [E ψ³ + 12 E ψ γ_k² T(1 − T) − 8 E γ_k³ T(1 − T)(1 − 2T)
                                + 24 mean_k γ_k²u_k² + 8 Σ_k u_k³/n]/n²

N_b is the mean of Σ_k (y_k − T_k)²/b over independent binomial hit rates y_1 ≤ … ≤ y_b: those that
the sweep accepts. The root is that of a Pearson III variable with these three moments, which may be
below 0 and is then clipped. The sweep's mean is over its numbers of bins.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calbias.defaults import N_BINS
from calbias.engine.scores_and_hits import validate_whole
from calbias.simulation import simulate_estimates
from calbias.truth.counted import CountedScenario
from calbias.truth.scenarios import Scenario, validate_scenario
from calbias.truth.targets import Population, population_of_scenario

SWEEP = "ece_sweep_em"
_POINTS = 1 << 16  # of a Scenario's quantile grid
_PROBABILITIES = (np.arange(2000) + 0.5) / 2000


@dataclass(frozen=True)
class DebiasOrSweep:
    """Biases of ``ece_debias_em`` and ``ece_sweep_em`` by the formulas; all errors are fractions.

    Attributes
    ----------
    debias_bias, sweep_bias : float
        Mean estimate less the true error: −U, and M − U.
    lost : float
        U, what debias loses: ``unseen`` and the curvature of the root. Below 0 near calibration,
        where clipping at 0 adds more.
    unseen : float
        The part of U that is left with infinitely many rows: E less what 15 bins see of it.
    refund : float
        M, what the sweep adds to that: the noise of bins that are not debiased, less what its bins
        see less of E than 15 do. The sweep is nearer where M is between 0 and 2U.
    noise : float
        The part of M that is noise, N_b/(2E) averaged over the sweep's numbers of bins.
    mean_bins : float
        The sweep's mean number of bins.
    truth : float
        E, the true ℓ2 error.
    n_samples : int
    """

    debias_bias: float
    sweep_bias: float
    lost: float
    unseen: float
    refund: float
    noise: float
    mean_bins: float
    truth: float
    n_samples: int

    @property
    def difference(self) -> float:
        """|bias| of debias less |bias| of the sweep: above 0 the sweep is nearer."""
        return abs(self.debias_bias) - abs(self.sweep_bias)

    @property
    def nearer(self) -> str:
        """The estimator of less absolute bias."""
        return SWEEP if self.difference > 0 else "ece_debias_em"


class Moments:
    """What the formulas need of a Population: means in bins of equal mass, and cumulants."""

    def __init__(self, population: Population) -> None:
        score, self.weight = population.scores, population.weights
        self.gap, self.hit = -population.gaps, score + population.gaps
        residual = score**2 - 2 * score * self.hit + self.hit  # E (c − hit)²
        sums = np.cumsum(self.weight * np.stack([self.gap, self.hit, residual]), axis=1)
        self._sums = np.pad(sums, ((0, 0), (1, 0)))
        self._upto = np.append(0.0, np.cumsum(self.weight))
        self.truth = float(self.weight @ self.gap**2) ** 0.5

    def bins(self, n_bins: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return γ, T and u of bins of equal mass, (b,) each."""
        edges = self._upto[-1] * np.arange(n_bins + 1) / n_bins
        at = np.stack([np.interp(edges, self._upto, x) for x in self._sums])
        gap, hit, residual = n_bins * np.diff(at, axis=1)
        return gap, np.clip(hit, 0.0, 1.0), residual - gap**2

    def influence(self, gap: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return ψ of a row at each point, the derivative of mean_k γ_k², and the point's bin."""
        n_bins = len(gap)
        middle = (self._upto[1:] + self._upto[:-1]) / 2
        at = np.minimum((middle * n_bins).astype(np.int64), n_bins - 1)
        edge_gaps = np.interp(np.arange(1, n_bins) / n_bins, middle, self.gap)
        jumps = np.append(np.cumsum((edge_gaps * np.diff(gap))[::-1])[::-1], 0.0)
        influence = 2 * gap[at] * self.gap + 2 * jumps[at]
        return influence - self.weight @ influence, at

    def cumulants(self, n_samples: int, n_bins: int, noise: float) -> tuple[float, float, float]:
        """Return mean, variance and third cumulant of the square, whose noise is ``noise``."""
        gap, hit, u = self.bins(n_bins)
        influence, at = self.influence(gap)
        label = gap[at] ** 2 * self.hit * (1 - self.hit)
        variance = self.weight @ (influence**2 + 4 * label) + 2 * np.sum(u**2) / n_samples
        skewed = 12 * influence * label - 8 * gap[at] * label * (1 - 2 * self.hit)
        third = self.weight @ (influence**3 + skewed) + 24 * np.mean(gap**2 * u**2)
        third += 8 * np.sum(u**3) / n_samples
        mean = np.mean(gap**2) + np.sum(u - hit * (1 - hit)) / n_samples + noise
        return float(mean), float(variance) / n_samples, float(third) / n_samples**2


def mean_root(mean: float, variance: float, third: float) -> float:
    """Return E √max(x, 0) of a Pearson III variable with this mean, variance, third cumulant."""
    from scipy.stats import pearson3  # takes long to import

    if not variance > 0:
        return max(mean, 0.0) ** 0.5
    spread = variance**0.5
    squares = mean + spread * pearson3.ppf(_PROBABILITIES, third / spread**3)
    return float(np.mean(np.sqrt(np.maximum(squares, 0.0))))


def accepted_noise(hit: np.ndarray, n_samples: int) -> tuple[float, float]:
    """Return P(y_1 ≤ … ≤ y_b) and N_b, the mean of Σ_k (y_k − T_k)²/b where that holds.

    ``hit`` is T, (b,); hit rates y_k are independent and binomial, of n/b rows each. Exact: a sum
    over counts, bin by bin.
    """
    from scipy.stats import binom

    n_bins = len(hit)
    rows = np.diff(np.arange(n_bins + 1) * n_samples // n_bins)
    chance, noise = np.ones(1), np.zeros(1)  # of all bins before, with a rate up to the index
    last_rows = 0
    for m, rate in zip(rows, hit, strict=True):
        counts = np.arange(m + 1)
        below = counts * last_rows // m
        here = binom.pmf(counts, m, rate)
        square = (counts / m - rate) ** 2 / n_bins
        chance, noise = here * chance[below], here * (noise[below] + square * chance[below])
        chance, noise, last_rows = np.cumsum(chance), np.cumsum(noise), m
    total = float(chance[-1])
    return total, float(noise[-1]) / total if total > 0 else np.nan


def debias_or_sweep(
    scenario: Scenario | CountedScenario,
    n_samples: int,
    *,
    n_bins: int = N_BINS,
    replicates: int = 1000,
    seed: int = 0,
) -> DebiasOrSweep:
    """Say which of equal-mass debias and sweep is nearer to the true ℓ2 error, and why.

    Parameters
    ----------
    scenario : Scenario or CountedScenario
        A population of scores c with a calibration curve T. ``CountedScenario.from_scores`` makes
        one of a model's own scores and hits.
    n_samples : int
        Rows of a data set, at least ``2 n_bins``.
    n_bins : int, default 15
        Bins of the debiased estimate.
    replicates : int, default 1000
        Data sets in which the sweep's number of bins is counted. All else is a formula.
    seed : int, default 0

    Returns
    -------
    DebiasOrSweep

    Raises
    ------
    InputError
        For numbers out of range.

    Notes
    -----
    No constant is fitted. The moments of the squares are expansions in 1/n; the root by three
    moments is an approximation. So is, of the sweep, that the bins of each number have the noise of
    ordered rates, whatever other numbers it tried, and that noise along the gaps cancels.

    References
    ----------
    Roelofs, Cain, Shlens and Mozer (2022), Eq. 7, 8; Bröcker (2012), the debiased square.

    Examples
    --------
    An accurate, over-confident model whose error sits in few rows:

    >>> import calbias
    >>> curve = calbias.Curve("logit_logit_b0_b1", -0.88, 0.49)
    >>> images = calbias.Scenario("images", 1.13, 0.2, curve)
    >>> expected = calbias.debias_or_sweep(images, n_samples=400)
    >>> expected.nearer, bool(0 < expected.refund < 2 * expected.lost)
    ('ece_sweep_em', True)
    """
    validate_whole("n_bins", n_bins, 1)
    validate_whole("n_samples", n_samples, 2 * n_bins)
    validate_whole("replicates", replicates, 1)
    validate_whole("seed", seed, 0)
    if isinstance(scenario, Scenario):
        validate_scenario(scenario)
    moments = Moments(population_of_scenario(scenario, _POINTS))
    truth = moments.truth
    debias = mean_root(*moments.cumulants(n_samples, n_bins, 0.0))
    simulated = simulate_estimates(scenario, n_samples, np.arange(replicates), [SWEEP], seed=seed)
    numbers, times = np.unique(simulated[SWEEP][1], return_counts=True)
    shares = times / replicates
    noises = np.array([accepted_noise(moments.bins(b)[1], n_samples)[1] for b in numbers])
    squares = [moments.cumulants(n_samples, b, x) for b, x in zip(numbers, noises, strict=True)]
    sweep = float(shares @ [mean_root(*x) for x in squares])
    return DebiasOrSweep(
        debias_bias=debias - truth,
        sweep_bias=sweep - truth,
        lost=truth - debias,
        unseen=truth - float(np.sqrt(np.mean(moments.bins(n_bins)[0] ** 2))),
        refund=sweep - debias,
        noise=float(shares @ noises) / (2 * truth) if truth > 0 else np.inf,
        mean_bins=float(shares @ numbers),
        truth=truth,
        n_samples=n_samples,
    )
