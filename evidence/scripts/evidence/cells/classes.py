"""Cells of all classes: probabilities with labels drawn from q = M(p), so that errors are known.

A population is a finite set of probability vectors: draws of a Dirichlet distribution, or the test
rows of networks. A data set has n rows of it, drawn with replacement, and labels drawn from M(p).
The maps are a calibrated model, temperature 1.5, a label shift that makes the last class four times
as frequent as the first, Dirichlet calibration's generative form, and 5 % label noise.

A map takes probabilities (n, K), rows that sum to 1, and returns q (n, K). What has probability 0
keeps it, but where noise or a full matrix gives it some.

The targets are what the estimators of all classes estimate:

``classwise_l1``, ``classwise_l1_sum``
    1/K Σ_k E|P(Y = k | p_k) − p_k|, class-wise calibration of Kull et al. (NeurIPS 2019), whose §2
    defines the mean and whose Table 3 prints the sum, K times the mean; Nixon et al. (2019)
``classwise_l2``, ``classwise_l2_squared``
    (1/K Σ_k E(P(Y = k | p_k) − p_k)²)^(1/2) and its square: the marginal calibration error of Kumar
    et al. (NeurIPS 2019) with equal weights of classes
``confidence_l1``
    E|P(Y = c | s) − s|, s the score of the predicted class c: what the rest of calbias estimates
``kernel``
    E k(p, p′) (q(p) − p)·(q(p′) − p′) with k = exp(−‖p − p′‖/ν), p′ an independent copy of p: 0 for
    strong calibration alone. Widmann et al. (NeurIPS 2019). Exact, in N²·K steps
``thresholded_l1``
    1/K Σ_k E(|P(Y = k | p_k) − p_k| | p_k > 0.01), after Nixon et al.
``top_label_l1``, ``top_label_l2``
    (E|P(Y = c | s, c) − s|^p)^(1/p), top-label calibration of Gupta and Ramdas (ICLR 2022)

But for the kernel a target is an error given one number, such as p_k, while q depends on all of p.
The rows are sorted by that number and cut into groups of equally many; within a group the error is
the mean of q − p. Where q depends on that number alone (identity, label noise) this is exact up to
changes of sign inside a group.
"""

import math
from collections.abc import Callable, Iterator
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln

from calbias.engine.jit import njit
from calbias.engine.seeding import stream
from calbias.errors import looked_up
from calbias.multiclass.class_bins import Binned, By, Floats, Join, absolute, equal_mass, square
from calbias.multiclass.class_rows import Rows
from calbias.multiclass.measures import THRESHOLD
from calbias.multiclass.skce import median_distance
from reproduction.judging import Drawn

DISTRIBUTIONS = {"dirichlet_3": (3, 1.0), "dirichlet_10": (10, 0.3), "dirichlet_100": (100, 0.05)}
"""Number of classes and concentration of each class of symmetric Dirichlet distributions."""
POPULATION = 4000
GROUPS = 100
_LEAST = 1e-30  # what a probability of 0 counts as in a logarithm
_LEAST_TRUTH = 1e-12
FEWEST = 50  # rows in a group of a predicted class
Map = Callable[[Floats], Floats]


class LabelledSample(NamedTuple):
    """Probabilities of rows, and labels (n, 1) in their order."""

    rows: Rows
    labels: NDArray[np.int32]


class ClassesCell(Drawn):
    """A population of probabilities (N, K) with a map; ``truths`` are found once."""

    def __init__(self, population: str, map_name: str, rows: Rows, chances: Floats) -> None:
        self.population, self.map_name = population, map_name
        self.rows, self.chances = rows, chances
        self._truths: dict[tuple[str, int], float] = {}

    @property
    def name(self) -> str:
        """The population and the map."""
        return f"{self.population}_{self.map_name}"

    @cached_property
    def n_classes(self) -> int:
        """K."""
        return self.rows.shape[1]

    def truth(self, target: str, groups: int = GROUPS) -> float:
        """Return the value of a target of all classes at a resolution."""
        key = target, groups
        if key not in self._truths:
            value = target_value(target, self.rows, self.chances, groups)
            self._truths[key] = 0.0 if abs(value) < _LEAST_TRUTH else value
        return self._truths[key]

    def draw(self, n: int, seed: int, number: int) -> LabelledSample:
        """Return n rows of the population with labels."""
        words = f"{self.population} {self.map_name}", str(n), str(number)
        generator = stream(seed, "multiclass", *words)
        chosen = generator.integers(0, len(self.rows.probabilities), n)
        sums = np.cumsum(self.chances[chosen], axis=1)
        levels = generator.random(n) * sums[:, -1]
        labels = (sums <= levels[:, None]).sum(axis=1)
        sample = Rows.of(self.rows.probabilities[chosen])
        return LabelledSample(sample, sample.given(np.minimum(labels, self.n_classes - 1)))


def cells_of(population: str, probabilities: Floats) -> Iterator[ClassesCell]:
    """Yield the cells of a population, one for each map."""
    rows = Rows.of(probabilities)
    for name, chances_of in maps_of(rows.shape[1]).items():
        yield ClassesCell(population, name, rows, chances_of(rows.probabilities))


def dirichlet_population(name: str, seed: int) -> Floats:
    """Return the rows (N, K) of one of DISTRIBUTIONS."""
    n_classes, concentration = DISTRIBUTIONS[name]
    generator = stream(seed, "multiclass", name)
    # by logarithms of gamma variates: with a small concentration the variates themselves are 0
    logs = np.log(generator.gamma(concentration + 1, size=(POPULATION, n_classes)))
    logs += np.log(generator.random((POPULATION, n_classes))) / concentration
    return temperature(np.exp(logs - logs.max(axis=1, keepdims=True)), 1.0)


