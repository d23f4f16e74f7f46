"""Standard errors of fits, from the distribution that the data follow (Fisher information)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from calbias.truth.curves import Curve, split_glm_name, transformed
from calbias.truth.scenarios import Scenario
from calbias.truth.true_error import integral, sign_changes
from pipeline.scenarios import HALF_LAST_DIGIT, printed_coefficients
from pipeline.tables import is_true

if TYPE_CHECKING:
    import pandas as pd

RESAMPLES = 10  # behind every number of Table 3
ROUNDED_TO_ONE = 25 * np.log(2)  # -log(1 - c) from which a float32 score is 1


def glm_errors(
    scenario: Scenario, n_samples: float, curve: Curve | None = None, drop_from: float = np.inf
) -> dict[str, float]:
    """Return {b0, b1 where it has them, aic: standard error} of a GLM fitted to n samples.

    The samples are a scenario's, without those whose -log(1 - c) is above ``drop_from``;
    ``curve`` is the fitted GLM, the scenario's own if None. The coefficients' covariance is the
    sandwich A⁻¹ B A⁻¹ / n: A = E[(dT/d eta)² / (T(1 - T)) x xᵀ], eta the predictor and x its terms
    (1, t(c)), and B the second moment of the gradient of the log likelihood, which is A if the GLM
    is true (and A is the curvature if it is not far from true). The AIC's error is twice the
    error of a sum of n losses.
    """
    curve = scenario.curve if curve is None else curve
    names = printed_coefficients(curve)
    link, transform, _ = split_glm_name(curve.name)
    k = len(names)

    def moments(
        log_score: np.ndarray, log1m_score: np.ndarray, log_density: np.ndarray
    ) -> np.ndarray:
        """Return the integrands (2k² + 2, m) of A, of B, and of the loss and its square."""
        scores = log_score, log1m_score
        log_density = np.where(-log1m_score <= drop_from, log_density, -np.inf)
        log_p = np.stack([scenario.curve.log_hit(*scores), scenario.curve.log_not_hit(*scores)])
        log_fit = np.stack([curve.log_hit(*scores), curve.log_not_hit(*scores)])
        inside = np.isfinite(log_fit).all(axis=0)  # a curve at 0 or 1 has no gradient
        terms = np.stack([np.ones_like(log_score), transformed(transform, *scores)])
        terms = terms[[("b0", "b1").index(name) for name in names]]
        products = (terms[:, None] * terms).reshape(k * k, -1)
        with np.errstate(invalid="ignore"):
            gradients = _log_gradients(link, *log_fit)
            fit_factor, data_factor = (
                np.where(inside, np.exp(log_density + np.logaddexp(*(p + 2 * gradients))), 0.0)
                for p in (log_fit, log_p)
            )
        losses = np.where(np.isfinite(log_fit), -log_fit, 0.0)
        mass = np.exp(log_density + log_p)
        means = [(mass * losses**power).sum(axis=0) for power in (1, 2)]
        return np.concatenate([products * fit_factor, products * data_factor, means])

    _, alpha, beta, _ = scenario
    kinks = sign_changes(curve.overshoot, alpha, beta)
    if np.isfinite(drop_from):
        kinks.append(drop_from + np.log1p(-np.exp(-drop_from)))
    *matrices, first, second = integral(moments, alpha, beta, kinks)
    curvature, gradient = np.reshape(matrices, (2, k, k))
    inverse = np.linalg.pinv(curvature, hermitian=True)
    covariance = inverse @ gradient @ inverse / n_samples
    errors = dict(zip(names, np.sqrt(np.diag(covariance)), strict=True))
    return {**errors, "aic": 2 * np.sqrt(n_samples * (second - first**2))}


def table3_errors(scenario: Scenario, n_samples: float, curve: Curve) -> dict[str, float]:
    """Return the ``glm_errors`` of a mean over ten resamples, a row of Table 3, GLM ``curve``."""
    rounding = HALF_LAST_DIGIT / np.sqrt(3)
    errors = glm_errors(scenario, n_samples, curve, drop_from=ROUNDED_TO_ONE)
    return {name: np.hypot(error / np.sqrt(RESAMPLES), rounding) for name, error in errors.items()}


def rows_with_table3_errors(
    beta_fits: pd.DataFrame, glm_fits: pd.DataFrame
) -> Iterator[tuple[dict[str, Any], dict[str, float]]]:
    """Yield (row as a dict, its ``table3_errors``) of the rows of ``glm_fits`` with a Beta fit."""
    scores = {row["model"]: row for row in beta_fits.to_dict("records")}
    for model, rows in glm_fits.groupby("model", sort=False):
        best = rows[is_true(rows["selected"])].to_dict("records")
        if model not in scores or not best:
            continue
        fit = scores[model]
        data = Scenario(model, fit["alpha"], fit["beta"], Curve.from_row(best[0]))
        for row in rows.to_dict("records"):
            yield row, table3_errors(data, fit["n_samples"], Curve.from_row(row))


def _log_gradients(link: str, log_t: np.ndarray, log_not_t: np.ndarray) -> np.ndarray:
    """Return log |d log T / d eta| and log |d log(1 - T) / d eta|, (2, m)."""
    none = np.zeros_like(log_t)
    pair = {
        "logit": (log_not_t, log_t),
        "log": (none, log_t - log_not_t),
        "logflip": (log_not_t - log_t, none),
    }[link]
    return np.stack(pair)
