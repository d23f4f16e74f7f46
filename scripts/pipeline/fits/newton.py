"""Newton's method for convex GLM losses, many at once, with certified optima.

Under a log link the coordinates x stay at or below 0. The method checks what statsmodels returns
and finishes it where it stopped early. It replaces statsmodels where the optimum lies on the
boundary T = 1, where iteratively reweighted least squares fails, and for bootstrap resamples, which
share one design.
"""

from typing import NamedTuple

import numpy as np

from pipeline.fits.design import Design

_MOST_STEPS = 1000  # near 1 a slope of the log link can only double from step to step
_GAP = 1e-11  # accepted distance from the minimum, as a fraction of 1 + loss
_FLAT = 1e-200  # stands in for a curvature of 0


class Minimum(NamedTuple):
    """The coordinates ``x`` (B, k) of least ``loss`` (B,), in nats.

    ``certified``: by the Newton decrement over the free coordinates the loss is within 1e-11 (1 +
    loss) of the minimum.
    """

    x: np.ndarray
    loss: np.ndarray
    certified: np.ndarray


class _Local(NamedTuple):
    gradient: np.ndarray  # (B, k)
    curvature: np.ndarray  # (B, k), the Hessian's diagonal
    free: np.ndarray  # (B, k), False where a coordinate presses against its bound 0
    step: np.ndarray  # (B, k), Newton's, zero where not free
    decrement: np.ndarray  # (B,) |gradient @ step|: twice the gain if the loss is quadratic


def minimise(design: Design, *starts: np.ndarray) -> Minimum:
    """Return the Minimum of a Design from the best of its own start and ``starts``, each (k,)."""
    n_sets = len(design.events)
    x = np.tile(design.start, (n_sets, 1))
    value = design.loss(x)
    for start in starts:
        candidate = np.tile(start, (n_sets, 1))
        loss = design.loss(candidate)
        better = (loss <= value) & (design.link == "logit" or not (start > 0).any())
        x, value = np.where(better[:, None], candidate, x), np.where(better, loss, value)
    local = _local(design, x)
    searching = ~(local.decrement <= _GAP * (1 + value))
    for _ in range(_MOST_STEPS):
        rows = np.flatnonzero(searching)
        if not rows.size:
            break
        part = _rows_of(design, rows)
        improved, x[rows], value[rows] = _line_search(
            part, x[rows], value[rows], _Local(*(array[rows] for array in local))
        )
        renewed = _local(part, x[rows])
        for old, new in zip(local, renewed, strict=True):
            old[rows] = new
        searching[rows] = improved & ~(renewed.decrement <= _GAP * (1 + value[rows]))
    certified = local.decrement <= _GAP * (1 + value)
    _finish(design, x, value, local, certified.copy())
    return Minimum(x, value, certified)


def _rows_of(design: Design, rows: np.ndarray) -> Design:
    return design._replace(events=design.events[rows], others=design.others[rows])


def _local(design: Design, x: np.ndarray) -> _Local:
    gradient, hessian = design.slopes(x)
    free = np.ones(x.shape, bool)
    if design.link == "log":
        free = ~((x == 0) & (gradient <= 0))
    curvature = np.diagonal(hessian, axis1=1, axis2=2).copy()
    finite = np.isfinite(hessian).all(axis=(1, 2)) & np.isfinite(gradient).all(axis=1)
    # Columns of unit scale, with a ridge at rounding that keeps the matrix invertible.
    scale = np.where(free, 1 / np.sqrt(np.maximum(curvature, _FLAT)), 0.0)
    scale[~finite] = 0.0
    with np.errstate(invalid="ignore"):
        unit = np.where(finite[:, None, None], hessian, 0.0) * scale[:, :, None] * scale[:, None]
        slope = np.where(finite[:, None], gradient, 0.0) * scale
    unit += np.eye(x.shape[1]) * np.where(scale > 0, 1e-14, 1.0)[:, :, None]
    step = -(np.linalg.inv(unit) @ slope[..., None])[..., 0] * scale
    decrement = np.where(finite, np.abs(np.sum(np.where(free, gradient * step, 0), axis=1)), np.nan)
    curvature[~finite] = 0.0
    return _Local(gradient, curvature, free, step, decrement)


def _line_search(
    design: Design, x: np.ndarray, value: np.ndarray, local: _Local
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (found, x, loss) after a sufficient decrease; found (B,) is False where there is none.

    First along Newton's step, up to where the first coordinate reaches 0; then along the gradient
    scaled by the curvatures, projected, which descends even where the Hessian is singular.
    """
    bounded = design.link == "log"
    with np.errstate(invalid="ignore", over="ignore"):
        by_gradient = np.where(local.free, -local.gradient / np.maximum(local.curvature, _FLAT), 0)
    improved, best, best_value = np.zeros(len(x), bool), x.copy(), value.copy()
    for step, furthest in ((local.step, np.min), (by_gradient, np.max)):
        # Where the loss is nearly flat a step is of any length: bound it before halving.
        longest = np.maximum(np.abs(step).max(axis=1), 1e-300)
        scale = np.minimum(1.0, 100 * (1 + np.abs(x).max(axis=1)) / longest)
        if bounded:
            # A little further than the bound, so that projection makes an exact 0 of it.
            rising = step > 0
            none = np.inf if furthest is np.min else -np.inf
            reach = np.where(rising, -x / np.where(rising, step, 1.0), none)
            reach = furthest(reach, axis=1) * (1 + 1e-12)
            scale = np.where(rising.any(axis=1), np.minimum(scale, reach), scale)
        for _ in range(100):
            left = np.flatnonzero(~improved)
            if not left.size:
                return improved, best, best_value
            candidate = x[left] + scale[left, None] * step[left]
            if bounded:
                candidate = np.minimum(candidate, 0.0)
            loss = _rows_of(design, left).loss(candidate)
            gain = np.sum(local.gradient[left] * (x[left] - candidate), axis=1)
            good = (gain > 0) & (loss <= value[left] - 1e-4 * gain)
            improved[left] = good
            best[left[good]], best_value[left[good]] = candidate[good], loss[good]
            scale[left] /= 2
    return improved, best, best_value


def _finish(
    design: Design, x: np.ndarray, value: np.ndarray, local: _Local, helping: np.ndarray
) -> None:
    """Take full steps, in place, while they help the sets: the same digits from any start."""
    for _ in range(4):
        candidate = np.where(helping[:, None], x + local.step, x)
        helping &= ~((design.link == "log") & (candidate > 0).any(axis=1))
        loss = design.loss(candidate)
        helping &= np.isfinite(loss)
        refined = _local(design, candidate)
        helping &= refined.decrement < local.decrement
        if not helping.any():
            break
        for old, new in zip((x, value, *local), (candidate, loss, *refined), strict=True):
            old[helping] = new[helping]
