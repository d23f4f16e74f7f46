"""Rows of tables ``measures``, ``reliability_bins`` and ``calibration_graphs`` of one model.

Intervals are basic bootstrap intervals, 2·value − quantiles of the resampled values; of what cannot
be negative they are cut at 0. The percentiles themselves are too high: resampled rows look less
calibrated than the sample.

A graph (Gupta et al. 2021, Figures 1 to 10, §4) is of the model as it is, or after the spline, on
the test fold or on the validation fold to which the spline is fitted; of the score of rank 1, 2 or
3, or of the sum of the 2 or 3 largest.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from calbias.conventions import N_BINS
from calbias.engine.sorted_batch import sorted_data_set
from calbias.errors import InputError
from calbias.estimation.api import estimate
from calbias.logits.output_file import Fold
from reproduction.measures import MEASURES, TOP_LABEL, CalibrationError, Mean, sorted_resamples
from reproduction.outputs import Outputs, of_rank
from reproduction.ranked import ranked_hits, ranked_scores
from reproduction.recalibration.spline import fit, fit_binary

LEVEL = 0.95
N_POINTS, N_KNOTS = 200, 6  # of a graph


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


def graph_rows(validation: Fold | None, test: Fold) -> pd.DataFrame:
    """Return the points of all graphs of a model; without a validation fold, of it as it is."""
    graphs = []
    for measure, options in of_rank(test.logits.shape[1]).items():
        knots = {"n_knots": options.get("n_knots", N_KNOTS)}
        ranks = {name: value for name, value in options.items() if name != "n_knots"}
        scores, hits = ranked_scores(test.logits, **ranks), ranked_hits(*test, **ranks)
        of_measure = [("uncalibrated", "test", scores, hits)]
        if validation is not None:
            spline = fit(*validation, **options)
            of_measure += [
                ("spline", name, spline.predict(fold.logits), ranked_hits(*fold, **ranks))
                for name, fold in (("validation", validation), ("test", test))
            ]
        graphs += [
            points(scores, hits, **knots).assign(measure=measure, method=method, fold=fold)
            for method, fold, scores, hits in of_measure
        ]
    return pd.concat(graphs)


def points(scores: np.ndarray, hits: np.ndarray, n_knots: int = N_KNOTS) -> pd.DataFrame:
    """Return points of the graphs of scores and hits (n,), and their KS error."""
    ascending, cum_score, cum_hit = cumulated(scores, hits)
    n = len(ascending)
    last = np.unique(np.linspace(0, n - 1, N_POINTS).round().astype(int))
    probability = np.full(last.size, np.nan)
    if n >= n_knots:
        spline = fit_binary(scores, hits.astype(np.float64), n_knots)
        probability = spline.predict(ascending[last])
    return pd.DataFrame(
        {
            "fractile": (last + 1) / n,
            "score": ascending[last],
            "cumulative_score": cum_score[last + 1] / n,
            "cumulative_hit": cum_hit[last + 1] / n,
            "null_sd": np.sqrt(np.sum(ascending * (1 - ascending))) / n,
            "hit_probability": probability,
            "ks_percent": 100 * estimate("ks", scores, hits).value,
        }
    )
