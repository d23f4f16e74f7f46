"""Noise floors of a model's methods, and how far apart two methods must be to differ.

The spread of a difference is taken on common labels: both methods' measures for the same labels,
drawn from the probabilities after temperature scaling (of the first method where there is none).
Two methods whose values differ by less than 1.96 times that are not told apart by these test rows.
"""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np

from calbias.multiclass.class_bins import Measure
from calbias.multiclass.measures import prepared
from calbias.multiclass.noise import summary
from calbias.multiclass.rows import Rows
from reproduction.outputs import Outputs

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

Row = dict[str, Any]


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
        measures = {name: prepared(of, rows, n_bins) for name, (of, n_bins) in FLOORS.items()}
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
        for (a, of_a), (b, of_b) in combinations(self._values.items(), 2):
            yield {
                "measure": DIFFERENCES,
                "method_a": a,
                "method_b": b,
                "difference": of_a[0] - of_b[0],
                "difference_sd": float((of_a[1] - of_b[1]).std(ddof=1)),
            }


def _labels(rows: Rows, seed: int) -> np.ndarray:
    """Return labels (n, R) drawn from the rows, in the order in which they were given."""
    drawn = np.concatenate([*rows.redrawn(REPLICATES, seed, "common labels")], axis=1)
    labels = np.empty_like(drawn)
    labels[rows.order] = drawn
    return labels
