"""Cells of rows that depend on each other.

Rows of a cluster share a normal effect: y = 1 where Φ(√ρ a_g + √(1 - ρ) e_i) is below the rate, so
that each row alone has its rate for any ρ. A martingale's rows are the chances of one outcome
at 100 times, as forecasts during a game.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from calbias.engine.seeding import stream
from evidence.cells.beta import line
from evidence.names import CLUSTERED
from reproduction.judging import Drawn

Floats = NDArray[np.float64]
_TIMES, _LEAST = 100, 1e-9
REDRAWS = 999  # of a verdict on a data set of these cells


class Clustered(NamedTuple):
    """Scores, hits and clusters (n,)."""

    scores: Floats
    hits: Floats
    clusters: NDArray[np.int64]


@dataclass(frozen=True)
class ClusterCell(Drawn):
    """Clusters of rows: number, rows in each, correlation, Beta of the scores, slope of the curve.

    ``rows`` 0 is a martingale of 100 times; "shared" scores are one a cluster; ``decimals`` rounds.
    """

    clusters: int
    rows: int
    correlation: float = 0.0
    beta: tuple[float, float] = (2.0, 1.0)
    slope: float = 1.0
    is_shared: bool = False
    decimals: int | None = None

    def draw(self, n: int, seed: int, number: int) -> Clustered:
        """Return Clustered rows."""
        key = (
            f"Cell(clusters={self.clusters}, rows={self.rows}, correlation={self.correlation},"
            f" law={self.beta}, slope={self.slope}, is_shared={self.is_shared},"
            f" decimals={self.decimals})"
        )  # names the streams of recorded tables
        generator = stream(1_000_000 * seed + number, "verdict_clusters", key)
        rows = self.rows or _TIMES
        ids = np.repeat(np.arange(self.clusters), rows)
        if not self.rows:
            steps = generator.standard_normal((self.clusters, _TIMES + 1)) / np.sqrt(_TIMES + 1)
            path, time = np.cumsum(steps, axis=1), np.arange(1, _TIMES + 1) / (_TIMES + 1)
            scores = np.clip(ndtr(path[:, :-1] / np.sqrt(1 - time)), _LEAST, 1 - _LEAST)
            hits = np.repeat(path[:, -1] > 0, _TIMES).astype(float)
            return Clustered(scores.ravel(), hits, ids)
        scores = generator.beta(*self.beta, self.clusters if self.is_shared else ids.size)
        scores = np.clip(scores[ids] if self.is_shared else scores, _LEAST, 1 - _LEAST)
        if self.decimals is not None:
            scores = np.clip(np.round(scores, self.decimals), 0.05, 0.95)
        effect = np.sqrt(self.correlation) * generator.standard_normal(self.clusters)
        noise = np.sqrt(1 - self.correlation) * generator.standard_normal(ids.size)
        uniform = ndtr(effect[ids] + noise)
        return Clustered(scores, (uniform < self.rates(scores)).astype(float), ids)

    @property
    def n(self) -> int:
        """The number of rows."""
        return self.clusters * (self.rows or _TIMES)

    def rates(self, scores: Floats) -> Floats:
        """Return the probability of a hit."""
        rates: Floats = scores if self.slope == 1.0 else line(0.0, self.slope)(scores)
        return rates

    @property
    def name(self) -> str:
        """The name in CELLS, behind ``clusters_``."""
        return CLUSTERED + next((name for name, cell in CELLS.items() if cell == self), "other")

    def truth(self, target: str) -> float:
        """Return the ℓ1 calibration error, by 200 000 random scores."""
        if self.slope == 1.0:
            return 0.0
        scores = np.clip(stream(0, "error").beta(*self.beta, 200_000), _LEAST, 1 - _LEAST)
        return float(np.mean(np.abs(self.rates(scores) - scores)))


CELLS = {
    "martingale_50x100_calibrated": ClusterCell(50, 0),
    "beta_50x20_0.6_calibrated": ClusterCell(50, 20, 0.6),
    "beta_100x5_0.3_calibrated": ClusterCell(100, 5, 0.3),
    "shared_50x20_0.6_calibrated": ClusterCell(50, 20, 0.6, is_shared=True),
    "rounded_50x20_0.3_calibrated": ClusterCell(50, 20, 0.3, decimals=1),
    "beta_50x20_0.3_slope_0.8": ClusterCell(50, 20, 0.3, slope=0.8),
    "beta_100x5_0.3_slope_0.7": ClusterCell(100, 5, 0.3, slope=0.7),
    "beta_50x20_0.3_slope_1.4": ClusterCell(50, 20, 0.3, slope=1.4),
}
"""Clusters x rows, correlation, slope."""
