"""Rows of the tables about one model's outputs, as it is and recalibrated.

``measures``, ``reliability_bins``: intervals are basic bootstrap intervals, 2·value − quantiles of
the resampled values; of what cannot be negative they are cut at 0. The percentiles themselves are
too high: resampled rows look less calibrated than the sample.

``calibration_graphs`` (Gupta et al. 2021, Figures 1 to 10, §4): a graph is of the model as it is,
or after the spline, on the test fold or on the validation fold to which the spline is fitted; of
the score of rank 1, 2 or 3, or of the sum of the 2 or 3 largest.

``noise_floors``, ``method_differences``: the spread of a difference is taken on common labels: both
methods' measures for the same labels, drawn from the probabilities after temperature scaling (of
the first method where there is none). Two methods whose values differ by less than 1.96 times that
are not told apart by these test rows.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from calbias.conventions import N_BINS
from calbias.engine.sorted_batch import sorted_data_set
from calbias.errors import InputError
from calbias.estimation.api import estimate
from calbias.logits.output_file import Fold
from calbias.multiclass.class_bins import Measure
from calbias.multiclass.measures import prepared
from calbias.multiclass.noise import summary
from calbias.multiclass.rows import Rows
from calbias.recalibration.spline import fit_binary
from pipeline.table_schema import columns_of
from pipeline.tables import write_table
from reproduction.measures import MEASURES, CalibrationError, Mean, resampled_values
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
DIFFERENCES = "classwise_ece_14_bins_sum"
"""The measure whose differences between methods are tabled: the one that Kull et al. print."""
REPLICATES = 200
DRAWN_FROM = "temperature_scaling"
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
    floors, bins = NoiseFloors(seed), []
    measures: list[Row] = []
    resampled: Resampled = {}
    for outputs in all_outputs:
        floors.add(outputs)
        counts = None if outputs.needs else resamples(len(outputs.hits))
        measures += measure_rows(outputs, counts, resampled)
        if not outputs.needs:
            bins.append(bin_rows(outputs))
    measures += paired_rows(resampled)
    return {
        "measures": pd.DataFrame(measures),
        "reliability_bins": pd.concat(bins),
        "noise_floors": pd.DataFrame(floors.rows),
        "method_differences": pd.DataFrame(floors.differences()),
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
        if kept is not None and name in COMPARED:
            kept[outputs.method, name] = value, resampled
        ends = 2 * value - np.quantile(resampled, [1 - tail, tail])
        low, high = ends if isinstance(measure, Mean) else np.maximum(ends, 0.0)
        yield {**row, "low_percent": 100 * low, "high_percent": 100 * high}


def paired_rows(resampled: Resampled) -> Iterator[Row]:
    """Yield each method's measure minus that after temperature scaling, on shared resamples."""
    tail = (1 - LEVEL) / 2
    for (method, name), (value, values) in resampled.items():
        other = resampled.get((COMPARED_WITH, name))
        if method == COMPARED_WITH or other is None:
            continue
        difference = value - other[0]
        low, high = 2 * difference - np.quantile(values - other[1], [1 - tail, tail])
        numbers = {"value": difference, "low": low, "high": high}
        yield {
            "method": method,
            "measure": f"{name}_minus_{COMPARED_WITH}",
            "value": difference,
            **{f"{x}_percent": 100 * number for x, number in numbers.items()},
        }


def _resampled_together(outputs: Outputs, counts: np.ndarray) -> dict[str, np.ndarray]:
    """Return {name: values (B,)} of the estimators of the top label: their resamples are the same.

    Nothing where one of them refuses a resample: by itself each says why.
    """
    estimators = {
        name: measure.of_sorted
        for name, measure in MEASURES.items()
        if isinstance(measure, CalibrationError) and name not in outputs.fitted_for
    }
    try:
        return resampled_values(estimators, outputs.scores, outputs.hits, counts)
    except InputError:
        return {}


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


class NoiseFloors:
    """The rows of tables ``noise_floors`` and ``method_differences`` of one model.

    Methods are added one by one; of each the drawn values stay, not the probabilities.
    """

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.rows: list[Row] = []
        self._values: dict[str, tuple[float, np.ndarray]] = {}
        self._waiting: list[tuple[str, Rows, Measure, float]] = []
        self._common: np.ndarray | None = None

    def add(self, outputs: Outputs) -> None:
        """Add a method, if it has probabilities of all classes."""
        if outputs.probabilities is None or outputs.labels is None:
            return
        rows = Rows.of(outputs.probabilities)
        observed = rows.given(np.asarray(outputs.labels, np.int64))
        measures = {
            name: prepared(unprepared, rows, n_bins)
            for name, (unprepared, n_bins) in FLOORS.items()
        }
        drawn: dict[str, list[np.ndarray]] = {name: [] for name in FLOORS}
        for labels in rows.redrawn(REPLICATES, self.seed):
            for name, measure in measures.items():
                drawn[name].append(measure.values(labels))
        for name, measure in measures.items():
            values = measure.values(observed)
            floor = summary(*FLOORS[name], measure, values, np.concatenate(drawn[name]), rows)
            shared = {key: getattr(floor, key) for key in _SHARED}
            self.rows.append({"method": outputs.method, "measure": name, **shared})
            if name == DIFFERENCES:
                self._compare(outputs.method, rows, measure, float(measure.whole(values)[0]))

    def _compare(self, method: str, rows: Rows, measure: Measure, value: float) -> None:
        """Take the measure for the common labels, or wait until there are any."""
        self._waiting.append((method, rows, measure, value))
        if method == DRAWN_FROM:
            self._common = _labels(rows, self.seed)
        if self._common is not None:
            self._compare_waiting(self._common)

    def _compare_waiting(self, common: np.ndarray) -> None:
        for method, rows, measure, value in self._waiting:
            labels = np.ascontiguousarray(common[rows.order])
            self._values[method] = value, measure.whole(measure.values(labels))
        self._waiting = []

    def differences(self) -> Iterator[Row]:
        """Yield a row for each pair of methods."""
        if self._waiting:
            self._compare_waiting(_labels(self._waiting[0][1], self.seed))
        for (a, values_a), (b, values_b) in combinations(self._values.items(), 2):
            yield {
                "measure": DIFFERENCES,
                "method_a": a,
                "method_b": b,
                "difference": values_a[0] - values_b[0],
                "difference_sd": float((values_a[1] - values_b[1]).std(ddof=1)),
            }


def _labels(rows: Rows, seed: int) -> np.ndarray:
    """Return labels (n, R) drawn from the rows, in the order in which they were given."""
    drawn = np.concatenate([*rows.redrawn(REPLICATES, seed, "common labels")], axis=1)
    labels = np.empty_like(drawn)
    labels[rows.order] = drawn
    return labels
