"""An estimator's file loaded by name, and everything that it returns checked.

The estimator's name leads to its file: the one that lists it in its ``VARIANTS`` (``ece_bin_ew`` is
in ``estimators/ece_bin.py``), or that is called like it. A file defines either
``estimate_data_sets(data, n_bins, norm, **options)`` (compiled, many data sets at once) or,
simplest, ``estimate(scores, hits, n_bins, norm, **options)`` for one data set. VARIANTS gives the
options of each name. A file that has a definition for weighted rows, of a ``sample_weight`` or a
sketch, defines ``estimate_scored(scored, n_bins, norm, **options)`` too, of a ``Scored``; or, if it
needs sums over its bins alone, ``estimate_bins(bins, norm, **options)``, of ``BinSums``.
"""

import traceback
from collections.abc import Callable, Sequence
from functools import cache
from numbers import Real
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from calbias.engine.sorted_batch import Estimates, SortedBatch
from calbias.errors import InputError
from calbias.estimation.registry import (
    FOLDER,
    bin_numbers,
    estimator_file,
    estimator_module,
    estimator_options,
    estimator_target,
    usable_norm,
)
from calbias.io.python_files import literal
from calbias.samples.by_score import Scored
from calbias.samples.in_order import UnsortedRows

LARGEST = 1 + 1e-6
"""The largest absolute value of an estimate of any target, a fraction, with room for rounding."""
UNBOUNDED = "none"
"""The TARGET of a file whose values estimate no population quantity."""


def load_estimator(estimator: str, file: Path | str | None = None) -> Callable[..., Any]:
    """Return ``run(data, n_bins, norm) -> (estimates, bins used)`` for SortedBatch of m rows.

    InputError for a file or a call that raises or exits, a norm that is not among the file's NORMS,
    and a result that has not the right form, is not finite, cannot be an estimate of the file's
    TARGET, or differs when the first data set is evaluated a second time.
    """
    path = Path(file) if file else estimator_file(estimator)
    try:
        module = estimator_module(path)
    except (Exception, SystemExit) as error:
        raise _named(error, path, f"estimator {estimator} cannot be loaded") from error
    if hasattr(module, "estimate_data_sets"):
        estimate_data_sets = module.estimate_data_sets
    else:
        estimate_data_sets = _one_by_one(module.estimate, path)
    options = estimator_options(estimator, path)
    norms = literal(path, "NORMS", default=())
    target = estimator_target(estimator, path)
    largest = np.finfo(float).max if target == UNBOUNDED else LARGEST
    is_repeatable, is_ours = False, path.resolve().parent == FOLDER.resolve()

    def run(data: SortedBatch, n_bins: int, norm: float = 2.0) -> Estimates:
        nonlocal is_repeatable
        _validate_norm(estimator, norm, norms)
        values, _ = result = called(data, n_bins, norm)
        # the sum of squares is cheap, and tells that no value is above 1; false for NaN
        if not values.dot(values) <= 1 and not np.abs(values).max() <= largest:
            row = int(np.argmin(np.abs(values) <= largest))
            given = f"returned {values[row]} for a data set of {data.scores.shape[1]} samples"
            raise InputError(
                f"{path}: estimator {estimator} {given}: {_remedy(values[row], target)}"
            )
        if not is_repeatable:
            again = called(data.first(1), n_bins, norm)[0][0]
            if again != values[0]:
                raise InputError(
                    f"{path}: estimator {estimator} returned {values[0]} and then {again} for the "
                    f"same data set: it must not depend on chance; seed its generator in each call"
                )
            is_repeatable = True
        return result

    def called(data: SortedBatch, n_bins: int, norm: float) -> Estimates:
        try:
            result = estimate_data_sets(data, n_bins, norm, **options)
        except (Exception, SystemExit) as error:
            given = f"a data set of {data.scores.shape[1]} samples"
            raise _named(error, path, f"estimator {estimator} fails on {given}") from error
        m = data.scores.shape[0]
        if not is_ours and not _are_arrays(result, m):
            raise InputError(
                f"{path}: estimate_data_sets must return two arrays of numbers, ({m},): the "
                f"estimates and the numbers of bins"
            )
        return result

    return run


loaded = cache(load_estimator)
"""``load_estimator``, once for each: finding one takes as long as simulating a small cell."""


