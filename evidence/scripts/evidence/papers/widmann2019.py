"""Widmann, Lindsten and Zachariah, NeurIPS 2019: errors and tests of all classes, n = 250.

Predictions g of m classes are Dir(a, …, a). With probability π the label is drawn from β, the first
class or uniform, else from g. All errors are in total variation, half the ℓ1 distance.

``ECE_uniform``        cells are cubes of side 0.1; ``ECE_dynamic``: a cell of 10 rows and more is
                       split at the median of the coordinate with the largest variance
``SKCEb``, ``uq``, ``ul``  squared kernel error of all pairs, of pairs i ≠ j, of the pairs (2i − 1,
                       2i); kernel exp(−TV(g, g′)/ν), ν the median of the sample or the model's mean
``ECE_uniform_test``   consistency resampling: predictions are resampled, then labels drawn; p = k/B
``ECE_uniform_redraw_test``  calbias's redraw: the predictions stay; p = (k + 1)/(B + 1)
"""

from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.spatial.distance import pdist, squareform
from scipy.special import betainc

from calbias.engine.jit import njit
from calbias.engine.seeding import stream
from calbias.multiclass.class_rows import Rows
from evidence.runner import Method, each
from reproduction.judging import Drawn

_CELL = "classes={classes:g} alpha={alpha:g} {labels_otherwise} pi={pi:g}"
PRINTED = {
    "widmann2019_errors": (_CELL, "{estimator}", "mean", 10_000),
    "widmann2019_tests": (_CELL, "{test}_test {error} level={level:g}", "rate", 10_000),
}
LEVELS = (0.01, 0.05, 0.1, 0.25, 0.5)
_ROWS, _SIDES, _SMALLEST, _REDRAWS = 250, 10, 10, 1000
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class LabelledPredictions:
    """Predictions (n, m) with labels (n,); ``mean_distance`` is the model's mean TV distance."""

    predictions: Floats
    labels: NDArray
    mean_distance: float
    seed: int

    @cached_property
    def gaps(self) -> Floats:
        """Predictions minus one-hot labels, (n, m)."""
        return self.predictions - np.eye(self.predictions.shape[1])[self.labels]

    @cached_property
    def cubes(self) -> NDArray:
        """The number of each row's cube, (n,)."""
        sides = np.minimum(self.predictions * _SIDES, _SIDES - 1).astype(np.uint8)
        keys = np.ascontiguousarray(sides).view(f"V{sides.shape[1]}").ravel()
        return np.unique(keys, return_inverse=True)[1]

    @cached_property
    def halves(self) -> NDArray:
        """The number of each row's cell by repeated splits, (n,)."""
        numbers, todo, done = np.zeros(len(self.labels), int), [np.arange(len(self.labels))], 0
        while todo:
            rows = todo.pop()
            if rows.size < _SMALLEST:
                numbers[rows] = done
                done += 1
                continue
            x = self.predictions[rows, self.predictions[rows].var(axis=0).argmax()]
            todo += [rows[x < np.median(x)], rows[x >= np.median(x)]]
        return numbers

    def ece(self, cells: NDArray) -> float:
        """Return the error of cells (n,) of the rows."""
        order = np.argsort(cells, kind="stable")
        starts = np.flatnonzero(np.diff(cells[order], prepend=-1))
        return float(np.abs(np.add.reduceat(self.gaps[order], starts)).sum() / 2 / len(cells))

    @cached_property
    def kernel_errors(self) -> dict[str, float]:
        """The squared kernel errors by name."""
        distances, n = pdist(self.predictions, "cityblock") / 2, len(self.labels)
        products, values = self.gaps @ self.gaps.T, {}
        for name, scale in (("median", np.median(distances)), ("mean", self.mean_distance)):
            pairs = squareform(np.exp(-distances / scale)) * products
            off = pairs.sum()
            values[f"SKCEb_{name}"] = (off + np.trace(products)) / n**2
            values[f"SKCEuq_{name}"] = off / (n * (n - 1))
            values[f"SKCEul_{name}"] = np.diag(pairs, 1)[::2].mean()
        return values

    @cached_property
    def p_values(self) -> tuple[float, float]:
        """The p-values of ECE_uniform by consistency resampling and by redraw."""
        rows = Rows.of(self.predictions)
        p, cubes, n = rows.probabilities, self.cubes[rows.order], len(self.labels)
        resampled = stream(self.seed, "resampled").integers(0, n, (_REDRAWS, n))
        levels = stream(self.seed, "levels").random((_REDRAWS, n))
        drawn = (np.cumsum(p, axis=1)[resampled] <= levels[..., None]).sum(axis=2)
        kept = np.broadcast_to(np.arange(n), (_REDRAWS, n))
        labels = np.concatenate([*rows.redrawn(_REDRAWS, self.seed)], axis=1).T
        value = self.ece(self.cubes) - 1e-12
        first = redrawn_errors(p, cubes, resampled, np.minimum(drawn, p.shape[1] - 1)) >= value
        second = redrawn_errors(p, cubes, kept, labels) >= value
        return first.mean(), (second.sum() + 1) / (_REDRAWS + 1)


