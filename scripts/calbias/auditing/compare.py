"""Which of two models is better calibrated, on the same rows.

With scores s, hits y and the calibration curve c a model's reliability is E δ², δ = c(s) − s: the
square of its ℓ2 error, the part of its Brier score that recalibration removes. In cells of
neighbouring scores, with residuals r = y − s,

    Σ_k (n_k/n) · (mean of r_i r_j over the pairs i, j of cell k)

estimates it without bias but for the variance of δ within a cell, and without a fitted curve. Pairs
within a cluster of rows are left out. The cells have equal shares of ranks and of information;
equal scores are in one cell, and up to n/20 distinct values have a cell each. The difference of two
models is smooth in the rows, or clusters: its error is the jackknife's, to first order.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr, stdtrit

from calbias.auditing.file_inputs import read_model
from calbias.auditing.verdict.clusters import cluster_codes, validate_cluster_number
from calbias.conventions import CONFIDENCE_LEVEL, SIGNIFICANT
from calbias.engine.posterior.cells import cells_of, interval_cells
from calbias.engine.scores_and_hits import scores_and_hits
from calbias.errors import InputError
from calbias.estimation.inputs import validate_level
from calbias.logits.columns import Columns

FEWEST_ROWS = 20
_ROUNDING = 1e-7  # scores that went through float32 differ by less

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Comparison:
    """The result of ``calbias.compare``; reliabilities are E δ², fractions squared.

    ``difference``, first less second, has the interval ``low`` to ``high``: below 0 the first is
    better calibrated. ``n_clusters`` is None where rows are independent. A reliability is an
    estimate without the bias of binned ones: near 0 it may be negative.
    """

    n: int
    reliability_first: float
    reliability_second: float
    difference: float
    low: float
    high: float
    p_value: float
    confidence_level: float = CONFIDENCE_LEVEL
    n_clusters: int | None = None
    first: str = "first"
    second: str = "second"

    @property
    def better(self) -> str | None:
        """The name of the model that is better calibrated (5 %), or None."""
        if not self.p_value <= SIGNIFICANT:
            return None
        return self.first if self.difference < 0 else self.second

    @property
    def sentence(self) -> str:
        """The verdict in one sentence."""
        verdict = f"{self.better} is better calibrated" if self.better else "no difference found"
        rows = f" in {self.n_clusters} clusters" if self.n_clusters else ""
        values = self.reliability_first, self.reliability_second, self.difference
        one, other, difference = (f"{1e4 * x:.2f}" for x in values)
        low, high = f"{1e4 * self.low:.2f}", f"{1e4 * self.high:.2f}"
        return (
            f"n = {self.n}{rows}: squared ℓ2 calibration error {one}·10⁻⁴ ({self.first}) and "
            f"{other}·10⁻⁴ ({self.second}), difference {difference}·10⁻⁴ ({low} to {high}, "
            f"{100 * self.confidence_level:g} %); {verdict}, p = {self.p_value:.2g}."
        )

    def __str__(self) -> str:
        return self.sentence

    def to_json(self) -> str:
        """Return the fields and the sentence as JSON."""
        return json.dumps({"sentence": self.sentence, **asdict(self)}, indent=2, ensure_ascii=False)


def compare(
    scores_a: ArrayLike,
    scores_b: ArrayLike,
    hits: ArrayLike,
    *,
    clusters: ArrayLike | Sequence[ArrayLike] | None = None,
    confidence_level: float = CONFIDENCE_LEVEL,
    names: tuple[str, str] = ("first", "second"),
) -> Comparison:
    """Return which of two models is better calibrated, on the same rows.

    Parameters
    ----------
    scores_a, scores_b : array_like (n,)
        Scores in [0, 1] of both models, row by row; n is at least 20.
    hits : array_like (n,), or a pair of them
        Events, 1 or 0; for top-label scores the pair (hits of a, hits of b), 1 where the model's
        prediction was correct.
    clusters : array_like (n,), or a list of such columns, optional
        As for ``calbias.audit``; at least 10 clusters.
    confidence_level : float
        Of the interval of the difference, below 1.
    names : (str, str)
        What the sentence calls the models.

    Returns
    -------
    Comparison

    Raises
    ------
    InputError
        For arrays that are not scores and hits, different numbers of rows, fewer than 20 rows and
        fewer than 10 clusters.

    Notes
    -----
    ``docs/compare.md`` has the coverage of the interval, and where it fails.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> risk = rng.beta(2, 2, 3000)
    >>> hits = rng.random(3000) < risk
    >>> compare(risk, risk**0.5, hits).better
    'first'
    """
    pair = hits if isinstance(hits, tuple) and len(hits) == 2 else (hits, hits)
    (s, y), (t, z) = (
        scores_and_hits(*model) for model in zip((scores_a, scores_b), pair, strict=True)
    )
    n = s.size
    if t.size != n:
        raise InputError(f"{n} rows in the first and {t.size} in the second: give the same rows")
    if n < FEWEST_ROWS:
        raise InputError(f"{n} rows are too few to compare two models by: give at least 20")
    validate_level(confidence_level)
    cluster, n_clusters = np.arange(n), n
    if clusters is not None:
        cluster, n_clusters = cluster_codes(clusters, n)
        validate_cluster_number(n_clusters)
    first, one = reliability(s, y, cluster)
    second, other = reliability(t, z, cluster)
    difference, freedom = first - second, n_clusters - 1
    influence = one - other
    error = math.sqrt(float(influence @ influence) * n_clusters / freedom)
    half = float(stdtrit(freedom, 0.5 + confidence_level / 2)) * error
    if max(abs(difference), error) < _ROUNDING:
        difference = error = half = 0.0
    if error > 0:
        p_value = 2 * float(stdtr(freedom, -abs(difference) / error))
    else:  # rows that all differ by the same: a sign test
        p_value = 2.0**-freedom if difference else 1.0
    return Comparison(
        n, first, second, difference, difference - half, difference + half, p_value,
        confidence_level, None if clusters is None else n_clusters, *names,
    )  # fmt: skip


def compare_files(
    first: Path | str,
    second: Path | str,
    *,
    columns: Columns | None = None,
    top_label: bool = False,
    confidence_level: float = CONFIDENCE_LEVEL,
) -> Comparison:
    """Return the Comparison of two files as ``calbias audit`` reads them.

    InputError where one holds an event and the other top-label scores, where the labels of an event
    or the clusters differ between the files.
    """
    models = [read_model(file, columns=columns, top_label=top_label) for file in (first, second)]
    (s, y, kind, clusters), (t, z, other_kind, other_clusters) = models
    if kind != other_kind:
        raise InputError(
            f"{first} holds {_kind(kind)} and {second} {_kind(other_kind)}: give both in one "
            "form, or with --top-label where two classes have their probabilities"
        )
    if kind == "event" and y.size == z.size and (y != z).any():
        row = int(np.argmax(y != z))
        raise InputError(
            f"{second}: row {row} (counted from 0) has label {z[row]}, and {y[row]} in {first}: "
            "give the same rows in the same order"
        )
    if clusters is not None and (
        other_clusters is None or not np.array_equal(clusters, other_clusters)
    ):
        raise InputError(f"{second}: the clusters differ from {first}: give the same rows")
    name, other = (Path(str(file).removesuffix(".gz")).stem for file in (first, second))
    return compare(
        s, t, (y, z), clusters=clusters, confidence_level=confidence_level, names=(name, other)
    )


def _kind(kind: str) -> str:
    return "the probabilities of an event" if kind == "event" else "top-label scores"


def reliability(
    scores: Floats, hits: NDArray[np.uint8], cluster: NDArray[np.int64]
) -> tuple[float, np.ndarray]:
    """Return the estimate of E δ² and the influence of each cluster on it, (G,), of sum 0."""
    n, n_clusters = scores.size, int(cluster.max()) + 1
    order = np.argsort(scores, kind="stable")
    cell = np.empty(n, np.int64)
    cell[order] = _cells(scores[order], hits[order])
    # One entry for each cell and cluster that share rows: its rows, and the sum of its residuals.
    keys, entry = np.unique(cell * n_clusters + cluster, return_inverse=True)
    of_cell, of_cluster = keys // n_clusters, keys % n_clusters
    size = np.bincount(entry).astype(np.float64)
    total = np.bincount(entry, hits - scores)
    cell_size, cell_total = np.bincount(of_cell, size), np.bincount(of_cell, total)
    pairs = cell_size**2 - np.bincount(of_cell, size**2)
    products = cell_total**2 - np.bincount(of_cell, total**2)
    counts = np.maximum(pairs, 1.0)  # cells of a single cluster have no pair: 0
    square, weight = products / counts, cell_size / n
    estimate = float(weight @ square)
    k = of_cell
    entries = 2 * weight[k] / counts[k] * (
        total * (cell_total[k] - total) - square[k] * size * (cell_size[k] - size)
    ) + size / n * (square[k] - estimate)  # fmt: skip
    return estimate, np.bincount(of_cluster, entries, n_clusters)


def _cells(scores: np.ndarray, hits: np.ndarray) -> np.ndarray:
    """Return the number of the cell of each of ascending scores (n,)."""
    cum_hit = np.append(0.0, np.cumsum(hits, dtype=np.float64))
    bounds = cells_of(scores, cum_hit, *interval_cells(scores.size)).bounds
    return np.searchsorted(bounds, np.arange(scores.size), side="right")
