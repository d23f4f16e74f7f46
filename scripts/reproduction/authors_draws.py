"""Data sets with the random numbers of Roelofs et al. (2022), as their public code draws them.

Written from a description of that code (docs/papers/authors_code.md), none of which is here. All
cells share one chain of seeds, which begins at 47. A data set seeds NumPy's legacy
generator, whose first uniform u gives the next seed, ⌊10⁷·u⌋. Each row then takes an unused
uniform, a Beta score, and the uniform that makes the hit, so that a small data set is the beginning
of a larger one. Scores are float64: many are exactly 1, and become 1 − 10⁻¹⁶ where the curve takes
a logarithm of 1 − c.

The uniforms are numba's Mersenne Twister, which has the bits of ``numpy.random.RandomState``; a
Beta score is X/(X + Y) of two Gammas, drawn by Marsaglia and Tsang (2000) above shape 1 and by
Ahrens and Dieter (1974) below, with normals by Marsaglia's polar method: the legacy algorithms of
NumPy, which a test compares with ours number by number.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from calbias.engine.jit import njit
from calbias.engine.sorted_batch import SortedBatch
from calbias.truth.curves import split_glm_name
from calbias.truth.scenarios import Scenario

FIRST_SEED = 47
_SEEDS = 10_000_000
_BELOW_ONE = 1.0 - 1e-16
_REPLICATES_PER_BATCH = 64


def seeds(count: int) -> list[int]:
    """Return the seeds of the first ``count`` data sets."""
    chain = [FIRST_SEED]
    while len(chain) < count:
        chain.append(_next_seed(chain[-1]))
    return chain


def seed_cycle() -> tuple[list[int], int]:
    """Return the distinct seeds in the order of the data sets, and how many of them recur."""
    position: dict[int, int] = {}
    seed = FIRST_SEED
    while seed not in position:
        position[seed] = len(position)
        seed = _next_seed(seed)
    return list(position), len(position) - position[seed]


def _next_seed(seed: int) -> int:
    return int(_SEEDS * np.random.RandomState(seed).random_sample())


def draw(scenario: Scenario, n: int, chain: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """Return scores and hits, (m, n) each, in the order of the draws, of the data sets by seed."""
    scores, uniforms = np.empty((len(chain), n)), np.empty((len(chain), n))
    _draw(np.asarray(chain), scenario.alpha, scenario.beta, scores, uniforms)
    if _takes_log_of_one_minus(scenario.curve.name):
        scores[scores == 1.0] = _BELOW_ONE
    return scores, uniforms < scenario.curve.at(scores)


def _takes_log_of_one_minus(curve: str) -> bool:
    """Return whether the authors' code moves scores of 1: not in a curve of powers."""
    return curve not in ("identity", "power") and split_glm_name(curve)[0] == "logit"


def batches(
    scenario: Scenario, n_samples: Sequence[int], chain: Sequence[int]
) -> Iterator[tuple[int, SortedBatch]]:
    """Yield (n, the data sets of n rows by seed, several at a time) for each size n.

    A small data set is the beginning of a larger one, so the largest are drawn and sorted, and cut.
    Equal scores keep the order of the draws, and bins may cut them, as in the authors' code.
    """
    for start in range(0, len(chain), _REPLICATES_PER_BATCH):
        part = chain[start : start + _REPLICATES_PER_BATCH]
        scores, hits = draw(scenario, max(n_samples), part)
        order = np.argsort(scores, axis=1, kind="stable")
        for n in n_samples:
            first = order[order < n].reshape(len(part), n)
            cut = np.take_along_axis(scores, first, axis=1)
            hit = np.take_along_axis(hits, first, axis=1).astype(float)
            yield n, SortedBatch.without_ties(cut, _summed(cut - hit), _summed(hit))


def _summed(values: np.ndarray) -> np.ndarray:
    """Return partial sums (m, n + 1) from 0 of values (m, n)."""
    return np.pad(np.cumsum(values, axis=1), ((0, 0), (1, 0)))


@njit
def _draw(
    chain: np.ndarray, alpha: float, beta: float, scores: np.ndarray, uniforms: np.ndarray
) -> None:
    spare = np.empty(2)  # a normal that is left over, and whether there is one
    for row in range(scores.shape[0]):
        np.random.seed(chain[row])
        np.random.random()
        spare[1] = 0.0
        for i in range(scores.shape[1]):
            np.random.random()
            scores[row, i] = _beta(alpha, beta, spare)
            uniforms[row, i] = np.random.random()


@njit
def _beta(alpha: float, beta: float, spare: np.ndarray) -> float:
    if alpha <= 1.0 and beta <= 1.0:  # Jöhnk (1964)
        while True:
            x = np.random.random() ** (1.0 / alpha)
            y = np.random.random() ** (1.0 / beta)
            if 0.0 < x + y <= 1.0:
                return x / (x + y)
    x = _gamma(alpha, spare)
    return x / (x + _gamma(beta, spare))


@njit
def _gamma(shape: float, spare: np.ndarray) -> float:
    if shape == 1.0:
        return -np.log(1.0 - np.random.random())
    if shape < 1.0:
        while True:
            u = np.random.random()
            limit = -np.log(1.0 - np.random.random())
            if u <= 1.0 - shape:
                x = u ** (1.0 / shape)
                if x <= limit:
                    return x
            else:
                y = -np.log((1.0 - u) / shape)
                x = (1.0 - shape + shape * y) ** (1.0 / shape)
                if x <= limit + y:
                    return x
    b = shape - 1.0 / 3.0
    c = 1.0 / np.sqrt(9.0 * b)
    while True:
        x = _normal(spare)
        v = 1.0 + c * x
        if v <= 0.0:
            continue
        v = v * v * v
        u = np.random.random()
        if u < 1.0 - 0.0331 * (x * x) * (x * x):
            return b * v
        if np.log(u) < 0.5 * x * x + b * (1.0 - v + np.log(v)):
            return b * v


@njit
def _normal(spare: np.ndarray) -> float:
    if spare[1] == 1.0:
        spare[1] = 0.0
        return spare[0]
    while True:
        x = 2.0 * np.random.random() - 1.0
        y = 2.0 * np.random.random() - 1.0
        square = x * x + y * y
        if 0.0 < square < 1.0:
            break
    factor = np.sqrt(-2.0 * np.log(square) / square)
    spare[0], spare[1] = factor * x, 1.0
    return factor * y
