"""The rows of ``beta_fits.csv`` and ``glm_fits.csv``, with the published values."""

import math

from calbias.errors import InputError
from calbias.fits.glm import best_fit
from calbias.io.tables import read_rows
from calbias.truth.curves import split_glm_name


def beta_row(fit, origin, published):
    """Return the row of a BetaFit as a dict; ``origin`` is that of the top-label table."""
    row = published.get((origin.model,), {})
    values = {
        "model": origin.model,
        "source": origin.source,
        "softmax": origin.softmax,
        "n_samples": fit.n_samples,
        "alpha": fit.alpha,
        "beta": fit.beta,
        "nll": fit.nll,
        "published_alpha": row.get("alpha", ""),
        "published_beta": row.get("beta", ""),
    }
    return _ten_digits(values)


def glm_rows(fits, origin, published):
    """Return one dict per GlmFit; ``delta_aic`` is to the smallest AIC, whose row is selected."""
    best = best_fit(fits)
    rows = []
    for fit in fits:
        link, transform, terms = split_glm_name(fit.glm)
        row = published.get((origin.model, fit.glm), {})
        values = {
            "model": origin.model,
            "source": origin.source,
            "glm": fit.glm,
            "link": link,
            "transform": transform,
            "terms": terms,
            "b0": fit.b0,
            "b1": fit.b1,
            "nll": fit.nll,
            "aic": fit.aic,
            "delta_aic": fit.aic - best.aic,
            "selected": fit is best,
            "published_aic": row.get("aic", ""),
            "published_b0": row.get("b0", ""),
            "published_b1": row.get("b1", ""),
        }
        rows.append(_ten_digits(values))
    return rows


def read_published(path, keys, values):
    """Return {tuple of the ``keys`` columns: {column: text}} of a published table; {} for None.

    The texts are numbers, or empty; InputError for anything else.
    """
    if path is None:
        return {}
    rows = read_rows(path, (*keys, *values))
    if not rows:
        raise InputError(f"{path}: no rows; give the published table")
    for line, row in rows:
        for column in values:
            if row[column] and not _is_number(row[column]):
                raise InputError(f"{path}, line {line}, {column}: {row[column]!r} is not a number")
    return {
        tuple(row[key] for key in keys): {column: row[column] for column in values}
        for _, row in rows
    }


def _ten_digits(row):
    """Return a row with its floats rounded to ten digits: more would be noise of the optimum."""
    return {
        name: float(f"{value:.10g}") if isinstance(value, float) else value
        for name, value in row.items()
    }


def _is_number(text):
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
