"""Measures of a model's outputs by name; a measure is a file of this folder.

A file lists its names and their options in ``VARIANTS``, says in ``INPUT`` what it reads, and
defines ``measure``: of ``top_label``, measure(scores, hits, **options); of ``probabilities``,
measure(probabilities, labels, **options). A measure that is a mean over rows defines ``rows``
instead, each row's value, which makes the bootstrap a matrix product. One that is an estimator of
calibration error defines ``of_sorted(data, **options)``, of a SortedBatch of one row: its resamples
are not checked again. A file may also define

- ``reduced(predictions, outcomes, **options)``: what ``measure`` gets in their place,
- ``resampled(predictions, outcomes, counts, **options)``: its own bootstrap.
"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import numpy as np

from calbias.engine.scores_and_hits import scores_and_hits
from calbias.engine.sorted_batch import SortedBatch, of_sorted_scores, sorted_data_set
from calbias.errors import InputError, looked_up, validate_defines
from calbias.io.plug_ins import Kind, has, literal

MEASURES = Kind(
    "measure",
    Path(__file__).parent,
    ("measure", "rows", "of_sorted"),
    "measure(scores, hits) or measure(probabilities, labels)",
    marks=("VARIANTS", "INPUT"),
)
_FORMS = {
    "VARIANTS": lambda path: f'VARIANTS = {{"{path.stem}": {{}}}}',
    "INPUT": lambda path: 'INPUT = "top_label" or "probabilities"',
}


class Measure(NamedTuple):
    """A measure: its name, ``INPUT`` and module of its file, and its options."""

    name: str
    reads: str
    file: ModuleType
    options: dict

    def of(self, predictions: np.ndarray, outcomes: np.ndarray) -> float:
        """Return the value on scores and hits, or on probabilities and labels: see ``reads``."""
        if hasattr(self.file, "rows") and not hasattr(self.file, "measure"):
            pair = np.asarray(predictions), np.asarray(outcomes)
            return float(np.mean(self.file.rows(*pair, **self.options)))
        return self._value(*self._reduced(predictions, outcomes))

    def resampled(
        self, predictions: np.ndarray, outcomes: np.ndarray, counts: np.ndarray
    ) -> np.ndarray:
        """Return the values (B,) on resamples, given as counts (B, n) of the rows."""
        if hasattr(self.file, "rows"):
            values = self.file.rows(predictions, outcomes, **self.options)
            return counts @ values / counts.sum(axis=1)
        if hasattr(self.file, "resampled"):
            return self.file.resampled(predictions, outcomes, counts, **self.options)
        pair = self._reduced(predictions, outcomes)
        if hasattr(self.file, "of_sorted"):
            data_sets = sorted_resamples(*pair, counts)
            return np.array([self.file.of_sorted(data, **self.options) for data in data_sets])
        return np.array([self._value(*drawn) for drawn in _drawn(*pair, counts)])

    def _value(self, predictions: np.ndarray, outcomes: np.ndarray) -> float:
        if hasattr(self.file, "of_sorted"):
            return self.file.of_sorted(sorted_data_set(predictions, outcomes), **self.options)
        return self.file.measure(predictions, outcomes, **self.options)

    def _reduced(
        self, predictions: np.ndarray, outcomes: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        pair = np.asarray(predictions), np.asarray(outcomes)
        return self.file.reduced(*pair, **self.options) if hasattr(self.file, "reduced") else pair


def _drawn(
    predictions: np.ndarray, outcomes: np.ndarray, counts: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the rows of each resample."""
    for count in counts:
        rows = np.repeat(np.arange(len(outcomes)), count)
        yield predictions[rows], outcomes[rows]


def sorted_resamples(
    scores: np.ndarray, hits: np.ndarray, counts: np.ndarray
) -> Iterator[SortedBatch]:
    """Yield each resample as a SortedBatch of one row; only the rows themselves are sorted."""
    scores, hits = scores_and_hits(scores, hits)
    order = np.argsort(scores)
    for drawn_scores, drawn_hits in _drawn(scores[order], hits[order], counts[:, order]):
        yield of_sorted_scores(drawn_scores, drawn_hits[None])


@cache
def list_measures() -> dict[str, Measure]:
    """Return all measures, your own files included.

    Returns
    -------
    dict
        {name: Measure}; ``reads`` of a Measure is ``top_label`` or ``probabilities``.

    Raises
    ------
    InputError
        For a file that has only one of ``VARIANTS`` and ``INPUT``, or lacks its function.

    Examples
    --------
    >>> list_measures()["ece"].reads
    'top_label'
    """
    measures = {}
    for name, path in MEASURES.files().items():
        for mark, form in _FORMS.items():
            validate_defines(path, [mark] if has(path, mark) else [], [mark], form(path))
        reads, module = literal(path, "INPUT"), MEASURES.module(path)
        measures[name] = Measure(name, reads, module, MEASURES.options(name, path))
    return measures


def measure(name: str, predictions: np.ndarray, outcomes: np.ndarray) -> float:
    """Return a measure of scores and hits, or of probabilities and labels.

    Parameters
    ----------
    name : str
        One of ``list_measures()``; its ``reads`` says which of the two it needs.
    predictions : array_like, shape (n,) or (n, K)
        Scores in [0, 1], or a row of probabilities for each sample.
    outcomes : array_like, shape (n,)
        Hits, 1 where the prediction was correct and 0 elsewhere, or class numbers from 0.

    Returns
    -------
    float
        A fraction, except ``nll`` (nats) and ``brier`` (0 to 2).

    Raises
    ------
    InputError
        For an unknown measure, and for arrays of the wrong shape.

    Examples
    --------
    >>> scores, hits = [0.78, 0.64, 0.92, 0.58], [1, 1, 0, 1]
    >>> round(measure("accuracy", scores, hits), 2), round(measure("ece", scores, hits), 3)
    (0.75, 0.48)
    """
    entry = looked_up("measure", name, list_measures())
    predictions, outcomes = np.asarray(predictions), np.asarray(outcomes)
    dimensions = 1 if entry.reads == "top_label" else 2
    if predictions.ndim != dimensions or len(predictions) != len(outcomes):
        form = "scores (n,) and hits (n,)" if dimensions == 1 else "(n, K) and labels (n,)"
        raise InputError(
            f"measure {name} reads {entry.reads}: give {form}, not arrays of shape "
            f"{predictions.shape} and {outcomes.shape}"
        )
    return entry.of(predictions, outcomes)
