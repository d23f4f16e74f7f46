"""Maximum-likelihood fits of the twelve calibration-curve GLMs and their choice by AIC.

Roelofs et al. 2022, section 6 and Eq. 10: g(T) = b0 + b1·t(c), link and transform in
{(logit, logit), (log, log), (logflip, logflip), (logit, logflip)}, terms in {b0, b1, b0_b1}.
"""

import warnings
from typing import NamedTuple

import numpy as np

from calbias.errors import InputError
from calbias.fits.design import glm_design
from calbias.fits.inputs import below_one, checked_hits, checked_scores
from calbias.fits.newton import minimise
from calbias.truth.curves import GLM_NAMES, Curve, split_glm_name


class GlmFit(NamedTuple):
    """A fitted GLM ``link_transform_terms``.

    ``b0`` and ``b1`` are NaN where the model has no such term. ``nll`` is the sum over the
    scores of -log likelihood, in nats, and ``aic`` = 2k + 2 nll for k terms. ``covariance`` is
    that of (b0, b1), shape (2, 2), from the observed information, zero for absent terms.
    ``converged`` is a certificate, not a flag of the optimiser: nll is within 1e-11 (1 + nll) of
    the minimum. ``on_boundary`` says that the probability at the smallest or the largest score
    presses against 1 (log link) or 0 (logflip link): that score's probability then has variance 0.
    ``optimiser`` names what reached the optimum: ``closed_form``, ``statsmodels`` (certified as
    returned; its last digits are then polished) or ``newton`` (the constrained fallback).
    """

    glm: str
    b0: float
    b1: float
    nll: float
    aic: float
    converged: bool
    on_boundary: bool
    covariance: np.ndarray
    n_samples: int
    optimiser: str

    @property
    def curve(self):
        """The fit as a ``calbias.truth.curves.Curve``."""
        return Curve(self.glm, *np.nan_to_num([self.b0, self.b1]).tolist())


def fit_glm(
    name, log_score, log1m_score, hit, *, drop_scores_equal_to_one=False, use_statsmodels=True
):
    """Return the GlmFit of one of ``calbias.truth.curves.GLM_NAMES``.

    ``log_score`` = log c, ``log1m_score`` = log(1 - c) and ``hit`` (0/1 or bool) have shape (n,).
    Scores of exactly 1 (``log1m_score = -inf``) are taken as 1 - 2^-53 with a warning, or, with
    ``drop_scores_equal_to_one``, left out together with those already at 1 - 2^-53: the
    convention of the published Table 3. statsmodels proposes the optimum and Newton's method
    certifies or corrects it; without ``use_statsmodels`` Newton's method does it all.

    Raises InputError for an unknown name, for rows of one class only, for equal scores where
    the model has two terms, and for what ``checked_scores`` refuses.
    """
    return fit_all(
        log_score,
        log1m_score,
        hit,
        names=(name,),
        drop_scores_equal_to_one=drop_scores_equal_to_one,
        use_statsmodels=use_statsmodels,
    )[0]


def fit_all(
    log_score,
    log1m_score,
    hit,
    *,
    names=GLM_NAMES,
    drop_scores_equal_to_one=False,
    use_statsmodels=True,
):
    """Return the GlmFits of all twelve models, in the order of ``GLM_NAMES``; see ``fit_glm``."""
    for name in names:
        if name not in GLM_NAMES:
            raise InputError(f"unknown GLM {name!r}: choose from {', '.join(GLM_NAMES)}")
    columns = prepared(log_score, log1m_score, hit, drop_scores_equal_to_one)
    return [_fit(name, *columns, use_statsmodels) for name in names]


def prepared(log_score, log1m_score, hit, drop_scores_equal_to_one=False):
    """Return the checked arrays that the fits see, rows with a score of 1 dropped on request."""
    if drop_scores_equal_to_one and np.ndim(log1m_score) == 1:
        keep = below_one(log1m_score) | np.isnan(log1m_score)
        columns = [np.asarray(values) for values in (log_score, log1m_score, hit)]
        if not keep.any():
            raise InputError("no score is below 1: nothing is left to fit; keep the scores of 1")
        if {len(column) for column in columns} == {len(keep)}:
            log_score, log1m_score, hit = (column[keep] for column in columns)
    log_score, log1m_score = checked_scores(log_score, log1m_score)
    return log_score, log1m_score, checked_hits(hit, len(log_score))


def best_fit(fits):
    """Return the fit of smallest AIC, the earlier of equals."""
    return min(fits, key=lambda fit: fit.aic)


def _fit(name, log_score, log1m_score, hit, use_statsmodels):
    terms = split_glm_name(name)[2]
    if terms == "b0":
        return _intercept(name, int(hit.sum()), len(hit))
    design = glm_design(name, log_score, log1m_score, hit)
    proposals = []
    if use_statsmodels:
        from calbias.fits.irls import irls  # a second to import: only where it is used

        proposals.append(irls(design))
    if terms == "b0_b1":
        # The optimum without intercept is a start too: no model ends above one nested in it.
        nested = glm_design(name.replace("_b0_b1", "_b1"), log_score, log1m_score, hit)
        b1 = (nested.to_coefficients @ minimise(nested).x)[1]
        proposals.append(b1 * design.ends)
    minimum = minimise(design, *proposals)
    optimiser = "newton" if minimum.n_steps or not use_statsmodels else "statsmodels"
    if minimum.loss < 1e-6:
        warnings.warn(
            f"{name}: the scores separate hits from misses; its coefficients are not determined",
            stacklevel=4,
        )
    elif not minimum.certified:
        warnings.warn(f"{name}: the fit did not reach a certified optimum", stacklevel=4)
    back = design.to_coefficients
    b0, b1 = (back @ minimum.x).tolist()
    return GlmFit(
        glm=name,
        b0=b0 if terms == "b0_b1" else float("nan"),
        b1=b1,
        nll=minimum.loss,
        aic=2.0 * len(minimum.x) + 2.0 * minimum.loss,
        converged=minimum.certified,
        on_boundary=minimum.on_boundary,
        covariance=back @ minimum.covariance @ back.T,
        n_samples=len(hit),
        optimiser=optimiser,
    )


def _intercept(name, n_hit, n):
    """Return the fit of a constant curve, the hit rate: one likelihood under all four names."""
    rate, miss_rate = n_hit / n, (n - n_hit) / n
    nll = float(-n_hit * np.log(rate) - (n - n_hit) * np.log(miss_rate))
    b0, variance = {
        "logit": (np.log(rate / miss_rate), 1 / (n * rate * miss_rate)),
        "log": (np.log(rate), miss_rate / (n * rate)),
        "logflip": (np.log(miss_rate), rate / (n * miss_rate)),
    }[split_glm_name(name)[0]]
    return GlmFit(
        glm=name,
        b0=float(b0),
        b1=float("nan"),
        nll=nll,
        aic=2.0 + 2.0 * nll,
        converged=True,
        on_boundary=False,
        covariance=np.array([[variance, 0.0], [0.0, 0.0]]),
        n_samples=n,
        optimiser="closed_form",
    )
