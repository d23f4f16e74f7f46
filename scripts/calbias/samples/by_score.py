"""The one form of a sample: distinct scores with their rows and hits.

Whatever was given, rows, a file, logits or a sketch, an audit reads it in this form. It holds
sums of whole numbers, so that nothing depends on the order of the rows, and samples add up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from calbias.engine.sorted_batch import IS_EQUAL_MASS, bin_numbers, edges, sorted_rows
from calbias.outcomes.mean_outcomes import MeanOutcomes

MOST_ROWS = 2_000_000
"""More rows are not worked on one by one."""

MOST_SCORES = 500_000
"""More distinct scores are put into the cells of a sketch; so is a Parquet file of more rows."""

_ALONE = 10_000
_ROUNDING = 1e-12  # relative, of sums of weights
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Weights(NamedTuple):
    """What weighted rows have beside sums of weights, by score; arrays (m,).

    counts   the number of rows
    squares  Σ w²
    """

    counts: Ints
    squares: Floats


class Clusters(NamedTuple):
    """Rows by cluster and score, in this order; arrays (q,), but ``ids`` (g,).

    ids      the ids of the clusters, ascending
    cluster  the place of the cluster in ``ids``
    score    the place of the score in ``scores``
    rows, hits
    seen_hits, seen_misses
             the rows where a hit, or a miss, was seen: all, where hits are 0 and 1
    """

    ids: NDArray
    cluster: Ints
    score: Ints
    rows: Ints
    hits: Ints
    seen_hits: Ints
    seen_misses: Ints


class BinSums(NamedTuple):
    """Sums over the bins that hold rows, by ascending score; arrays (b,).

    rows, hits  the sums of rows and of hits, or of their weights
    gaps        Σ (s - y)
    counts      the number of rows
    squares     Σ w²
    used        the number of bins, see ``Scored.bins_used``
    """

    rows: NDArray
    hits: NDArray
    gaps: NDArray
    counts: NDArray
    squares: NDArray
    used: int


@dataclass(frozen=True, eq=False)
class Scored:
    """Rows and hits by distinct score.

    Attributes
    ----------
    scores : ndarray (m,)
        In [0, 1], ascending. Equal neighbours differ in ``log1m_scores``: near 1 a score rounds.
    rows, hits : ndarray (m,) of int or float
        Rows with this score, at least 1, or the sum of their weights; and of these the hits.
    log_scores, log1m_scores : ndarray (m,)
        log s and log(1 - s).
    clusters : Clusters or None
        The same by cluster, where rows depend on each other.
    width : float
        The scores were rounded by less than this; 0 where they are the given ones.
    weights : Weights or None
        Of ``Scored.weighted``: ``rows`` and ``hits`` are then sums of weights. A row of weight 2 is
        one observation, not two.
    seen : int or None
        Where hits are outcomes that are right on average, not 0 and 1 (``calbias.outcomes``): the
        number of rows whose outcome was seen. ``rows`` and ``hits`` are then of floats, and there
        are clusters, of one row each where rows are independent.

    Examples
    --------
    >>> sample = Scored.of([0.9, 0.2, 0.9], [1, 0, 0]) + Scored.of([0.2], [1])
    >>> sample.scores, sample.rows, sample.hits
    (array([0.2, 0.9]), array([2, 2]), array([1, 1]))
    """

    scores: Floats
    rows: NDArray
    hits: NDArray
    log_scores: Floats
    log1m_scores: Floats
    clusters: Clusters | None = None
    width: float = 0.0
    weights: Weights | None = None
    seen: int | None = None

    @classmethod
    def of(
        cls,
        scores: NDArray,
        hits: NDArray,
        log_scores: NDArray | None = None,
        log1m_scores: NDArray | None = None,
        *,
        clusters: NDArray | None = None,
        rows: NDArray | None = None,
        width: float = 0.0,
    ) -> Scored:
        """Return the Scored of checked scores (n,) in [0, 1] and hits (n,), in any order.

        ``log_scores`` and ``log1m_scores`` are log s and log(1 - s), where they are known better
        than from the scores. ``clusters`` are the rows' ids. With ``rows`` each entry is so many
        rows, of which ``hits`` are hits.
        """
        scores = np.asarray(scores, np.float64) + 0.0  # no -0
        hits = np.asarray(hits, np.int64)
        has_logs = log_scores is not None and log1m_scores is not None
        order: Ints | slice = slice(None)
        if rows is clusters is None and not has_logs:
            values, sorted_hits = sorted_rows(scores, hits)  # faster
        else:
            order = order_of(scores, log1m_scores)
            values, sorted_hits = scores[order], hits[order]
        begins = np.append(True, values[1:] != values[:-1])
        if has_logs:
            log1m = np.asarray(log1m_scores, np.float64)[order]
            begins[1:] |= log1m[1:] != log1m[:-1]
        starts = np.flatnonzero(begins)
        n_rows = np.diff(np.append(starts, scores.size))
        if rows is not None:
            n_rows = np.add.reduceat(np.asarray(rows, np.int64)[order], starts)
        n_hits = np.add.reduceat(sorted_hits.astype(np.int64), starts)
        values = values[starts]
        if has_logs:
            logs = np.asarray(log_scores, np.float64)[order][starts], log1m[starts]
        else:
            with np.errstate(divide="ignore"):
                logs = np.log(values), np.log1p(-values)
        cluster_sums = None
        if clusters is not None:
            score = np.empty(scores.size, np.int64)
            score[order] = np.cumsum(begins) - 1
            times = np.ones(scores.size, np.int64) if rows is None else np.asarray(rows, np.int64)
            columns = times, hits, hits, times - hits
            cluster_sums = _by_cluster(np.asarray(clusters), score, *columns)
        return cls(values, n_rows, n_hits, *logs, cluster_sums, width)

    @classmethod
    def of_means(
        cls,
        scores: NDArray,
        outcomes: MeanOutcomes,
        log_scores: NDArray,
        log1m_scores: NDArray,
        clusters: NDArray | None = None,
    ) -> Scored:
        """Return the Scored of rows (n,) with outcomes that are right on average.

        Weights are scaled to a mean of 1.
        """
        weights = np.ones(scores.size) if outcomes.weights is None else outcomes.weights
        # the same in each order of the rows
        order = np.lexsort((weights, outcomes.values, -log1m_scores, scores))
        weights = weights[order] * (scores.size / math.fsum(weights))
        columns = scores[order], log_scores[order], log1m_scores[order]
        begins = np.append(True, np.logical_or(*(x[1:] != x[:-1] for x in columns[::2])))
        starts, score = np.flatnonzero(begins), np.cumsum(begins) - 1
        hits = weights * outcomes.values[order]
        ids = np.arange(scores.size) if clusters is None else np.asarray(clusters)[order]
        seen = outcomes.events[order].astype(np.int64), outcomes.others[order].astype(np.int64)
        rows, hit = (np.add.reduceat(column, starts) for column in (weights, hits))
        values, log_values, log1m_values = (column[starts] for column in columns)
        return cls(
            values, rows, hit, log_values, log1m_values,
            _by_cluster(ids, score, weights, hits, *seen), seen=int(np.sum(seen[0] | seen[1])),
        )  # fmt: skip

    @classmethod
    def weighted(cls, scores: NDArray, hits: NDArray, weights: NDArray) -> Scored:
        """Return the Scored of rows (n,) with weights of at least 0; rows of 0 are left out."""
        positive = weights > 0
        scores, hits, weights = scores[positive], hits[positive].astype(float), weights[positive]
        order = np.lexsort((hits, weights, scores))  # sums do not depend on the order of rows
        scores, hits, weights = scores[order], hits[order], weights[order]
        starts = np.flatnonzero(np.append(True, scores[1:] != scores[:-1]))
        columns = (weights, weights * hits, weights * weights)
        rows, hit, squares = (np.add.reduceat(column, starts) for column in columns)
        counts = np.diff(np.append(starts, scores.size))
        sample = cls.of(scores[starts], np.zeros(starts.size))
        return replace(sample, rows=rows, hits=hit, weights=Weights(counts, squares))

    def __add__(self, other: object) -> Scored:
        """Return the rows of both. Clusters of one id are one cluster.

        Raises ValueError where only one of them has clusters, or one has weights.
        """
        if not isinstance(other, Scored):
            return NotImplemented
        if (self.clusters is None) != (other.clusters is None):
            raise ValueError("samples with and without clusters cannot be added")
        if self.weights or other.weights:
            raise ValueError("samples with weights cannot be added")
        parts = [part._entries() for part in (self, other)]
        scores, rows, hits, log_scores, log1m_scores, ids = map(
            np.concatenate, zip(*parts, strict=True)
        )
        return Scored.of(
            scores, hits, log_scores, log1m_scores, rows=rows, width=max(self.width, other.width),
            clusters=None if self.clusters is None else ids,
        )  # fmt: skip

    def __radd__(self, other: object) -> Scored:
        """Allow ``sum(samples)``."""
        return self if other == 0 else NotImplemented

    @cached_property
    def n(self) -> int:
        """The number of rows."""
        return round(float(self.counts.sum()))

    @property
    def freedom(self) -> float:
        """Clusters less one: of Student's quantiles; infinite where rows are independent."""
        clusters = self.clusters
        if clusters is None or (self.seen is not None and clusters.ids.size == self.n):
            return np.inf
        return clusters.ids.size - 1.0

    @property
    def counts(self) -> Ints:
        """The number of rows of each score."""
        return self.weights.counts if self.weights else self.rows

    @property
    def squares(self) -> NDArray:
        """Σ w² of each score."""
        return self.weights.squares if self.weights else self.rows

    @cached_property
    def total(self) -> float:
        """The sum of all weights, or the number of rows."""
        return float(self.rows.sum())

    @property
    def effective_n(self) -> float:
        """(Σ w)²/Σ w²: rows of equal weight that average as well."""
        return self.total**2 / float(self.squares.sum())

    @cached_property
    def upto(self) -> NDArray:
        """The rows below each score, or their weights, (m + 1,): the last are all."""
        return np.append(0, np.cumsum(self.rows))

    @cached_property
    def gaps(self) -> Floats:
        """Σ (s - y) of each score."""
        return self.rows * self.scores - self.hits

    def mean(self, values: NDArray) -> float:
        """Return the mean over the rows of values (m,) of their scores."""
        return dot(self.rows, values) / self.n

    def starts(self, n_bins: int, binning: str) -> Ints:
        """Return the scores, by place, that full bins begin with, ascending; the first is 0."""
        if IS_EQUAL_MASS[binning]:
            if self.weights is None and n_bins >= self.n:
                return np.arange(self.scores.size)
            firsts = self._mass_starts(n_bins)
        elif n_bins > self.scores.size:
            return np.flatnonzero(np.diff(bin_numbers(self.scores, n_bins), prepend=-1))
        else:
            firsts = np.searchsorted(self.scores, edges(n_bins)[:-1])
        return np.unique(firsts[firsts < len(self.scores)])

    def bins_used(self, starts: Ints, n_bins: int, binning: str) -> int:
        """Return the number of bins, of which those that begin at ``starts`` hold rows.

        Only bins of equal mass that hold no row because of ties or weights are not counted.
        """
        is_tied = self.weights is not None or self.scores.size < self.n
        return starts.size if IS_EQUAL_MASS[binning] and is_tied else n_bins

    def bins(self, n_bins: int, binning: str) -> BinSums:
        """Return the sums over the bins that hold rows."""
        starts = self.starts(n_bins, binning)
        used = self.bins_used(starts, n_bins, binning)
        rows, hits, gaps = (
            np.add.reduceat(column, starts) for column in (self.rows, self.hits, self.gaps)
        )
        if self.weights is None:
            return BinSums(rows, hits, gaps, rows, rows, used)
        counts, squares = (np.add.reduceat(column, starts) for column in self.weights)
        return BinSums(rows, hits, gaps, counts, squares, used)

    @property
    def scored(self) -> Scored:
        """The rows by score alone, as of ``calbias.samples.in_order.UnsortedRows``."""
        return self.by_score

    @cached_property
    def by_score(self) -> Scored:
        """The rows by score alone, without clusters; itself where each score is there once."""
        if self.clusters is None and (self.scores[1:] > self.scores[:-1]).all():
            return self
        if self.seen is not None:
            return self._sums_by_score()
        return Scored.of(self.scores, self.hits, rows=self.rows, width=self.width)

    @cached_property
    def of_rows(self) -> tuple[Ints, NDArray[np.uint8], Ints | None]:
        """Each row's place in ``scores``, hit and cluster (n,): by score, cluster and hit."""
        if self.clusters is None:
            score, rows, hits = np.arange(self.scores.size), self.rows, self.hits
        else:
            order = np.argsort(self.clusters.score, kind="stable")
            score, rows, hits = (column[order] for column in self.clusters[2:5])
        is_hit = np.arange(self.n) >= np.repeat(np.cumsum(rows) - hits, rows)
        clusters = None if self.clusters is None else np.repeat(self.clusters.cluster[order], rows)
        return np.repeat(score, rows), is_hit.view(np.uint8), clusters

    def counted(self, rows: Ints, hits: Ints) -> Scored:
        """Return other rows and hits (m,) of the same scores; scores of no row are left out."""
        full = rows > 0
        logs = self.log_scores[full], self.log1m_scores[full]
        return Scored(
            self.scores[full], rows[full], hits[full], *logs, width=self.width, seen=self.seen
        )

    def _sums_by_score(self) -> Scored:
        """Return the sums of equal scores, without clusters."""
        starts = np.flatnonzero(np.append(True, np.diff(self.scores) > 0))
        rows, hits = (np.add.reduceat(column, starts) for column in (self.rows, self.hits))
        logs = self.log_scores[starts], self.log1m_scores[starts]
        return Scored(self.scores[starts], rows, hits, *logs, seen=self.seen)

    def _mass_starts(self, n_bins: int) -> np.ndarray:
        """Return where the bins of equal weight begin.

        A boundary k·W/b inside a row moves to the row's upper end, and then, inside rows of equal
        scores, to their nearer end, the upper one if both are as far. Their weights count as equal.
        """
        is_unweighted, upto = self.rows.dtype.kind == "i", self.upto
        targets = np.arange(n_bins) * upto[-1]  # n_bins times the ranks
        slack = 0 if is_unweighted else _ROUNDING * upto[-1] * n_bins
        ranks = -(-targets // n_bins) if is_unweighted else (targets - slack) / n_bins
        at = np.searchsorted(upto, ranks)
        below, above = upto[at - 1] * n_bins, upto[at] * n_bins
        inside, size = above > targets + slack, above - below
        rows = self.counts[np.maximum(at - 1, 0)]
        before_half = (rows + 1 + _ROUNDING) // 2 - 1  # rows that the boundary must be beyond
        step = size // np.maximum(rows, 1) if is_unweighted else size / rows
        is_lower = inside & (targets - below <= before_half * step + slack)
        return at - is_lower

    def _entries(self) -> tuple[NDArray, ...]:
        """Return scores, rows, hits, log s, log(1 - s) and ids of clusters, to be added."""
        if self.clusters is None:
            none = np.zeros(self.scores.size, np.int64)
            return self.scores, self.rows, self.hits, self.log_scores, self.log1m_scores, none
        ids, cluster, score, rows, hits, *_ = self.clusters
        logs = self.log_scores[score], self.log1m_scores[score]
        return self.scores[score], rows, hits, *logs, ids[cluster]


def dot(a: NDArray, b: NDArray) -> float:
    """Return Σ a·b on one thread: BLAS would start more, and round by how many there are."""
    return float(sum(a[k : k + _ALONE] @ b[k : k + _ALONE] for k in range(0, a.size, _ALONE)))


def order_of(scores: NDArray, log1m_scores: NDArray | None = None) -> Ints:
    """Return the order of the rows (n,) in a Scored."""
    if log1m_scores is None:
        return np.argsort(scores, kind="stable")
    return np.lexsort((-np.asarray(log1m_scores), scores))


def _by_cluster(ids: NDArray, score: Ints, *columns: NDArray) -> Clusters:
    """Return the Clusters of n entries: ids, positions in ``scores``, and the other columns."""
    distinct, cluster = np.unique(ids, return_inverse=True)
    order = np.lexsort((score, cluster))
    cluster, score = cluster[order].astype(np.int64), score[order]
    is_new = np.append(True, (cluster[1:] != cluster[:-1]) | (score[1:] != score[:-1]))
    starts = np.flatnonzero(is_new)
    sums = (np.add.reduceat(column[order], starts) for column in columns)
    return Clusters(distinct, cluster[starts], score[starts], *sums)
