"""Isotonic regression (Zadrozny and Elkan 2002; Guo et al. 2017, section 4.1), scikit-learn's."""

import numpy as np
from sklearn.isotonic import IsotonicRegression

from calbias.errors import InputError
from calbias.recalibration.one_vs_rest import fit_one_vs_rest

SHAPES = ("interpolated", "step")


def fit(logits, labels, shape="interpolated"):
    """Return ``transform(logits) -> logits``, fitted one class against the rest.

    ``logits`` (n, K) and ``labels`` (n,) are those of the validation fold. For ``shape`` see
    ``fit_binary``.
    """
    return fit_one_vs_rest(lambda scores, hits: fit_binary(scores, hits, shape), logits, labels)


def fit_binary(scores, hits, shape="interpolated"):
    """Return ``transform(scores) -> scores`` from scores in [0, 1] and 0/1 hits, both (n,).

    The fit is the nondecreasing function of least squares at the given scores. Between them
    ``"interpolated"`` is linear, which is what scikit-learn predicts; ``"step"`` keeps the value of
    the next lower score, the piecewise constant function of Guo et al. Outside them both are
    constant.
    """
    if shape not in SHAPES:
        raise InputError(f"isotonic shape {shape!r} is unknown: choose from {', '.join(SHAPES)}")
    model = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
    model.fit(*_without_leading_misses(scores, hits))
    knots, values = model.X_thresholds_, model.y_thresholds_
    if shape == "interpolated":
        return lambda new_scores: np.interp(new_scores, knots, values)
    return lambda new_scores: values[
        np.maximum(np.searchsorted(knots, new_scores, side="right") - 1, 0)
    ]


def _without_leading_misses(scores, hits):
    """Return scores and hits with one miss in place of all misses below the lowest hit.

    The fit is 0 on all of them, so the highest of them says it all. Of a thousand classes most
    scores are such misses, and to sort them took most of the time.
    """
    lowest_hit = scores.min(where=hits > 0, initial=np.inf)
    kept = scores >= lowest_hit
    highest_miss = scores.max(where=~kept, initial=-np.inf)
    if highest_miss == -np.inf:
        return scores, hits
    return np.append(scores[kept], highest_miss), np.append(hits[kept], 0.0)
