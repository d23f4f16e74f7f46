"""Rows of tables ``beta_fits`` and ``glm_fits`` of a model, with the published values."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from calbias.errors import InputError
from calbias.reading.top_label import TopLabel, top_label
from calbias.truth.curves import split_glm_name
from pipeline.fits.beta import BetaFit, fit_beta
from pipeline.fits.glm import GlmFit, best_fit, fit_all
from pipeline.logits import REAL_LOGITS, Origin, load_logits, read_top_labels
from pipeline.table_schema import columns_of
from pipeline.tables import read_table, validate_columns, write_table
from reproduction.goodness_of_fit import distance, p_of_curve

Row = dict[str, Any]
Published = dict[Any, dict[str, float]]  # {key: {column: number or NaN}}

AS_PUBLISHED = "float32_2020"  # the softmax of Tables 2 and 3


def fit_model(
    *,
    top_labels: Path | None,
    logits: Path | None,
    model: str | None,
    published_beta: Path | None,
    published_glm: Path | None,
    output_beta: Path,
    output_glm: Path,
) -> None:
    """Fit the scores of a model's test fold: a Beta distribution, and twelve calibration curves.

    Both by maximum likelihood (paper Eqs. 9 and 10); the curves are GLMs, chosen by AIC. From
    logits the scores are made as the paper did, by the softmax of 2020: that is what Tables 2 and 3
    are compared with where a run uses the exact softmax. Under the softmax of 2020 the fits of the
    curves leave out the scores of 1, as published.

    top_labels: the model's top-label table
    logits: instead of it, the model's logits in the pipeline's own form (NPZ)
    model: with logits: the model's name
    published_beta: published Table 2, to stand next to the fit
    published_glm: published Table 3, to stand next to the fits
    output_beta: rows of table beta_fits to write
    output_glm: rows of table glm_fits to write
    """
    if logits and model:
        test = load_logits(logits).test
        top = top_label(test.logits, test.labels, AS_PUBLISHED)
        origin = Origin(model, REAL_LOGITS, AS_PUBLISHED)
    elif top_labels:
        folds, origin = read_top_labels(top_labels)
        top = folds["test"]
    else:
        raise InputError("give --top-labels, or --logits and --model")
    table_2 = read_published(published_beta, ["model"], ["alpha", "beta"])
    table_3 = read_published(published_glm, ["model", "glm"], ["aic", "b0", "b1"])
    logs, drops = (top.log_score, top.log1m_score), origin.softmax == AS_PUBLISHED
    try:
        beta, glms = fit_beta(*logs), fit_all(*logs, top.hit, drop_scores_equal_to_one=drops)
    except InputError as error:
        raise InputError(f"{logits or top_labels}, fold test: {error}") from error
    write_table(output_beta, "beta_fits", [beta_row(beta, origin, table_2, top)])
    write_table(output_glm, "glm_fits", glm_rows(glms, origin, table_3, top))


def beta_row(fit: BetaFit, origin: Origin, published: Published, top: TopLabel) -> Row:
    """Return the row of a BetaFit to ``top`` as a dict; ``origin`` is the top-label table's."""
    printed = published.get(origin.model, {"alpha": np.nan, "beta": np.nan})
    distances = [distance(top, fit.alpha, fit.beta), distance(top, **printed)]
    values = (*origin[:3], fit.n_samples, fit.alpha, fit.beta, fit.nll, *printed.values())
    return _ten_digits("beta_fits", (*values, *distances))


def glm_rows(
    fits: Sequence[GlmFit], origin: Origin, published: Published, top: TopLabel
) -> list[Row]:
    """Return one dict per GlmFit to ``top``; ``delta_aic`` is to the least AIC, the selected."""
    best = best_fit(fits)
    rows = []
    for fit in fits:
        row = published.get((origin.model, fit.glm), {})
        printed = (row.get(name, np.nan) for name in ("aic", "b0", "b1"))
        p = p_of_curve(top, fit.curve, 1 + fit.glm.endswith("b0_b1"))
        names = origin.model, origin.source, fit.glm, *split_glm_name(fit.glm)
        numbers = fit.b0, fit.b1, fit.nll, fit.aic, fit.aic - best.aic
        rows.append(_ten_digits("glm_fits", (*names, *numbers, fit is best, *printed, p)))
    return rows


def read_published(path: Path | None, keys: list[str], values: list[str]) -> Published:
    """Return {key, a tuple of several: {column: number or NaN}}; {} for None."""
    if path is None:
        return {}
    table = read_table(path)
    validate_columns(table, (*keys, *values), path, "give the published table")
    for column in values:
        numbers = pd.to_numeric(table[column], errors="coerce")
        wrong = table.loc[numbers.isna() & table[column].notna(), column]
        if len(wrong):
            line = wrong.index[0] + 2
            raise InputError(f"{path}, line {line}, {column}: {wrong.iloc[0]!r} is not a number")
    return table.set_index(keys)[values].to_dict("index")


def _ten_digits(table: str, values: Sequence[Any]) -> Row:
    """Return a row of a table, floats with ten digits: more would be noise of the optimum."""
    return {
        name: float(f"{value:.10g}") if isinstance(value, float) else value
        for name, value in zip(columns_of(table), values, strict=True)
    }
