"""Isotonic regression, see ``calbias.recalibration.isotonic``."""

import numpy as np

from calbias.recalibration.isotonic import Interpolated, isotonic
from calbias.scored import Scored
from reproduction.recalibration.binary import Steps


def isotonic_regression(
    scores: np.ndarray, hits: np.ndarray, step: bool = False
) -> Steps | Interpolated:
    """Return the isotonic map, outside the given scores constant.

    With ``step`` it keeps the value of the next lower score between the given ones, the piecewise
    constant function of Guo et al. (2017, section 4.1).
    """
    fitted = isotonic(Scored.of(*_without_leading_misses(scores, hits)))
    return Steps(fitted.knots[1:], fitted.values) if step else fitted


def _without_leading_misses(scores: np.ndarray, hits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return scores and hits with one miss in place of all misses below the lowest hit.

    The fit is 0 on all of them. Of a thousand classes most scores are such: sorting took long.
    """
    lowest_hit = scores.min(where=hits > 0, initial=np.inf)
    inside = scores >= lowest_hit
    highest_miss = scores.max(where=~inside, initial=-np.inf)
    if highest_miss == -np.inf:
        return scores, hits
    return np.append(scores[inside], highest_miss), np.append(hits[inside], 0.0)
