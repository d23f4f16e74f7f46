"""Cells of the score as a family of curves, on which sums over bins are drawn."""

from functools import cached_property

import numpy as np
from scipy.special import expit

from calbias.auditing.cox import logits_of
from calbias.auditing.estimators import Audited
from calbias.auditing.sample import Family
from calbias.engine.seeding import stream

DRAWS = 20_000
_NEWTON_STEPS = 50


class CellSample(Family):
    """Cells as a family of curves: the mean score of each cell, and the logistic curve fitted."""

    def __init__(self, cells, seed):
        self.cells = kept = cells.full()
        self.size, self.hits, self.n, self.seed = kept.size, kept.hits, int(cells.n), seed
        self.scores = kept.score / kept.size
        inner = np.arange(1, cells.n_bins) / cells.n_bins
        bins = np.searchsorted(inner, kept.low, side="right")
        self.starts = np.flatnonzero(np.diff(bins, prepend=-1))

    def sums(self, values):
        """Return the sums over the bins that hold rows, (b,), of values (m,) a cell."""
        return np.add.reduceat(values, self.starts)

    @cached_property
    def line(self):
        """(a, b) of greatest likelihood of logit c = a + b·logit s, by Newton's steps."""
        x, line = logits_of(self.scores), np.array([0.0, 1.0])
        terms = np.stack([np.ones_like(x), x])
        for _ in range(_NEWTON_STEPS):
            p = expit(line @ terms)
            information = (terms * (self.size * p * (1 - p))) @ terms.T + 1e-9 * np.eye(2)
            step = np.linalg.solve(information, terms @ (self.hits - self.size * p))
            line = line + step * min(1.0, 2.0 / max(np.abs(step).max(), 1e-300))
            if np.abs(step).max() < 1e-10:
                break
        return line

    @cached_property
    def fitted(self):
        """The fitted probability of a hit in each cell, (m,)."""
        return expit(self.line[0] + self.line[1] * logits_of(self.scores))

    def redraws(self, name):
        """Return itself: it draws sums over bins."""
        return self

    def observed(self, hits):
        """Return Σ (score − hit) of the bins, (1, b)."""
        return self.sums(self.cells.score - hits)[None]

    def estimates(self, rates, runs, replicates):
        """Return {name: (replicates,)} on normal sums; the same normal numbers at all rates."""
        mean = self.sums(self.size * (self.scores - rates))
        spread = np.sqrt(self.sums(self.size * rates * (1 - rates)))
        draws = mean + spread * self._normals[:replicates, : mean.size]
        return {name: run(draws) for name, run in runs.items()}

    @cached_property
    def _normals(self):
        shape = DRAWS, self.cells.n_bins
        return stream(self.seed, "large", str(self.n)).standard_normal(shape)


def binned_sums(sample, p):
    """Return the Audited of the equal-width ECE: of Σ (score − hit) of the bins, (m, b)."""
    sizes = sample.sums(sample.size)

    def apply(sums):
        means = np.abs(sums) / sizes
        values = (means**p @ (sizes / sample.n)) ** (1 / p)
        return values, np.full(len(sums), sizes.size)

    def target(scores, rates):
        return sample.mean(np.abs(rates - scores) ** p) ** (1 / p)

    return Audited(apply, target, f"ℓ{p:g}")
