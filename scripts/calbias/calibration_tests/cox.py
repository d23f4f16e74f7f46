"""Cox's (1958) test of intercept 0 and slope 1 in logit P(hit) = a + b·logit s, 2 degrees.

``cox_score``  Rao's score test: Uᵀ I⁻¹ U with U = Σ r_i·(1, x_i), I = Σ v_i·(1, x_i)(1, x_i)ᵀ
``cox_lrt``    the likelihood ratio, 2[ℓ(â, b̂) − ℓ(0, 1)]
"""

import numpy as np
from scipy.special import chdtrc

from calbias.engine.jit import njit
from calbias.engine.logistic_line import fit_line, log_likelihood, log_odds
from calbias.engine.sorted_batch import SortedBatch

BLIND_TO = "errors that no line in the log-odds follows, such as a wave"

VARIANTS = {"cox_score": {"kind": "score"}, "cox_lrt": {"kind": "ratio"}}


def p_values(data: SortedBatch, kind: str) -> np.ndarray:
    """Return the p-values (m,) of a SortedBatch; 1 where all scores are equal."""
    return chdtrc(2, np.maximum(statistics(data, kind), 0.0))


def statistics(data: SortedBatch, kind: str) -> np.ndarray:
    """Return the statistics (m,); 0 where all scores are equal."""
    values = np.empty(data.scores.shape[0])
    if kind == "score":
        _scores(data.scores, data.hits(), values)
    else:
        _ratios(data.scores, data.hits(), values)
    return values


@njit(error_model="numpy")
def _scores(scores: np.ndarray, labels: np.ndarray, out: np.ndarray) -> None:
    n = scores.shape[1]
    x = np.empty(n)
    for row in range(scores.shape[0]):
        h00 = h01 = h11 = 0.0
        for i in range(n):
            x[i] = log_odds(scores[row, i])
            weight = scores[row, i] * (1.0 - scores[row, i])
            h00 += weight
            h01 += weight * x[i]
            h11 += weight * x[i] * x[i]
        determinant = h00 * h11 - h01 * h01
        u0 = u1 = 0.0
        for i in range(n):
            residual = labels[row, i] - scores[row, i]
            u0 += residual
            u1 += residual * x[i]
        if determinant <= 1e-12 * h00 * h11:
            out[row] = 0.0
        else:
            out[row] = (h11 * u0 * u0 - 2.0 * h01 * u0 * u1 + h00 * u1 * u1) / determinant


@njit(error_model="numpy")
def _ratios(scores: np.ndarray, labels: np.ndarray, out: np.ndarray) -> None:
    x = np.empty(scores.shape[1])
    for row in range(scores.shape[0]):
        for i in range(x.shape[0]):
            x[i] = log_odds(scores[row, i])
        if x[-1] == x[0]:
            out[row] = 0.0
            continue
        a, b = fit_line(x, labels[row], 0.0)
        gain = log_likelihood(x, labels[row], a, b) - log_likelihood(x, labels[row], 0.0, 1.0)
        out[row] = max(2.0 * gain, 0.0)
