"""Surrogate logits for a model whose file is absent, drawn from its published fits.

The top-label score follows the published Beta distribution (Roelofs et al. 2022, Table 2) and the
hit the published calibration curve of lowest AIC (Table 3), above 1/K; all that the fits do not say
is invented: which class is on top (uniform), how the other classes share 1 - c (softmax of
normals), and which of them is the label of a miss (drawn by their shares).

A top score cannot be below 1/K, and the Beta distribution can. Scores below 1/(1 + 0.999(K - 1)),
a thousandth above 1/K, are drawn again, which conditions the distribution on what K classes can
show; the probability is under 6e-4 for each of the ten models, and the number is returned. A Beta
fit to such scores is centred above the published alpha and beta, by less than one standard error.

The fits come back from these logits under ``softmax: exact``. ``float32_2020`` rounds the drawn
scores a second time, and then Table 2 is met only roughly (CIFAR-100: beta 20 % low).
"""

from typing import NamedTuple

import numpy as np

from calbias.engine.seeding import stream
from calbias.logits.raw_file import FOLDS, Fold
from pipeline.logits.store import SURROGATE_LOGITS, Logits
from pipeline.scenarios.fits import fitted_scenario

STRICTNESS = 0.999
"""No other class has more than this share of the top score."""
SPREAD = 2.0
"""The standard deviation of the other classes' logits."""
_CHUNK_ELEMENTS = 2**22  # logits drawn at a time: 16 MiB in float32


def published_fit(model, beta_csv, glm_csv):
    """Return a model's Scenario by Tables 2 and 3; InputError if it is not in both."""
    return fitted_scenario(model, "fitted", [beta_csv], [glm_csv])[0]


def fold_sizes(model, n_classes, manifest):
    """Return a model's (validation, test) rows: the manifest's, else as in ImageNet or CIFAR."""
    published = manifest.get(model)
    if published and published.n_validation and published.n_test:
        return published.n_validation, published.n_test
    return (25_000, 25_000) if n_classes >= 1000 else (5_000, 10_000)


def draw_surrogate(model, fit, n_classes, n_validation, n_test, seed):
    """Return ``(Logits, n_redrawn)`` of a model: n_redrawn scores, too low for K, were drawn again.

    Streams depend on the seed, the model and the fold alone.
    """
    folds = []
    n_redrawn = 0
    for name, n in zip(FOLDS, (n_validation, n_test), strict=True):
        scores = draw_scores(fit, n, n_classes, stream(seed, model, name, "scores"))
        n_redrawn += scores.n_redrawn
        folds.append(draw_logits(scores, n_classes, stream(seed, model, name, "classes")))
    return Logits(*folds, SURROGATE_LOGITS), n_redrawn


class Scores(NamedTuple):
    """Drawn top labels: log c, log(1 - c) and the hit (bool), shape (n,); scores drawn again."""

    log_score: np.ndarray
    log1m_score: np.ndarray
    hit: np.ndarray
    n_redrawn: int


def draw_scores(fit, n, n_classes, rng):
    """Return n ``Scores`` of a ``Scenario``, conditioned on what ``n_classes`` can show.

    With X ~ Gamma(alpha) and Y ~ Gamma(beta), c = X/(X + Y) is Beta(alpha, beta); the logarithm of
    a Gamma(a) variate is the log of a Gamma(a + 1) variate plus log(U)/a, which does not underflow.
    """
    log_score, log1m_score = np.empty((2, n))
    pending = np.arange(n)
    n_redrawn = -n
    while len(pending):
        n_redrawn += len(pending)
        log_x = _log_gamma_variates(fit.alpha, len(pending), rng)
        log_y = _log_gamma_variates(fit.beta, len(pending), rng)
        log_score[pending] = -np.logaddexp(0.0, log_y - log_x)
        log1m_score[pending] = -np.logaddexp(0.0, log_x - log_y)
        pending = pending[log_score[pending] < -np.log1p(STRICTNESS * (n_classes - 1))]
    hit = np.log(rng.random(n)) < fit.curve.log_hit(log_score, log1m_score)
    return Scores(log_score, log1m_score, hit, n_redrawn)


def _log_gamma_variates(shape, n, rng):
    return np.log(rng.standard_gamma(shape + 1, n)) - rng.standard_exponential(n) / shape


def draw_logits(scores, n_classes, rng):
    """Return a ``Fold`` whose float64 softmax has the given top labels, to float32 accuracy.

    The top class, uniform, gets the log odds log c - log(1 - c) and each other class the logarithm
    of its share of 1 - c, so that nothing underflows. The shares are drawn as softmax of normals,
    then mixed with equal shares where one would exceed ``STRICTNESS`` times the top score.
    """
    n = len(scores.hit)
    logits = np.empty((n, n_classes), dtype=np.float32)
    labels = np.empty(n, dtype=np.int64)
    step = max(1, _CHUNK_ELEMENTS // n_classes)
    for start in range(0, n, step):
        rows = slice(start, min(start + step, n))
        log_odds = scores.log_score[rows] - scores.log1m_score[rows]
        index = np.arange(len(log_odds))
        top = rng.integers(n_classes, size=len(index))
        shares = _shares(log_odds, top, n_classes, rng)
        labels[rows] = np.where(scores.hit[rows], top, -1)
        missed = np.flatnonzero(~scores.hit[rows])
        labels[start + missed] = _drawn_class(shares[missed], top[missed], rng)
        shares[index, top] = 1  # replaced below; its logarithm must only exist
        np.log(shares, out=logits[rows])
        logits[start + index, top] = log_odds
    return Fold(logits, labels)


def _shares(log_odds, top, n_classes, rng):
    """Return the shares of the other classes, (m, K) float32; the top class's is unused."""
    shares = rng.standard_normal((len(top), n_classes), dtype=np.float32)
    shares *= np.float32(SPREAD)
    np.exp(shares, out=shares)
    shares[np.arange(len(top)), top] = 0
    shares /= shares.sum(axis=1, keepdims=True)
    largest = shares.max(axis=1).astype(np.float64)
    limit = STRICTNESS * np.exp(np.minimum(log_odds, 700.0))
    equal = 1 / (n_classes - 1)
    # How much of the random shares the limit leaves room for: all, where none exceeds it.
    kept = np.ones(len(top))
    np.divide(limit - equal, largest - equal, out=kept, where=largest > limit)
    kept = np.clip(kept, 0, 1)[:, None].astype(np.float32)
    shares *= kept
    shares += (1 - kept) * np.float32(equal)
    return shares


def _drawn_class(shares, top, rng):
    """Return a class per row other than ``top``, drawn by the shares (a race of exponentials)."""
    times = rng.standard_exponential(shares.shape, dtype=np.float32)
    with np.errstate(divide="ignore"):
        times /= shares
    times[np.arange(len(top)), top] = np.inf
    return times.argmin(axis=1)
