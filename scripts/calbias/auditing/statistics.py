"""What an audit computes of a sample: estimators with their targets, and tests of calibration."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from calbias.auditing.cox import logits_of
from calbias.estimation.loading import load_estimator
from calbias.estimation.registry import (
    estimator_file,
    estimator_options,
    estimator_target,
    known_estimators,
    literal,
)
from calbias.truth.targets.registry import known_targets, target_value_of_sample


class Audited(NamedTuple):
    """An estimator as an audit runs it; ``target`` is None for one without a truth."""

    name: str
    run: Callable
    target: Callable | None
    target_name: str
    norm: float


def audited_estimators(norm=1.0, n_bins=15, names=None):
    """Return {name: Audited} of the estimators ``names``, or of all that calbias has.

    An estimator that is not defined for ``norm`` has the first norm that it is defined for.
    """
    found = {}
    for name in known_estimators() if names is None else names:
        path = estimator_file(name)
        norms = literal(path, "NORMS", default=None)
        own_norm = float(norm if not norms or norm in norms else norms[0])
        target = estimator_target(name, path)
        options = {"norm": own_norm, "n_bins": n_bins, **estimator_options(name, path)}
        found[name] = Audited(
            name,
            _run(load_estimator(name), n_bins, own_norm),
            _target(target, options) if target in known_targets() else None,
            _in_words(target, own_norm),
            own_norm,
        )
    return found


def _run(estimator, n_bins, norm):
    return lambda data: estimator(data, n_bins, norm)[0]


def _target(target, options):
    return lambda scores, rates: target_value_of_sample(target, scores, rates, **options)


def _in_words(target, norm):
    if target == "lp":
        return f"ℓ{norm:g}"
    if target == "lp_power":
        return f"ℓ{norm:g}^{norm:g}" if norm != 1 else "ℓ1"
    return "none" if target is None else target


def calibration_statistics(scores):
    """Return {name: run(data) -> (m,)} of |z| of Spiegelhalter and of the Cox score statistic.

    Both depend on the hits through weighted sums alone, so that equal scores may share their hits.
    """
    x, v = logits_of(scores), scores * (1.0 - scores)
    away = 1.0 - 2.0 * scores
    spread = np.sqrt(np.sum(away**2 * v))
    terms = np.stack([np.ones_like(x), x])
    inverse = np.linalg.pinv((terms * v) @ terms.T, hermitian=True)

    def spiegelhalter(data):
        total = (data.hits() - scores) @ away
        return np.abs(total) / spread if spread > 0 else np.zeros_like(total)

    def cox_score(data):
        gradient = (data.hits() - scores) @ terms.T
        return np.einsum("mi,ij,mj->m", gradient, inverse, gradient)

    return {"spiegelhalter": spiegelhalter, "cox_score": cox_score}
