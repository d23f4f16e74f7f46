"""A line in the log odds with next to no prior on its slope, as where a threshold separates hits.

    y_k ~ Binomial(n_k, σ(L_k + x₀ + x₁ t_k)),  x ~ N(0, 100² I)

with the mode by Newton's method and the evidence by Laplace's approximation there,

    log Z = log p(y | x) − |x|²/(2·100²) − ½ log |I + 100² H|,  H = Σ_k n_k p(1 − p)(1 t_k)ᵀ(1 t_k)

Its errors are those at the mode. Beyond a threshold all rates next to 0 or 1 are nearly as likely,
and a normal law around the mode, as wide as the likelihood is flat, would put half of its mass on
the wrong side. Outcomes that are all equal are separated by no threshold: the evidence is -inf.
"""

import numpy as np
from scipy.special import expit

from calbias.engine.posterior_cells import HITS, LOG_ODDS, SCORE, SIZE, TILT, WEIGHT, Errors, Floats

SPREAD = 100.0
_ITERATIONS, _HALVINGS = 100, 40
_ENOUGH = 1e-8  # of log probability


def steep_line(table: Floats) -> tuple[float, Errors]:
    """Return log evidence relative to the calibrated model, and Errors (1,), on cells (8, K)."""
    size, log_odds = table[SIZE], table[LOG_ODDS]
    basis = np.stack([np.ones_like(log_odds), table[TILT]])
    x, best = np.zeros(2), 0.0
    if not 0.0 < table[HITS].sum() < size.sum():
        return -np.inf, Errors(*np.zeros((3, 1)))

    def height(x: Floats) -> float:
        f = x @ basis
        gain = np.logaddexp(0.0, log_odds + f) - np.logaddexp(0.0, log_odds)
        return float(f @ table[HITS] - gain @ size - 0.5 * x @ x / SPREAD**2)

    for _ in range(_ITERATIONS):
        p = expit(log_odds + x @ basis)
        slope = basis @ (table[HITS] - size * p) - x / SPREAD**2
        bend = (basis * (size * p * (1.0 - p))) @ basis.T + np.eye(2) / SPREAD**2
        step = np.linalg.solve(bend, slope)
        if step @ slope < _ENOUGH:
            break
        for _ in range(_HALVINGS):
            if (reached := height(x + step)) >= best:
                break
            step *= 0.5
        x, best = x + step, reached
    evidence = best - 0.5 * float(np.linalg.slogdet(SPREAD**2 * bend)[1])
    gap = expit(log_odds + x @ basis) - table[SCORE]
    l1, square = (np.array([table[WEIGHT] @ values]) for values in (abs(gap), gap**2))
    return evidence, Errors(l1, square, np.zeros(1))
