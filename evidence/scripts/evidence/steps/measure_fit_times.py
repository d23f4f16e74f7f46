"""How long recalibration methods take to fit, against samples and classes (Guo et al. 2017, §5)."""

import warnings
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from pipeline.provenance import compiled_for, timed
from pipeline.tables import write_table
from reproduction.recalibration.registry import load_method

ROUNDS = 5  # fits of which the median is taken; of long ones fewer
METHODS = (
    *("temperature_scaling", "histogram_binning", "isotonic_regression", "bbq", "platt_scaling"),
    *("vector_scaling", "matrix_scaling", "ms_odir", "dir_odir", "spline"),
)
SIZES = (
    *((n, 10) for n in (1000, 2000, 4000, 8000, 16000)),
    *((4000, n_classes) for n_classes in (20, 40, 80)),
)
LONG = 2.0  # seconds, from which on a fit is timed once


def measure_fit_times(
    *,
    output: Path,
) -> None:
    """Measure the CPU time of a fit of each recalibration method, by samples and classes.

    output: table to write
    """
    machine = compiled_for()
    rows = ({**row, "processor": machine} for row in fit_time_rows(ROUNDS))
    write_table(output, "fit_times", rows)


def fit_time_rows(
    rounds: int, sizes: Sequence[tuple[int, int]] = SIZES, methods: Sequence[str] = METHODS
) -> Iterator[dict[str, Any]]:
    """Yield rows of table ``fit_times``: the median CPU time of a fit, and the extremes."""
    for n_samples, n_classes in sizes:
        fold = _drawn(n_samples, n_classes)
        for method in methods:
            fit = partial(load_method(method), *fold)
            seconds: list[float] = []
            while len(seconds) < rounds and not sum(seconds) > LONG:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    seconds.append(timed(fit))
            yield {
                "method": method,
                "n_samples": n_samples,
                "n_classes": n_classes,
                "seconds": np.median(seconds),
                "seconds_low": min(seconds),
                "seconds_high": max(seconds),
            }


def _drawn(n_samples: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return logits (n, K), overconfident by a factor of 2, and labels (n,)."""
    rng = np.random.default_rng(0)
    logits = rng.normal(0, 4, (n_samples, n_classes)).astype(np.float32)
    gumbel = -np.log(-np.log(rng.random(logits.shape)))
    return logits, np.argmax(logits / 2 + gumbel, axis=1)
