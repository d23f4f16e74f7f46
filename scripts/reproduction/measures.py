"""Measures of a model's outputs by name.

``top_label`` measures read scores and hits (n,), the others ``probabilities`` (n, K) and labels
(n,). All values are fractions, except ``nll`` (nats) and ``brier`` (0 to 2).

``accuracy``
    the fraction of hits; 1 − accuracy is the error of Guo et al. (2017)
``brier``, ``brier_per_class``, ``brier_top_label``
    1/n Σ_i Σ_j (p_ij − [label_i = j])² (Brier 1950); divided by K; 1/n Σ (s_i − hit_i)², which
    Gupta et al. (ICLR 2021, Table 7) print
``classwise_ece``
    1/K Σ_j Σ_k n_jk/n · |f_jk − y_jk|, 15 equal-width bins of the probability of class j (Kull et
    al., NeurIPS 2019, §2; Nixon et al., CVPR workshops 2019)
``ece``, ``ece25``, ``ece100``
    Σ_k n_k/n · |f_k − y_k| of 15, 25 and 100 equal-width bins (Naeini et al., AAAI 2015; Guo et
    al., Eq. 3; Gupta et al., Table 6)
``kde_ece``
    ∫ |c − accuracy(c)| · density(c) dc (Zhang et al., ICML 2020; Gupta et al., Table 7)
``ks_top1``, ``ks_top2``, ``ks_top3``, ``ks_within_top2``, ``ks_within_top3``
    the KS error of the top label; of the second or third largest probability, hit if the label is
    the class of that rank; of the sum of the two or three largest (Gupta et al., Eq. 11-12, §4).
    Among classes of equal probability the first counts as the better one
``mce``, ``mce25``
    max_k |f_k − y_k| over 15 and 25 equal-width bins (Guo et al., Eq. 5)
``nll``
    −1/n Σ log p_i(label_i); a probability of 0 counts as 2^-52, as in scikit-learn's ``log_loss``
``overconfidence``
    mean score minus accuracy; negative: underconfidence
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from calbias.engine.scores_and_hits import scores_and_hits
from calbias.engine.seeding import stream
from calbias.engine.sorted_batch import SortedBatch, sorted_data_set
from calbias.errors import InputError, looked_up
from calbias.estimation.api import estimate_sorted
from reproduction.ranked import ranked_hits, ranked_probabilities
from reproduction.resamples import resampled_batch

TOP_LABEL, PROBABILITIES = "top_label", "probabilities"


@dataclass(frozen=True)
class Mean:
    """A mean over rows: ``rows`` has each row's value, and the bootstrap is a matrix product."""

    reads: str
    rows: Callable[[np.ndarray, np.ndarray], np.ndarray]

    def of(self, predictions: np.ndarray, outcomes: np.ndarray) -> float:
        """Return the value."""
        return float(np.mean(self.rows(np.asarray(predictions), np.asarray(outcomes))))

    def resampled(
        self, predictions: np.ndarray, outcomes: np.ndarray, counts: np.ndarray
    ) -> np.ndarray:
        """Return the values (B,) on resamples, given as counts (B, n) of the rows."""
        values = counts @ self.rows(predictions, outcomes) / counts.sum(axis=1)
        return np.asarray(values)


