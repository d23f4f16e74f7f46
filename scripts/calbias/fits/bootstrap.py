"""The convention behind the published Table 3: each model's AIC is a mean over resamples.

The published AICs, b0 and b1 are means over ten bootstrap resamples of the rows, drawn separately
for each model, with scores equal to 1 dropped after resampling. So its four intercept-only
rows differ, although they are one model, and its winner depends on the draws.
"""

from typing import NamedTuple

import numpy as np

from calbias.errors import InputError
from calbias.fits.glm import fit_glm
from calbias.truth.curves import GLM_NAMES


class BootstrapFit(NamedTuple):
    """Means over the resamples of one model, with the standard deviation of a single resample.

    ``b0`` and ``b1`` are NaN where the model has no such term. A published AIC is such a
    mean over ten resamples: its standard error is ``aic_sd`` / √10.
    """

    glm: str
    aic: float
    aic_sd: float
    b0: float
    b1: float
    n_resamples: int


def table3_convention(
    log_score,
    log1m_score,
    hit,
    *,
    seed,
    n_resamples=10,
    names=GLM_NAMES,
    drop_scores_equal_to_one=True,
):
    """Return one BootstrapFit per model, as the published Table 3 was made.

    Arrays have shape (n,), as for ``fit_glm``; every resample has n rows before the drop. The
    stream of a model depends on ``seed`` and its place in ``GLM_NAMES`` alone, and further
    resamples extend it. The fits are by Newton's method, not by statsmodels, for speed; both
    reach the same optimum. Raises InputError as ``fit_glm`` does.
    """
    if n_resamples < 2:
        raise InputError(f"n_resamples is {n_resamples}: give at least 2")
    log_score, log1m_score, hit = (np.asarray(column) for column in (log_score, log1m_score, hit))
    return [
        _resampled(name, (log_score, log1m_score, hit), seed, n_resamples, drop_scores_equal_to_one)
        for name in names
    ]


def _resampled(name, columns, seed, n_resamples, drop_scores_equal_to_one):
    key = (GLM_NAMES.index(name),)
    generator = np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=key)))
    n = len(columns[0])
    fits = []
    for _ in range(n_resamples):
        rows = generator.integers(n, size=n)
        fits.append(
            fit_glm(
                name,
                *(column[rows] for column in columns),
                drop_scores_equal_to_one=drop_scores_equal_to_one,
                use_statsmodels=False,
            )
        )
    values = np.array([(fit.aic, fit.b0, fit.b1) for fit in fits])
    aic, b0, b1 = values.mean(axis=0).tolist()
    return BootstrapFit(name, aic, float(values[:, 0].std(ddof=1)), b0, b1, n_resamples)
