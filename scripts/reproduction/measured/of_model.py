"""Rows of tables ``measures`` and ``reliability_bins`` of one model.

Intervals are basic bootstrap intervals, 2·value − quantiles of the resampled values; of what cannot
be negative they are cut at 0. The percentiles themselves are too high: resampled rows look less
calibrated than the sample.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from calbias.conventions import N_BINS
from calbias.engine.sorted_batch import sorted_data_set
from calbias.errors import InputError
from reproduction.measured.outputs import Outputs
from reproduction.measures import MEASURES, TOP_LABEL, CalibrationError, Mean, sorted_resamples

LEVEL = 0.95


def measure_rows(outputs: Outputs, counts: np.ndarray | None) -> Iterator[dict[str, Any]]:
    """Yield a dict per measure that the Outputs allow; ``counts`` (B, n) are resamples or None."""
    if outputs.needs:
        yield {"method": outputs.method, "measure": "", "needs": outputs.needs}
        return
    tail = (1 - LEVEL) / 2
    together = {} if counts is None else _resampled_together(outputs, counts)
    for name in MEASURES:
        arrays = outputs.given(name)
        if arrays is None:
            continue
        measure, predictions, outcomes = arrays
        try:
            value = measure.of(predictions, outcomes)
            resampled = together.get(name)
            if resampled is None and counts is not None:
                resampled = measure.resampled(predictions, outcomes, counts)
        except InputError as error:  # a measure that these rows do not allow
            yield {"method": outputs.method, "measure": name, "needs": str(error)}
            continue
        row = {"method": outputs.method, "measure": name, "value": value}
        row["value_percent"] = 100 * value
        if resampled is None:
            yield row
            continue
        ends = 2 * value - np.quantile(resampled, [1 - tail, tail])
        low, high = ends if isinstance(measure, Mean) else np.maximum(ends, 0.0)
        yield {**row, "low_percent": 100 * low, "high_percent": 100 * high}


def _resampled_together(outputs: Outputs, counts: np.ndarray) -> dict[str, np.ndarray]:
    """Return {name: values (B,)} of the estimators of the top label: their resamples are the same.

    Nothing where one of them refuses a resample: by itself each says why.
    """
    estimators = {
        name: measure
        for name, measure in MEASURES.items()
        if measure.reads == TOP_LABEL
        and isinstance(measure, CalibrationError)
        and name not in outputs.fitted_for
    }
    values = {name: np.empty(len(counts)) for name in estimators}
    try:
        for b, data in enumerate(sorted_resamples(outputs.scores, outputs.hits, counts)):
            for name, measure in estimators.items():
                values[name][b] = measure.of_sorted(data)
    except InputError:
        return {}
    return values


def bin_rows(outputs: Outputs) -> pd.DataFrame:
    """Return the bins of equal width of a reliability diagram, a DataFrame."""
    scores, cum_score, cum_hit = cumulated(outputs.scores, outputs.hits)
    ends = np.arange(N_BINS + 1) / N_BINS
    ranks = np.append(np.searchsorted(scores, ends[:-1]), len(scores))
    n = np.diff(ranks)
    with np.errstate(invalid="ignore"):
        means = [np.diff(sums[ranks]) / n for sums in (cum_score, cum_hit)]
    names = ("low", "high", "n_in_bin", "mean_score", "mean_hit")
    columns = zip(names, (ends[:-1], ends[1:], n, *means), strict=True)
    return pd.DataFrame({"method": outputs.method, **dict(columns)})


def cumulated(scores: np.ndarray, hits: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the ascending scores (n,) with the partial sums (n + 1,) of scores and hits."""
    data = sorted_data_set(scores, hits)
    return data.scores[0], np.append(0.0, np.cumsum(data.scores[0])), data.cum_hit[0]
