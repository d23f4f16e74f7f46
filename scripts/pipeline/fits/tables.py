"""The rows of ``beta_fits.csv`` and ``glm_fits.csv``, with the published values."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from calbias.errors import InputError
from calbias.logits.top_label import TopLabel
from calbias.truth.curves import split_glm_name
from pipeline.fits.beta import BetaFit, fit_beta
from pipeline.fits.glm import GlmFit, best_fit, fit_all
from pipeline.logits import Origin
from pipeline.table_schema import columns_of
from pipeline.tables import read_rows

Row = dict[str, Any]
Published = dict[tuple[str, ...], dict[str, str]]  # {key: {column: text of a number}}


def fit_rows(
    top: TopLabel,
    origin: Origin,
    published_beta: Path | None,
    published_glm: Path | None,
    drop_scores_equal_to_one: bool,
) -> tuple[Row, list[Row]]:
    """Return the row of table ``beta_fits`` and the rows of ``glm_fits`` of a fold's TopLabel."""
    table_2 = read_published(published_beta, ["model"], ["alpha", "beta"])
    table_3 = read_published(published_glm, ["model", "glm"], ["aic", "b0", "b1"])
    logs = top.log_score, top.log1m_score
    beta = fit_beta(*logs)
    glms = fit_all(*logs, top.hit, drop_scores_equal_to_one=drop_scores_equal_to_one)
    return beta_row(beta, origin, table_2), glm_rows(glms, origin, table_3)


def beta_row(fit: BetaFit, origin: Origin, published: Published) -> Row:
    """Return the row of a BetaFit as a dict; ``origin`` is the top-label table's."""
    row = published.get((origin.model,), {})
    printed = (row.get(name, "") for name in ("alpha", "beta"))
    values = (*origin[:3], fit.n_samples, fit.alpha, fit.beta, fit.nll, *printed)
    return _ten_digits("beta_fits", values)


def glm_rows(fits: Sequence[GlmFit], origin: Origin, published: Published) -> list[Row]:
    """Return one dict per GlmFit; ``delta_aic`` is to the smallest AIC, whose row is selected."""
    best = best_fit(fits)
    rows = []
    for fit in fits:
        row = published.get((origin.model, fit.glm), {})
        printed = (row.get(name, "") for name in ("aic", "b0", "b1"))
        names = origin.model, origin.source, fit.glm, *split_glm_name(fit.glm)
        numbers = fit.b0, fit.b1, fit.nll, fit.aic, fit.aic - best.aic
        rows.append(_ten_digits("glm_fits", (*names, *numbers, fit is best, *printed)))
    return rows


def read_published(path: Path | None, keys: Sequence[str], values: Sequence[str]) -> Published:
    """Return {tuple of ``keys``: {column: text of a number, or empty}}; {} for None."""
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


def _ten_digits(table: str, values: Sequence[Any]) -> Row:
    """Return a row of a table, floats with ten digits: more would be noise of the optimum."""
    return {
        name: float(f"{value:.10g}") if isinstance(value, float) else value
        for name, value in zip(columns_of(table), values, strict=True)
    }


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
