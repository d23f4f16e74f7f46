"""Calibration curves T(c) = P(hit | score = c), evaluated without loss in both tails.

A curve takes ``log_score = log c`` and ``log1m_score = log(1 - c)`` and returns ``log T`` or
``log(1 - T)``. Near 1 the float64 ``c`` has rounded and only ``log1m_score`` still tells scores
apart (Roelofs et al. 2022, appendix A.2, for the family; the power and logistic curves are those of
sections 4, 7.2 and appendices C, D).
"""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log1p, log_expit

from calbias.errors import InputError, did_you_mean

LINKS_AND_TRANSFORMS = (
    ("logit", "logit"),
    ("log", "log"),
    ("logflip", "logflip"),
    ("logit", "logflip"),
)
TERMS = ("b0", "b1", "b0_b1")
GLM_NAMES = tuple(f"{g}_{t}_{terms}" for g, t in LINKS_AND_TRANSFORMS for terms in TERMS)
OTHER_CURVES = ("identity", "linear", "power", "logistic")


class Curve(NamedTuple):
    """A calibration curve T(c), the probability that a prediction of score c is correct.

    Attributes
    ----------
    name : str
        ``identity`` (T(c) = c, perfect calibration), ``linear`` (b0 + b1·c, clipped to [0, 1]),
        ``power`` (c^b1), ``logistic`` (1/(1 + exp(-(b0 + b1·c)))), or one of twelve generalised
        linear models ``link_transform_terms``, g(T) = b0 + b1·t(c), such as ``logit_logit_b0_b1``.
        A term that the name lacks is 0: ``*_b0`` is a constant.
    b0, b1 : float, default 0
        The coefficients that the name calls for.

    Examples
    --------
    >>> import calbias
    >>> calbias.Curve("power", b1=2.0).at([0.5, 1.0])
    array([0.25, 1.  ])
    """

    name: str
    b0: float = 0.0
    b1: float = 0.0

    def at(self, scores: ArrayLike) -> np.ndarray:
        """Return T at scores in [0, 1], an array of their shape; InputError for an unknown name."""
        scores = np.asarray(scores, dtype=np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(self.hit(np.log(scores), np.log1p(-scores)))

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Self:
        """Return the Curve of a table's row: ``curve`` or ``glm``, b0, b1; an absent one is 0."""
        coefficients = (float(row[name] or 0) for name in ("b0", "b1"))
        name = row["curve"] if "curve" in row else row["glm"]
        return cls(name, *(0.0 if math.isnan(b) else b for b in coefficients))

    def log_hit(self, log_score: np.ndarray, log1m_score: np.ndarray) -> np.ndarray:
        """Return log T at scores given as log c and log(1 - c), arrays of one shape."""
        link, predictor = self._link_and_predictor(log_score, log1m_score)
        if link == "logit":
            return log_expit(predictor)
        if link == "identity":
            with np.errstate(divide="ignore"):
                return np.asarray(np.log(predictor))
        return predictor if link == "log" else log1m_exp(predictor)

    def log_not_hit(self, log_score: np.ndarray, log1m_score: np.ndarray) -> np.ndarray:
        """Return log(1 - T) at scores given as log c and log(1 - c), arrays of one shape."""
        link, predictor = self._link_and_predictor(log_score, log1m_score)
        if link == "identity":
            return self._of_not_hit().log_hit(log1m_score, log_score)
        if link == "logit":
            return log_expit(-predictor)
        return predictor if link == "logflip" else log1m_exp(predictor)

    def hit(self, log_score: np.ndarray, log1m_score: np.ndarray) -> np.ndarray:
        """Return T, a fraction, at scores given as log c and log(1 - c)."""
        return np.exp(self.log_hit(log_score, log1m_score))

    def log_abs_slope(
        self, log_score: np.ndarray, log1m_score: np.ndarray
    ) -> tuple[Any, np.ndarray]:
        """Return (sign, log|dT/dc|); where T is clipped, by the same formula at the clipped T."""
        link, transform, _, b1 = self._parts()
        with np.errstate(divide="ignore"):
            log_slope = np.log(abs(b1))
            log_hit = self.log_hit(log_score, log1m_score)
            log_not_hit = self.log_not_hit(log_score, log1m_score)
        if transform != "score":
            both = log_score + log1m_score
            slopes = {"logit": both, "log": log_score, "logflip": log1m_score}
            log_slope = log_slope - slopes[transform]
        sign = -np.sign(b1) if transform == "logflip" else np.sign(b1)
        if link == "identity":
            clipped = self.overshoot(log_score, log1m_score) > 0
            return sign, np.where(clipped, -np.inf, log_slope)
        if link == "logit":
            return sign, log_slope + log_hit + log_not_hit
        return (sign, log_slope + log_hit) if link == "log" else (-sign, log_slope + log_not_hit)

    def overshoot(self, log_score: np.ndarray, log1m_score: np.ndarray) -> np.ndarray:
        """Return by how much the link's predictor exceeds its bound; -1 for a logit link."""
        link, predictor = self._unclipped(log_score, log1m_score)
        if link == "identity":
            return -np.minimum(predictor, self._of_not_hit()._unclipped(log1m_score, log_score)[1])
        return np.full_like(predictor, -1.0) if link == "logit" else predictor

    def _parts(self) -> tuple[str, str, float, float]:
        """Return (link, transform, b0, b1), the coefficients that the name lacks being 0."""
        if self.name == "identity":
            return "logit", "logit", 0.0, 1.0
        if self.name == "linear":
            return "identity", "score", self.b0, self.b1
        if self.name == "power":
            return "log", "log", 0.0, self.b1
        if self.name == "logistic":
            return "logit", "score", self.b0, self.b1
        validate_curve_name(self.name)
        link, transform, terms = split_glm_name(self.name)
        return link, transform, self.b0 * ("b0" in terms), self.b1 * ("b1" in terms)

    def _link_and_predictor(
        self, log_score: np.ndarray, log1m_score: np.ndarray
    ) -> tuple[str, np.ndarray]:
        link, predictor = self._unclipped(log_score, log1m_score)
        # Not every predictor is a probability: T is clipped to [0, 1].
        if link == "identity":
            return link, np.clip(predictor, 0.0, 1.0)
        return link, predictor if link == "logit" else np.minimum(predictor, 0.0)

    def _of_not_hit(self) -> Self:
        """Return the line 1 - T, whose score is 1 - c."""
        return self._replace(b0=1.0 - self.b0 - self.b1)

    def _unclipped(self, log_score: np.ndarray, log1m_score: np.ndarray) -> tuple[str, np.ndarray]:
        log_score, log1m_score = np.asarray(log_score, float), np.asarray(log1m_score, float)
        link, transform, b0, b1 = self._parts()
        if b1 == 0:
            return link, np.full_like(log_score, b0)  # also where the transform is infinite
        return link, b0 + b1 * transformed(transform, log_score, log1m_score)


def validate_curve_name(name: str, place: str = "") -> None:
    """Raise InputError, with ``place`` in front, for a name that no Curve has."""
    names = (*OTHER_CURVES, *GLM_NAMES)
    if name not in names:
        raise InputError(f"{place}unknown curve {name!r}. {did_you_mean(name, names)}")


NAMED_CURVES = {"identity": Curve("identity"), "logistic": Curve("logistic", -5.0, 10.0)}
"""The curves that the configuration names without coefficients; the logistic of appendix D."""


def split_glm_name(name: str) -> tuple[str, str, str]:
    """Return (link, transform, terms) of a GLM name such as ``logit_logflip_b0_b1``."""
    link, transform, terms = name.split("_", 2)
    return link, transform, terms


def transformed(transform: str, log_score: np.ndarray, log1m_score: np.ndarray) -> np.ndarray:
    """Return t(c) for t in logit, log, logflip, score, from log c and log(1 - c)."""
    if transform == "logit":
        return log_score - log1m_score
    if transform == "score":
        return np.exp(log_score)
    return log_score if transform == "log" else log1m_score


def score(log_score: np.ndarray, log1m_score: np.ndarray) -> np.ndarray:
    """Return c in (0, 1]; the tail that carries the information decides how it is formed."""
    return np.where(log1m_score < log_score, -np.expm1(log1m_score), np.exp(log_score))


def log1m_exp(x: np.ndarray) -> np.ndarray:
    """Return log(1 - e^x) for x <= 0 without cancellation; -inf at x = 0."""
    with np.errstate(divide="ignore"):
        return np.where(x > -0.6931471805599453, np.log(-np.expm1(x)), log1p(-np.exp(x)))
