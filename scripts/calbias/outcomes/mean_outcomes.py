"""Outcomes that are right on average: their mean given the score is the calibration curve there.

A hit is such an outcome; so are a pseudo-observation under censoring, a judge's label corrected by
some human ones, a share of annotators, and a hit of weight w. What uses hits by sums alone takes
these as they are. Their noise is not that of a hit, and is seen, not assumed: it is that of rows,
or clusters, with random signs.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


class MeanOutcomes(NamedTuple):
    """Outcomes of rows (n,).

    values    right on average given the score; NaN for rows that are not judged
    events, others
              where the event, or its absence, was seen
    is_exact  whether the values are 0 and 1, the outcomes themselves
    weights   of the rows, or None
    inverse   one over the chance of being seen, 0 where the outcome was not; or None
    words     what the outcome is, for the first line
    strata    of follow-up
    """

    values: Floats
    events: Flags
    others: Flags
    is_exact: bool = False
    weights: Floats | None = None
    inverse: Floats | None = None
    words: str = ""
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    strata: tuple[Any, ...] = ()

    @property
    def kept(self) -> Flags:
        """The rows that are judged."""
        return ~np.isnan(self.values)

    def brier_scores(self, scores: Floats) -> tuple[float, float]:
        """Return the Brier score of scores (n,), and that of the event rate.

        Both are right on average: by inverse probability weights of the rows whose outcome was
        seen, where these are known, else by what is linear in the outcomes.
        """
        weights = np.ones(scores.size) if self.weights is None else self.weights
        if self.inverse is not None:
            weights, outcomes = weights * self.inverse, self.events.astype(np.float64)
        else:
            outcomes = self.values
        square = outcomes * (1.0 - 2.0 * scores) + scores**2
        sums = [math.fsum(weights * each) for each in (np.ones(scores.size), outcomes, square)]
        rate = sums[1] / sums[0]
        return sums[2] / sums[0], rate * (1.0 - rate)

    def of_rows(self, rows: Any) -> MeanOutcomes:
        """Return the outcomes of these rows."""
        weights, inverse = (x if x is None else x[rows] for x in (self.weights, self.inverse))
        return self._replace(
            values=self.values[rows], events=self.events[rows], others=self.others[rows],
            weights=weights, inverse=inverse,
        )  # fmt: skip
