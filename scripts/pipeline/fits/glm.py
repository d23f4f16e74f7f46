"""Maximum-likelihood fits of the twelve calibration-curve GLMs and their choice by AIC.

Roelofs et al. 2022, section 6 and Eq. 10: g(T) = b0 + b1·t(c), link and transform in
{(logit, logit), (log, log), (logflip, logflip), (logit, logflip)}, terms in {b0, b1, b0_b1}.
"""

import warnings
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, xlogy

from calbias.errors import InputError
from calbias.truth.curves import GLM_NAMES, Curve, split_glm_name
from pipeline.fits.design import Design, below_one, checked_hits, checked_scores, glm_design
from pipeline.fits.newton import minimise


class GlmFit(NamedTuple):
    """A fitted GLM ``link_transform_terms``; ``b0`` or ``b1`` is NaN where it has no such term.

    ``nll`` is the sum in nats; ``converged`` certifies that it is within 1e-11 (1 + nll) of the
    minimum.
    """

    glm: str
    b0: float
    b1: float
    nll: float
    aic: float
    converged: bool

    @property
    def curve(self) -> Curve:
        """The fit as a ``calbias.truth.curves.Curve``."""
        return Curve(self.glm, *np.nan_to_num([self.b0, self.b1]).tolist())


def fit_all(
    log_score: ArrayLike,
    log1m_score: ArrayLike,
    hit: ArrayLike,
    *,
    names: Iterable[str] = GLM_NAMES,
    drop_scores_equal_to_one: bool = False,
    use_statsmodels: bool = True,
) -> list[GlmFit]:
    """Return the GlmFits of models, from log c, log(1 - c) and hits (0/1 or bool), (n,) each.

    Scores of exactly 1 are taken as 1 - 2^-53 with a warning, or with ``drop_scores_equal_to_one``
    left out, as in the published Table 3. statsmodels proposes the optimum and Newton's method
    certifies or corrects it; without ``use_statsmodels`` Newton's method does it all.
    """
    for name in names:
        if name not in GLM_NAMES:
            raise InputError(f"unknown GLM {name!r}: choose from {', '.join(GLM_NAMES)}")
    log_score, log1m_score, hit = prepared(log_score, log1m_score, hit, drop_scores_equal_to_one)
    data = Labelled(log_score, log1m_score, hit[None].astype(float), (~hit[None]).astype(float))
    fits: dict[str, GlmFit] = {}
    for name in names:
        fits[name] = _fit(name, data, use_statsmodels, fits.get(name.replace("_b0_b1", "_b1")))
    return list(fits.values())


def prepared(
    log_score: ArrayLike, log1m_score: ArrayLike, hit: ArrayLike, drop_scores_equal_to_one: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
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


def best_fit(fits: Iterable[GlmFit]) -> GlmFit:
    """Return the fit of smallest AIC, the earlier of equals."""
    return min(fits, key=lambda fit: fit.aic)


class Labelled(NamedTuple):
    """Scores, finite (n,), with counts (B, n) of hits and misses at each in B sets of labels."""

    log_score: np.ndarray
    log1m_score: np.ndarray
    hits: np.ndarray
    misses: np.ndarray


def refit(fit: GlmFit, data: Labelled) -> tuple[np.ndarray, np.ndarray]:
    """Return (T, AIC), (B, n) and (B,), of a ``GlmFit`` refitted to each set of a ``Labelled``."""
    link, _, terms = split_glm_name(fit.glm)
    if terms == "b0":
        eta, loss = _constant(link, data)
        eta = np.broadcast_to(eta[:, None], data.hits.shape)
    else:
        design = glm_design(fit.glm, *data)
        minimum = minimise(design, design.coordinates(fit.curve.b0, fit.curve.b1))
        eta, loss = minimum.x @ design.matrix.T, minimum.loss
    aic = 2.0 * terms.count("b") + 2.0 * loss
    if link == "logit":
        return expit(eta), aic
    return (np.exp(eta) if link == "log" else -np.expm1(eta)), aic


def _fit(name: str, data: Labelled, use_statsmodels: bool, nested: GlmFit | None = None) -> GlmFit:
    """Return the GlmFit; ``nested`` is the fit without intercept, if it is known."""
    link, _, terms = split_glm_name(name)
    if terms == "b0":
        (b0,), (nll,) = (values.tolist() for values in _constant(link, data))
        return GlmFit(name, b0, float("nan"), nll, 2.0 + 2.0 * nll, True)
    design = glm_design(name, *data)
    proposals = []
    if use_statsmodels:
        proposals.append(_by_statsmodels(design))
    if terms == "b0_b1":
        # The optimum without intercept is a start too: no model ends above one nested in it.
        if nested is None:
            nested = _fit(name.replace("_b0_b1", "_b1"), data, False)
        proposals.append(nested.b1 * design.ends)
    minimum = minimise(design, *proposals)
    nll, certified = float(minimum.loss[0]), bool(minimum.certified[0])
    if nll < 1e-6:
        warnings.warn(
            f"{name}: the scores separate hits from misses; its coefficients are not determined",
            stacklevel=4,
        )
    elif not certified:
        warnings.warn(f"{name}: the fit did not reach a certified optimum", stacklevel=4)
    b0, b1 = (design.to_coefficients @ minimum.x[0]).tolist()
    return GlmFit(
        glm=name,
        b0=b0 if terms == "b0_b1" else float("nan"),
        b1=b1,
        nll=nll,
        aic=2.0 * terms.count("b") + 2.0 * nll,
        converged=certified,
    )


def _by_statsmodels(design: Design) -> np.ndarray:
    """Return the coordinates x (k,) that iteratively reweighted least squares finds, or NaN.

    statsmodels clips probabilities at 2.2e-16 from 0 and 1 and, under a log link, may step outside
    the model: what it returns is a proposal.
    """
    # Imported only where used; ``statsmodels.api`` would take half a second more.
    from statsmodels.genmod.families import Binomial, links
    from statsmodels.genmod.generalized_linear_model import GLM

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # the certificate decides, not these
        link = links.Logit() if design.link == "logit" else links.Log()
        model = GLM(design.events[0], design.matrix, family=Binomial(link=link))
        try:
            return model.fit(start_params=design.start, maxiter=100, tol=1e-10).params
        except (ValueError, np.linalg.LinAlgError):  # weights or predictors overflowed
            return np.full(design.matrix.shape[1], np.nan)


def _constant(link: str, data: Labelled) -> tuple[np.ndarray, np.ndarray]:
    """Return the predictor and the loss, (B,), of the hit rate: one likelihood for all links."""
    n_hits, n_misses = data.hits.sum(axis=1), data.misses.sum(axis=1)
    with np.errstate(divide="ignore"):
        log_rate = np.log(n_hits / (n_hits + n_misses))
        log_miss_rate = np.log(n_misses / (n_hits + n_misses))
    loss = -xlogy(n_hits, n_hits / (n_hits + n_misses))
    loss -= xlogy(n_misses, n_misses / (n_hits + n_misses))
    eta = {"logit": log_rate - log_miss_rate, "log": log_rate, "logflip": log_miss_rate}[link]
    return eta, loss