@dataclass(frozen=True)
class CalibrationError:
    """An estimator of calibration error: ``of_sorted`` of a SortedBatch of one row.

    ``rank`` and ``within`` are those of ``reproduction.ranked``, of probabilities (n, K); without a
    rank the predictions are scores of the top label.
    """

    of_sorted: Callable[[SortedBatch], float]
    rank: int = 0
    within: bool = False

    @property
    def reads(self) -> str:
        """What the predictions are."""
        return PROBABILITIES if self.rank else TOP_LABEL

    def of(self, predictions: np.ndarray, outcomes: np.ndarray) -> float:
        """Return the value."""
        return self.of_sorted(sorted_data_set(*self.reduced(predictions, outcomes)))

    def resampled(
        self, predictions: np.ndarray, outcomes: np.ndarray, counts: np.ndarray
    ) -> np.ndarray:
        """Return the values (B,) on resamples, given as counts (B, n) of the rows."""
        rows = self.reduced(predictions, outcomes)
        return resampled_values({"": self.of_sorted}, *rows, counts)[""]

    def reduced(
        self, predictions: np.ndarray, outcomes: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the scores and hits (n,) of the rank."""
        if not self.rank:
            return predictions, outcomes
        scores = ranked_probabilities(predictions, self.rank, self.within)
        return scores, ranked_hits(predictions, outcomes, self.rank, self.within)


@dataclass(frozen=True)
class ClassWise:
    """The class-wise ECE: its resamples share one matrix of gaps."""

    n_bins: int
    reads: str = PROBABILITIES

    def of(self, predictions: np.ndarray, outcomes: np.ndarray) -> float:
        """Return the value."""
        return float(self.resampled(predictions, outcomes, np.ones((1, len(outcomes))))[0])

    def resampled(
        self, predictions: np.ndarray, outcomes: np.ndarray, counts: np.ndarray
    ) -> np.ndarray:
        """Return the values (B,) on resamples, given as counts (B, n) of the rows."""
        n, n_classes = predictions.shape
        bins = np.searchsorted(np.arange(1, self.n_bins) / self.n_bins, predictions, side="right")
        cells = (bins + self.n_bins * np.arange(n_classes)).ravel()
        gaps = predictions.copy()
        gaps[np.arange(n), outcomes] -= 1.0
        starts = n_classes * np.arange(n + 1)
        row_gaps = csr_array((gaps.ravel(), cells, starts), shape=(n, self.n_bins * n_classes))
        return np.abs(counts.astype(float) @ row_gaps).sum(axis=1) / (n * n_classes)


Measure = Mean | CalibrationError | ClassWise


def resampled_values(
    measures: Mapping[str, Callable[[SortedBatch], float]],
    scores: np.ndarray,
    hits: np.ndarray,
    counts: np.ndarray,
    ties: str = "average",
) -> dict[str, np.ndarray]:
    """Return {name: values (B,)} on resamples of scores and hits (n,), given as counts (B, n).

    A measure is a function of a SortedBatch of one row; only the rows themselves are sorted.
    """
    scores, hits = scores_and_hits(scores, hits)
    order = np.argsort(scores, kind="stable")
    scores, hits = scores[order], hits[order]
    values = {name: np.empty(len(counts)) for name in measures}
    for b, count in enumerate(counts[:, order]):
        data = resampled_batch(scores, hits, count, ties)
        for name, measure in measures.items():
            values[name][b] = measure(data)
    return values


def draw_counts(n: int, n_resamples: int, seed: int, model: str) -> np.ndarray:
    """Return how often each of n rows is in each bootstrap resample, (B, n) uint16.

    The stream depends on the seed and the model alone; further resamples extend it.
    """
    rng = stream(seed, model, "recalibration", "bootstrap")
    counts = np.empty((n_resamples, n), dtype=np.uint16)
    for row in counts:
        row[:] = np.bincount(rng.integers(n, size=n), minlength=n)
    return counts


def _brier(probabilities: np.ndarray, labels: np.ndarray) -> np.ndarray:
    p = np.take_along_axis(probabilities, labels[:, None], axis=1)[:, 0]
    squares = np.einsum("ij,ij->i", probabilities, probabilities) - 2.0 * p + 1.0
    return np.asarray(squares)


def _brier_per_class(probabilities: np.ndarray, labels: np.ndarray) -> np.ndarray:
    return _brier(probabilities, labels) / probabilities.shape[1]


def _nll(probabilities: np.ndarray, labels: np.ndarray) -> np.ndarray:
    p = np.take_along_axis(probabilities, labels[:, None], axis=1)[:, 0]
    return -np.log(np.maximum(p, np.finfo(np.float64).eps))


def _estimated(name: str, rank: int = 0, within: bool = False, **options: Any) -> CalibrationError:
    return CalibrationError(lambda data: estimate_sorted(name, data, **options), rank, within)


MEASURES: dict[str, Measure] = {
    "accuracy": Mean(TOP_LABEL, lambda scores, hits: np.asarray(hits, float)),
    "brier": Mean(PROBABILITIES, _brier),
    "brier_per_class": Mean(PROBABILITIES, _brier_per_class),
    "brier_top_label": Mean(TOP_LABEL, lambda scores, hits: (scores.astype(float) - hits) ** 2),
    "classwise_ece": ClassWise(15),
    "ece": _estimated("ece_bin_ew", n_bins=15, norm=1),
    "ece25": _estimated("ece_bin_ew", n_bins=25, norm=1),
    "ece100": _estimated("ece_bin_ew", n_bins=100, norm=1),
    "kde_ece": _estimated("kde", norm=1),
    "ks_top1": _estimated("ks"),
    "ks_top2": _estimated("ks", rank=2),
    "ks_top3": _estimated("ks", rank=3),
    "ks_within_top2": _estimated("ks", rank=2, within=True),
    "ks_within_top3": _estimated("ks", rank=3, within=True),
    "mce": _estimated("mce_ew", n_bins=15),
    "mce25": _estimated("mce_ew", n_bins=25),
    "nll": Mean(PROBABILITIES, _nll),
    "overconfidence": Mean(TOP_LABEL, lambda scores, hits: scores.astype(float) - hits),
}


def measure(name: str, predictions: np.ndarray, outcomes: np.ndarray) -> float:
    """Return a measure; InputError for an unknown one and for arrays of the wrong shape."""
    chosen = looked_up("measure", name, MEASURES)
    predictions, outcomes = np.asarray(predictions), np.asarray(outcomes)
    dimensions = 1 if chosen.reads == TOP_LABEL else 2
    if predictions.ndim != dimensions or len(predictions) != len(outcomes):
        form = "scores (n,) and hits (n,)" if dimensions == 1 else "(n, K) and labels (n,)"
        raise InputError(
            f"measure {name} reads {chosen.reads}: give {form}, not arrays of shape "
            f"{predictions.shape} and {outcomes.shape}"
        )
    return chosen.of(predictions, outcomes)
