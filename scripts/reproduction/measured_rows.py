"""Rows of the tables about one model's outputs, as it is and recalibrated.

``measures``, ``reliability_bins``: intervals are basic bootstrap intervals, 2·value − quantiles of
the resampled values; of what cannot be negative they are cut at 0. The percentiles themselves are
too high: resampled rows look less calibrated than the sample.

``calibration_graphs`` (Gupta et al. 2021, Figures 1 to 10, §4): a graph is of the model as it is,
or after the spline, on the test fold or on the validation fold to which the spline is fitted; of
the score of rank 1, 2 or 3, or of the sum of the 2 or 3 largest.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from calbias.defaults import N_BINS
from calbias.engine.sorted_batch import sorted_data_set
from calbias.errors import InputError
from calbias.estimation.api import estimate
from calbias.multiclass.class_rows import checked
from calbias.multiclass.noise import noise_floors
from calbias.reading.output_file import Fold
from calbias.recalibration.spline import fit_binary
from pipeline.table_schema import columns_of
from pipeline.tables import write_table
from reproduction.measures import MEASURES, Mean
from reproduction.outputs import Outputs, of_rank
from reproduction.ranked import ranked_hits, ranked_scores
from reproduction.recalibration.binary import fit_spline

LEVEL = 0.95
N_POINTS, N_KNOTS = 200, 6  # of a graph
# name in the tables → (measure, number of bins)
FLOORS = {
    "classwise_ece_mean": ("classwise_ece_mean", 15),
    "classwise_ece_em_mean": ("classwise_ece_mean_em", 15),
    "classwise_ece_14_bins_sum": ("classwise_ece_sum", 14),
    "top_label_ece": ("top_label_ece", 15),
    "ece": ("confidence_ece", 15),
    "thresholded_ece_em": ("thresholded_ece_em", 15),
}
REPLICATES = 200
_SHARED = ("n_classes", "n_samples", "value", "floor", "floor_sd", "corrected", "p_value")

COMPARED = ("ece", "ece25", "ks_top1", "ks_top2", "ks_within_top2")
COMPARED_WITH = "temperature_scaling"
"""The method that others are compared with, measure by measure, by the paired bootstrap."""

Row = dict[str, Any]
Resampled = dict[tuple[str, str], tuple[float, np.ndarray]]


def tables_of(
    all_outputs: Iterable[Outputs], seed: int, resamples: Callable[[int], np.ndarray | None]
) -> dict[str, pd.DataFrame]:
    """Return {table: rows} of a model's Outputs, all tables but ``calibration_graphs``.

    ``resamples`` gives the resamples, counts (B, n), of n rows, or None for no intervals.
    """
    floors: list[Row] = []
    measures: list[Row] = []
    bins = []
    resampled: Resampled = {}
    for outputs in all_outputs:
        floors += floor_rows(outputs, seed)
        counts = None if outputs.needs else resamples(len(outputs.hits))
        measures += measure_rows(outputs, counts, resampled)
        if not outputs.needs:
            bins.append(bin_rows(outputs))
    measures += paired_rows(resampled)
    return {
        "measures": pd.DataFrame(measures),
        "reliability_bins": pd.concat(bins),
        "noise_floors": pd.DataFrame(floors),
    }


def write_rows(
    tables: Mapping[str, pd.DataFrame], paths: Mapping[str, Path], model: str, source: str
) -> None:
    """Write a model's rows of the tables that have a path."""
    for name, path in paths.items():
        rows = tables[name].assign(model=model, source=source)
        write_table(path, name, rows.reindex(columns=columns_of(name)))


def measure_rows(
    outputs: Outputs, counts: np.ndarray | None, kept: Resampled | None = None
) -> Iterator[Row]:
    """Yield a dict per measure that the Outputs allow; ``counts`` (B, n) are resamples or None.

    ``kept`` receives the resampled values of the measures that are compared between methods.
    """
    if outputs.needs:
        yield {"method": outputs.method, "measure": "", "needs": outputs.needs}
        return
    for name, number in outputs.extra.items():
        values = {"value": number, "value_percent": 100 * number}
        yield {"method": outputs.method, "measure": name, **values}
    for name in MEASURES:
        arrays = outputs.given(name)
        if arrays is None:
            continue
        measure, predictions, labels = arrays
        row: Row = {"method": outputs.method, "measure": name}
        try:
            value = measure.of(predictions, labels)
            row |= {"value": value, "value_percent": 100 * value}
            if counts is not None:
                resampled = measure.resampled(predictions, labels, counts)
                if kept is not None and name in COMPARED:
                    kept[outputs.method, name] = value, resampled
                ends = _basic_interval(value, resampled)
                low, high = ends if isinstance(measure, Mean) else np.maximum(ends, 0.0)
                row |= {"low_percent": 100 * low, "high_percent": 100 * high}
            yield row
        except InputError as error:  # a measure that these rows do not allow
            yield {"method": outputs.method, "measure": name, "needs": str(error)}


def _basic_interval(value: float, resampled: np.ndarray) -> np.ndarray:
    """Return the ends (2,) of the basic bootstrap interval."""
    tail = (1 - LEVEL) / 2
    return 2 * value - np.quantile(resampled, [1 - tail, tail])


def paired_rows(resampled: Resampled) -> Iterator[Row]:
    """Yield each method's measure minus that after temperature scaling, on shared resamples."""
    for (method, name), (value, values) in resampled.items():
        other = resampled.get((COMPARED_WITH, name))
        if method == COMPARED_WITH or other is None:
            continue
        difference = value - other[0]
        low, high = _basic_interval(difference, values - other[1])
        numbers = {"value": difference, "low": low, "high": high}
        yield {
            "method": method,
            "measure": f"{name}_minus_{COMPARED_WITH}",
            "value": difference,
            **{f"{x}_percent": 100 * number for x, number in numbers.items()},
        }


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
        all_scores = [("uncalibrated", "test", scores, hits)]
        if validation is not None:
            spline = fit_spline(*validation, **options)
            all_scores += [
                ("spline", name, spline.predict(fold.logits), ranked_hits(*fold, **ranks))
                for name, fold in (("validation", validation), ("test", test))
            ]
        graphs += [
            points(scores, hits, **knots).assign(measure=measure, method=method, fold=fold)
            for method, fold, scores, hits in all_scores
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


def floor_rows(outputs: Outputs, seed: int) -> Iterator[Row]:
    """Yield the rows of table ``noise_floors`` of a method with probabilities of all classes."""
    if outputs.probabilities is None:
        return
    rows, labels = checked(outputs.probabilities, outputs.labels)
    all_floors = noise_floors(FLOORS.values(), rows, labels, REPLICATES, seed)
    for name, floor in zip(FLOORS, all_floors, strict=True):
        shared = {key: getattr(floor, key) for key in _SHARED}
        yield {"method": outputs.method, "measure": name, **shared}
