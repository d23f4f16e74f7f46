"""Rows with weights as groups of equal scores: what estimators of weighted rows read.

A group keeps sums over its rows, so that nothing depends on the order of the rows. A row of weight
2 is one observation, not two: sums of squared weights say how much the weights cost. The cells of a
sketch are groups as well, of rows of weight 1.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from calbias.engine.binning import IS_EQUAL_MASS, edges
from calbias.engine.scores_and_hits import as_array
from calbias.errors import InputError

_ROUNDING = 1e-12  # relative, of sums of weights


class Groups(NamedTuple):
    """Sums over the rows of each distinct score, ascending; arrays (m,).

    ``rows`` number of rows, ``weight`` Σ w, ``hits`` Σ w·y, ``squares`` Σ w², ``hit_squares``
    Σ w²·y. Numbers of rows are whole, and so are sums of whole weights.
    """

    scores: np.ndarray
    rows: np.ndarray
    weight: np.ndarray
    hits: np.ndarray
    squares: np.ndarray
    hit_squares: np.ndarray

    @property
    def total(self) -> float:
        """The sum of all weights."""
        return float(self.weight.sum())

    @property
    def effective_n(self) -> float:
        """(Σ w)²/Σ w²: rows of equal weight that average as well."""
        return self.total**2 / float(self.squares.sum())

    @property
    def gaps(self) -> np.ndarray:
        """Σ w·(s − y) of each group."""
        return self.weight * self.scores - self.hits

    def partial_sums(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the partial sums (m + 1,) of w·y, w and w², the weights scaled to Σ w = Σ w²."""
        scale = self.total / float(self.squares.sum())
        columns = self.hits * scale, self.weight * scale, self.squares * scale**2
        hits, weight, squares = (np.append(0.0, np.cumsum(column)) for column in columns)
        return hits, weight, squares

    def starts(self, n_bins: int, binning: str) -> np.ndarray:
        """Return the groups that full bins begin with, ascending; the first is 0."""
        if IS_EQUAL_MASS[binning]:
            firsts = self._mass_starts(n_bins)
        else:
            firsts = np.searchsorted(self.scores, edges(n_bins)[:-1])
        return np.unique(firsts[firsts < len(self.scores)])

    def bin_sums(self, starts: np.ndarray, *values: np.ndarray) -> list[np.ndarray]:
        """Return the sums of values (m,) over the groups of each bin."""
        return [np.add.reduceat(value, starts) for value in values]

    def _mass_starts(self, n_bins: int) -> np.ndarray:
        """Return where the bins of equal weight begin.

        A boundary k·W/b inside a row moves to the row's upper end, and then, inside a group, to the
        group's nearer end, the upper one if both are as far. Weights of a group count as equal.
        """
        whole = self.weight.dtype.kind in "iu"
        weight = self.weight.astype(np.int64) if whole else self.weight
        upto = np.concatenate([[0], np.cumsum(weight)]) * n_bins
        targets = np.arange(n_bins) * (upto[-1] // n_bins if whole else upto[-1] / n_bins)
        slack = 0 if whole else _ROUNDING * upto[-1]
        at = np.searchsorted(upto, targets - slack)
        inside = upto[at] > targets + slack
        below, size = upto[at - 1], upto[at] - upto[at - 1]
        rows = self.rows[np.maximum(at - 1, 0)]
        before_half = (rows + 1) // 2 - 1  # rows that the boundary must be beyond
        step = size // np.maximum(rows, 1) if whole else size / rows
        is_lower = inside & (targets - below <= before_half * step + slack)
        return at - is_lower


def groups_of(scores: np.ndarray, hits: np.ndarray, weights: np.ndarray) -> Groups:
    """Return the Groups of scores (n,), hits (n,) and weights (n,); rows of weight 0 are left out.

    Rows are summed in an order that depends on their values alone.
    """
    positive = weights > 0
    scores, hits, weights = scores[positive], hits[positive].astype(np.float64), weights[positive]
    order = np.lexsort((hits, weights, scores))
    scores, hits, weights = scores[order], hits[order], weights[order]
    starts = np.flatnonzero(np.r_[True, scores[1:] != scores[:-1]])
    squares = weights * weights
    rows = np.diff(np.append(starts, scores.size))
    columns = (weights, weights * hits, squares, squares * hits)
    return Groups(scores[starts], rows, *(np.add.reduceat(column, starts) for column in columns))


def checked_weights(sample_weight: Any, n: int) -> np.ndarray:
    """Return weights (n,), float64; InputError unless they are numbers of at least 0, not all 0."""
    weights = as_array("sample_weight", sample_weight)
    weights = weights[:, 0] if weights.ndim == 2 and weights.shape[1] == 1 else weights
    if weights.shape != (n,):
        raise InputError(
            f"sample_weight must have one weight a row: its shape is {weights.shape} and there are "
            f"{n} rows"
        )
    weights = np.ascontiguousarray(weights, np.float64)
    valid = (weights >= 0) & np.isfinite(weights)
    if not valid.all():
        row = int(np.argmin(valid))
        raise InputError(
            f"row {row} (counted from 0): sample_weight {weights[row]:g} is not a finite number of "
            "at least 0; correct it or leave the row out"
        )
    if not weights.any():
        raise InputError("all sample_weight are 0: give at least one row a weight")
    return weights / weights.max()
