"""Calibration in the large and slope of a risk model in each subgroup, each with its interval.

They are the numbers of ``risk_model`` on the rows of the subgroup. An interval holds for one number
of one subgroup; the intervals of the gaps hold for all subgroups at once.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from calbias.auditing.risk_model import Outcomes, lines
from calbias.samples.by_score import Floats, Ints, Scored

COLUMNS = tuple(f"{name}{end}" for name in ("shift", "slope") for end in ("", "_low", "_high"))


def subgroup_lines(
    scores: Floats, hits: Floats, segment: Ints, level: float, has_clusters: bool
) -> dict[str, Floats]:
    """Return ``COLUMNS``, each (m,), from the rows of segment after segment, numbered from 0.

    A number that the rows do not determine is NaN; so is every interval of clustered rows.
    """
    z = float(ndtri(0.5 + level / 2))
    starts = np.flatnonzero(np.r_[True, segment[1:] != segment[:-1]])
    numbers = []
    for risks, events in zip(np.split(scores, starts[1:]), np.split(hits, starts[1:]), strict=True):
        sample = Scored.of(risks, events).by_score
        shift, slope, _ = lines(sample, Outcomes.of(sample), z)
        numbers.append([*shift[1:4], *slope[1:4]])
    table = np.array(numbers, float)
    if has_clusters:
        table[:, [1, 2, 4, 5]] = np.nan
    return dict(zip(COLUMNS, table.T, strict=True))
