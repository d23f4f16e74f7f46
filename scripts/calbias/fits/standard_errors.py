"""Standard errors of fits, from the distribution that the data follow (Fisher information)."""

import numpy as np
from scipy.special import polygamma

from calbias.io.tables import is_true
from calbias.truth.curves import split_glm_name, transformed
from calbias.truth.fitted_scenarios import curve_of
from calbias.truth.published_fits import HALF_LAST_DIGIT, printed_coefficients
from calbias.truth.scenarios import Scenario, score_quantiles

RESAMPLES = 10  # behind every number of Table 3
ROUNDED_TO_ONE = 25 * np.log(2)  # -log(1 - c) from which a float32 score is 1
_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(16)
_OCTAVES = 40


def beta_errors(alpha, beta, n_samples):
    """Return the standard errors of the maximum-likelihood alpha and beta of n Beta scores."""
    both = polygamma(1, alpha + beta)
    information = n_samples * np.array(
        [[polygamma(1, alpha) - both, -both], [-both, polygamma(1, beta) - both]]
    )
    return np.sqrt(np.diag(np.linalg.inv(information)))


def glm_errors(scenario, n_samples, curve=None, drop_from=np.inf):
    """Return {b0, b1 where it has them, aic: standard error} of a GLM fitted to n samples.

    The samples are a scenario's, without those whose -log(1 - c) is above ``drop_from``;
    ``curve`` is the fitted GLM, the scenario's own if None. The coefficients' covariance is the
    sandwich A⁻¹ B A⁻¹ / n: A = E[(dT/d eta)² / (T(1 - T)) x xᵀ], eta the predictor and x its terms
    (1, t(c)), and B the second moment of the gradient of the log likelihood, which is A if the GLM
    is true (and A is the curvature if it is not far from true). The AIC's error is twice that of a
    sum of n losses. Expectations are by quadrature on panels that halve towards both ends.
    """
    curve = scenario.curve if curve is None else curve
    names = printed_coefficients(curve)
    link, transform, _ = split_glm_name(curve.name)
    log_c, log1m_score, log_mass = _nodes(scenario, drop_from)
    places = log_c, log1m_score
    log_hit, log_not_hit = scenario.curve.log_hit(*places), scenario.curve.log_not_hit(*places)
    log_t, log_not_t = curve.log_hit(*places), curve.log_not_hit(*places)
    of_hit, of_miss = _log_gradients(link, log_t, log_not_t)
    terms = np.stack([np.ones_like(log_c), transformed(transform, log_c, log1m_score)])
    terms = terms[[("b0", "b1").index(name) for name in names]]

    inside = np.isfinite(log_t) & np.isfinite(log_not_t)  # a curve at 0 or 1 has no gradient

    def second_moment(*log_p):
        logs = [
            log_mass[inside] + p[inside] + 2 * of[inside]
            for p, of in zip(log_p, (of_hit, of_miss), strict=True)
        ]
        return (terms[:, inside] * np.exp(np.logaddexp(*logs))) @ terms[:, inside].T

    inverse = np.linalg.pinv(second_moment(log_t, log_not_t), hermitian=True)
    covariance = inverse @ second_moment(log_hit, log_not_hit) @ inverse / n_samples
    losses = [np.where(np.isfinite(p), -p, 0.0) for p in (log_t, log_not_t)]
    first, second = (
        np.sum(np.exp(log_mass + log_hit) * losses[0] ** k)
        + np.sum(np.exp(log_mass + log_not_hit) * losses[1] ** k)
        for k in (1, 2)
    )
    errors = dict(zip(names, np.sqrt(np.diag(covariance)), strict=True))
    return {**errors, "aic": 2 * np.sqrt(n_samples * (second - first**2))}


def table3_errors(scenario, n_samples, curve):
    """Return {b0, b1 where it has them, aic: standard error} of a row of Table 3.

    Its numbers are means over ten bootstrap resamples of the data, without the scores that had
    rounded to 1 in float32: these are their errors against the fit to the data themselves, with
    the rounding to two decimals. ``scenario`` stands for the data, ``curve`` is the row's GLM.
    """
    rounding = HALF_LAST_DIGIT / np.sqrt(3)
    errors = glm_errors(scenario, n_samples, curve, drop_from=ROUNDED_TO_ONE)
    return {name: np.hypot(error / np.sqrt(RESAMPLES), rounding) for name, error in errors.items()}


def rows_with_table3_errors(beta_fits, glm_fits):
    """Yield (row as a dict, its ``table3_errors``) of each row of ``glm_fits``.

    The data of a model stand in ``beta_fits`` (scores, number of samples) and in its selected row.
    Models without either are left out.
    """
    scores = {row["model"]: row for row in beta_fits.to_dict("records")}
    for model, rows in glm_fits.groupby("model", sort=False):
        best = rows[is_true(rows["selected"])].to_dict("records")
        if model not in scores or not best:
            continue
        fit = scores[model]
        data = Scenario(model, fit["alpha"], fit["beta"], curve_of(best[0]))
        for row in rows.to_dict("records"):
            yield row, table3_errors(data, fit["n_samples"], curve_of(row))


def _log_gradients(link, log_t, log_not_t):
    """Return log |d log T / d eta| and log |d log(1 - T) / d eta|, (m,)."""
    none = np.zeros_like(log_t)
    return {
        "logit": (log_not_t, log_t),
        "log": (none, log_t - log_not_t),
        "logflip": (log_not_t - log_t, none),
    }[link]


def _nodes(scenario, drop_from):
    """Return (log c, log(1 - c), log mass), (m,): nodes for expectations over scores."""
    edges = np.concatenate([[0.0], 0.5 ** np.arange(_OCTAVES, 0, -1.0)])
    half_width = np.diff(edges)[:, None] / 2
    u = (edges[:-1, None] + half_width * (1 + _POINTS)).ravel()
    log_mass = np.tile(np.log(half_width * _WEIGHTS).ravel(), 2)
    sides = [score_quantiles(scenario.alpha, scenario.beta, **{s: u}) for s in ("lower", "upper")]
    log_c, log1m_score = (np.concatenate(parts) for parts in zip(*sides, strict=True))
    kept = -log1m_score <= drop_from
    return log_c[kept], log1m_score[kept], log_mass[kept]
