"""44 cells that judge the audit's interval, written by a person who had not seen its method.

A cell is a law of the scores, a calibration curve and a number of rows: networks, risk models,
forests, recalibrated and verbalised confidences, local faults, waves, and random worlds. They were
read once, after the interval was fixed.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression
from scipy.special import expit

from calbias.engine.seeding import stream

Floats = NDArray[np.float64]
Law = Callable[[np.random.Generator, int], Floats]
Curve = Callable[[Floats], Floats]
_TRUTH_DRAWS = 1 << 19  # the standard error of a truth is 1e-4 or less


class BlindCell(NamedTuple):
    """A law of the scores with a curve, at one number of rows."""

    name: str
    scores: Law
    curve: Curve
    n: int

    def draw(self, n: int, seed: int, number: int) -> tuple[Floats, NDArray[np.int64]]:
        """Return one data set, scores (n,) and hits (n,): a function of the seed and of names."""
        generator = stream(seed, "blind", self.name, str(n), str(number))
        scores = self.scores(generator, n)
        return scores, (generator.random(n) < self.curve(scores)).astype(np.int64)

    def truths(self) -> dict[float, float]:
        """Return {norm: error} for norms 1 and 2."""
        if isinstance(self.scores, _Values):
            scores, weights = self.scores.values, self.scores.shares
        else:
            scores = self.scores(np.random.default_rng(7), _TRUTH_DRAWS)
            weights = np.full(_TRUTH_DRAWS, 1.0 / _TRUTH_DRAWS)
        gaps = abs(self.curve(scores) - scores)
        return {1: float(weights @ gaps), 2: float(np.sqrt(weights @ gaps**2))}


class _Values:
    """A law on few values."""

    def __init__(self, values: list[float] | Floats, shares: list[float] | Floats) -> None:
        self.values = np.asarray(values, float)
        self.shares = np.asarray(shares, float) / np.sum(shares)

    def __call__(self, generator: np.random.Generator, n: int) -> Floats:
        return generator.choice(self.values, n, p=self.shares)


def _beta(alpha: float, beta: float, low: float = 0.0, high: float = 1.0) -> Law:
    return lambda generator, n: low + (high - low) * generator.beta(alpha, beta, n)


def _normal(mean: float, deviation: float) -> Law:
    return lambda generator, n: expit(generator.normal(mean, deviation, n))


def _mixed(share: float, first: Law, second: Law) -> Law:
    return lambda generator, n: np.where(
        generator.random(n) < share, first(generator, n), second(generator, n)
    )


def _saturated(mean: float, deviation: float) -> Law:
    """Log odds far out on both sides, in single precision: some scores are exactly 1."""
    both = _mixed(0.35, _normal(mean, deviation), _normal(-mean, deviation))
    return lambda generator, n: both(generator, n).astype(np.float32).astype(float)


def _top_label(generator: np.random.Generator, n: int) -> Floats:
    ahead = np.exp(generator.gamma(4.0, 1.6, n))
    return ahead / (ahead + 9 * np.exp(generator.normal(0.3, 0.4, n)))


def _forest(trees: int, alpha: float, beta: float) -> Law:
    return lambda generator, n: generator.binomial(trees, generator.beta(alpha, beta, n)) / trees


def _logit(s: Floats) -> Floats:
    inside = np.clip(s, 1e-12, 1 - 1e-12)
    return np.log(inside) - np.log1p(-inside)


def _line(slope: float, shift: float = 0.0) -> Curve:
    return lambda s: expit(slope * _logit(s) + shift)


def _forest_line(trees: int, slope: float, shift: float = 0.0) -> Curve:
    return lambda s: _line(slope, shift)((s * trees + 0.5) / (trees + 1))


def _joined(values: list[float] | Floats, rates: list[float] | Floats) -> Curve:
    return lambda s: np.interp(s, values, rates)


def _wave(cycles: float, amplitude: float) -> Curve:
    return lambda s: s + 4 * s * (1 - s) * amplitude * np.sin(2 * np.pi * cycles * s)


def _recalibrated(seed: int, rows: int, bins: int = 0) -> tuple[_Values, Curve]:
    """Return scores after a histogram of ``bins``, or isotonic, recalibration on few labels."""
    generator = np.random.default_rng(seed)
    raw = np.sort(generator.random(rows))
    hits = generator.random(rows) < expit(7 * raw - 4)
    if bins:
        edges = np.linspace(0, 1, bins + 1)
        levels = np.histogram(raw, edges, weights=hits * 1.0)[0] / np.histogram(raw, edges)[0]
    else:
        fit = isotonic_regression(hits * 1.0)
        levels, cuts = fit.x[fit.blocks[:-1]], fit.blocks[1:-1]
        edges = np.concatenate([[0], (raw[cuts - 1] + raw[cuts]) / 2, [1]])
    true_hits = np.diff(np.log1p(np.exp(7 * edges - 4)) / 7)  # integral of the true curve
    values, place = np.unique(levels, return_inverse=True)
    shares = np.bincount(place, np.diff(edges))
    return _Values(values, shares), _joined(values, np.bincount(place, true_hits) / shares)


def _two_populations(s: Floats) -> Floats:
    """Beta(1, 2), calibrated, and Beta(2, 2) on [0.3, 1], too sure: a kink where they meet."""
    t = np.clip((s - 0.3) / 0.7, 0, 1)
    first, second = 0.6 * 2 * (1 - s), 0.4 * 6 * t * (1 - t) / 0.7
    share = second / np.maximum(first + second, 1e-300)
    return s - share * 0.55 * (s - expit(_logit(s) - 1.5))


def _world(seed: int, kind: str, pieces: int, n: int) -> BlindCell:
    """Return a random Beta law with a random piecewise linear, or constant, curve."""
    generator = np.random.default_rng([20240607, seed])
    alpha, beta = np.exp(generator.uniform(np.log(0.5), np.log(4), 2))
    size = generator.uniform(0.04, 0.16)
    if kind == "linear":
        knots = np.concatenate([[0], np.sort(generator.random(pieces - 1)), [1]])
        curve = _joined(knots, np.clip(knots + generator.normal(0, size, pieces + 1), 0, 1))
    else:
        edges = np.sort(generator.beta(alpha, beta, pieces - 1))
        middles = (np.concatenate([[0], edges]) + np.concatenate([edges, [1]])) / 2
        levels = np.clip(middles + generator.normal(0, size, pieces), 0, 1)

        def curve(s: Floats) -> Floats:
            return levels[np.searchsorted(edges, s, side="right")]

    return BlindCell(f"world_{kind}_{pieces}", _beta(alpha, beta), curve, n)


_LLM = _Values(
    [0, 0.1, 0.2, 0.3, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1],
    [2, 2, 3, 2, 4, 4, 7, 6, 14, 16, 19, 16, 5],
)
_LLM_RATES = [0.08, 0.2, 0.15, 0.35, 0.42, 0.55, 0.5, 0.66, 0.61, 0.72, 0.7, 0.83, 0.88]
_FIVE = _Values([0.2, 0.5, 0.7, 0.9, 1], [10, 15, 25, 35, 15])

CELLS = [
    BlindCell(*cell)
    for cell in (
        ("nn_saturated", _saturated(6, 4), lambda s: 0.01 + 0.98 * _line(1 / 1.8)(s), 5000),
        ("nn_top_label", _top_label,
         lambda s: s - 0.06 * np.clip((s - 0.6) / 0.4, 0, 1) ** 2, 20_000),
        ("nn_temperature_scaled_almost", _saturated(3, 2), _line(0.96, 0.03), 5000),
        ("risk_1pct_odds", _normal(-5.2, 1.2), _line(1, np.log(1.35)), 20_000),
        ("risk_6pct_flat_slope", _beta(0.8, 12), _line(0.7, -0.6), 5000),
        ("forest_100", _forest(100, 0.9, 1.3), _forest_line(100, 1.5), 300),
        ("forest_500", _forest(500, 0.7, 2.5), _forest_line(500, 1.2, 0.1), 20_000),
        ("isotonic_1500", *_recalibrated(1, 1500), 5000),
        ("histogram_10", *_recalibrated(2, 400, 10), 1000),
        ("isotonic_150_ends_at_0_and_1", *_recalibrated(3, 150), 1000),
        ("llm_verbal_13_values", _LLM, _joined(_LLM.values, _LLM_RATES), 1000),
        ("llm_5_values", _FIVE, _joined(_FIVE.values, [0.3, 0.4, 0.72, 0.75, 0.93]), 300),
        ("llm_logprob_saturated", _beta(0.25, 0.2), lambda s: 0.06 + 0.86 * s, 5000),
        ("kink_at_.4", _beta(1.3, 1.6),
         lambda s: np.where(s < 0.4, s, 0.4 + 0.7 * (s - 0.4)), 5000),
        ("two_populations", _mixed(0.6, _beta(1, 2), _beta(2, 2, 0.3)), _two_populations, 1000),
        ("label_noise_ceiling", _beta(2, 1), lambda s: np.minimum(s, 0.88), 5000),
        ("label_noise_symmetric", _beta(0.6, 0.6), lambda s: 0.08 + 0.84 * s, 300),
        ("clipped_at_.95", lambda generator, n: np.minimum(_normal(1.5, 2.0)(generator, n), 0.95),
         lambda s: np.where(s < 0.95, s, 0.978), 5000),
        ("narrow_fault", _beta(1.2, 1.2),
         lambda s: np.where((s > 0.62) & (s < 0.66), s - 0.25, s), 20_000),
        ("narrow_bump", _beta(2, 3),
         lambda s: s + 0.2 * np.exp(-(((s - 0.3) / 0.02) ** 2) / 2), 1000),
        ("step_at_.5", _beta(1.5, 1.5),
         lambda s: s + np.where(s < 0.5, -1, 1) * 0.25 * np.minimum(s, 1 - s), 5000),
        ("s_shaped", _beta(1, 1), lambda s: s * s * (3 - 2 * s), 300),
        ("u_shaped", _beta(1.2, 1.2, 0.15, 0.85),
         lambda s: np.clip(s + 0.3 * ((2 * s - 1) ** 2 - 0.2), 0, 1), 1000),
        ("overconfident_top", _beta(1.5, 1), lambda s: s - 0.5 * np.maximum(s - 0.7, 0), 1000),
        ("prevalence_halved", _beta(1.5, 2), _line(1, -np.log(2)), 300),
        ("covariate_shift", _mixed(0.3, _beta(2, 5), _beta(6, 2)),
         lambda s: s - 0.4 * np.maximum(s - 0.5, 0) ** 2, 5000),
        ("wiggles_3", _beta(1, 1), _wave(3, 0.16), 1000),
        ("wiggles_5", _beta(1.3, 1.3), _wave(5, 0.08), 5000),
        ("wiggles_8", _beta(1, 1.2), _wave(8, 0.055), 20_000),
        ("almost_slope_.9", _beta(2, 2), _line(0.9), 300),
        *(_world(seed, "linear", pieces, n)
          for seed, pieces, n in ((1, 4, 300), (2, 7, 1000), (3, 12, 5000), (4, 20, 20_000))),
        *(_world(seed, "constant", pieces, n)
          for seed, pieces, n in ((5, 4, 300), (6, 8, 1000), (7, 13, 20_000), (8, 20, 20_000))),
        ("perfect_uniform", _beta(1, 1), np.positive, 300),
        ("perfect_saturated", _saturated(6, 4), np.positive, 20_000),
        ("perfect_rare", _normal(-4.5, 1.3), np.positive, 20_000),
        ("perfect_forest_100", _forest(100, 1, 2), np.positive, 1000),
        ("perfect_llm_5_values", _FIVE, np.positive, 300),
        ("perfect_weak_model", _beta(40, 45), np.positive, 20_000),
    )
]  # fmt: skip
