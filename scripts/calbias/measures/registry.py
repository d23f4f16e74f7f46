"""Measures of a model's outputs by name; a measure is a file of this folder.

A file lists its names and their options in ``VARIANTS``, says in ``INPUT`` what it reads, and
defines ``measure``: of ``top_label``, measure(scores, hits, **options); of ``probabilities``,
measure(probabilities, labels, **options). A measure that is a mean over rows also defines ``rows``,
which gives each row's value and makes its bootstrap a matrix product.
"""

import importlib
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from calbias.errors import InputError, did_you_mean

INPUTS = ("top_label", "probabilities")
_RESAMPLED_AT_ONCE = 1 << 22


class Measure(NamedTuple):
    """A measure: its name, what it reads (one of ``INPUTS``), its file's functions, its options."""

    name: str
    reads: str
    function: object
    rows: object
    options: dict

    def of(self, predictions, outcomes):
        """Return the value on scores and hits, or on probabilities and labels: see ``reads``."""
        return self.function(predictions, outcomes, **self.options)

    def resampled(self, predictions, outcomes, n_resamples, generator):
        """Return the values (n_resamples,) on rows drawn with replacement."""
        predictions, outcomes = np.asarray(predictions), np.asarray(outcomes)
        n = len(outcomes)
        if self.rows is not None:
            values = self.rows(predictions, outcomes, **self.options)
            step = max(1, _RESAMPLED_AT_ONCE // n)
            sizes = np.diff([*range(0, n_resamples, step), n_resamples])
            return np.concatenate(
                [values[generator.integers(0, n, (size, n))].mean(axis=1) for size in sizes]
            )
        drawn = (generator.integers(0, n, n) for _ in range(n_resamples))
        return np.array([self.of(predictions[rows], outcomes[rows]) for rows in drawn])


@cache
def measures() -> dict[str, Measure]:
    """Return {name: Measure} of all files in this folder."""
    found = {}
    for path in sorted(Path(__file__).parent.glob("*.py")):
        if path.stem not in ("__init__", "registry", "published", "table"):
            module = importlib.import_module(f"calbias.measures.{path.stem}")
            for name, options in module.VARIANTS.items():
                rows = getattr(module, "rows", None)
                found[name] = Measure(name, module.INPUT, module.measure, rows, options)
    return found


def measure(name: str, predictions, outcomes) -> float:
    """Return a measure of a model's outputs.

    Parameters
    ----------
    name : str
        A name from ``measures()``.
    predictions : array_like (n,) or (n, K)
        Top-label scores in [0, 1], or probabilities of all K classes: the measure's ``reads``.
    outcomes : array_like (n,)
        Hits, 1 where the prediction was correct, or labels counted from 0.

    Returns
    -------
    float
        A fraction; ``nll`` in nats, ``brier`` from 0 to 2.

    Raises
    ------
    InputError
        For an unknown measure, and predictions of the wrong shape.

    Examples
    --------
    The nine samples of the step-by-step tutorial on ECE, with five bins, give 0.10444:

    >>> scores = [0.78, 0.64, 0.92, 0.58, 0.51, 0.85, 0.70, 0.63, 0.83]
    >>> hits = [1, 1, 0, 1, 0, 1, 1, 0, 1]
    >>> from calbias.estimation.api import estimate
    >>> round(estimate("ece_bin_ew", scores, hits, n_bins=5, norm=1).value, 5)
    0.10444

    Its example with five classes, three bins, gives 0.192:

    >>> scores = [0.25, 0.5, 0.8, 0.9, 0.4, 0.28, 0.8, 0.75, 0.3, 0.6]
    >>> hits = [1, 1, 0, 1, 0, 0, 1, 1, 1, 0]
    >>> round(estimate("ece_bin_ew", scores, hits, n_bins=3, norm=1).value, 3)
    0.192
    >>> round(measure("accuracy", scores, hits), 1)
    0.6
    """
    known = measures()
    if name not in known:
        raise InputError(f"unknown measure {name!r}. {did_you_mean(name, sorted(known))}")
    predictions, outcomes = np.asarray(predictions), np.asarray(outcomes)
    dimensions = 1 if known[name].reads == "top_label" else 2
    if predictions.ndim != dimensions or len(predictions) != len(outcomes):
        form = "scores (n,) and hits (n,)" if dimensions == 1 else "(n, K) and labels (n,)"
        raise InputError(
            f"measure {name} reads {known[name].reads}: give {form}, not arrays of shape "
            f"{predictions.shape} and {outcomes.shape}"
        )
    return known[name].of(predictions, outcomes)
