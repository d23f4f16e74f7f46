"""Newton's method for a convex GLM loss under x <= 0, with a certificate of optimality.

Used to check what statsmodels returns, to finish it where it stopped early, and in its place
where the optimum lies on the boundary T = 1, where iteratively reweighted least squares fails.
"""

from typing import NamedTuple

import numpy as np

from calbias.fits.likelihood import glm_loss, glm_loss_slopes

MAX_STEPS = 1000  # near 1 a slope of the log link can only double from step to step
_GAP = 1e-11  # accepted distance from the minimum, as a fraction of 1 + loss
_FLAT = 1e-200  # stands in for a curvature of 0


class Minimum(NamedTuple):
    """The result: ``x`` (k,), its ``loss`` in nats and the inverse Hessian as covariance (k, k).

    ``certified``: the Newton decrement over the coordinates that are free to move puts the loss
    within 1e-11 (1 + loss) of the minimum, and the other coordinates press against 0.
    ``n_steps`` counts the steps until then, 0 for a start that was already there.
    ``on_boundary``: some coordinate is held at 0; its variance is 0.
    """

    x: np.ndarray
    loss: float
    covariance: np.ndarray
    certified: bool
    n_steps: int
    on_boundary: bool


def minimise(design, *starts):
    """Return the Minimum of the loss of a Design from the best of ``starts``, each (k,).

    The design's own start is one of them; those that are NaN or outside the model do not count.
    """
    matrix, event, link = design.matrix, design.event, design.link
    bounded = link == "log"

    def loss(x):
        return glm_loss(link, matrix @ x, event)

    x, value = design.start, loss(design.start)
    for start in starts:
        if loss(start) <= value and not (bounded and (start > 0).any()):
            x, value = start, loss(start)
    local = _local(design, x)
    n_steps = 0
    while not local.decrement <= _GAP * (1 + value) and n_steps < MAX_STEPS:
        moved = _line_search(loss, x, value, local, bounded)
        if moved is None:
            break
        x, value = moved
        local, n_steps = _local(design, x), n_steps + 1
    certified = bool(local.decrement <= _GAP * (1 + value))
    if certified:
        x, local = _finish(design, x, local)
        value = loss(x)
    covariance = np.zeros((len(x), len(x)))
    within = np.ix_(local.free, local.free)
    covariance[within] = _inverse(local.hessian[within])
    return Minimum(x, value, covariance, certified, n_steps, not local.free.all())


class _Local(NamedTuple):
    gradient: np.ndarray
    hessian: np.ndarray
    free: np.ndarray  # False where a coordinate presses against its bound 0
    step: np.ndarray  # Newton's, zero where not free
    decrement: float  # |gradient @ step|: twice what the step gains if the loss is quadratic


def _local(design, x):
    first, root_of_second = glm_loss_slopes(design.link, design.matrix @ x, design.event)
    gradient = design.matrix.T @ first
    weighted = design.matrix * root_of_second[:, None]
    hessian = weighted.T @ weighted
    free = np.ones(len(x), bool)
    if design.link == "log":
        free = ~((x == 0) & (gradient <= 0))
    step = np.zeros(len(x))
    if not (np.isfinite(hessian).all() and np.isfinite(gradient).all()):
        return _Local(gradient, np.zeros_like(hessian), free, step, float("nan"))
    if free.any():
        step[free] = -_inverse(hessian[np.ix_(free, free)]) @ gradient[free]
    return _Local(gradient, hessian, free, step, abs(float(gradient @ step)))


def _finish(design, x, local):
    """Return x after full steps while they help: the same digits from whatever start."""
    for _ in range(4):
        candidate = x + local.step
        if design.link == "log" and (candidate > 0).any():
            break
        if not np.isfinite(glm_loss(design.link, design.matrix @ candidate, design.event)):
            break
        refined = _local(design, candidate)
        if not refined.decrement < local.decrement:
            break
        x, local = candidate, refined
    return x, local


def _inverse(hessian):
    """Invert by columns of unit scale, with a ridge at rounding that keeps it invertible."""
    scale = 1 / np.sqrt(np.maximum(np.diag(hessian), _FLAT))
    unit = hessian * scale[:, None] * scale + 1e-14 * np.eye(len(scale))
    return np.linalg.inv(unit) * scale[:, None] * scale


def _line_search(loss, x, value, local, bounded):
    """Return (x, loss) after a sufficient decrease, or None.

    First along Newton's step, up to where the first coordinate reaches 0; then along the gradient
    scaled by the curvatures, projected, which descends even where the Hessian is singular.
    """
    curvature = np.maximum(np.diag(local.hessian), _FLAT)
    gradient_step = np.where(local.free, -local.gradient / curvature, 0.0)
    for step, furthest in ((local.step, np.min), (gradient_step, np.max)):
        # Where the loss is nearly flat a step is of any length: bound it before halving.
        scale = min(1.0, 100 * (1 + np.abs(x).max()) / max(np.abs(step).max(), 1e-300))
        rising = step > 0
        if bounded and rising.any():
            # A little further, so that projection makes an exact 0 of it.
            scale = min(scale, furthest(-x[rising] / step[rising]) * (1 + 1e-12))
        for _ in range(100):
            candidate = x + scale * step
            if bounded:
                candidate = np.minimum(candidate, 0.0)
            candidate_loss = loss(candidate)
            gain = local.gradient @ (x - candidate)
            if gain > 0 and candidate_loss <= value - 1e-4 * gain:
                return candidate, candidate_loss
            scale /= 2
    return None