@njit
def redrawn_errors(p: Floats, cells: NDArray, rows: NDArray, labels: NDArray) -> Floats:
    """Return the errors (B,) of rows (B, n) of p with labels (B, n), cells as those of p."""
    out, sums = np.empty(len(rows)), np.empty((cells.max() + 1, p.shape[1]))
    for b in range(len(rows)):
        sums[:] = 0.0
        for i in range(rows.shape[1]):
            cell = cells[rows[b, i]]
            for k in range(p.shape[1]):
                sums[cell, k] += p[rows[b, i], k]
            sums[cell, labels[b, i]] -= 1.0
        out[b] = np.abs(sums).sum() / 2 / rows.shape[1]
    return out


@dataclass(frozen=True)
class DirichletCell(Drawn):
    """Dirichlet predictions; ``otherwise`` says where the label is from with probability pi."""

    classes: int
    alpha: float
    otherwise: str
    pi: float

    @property
    def name(self) -> str:
        """All four."""
        values = {"classes": self.classes, "alpha": self.alpha, "pi": self.pi}
        return _CELL.format(**values, labels_otherwise=self.otherwise)

    @property
    def share(self) -> float:
        """Of the data sets; a thousand classes are slow."""
        return min(1.0, 300 / self.classes)

    @cached_property
    def _mean_distance(self) -> float:
        """Mean TV distance of two predictions: m ∫ F(1 − F) of a coordinate's Beta."""

        def spread(x: float) -> float:
            below = betainc(self.alpha, (self.classes - 1) * self.alpha, x)
            return float(below * (1 - below))

        return self.classes * quad(spread, 0, 1, limit=200)[0]

    def draw(self, n: int, seed: int, number: int) -> LabelledPredictions:
        """Return a data set."""
        generator = stream(seed, "widmann2019", self.name, str(number))
        p = generator.dirichlet(np.full(self.classes, self.alpha), n)
        labels = (np.cumsum(p, axis=1) <= generator.random((n, 1))).sum(axis=1)
        others = generator.integers(0, self.classes if self.otherwise == "uniform" else 1, n)
        labels = np.where(generator.random(n) < self.pi, others, labels)
        labels = np.minimum(labels, self.classes - 1)
        draw_seed = int(generator.integers(2**31))
        return LabelledPredictions(p, labels, self._mean_distance, draw_seed)


def cells() -> list[tuple[DirichletCell, int]]:
    """Return the cells in the order of the paper."""
    return [
        (DirichletCell(m, alpha, otherwise, pi), _ROWS)
        for m in (2, 10, 100, 1000)
        for alpha in (0.1, 1.0)
        for otherwise in ("uniform", "first_class")
        for pi in (0, 0.25, 0.5, 0.75, 1)
    ]


def methods(cell: DirichletCell, n: int, data_sets: int, seed: int) -> dict[str, Method]:
    """Return the errors, those that cost little at many classes, and the tests with few."""
    result = {"ECE_uniform": Method("", each(lambda x: x.ece(x.cubes)))}
    if cell.classes > 10:
        return result

    def kernel(data: LabelledPredictions, name: str) -> float:
        return data.kernel_errors[name]

    result["ECE_dynamic"] = Method("", each(lambda x: x.ece(x.halves)))
    for kind in ("SKCEb", "SKCEuq", "SKCEul"):
        for scale in ("median", "mean"):
            result[f"{kind}_{scale}"] = Method("", each(partial(kernel, name=f"{kind}_{scale}")))
    if cell.pi in (0, 0.5, 1):

        def errs(data: LabelledPredictions, test: int, level: float) -> bool:
            return (data.p_values[test] <= level) == (cell.pi == 0)

        error = "type_1" if cell.pi == 0 else "type_2"
        for test, name in enumerate(("ECE_uniform_test", "ECE_uniform_redraw_test")):
            for level in LEVELS:
                method = each(partial(errs, test=test, level=level))
                result[f"{name} {error} level={level:g}"] = Method("", method, data_sets // 2)
    return result