def maps_of(n_classes: int) -> dict[str, Map]:
    """Return the maps by name."""
    ratios = np.geomspace(0.5, 2.0, n_classes)
    parameters = 1.0 + 0.5 * np.eye(n_classes)
    return {
        "calibrated": identity,
        "temperature": lambda p: temperature(p, 1.5),
        "label_shift": lambda p: label_shift(p, ratios),
        "dirichlet": lambda p: dirichlet(p, parameters, np.full(n_classes, 1 / n_classes)),
        "label_noise": lambda p: label_noise(p, 0.05),
    }


def identity(p: Floats) -> Floats:
    """Return p: a calibrated model."""
    return p


def temperature(p: Floats, temperature: float) -> Floats:
    """Return q ∝ p^(1/T): with T > 1 the model is overconfident (Guo et al. 2017)."""
    return _normalised(p ** (1.0 / temperature))


def matrix(p: Floats, weights: ArrayLike, shifts: ArrayLike) -> Floats:
    """Return softmax(W log p + b): matrix scaling, and Dirichlet calibration as Kull et al. fit it.

    ``weights`` (K, K) has a row for each class of q.
    """
    logs = np.log(np.maximum(p, _LEAST))
    scores = np.stack([(logs * row).sum(axis=1) for row in np.asarray(weights, float)], axis=1)
    scores += np.asarray(shifts, float)
    return _normalised(np.exp(scores - scores.max(axis=1, keepdims=True)))


def dirichlet(p: Floats, parameters: ArrayLike, priors: ArrayLike) -> Floats:
    """Return P(Y | p) where p given Y = k is Dirichlet with the parameters of row k, (K, K).

    The generative form of Dirichlet calibration (Kull et al. 2019, §3).
    """
    alpha = np.asarray(parameters, float)
    constants = gammaln(alpha.sum(axis=1)) - gammaln(alpha).sum(axis=1)
    return matrix(p, alpha - 1.0, np.log(np.asarray(priors, float)) + constants)


def label_shift(p: Floats, ratios: ArrayLike) -> Floats:
    """Return q ∝ r p: class k is r_k times as frequent as where the model was calibrated."""
    return _normalised(p * np.asarray(ratios, float))


def label_noise(p: Floats, rate: float) -> Floats:
    """Return (1 − λ) p + λ/K: a share λ of the labels is drawn from all K classes alike.

    The one map besides the identity for which q_k depends on p_k alone: δ_k(s) = λ(1/K − s).
    """
    return (1.0 - rate) * p + rate * (1.0 / p.shape[1])


def _normalised(weights: Floats) -> Floats:
    normalised: Floats = weights / weights.sum(axis=1, keepdims=True)
    return normalised


def smoothed(
    rows: Rows,
    chances: Floats,
    groups: int,
    norm: int,
    join: Join,
    by: By = "class",
    threshold: float = -1.0,
) -> float:
    """Return the error of a population of rows whose labels have the chances (N, K)."""
    fewest = FEWEST if by == "predicted_class" else 1
    cells = equal_mass(rows, groups, by, threshold, fewest)
    measure = Binned(rows, cells, absolute if norm == 1 else square, join)
    return float(measure.expected(chances)[0])


def kernel(rows: Rows, chances: Floats, groups: int) -> float:
    """Return the squared kernel error; ``groups`` have no part in it."""
    p = rows.probabilities
    gaps = chances - p
    if not gaps.any():
        return 0.0
    return float(_double_sum(p, p.T.copy(), gaps, gaps.T.copy(), median_distance(p)))


@njit
def _double_sum(
    p: Floats, p_columns: Floats, gaps: Floats, gap_columns: Floats, bandwidth: float
) -> float:
    n, n_classes = p.shape
    norms, products, dots = np.zeros(n), np.empty(n), np.empty(n)
    for k in range(n_classes):
        for j in range(n):
            norms[j] += p_columns[k, j] * p_columns[k, j]
    total = 0.0
    for i in range(n):
        products[: i + 1] = 0.0
        dots[: i + 1] = 0.0
        for k in range(n_classes):
            factor, gap = p[i, k], gaps[i, k]
            for j in range(i + 1):
                products[j] += factor * p_columns[k, j]
                dots[j] += gap * gap_columns[k, j]
        for j in range(i):
            square = max(norms[i] + norms[j] - 2.0 * products[j], 0.0)
            total += 2.0 * math.exp(-math.sqrt(square) / bandwidth) * dots[j]
        total += dots[i]
    return float(total / (n * n))


TARGETS: dict[str, Callable[[Rows, Floats, int], float]] = {
    "classwise_l1": partial(smoothed, norm=1, join="mean"),
    "classwise_l1_sum": partial(smoothed, norm=1, join="sum"),
    "classwise_l2": partial(smoothed, norm=2, join="root_mean"),
    "classwise_l2_squared": partial(smoothed, norm=2, join="mean"),
    "confidence_l1": partial(smoothed, norm=1, join="weighted", by="all"),
    "kernel": kernel,
    "thresholded_l1": partial(smoothed, norm=1, join="mean", threshold=THRESHOLD),
    "top_label_l1": partial(smoothed, norm=1, join="weighted", by="predicted_class"),
    "top_label_l2": partial(smoothed, norm=2, join="root_weighted", by="predicted_class"),
}


def target_value(name: str, rows: Rows, chances: Floats, groups: int = 100) -> float:
    """Return a target of the population ``rows`` whose labels have the chances (N, K).

    ``chances`` are in the order of the rows; ``groups`` is the resolution.
    """
    return looked_up("target", name, TARGETS)(rows, chances, groups)
