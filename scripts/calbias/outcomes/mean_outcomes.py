"""Outcomes that are right on average: their mean given the score is the calibration curve there.

A hit is such an outcome; so are a pseudo-observation under censoring, a judge's label corrected by
some human ones, a share of annotators, and a hit of weight w. What uses hits by sums alone takes
these as they are. Their noise is not that of a hit, and is seen, not assumed: it is that of rows,
or clusters, with random signs.
"""

from __future__ import annotations

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

    def of_rows(self, rows: Any) -> MeanOutcomes:
        """Return the outcomes of these rows."""
        weights, inverse = (x if x is None else x[rows] for x in (self.weights, self.inverse))
        return self._replace(
            values=self.values[rows], events=self.events[rows], others=self.others[rows],
            weights=weights, inverse=inverse,
        )  # fmt: skip