def is_of_sums(path: Path) -> bool:
    """Return whether an estimator's file has a definition for sums by bin or by score."""
    return _has_sums(estimator_module(path))


def _has_sums(module: ModuleType) -> bool:
    return hasattr(module, "estimate_bins") or hasattr(module, "estimate_scored")


def estimate_sums(
    estimator: str,
    sample: UnsortedRows | Scored,
    n_bins: int,
    norm: float | None,
    file: Path | None = None,
) -> tuple[float, int, float]:
    """Return (estimate, number of bins, norm) of an estimator that is defined for sums.

    InputError for other estimators and for a norm that the estimator is not defined for.
    """
    path = file or estimator_file(estimator)
    module, options = estimator_module(path), {**estimator_options(estimator, path)}
    if not _has_sums(module):
        raise InputError(
            f"{estimator} has no definition with weights of rows here: take ece_bin_em, "
            "ece_debias_em, ks or averaged_posterior, or leave the weights out"
        )
    norm = usable_norm(estimator, 1, path) if norm is None else float(norm)
    _validate_norm(estimator, norm, literal(path, "NORMS", default=()))
    if hasattr(module, "estimate_bins"):
        bins = sample.bins(n_bins, options.pop("binning"))
        value, n_used = module.estimate_bins(bins, norm, **options), bins.used
    else:
        value, n_used = module.estimate_scored(sample.scored, n_bins, norm, **options)
    return float(value), int(n_used), norm


def _validate_norm(estimator: str, norm: float, norms: Sequence[float]) -> None:
    if norms and norm not in norms:
        known = " or ".join(f"{value:g}" for value in norms)
        raise InputError(f"{estimator} is defined for norm {known} only, not {norm:g}")


def _remedy(value: float, target: str | None) -> str:
    if not np.isfinite(value):
        return "it must return a finite number"
    return (
        f"an estimate of its target {target} is a fraction of at most 1; divide percentages by "
        f'100, or write TARGET = "{UNBOUNDED}" into the file if it estimates no such quantity'
    )


def _are_arrays(result: Any, m: int) -> bool:
    """Return whether a result is a pair of arrays (m,): of numbers, and of whole numbers."""
    if not isinstance(result, tuple | list) or len(result) != 2:
        return False
    values, n_bins = result
    return (
        isinstance(values, np.ndarray)
        and isinstance(n_bins, np.ndarray)
        and values.shape == n_bins.shape == (m,)
        and values.dtype.kind in "fiu"
        and n_bins.dtype.kind in "iu"
    )


def _one_by_one(function: Callable[..., Any], path: Path | str) -> Callable[..., Any]:
    """Return an ``estimate_data_sets`` from a function of one data set's scores and hits."""

    def estimate_data_sets(
        data: SortedBatch, n_bins: int, norm: float, **options: Any
    ) -> Estimates:
        # simulated scores near 1 may be out of order by a rounding
        scores = np.maximum.accumulate(data.scores, axis=1)
        hits = data.hits()
        scores.flags.writeable = hits.flags.writeable = False  # what it changed, others would read
        rows = zip(scores, hits, strict=True)
        values = _numbers([function(c, y, n_bins, norm, **options) for c, y in rows], path)
        return values, np.full(values.shape, bin_numbers(path, [n_bins])[0], np.int64)

    return estimate_data_sets


def _numbers(results: list[Any], path: Path | str) -> np.ndarray:
    """Return what the calls of an ``estimate`` returned, (m,) float64; InputError for no number."""
    try:
        values = np.array(results)
    except ValueError:  # of several shapes
        values = np.empty((0, 0))
    if values.ndim == 1 and values.dtype.kind in "fiub":
        return values.astype(float)
    for result in results:
        if not isinstance(result, Real):
            raise InputError(
                f"{path}: estimate must return one number, not a {type(result).__name__}"
            )
    return np.array(results, dtype=float)


def _named(error: BaseException, path: Path, what: str) -> BaseException:
    """Return an exception from an estimator's file as one line that names the file and the line."""
    if isinstance(error, InputError | MemoryError):
        return error
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if Path(frame.filename).resolve() == path.resolve()]
    line = error.lineno if isinstance(error, SyntaxError) else lines[-1] if lines else None
    location = f"{path}, line {line}" if line else f"{path}"
    message = " ".join(str(error.msg if isinstance(error, SyntaxError) else error).split())
    return InputError(f"{location}: {what}: {type(error).__name__}: {message}")
