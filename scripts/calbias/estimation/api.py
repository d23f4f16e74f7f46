"""Any estimator by its name, on a user's own scores or on simulated data sets.

The estimator's name leads to its file: the one that lists it in its ``VARIANTS`` (``ece_bin_ew`` is
in ``estimators/ece_bin.py``), or that is called like it. A file defines either
``estimate_data_sets(data, n_bins, norm, **options)`` (compiled, many data sets at once) or,
simplest, ``estimate(scores, hits, n_bins, norm, **options)`` for one data set. VARIANTS gives the
options of each name.
"""

import hashlib
import importlib.util
import math
import sys
import traceback
from functools import cache
from numbers import Real
from pathlib import Path
from typing import NamedTuple

import numpy as np

from calbias.engine.sorted_batch import sorted_data_set
from calbias.errors import InputError
from calbias.estimation.registry import (
    FOLDER,
    bin_numbers,
    estimator_file,
    estimator_options,
    literal,
)

MOST_BINS, HIGHEST_NORM = 1_000_000, 100  # as in config.schema.yaml


class Estimate(NamedTuple):
    """An estimate of calibration error, a fraction, and the number of bins it used."""

    value: float
    n_bins: int


def estimate(estimator, scores, hits, n_bins=15, norm=2, ties="average"):
    """Return the Estimate of the calibration error of scores (n,) in [0, 1] with hits (n,), 0 or 1.

    ``n_bins`` is ignored by estimators that choose or need none. ``ties`` says what happens within
    groups of equal scores, see ``datasets.sorted_data_set``. Raises InputError for an unknown
    estimator, bad scores or hits, and numbers of bins and norms that a config could not have.

    >>> round(estimate("ece_bin_ew", [0.1, 0.2, 0.9], [0, 0, 1], n_bins=2, norm=1).value, 4)
    0.1333
    """
    if not isinstance(estimator, str):
        raise InputError(f"estimator must be a name, such as 'ece_sweep_em', not {estimator!r:.60}")
    if not isinstance(n_bins, Real) or not (1 <= n_bins <= MOST_BINS and n_bins % 1 == 0):
        raise InputError(
            f"n_bins must be a whole number of at least 1 and at most {MOST_BINS}, "
            f"not {n_bins!s:.60}"
        )
    if not isinstance(norm, Real) or not 0 < norm <= HIGHEST_NORM:
        raise InputError(
            f"norm must be a finite number above 0 and at most {HIGHEST_NORM}, not {norm!s:.60}"
        )
    data = sorted_data_set(scores, hits, ties)
    values, n_bins_used = _own_estimator(estimator)(data, int(n_bins), float(norm))
    return Estimate(float(values[0]), int(n_bins_used[0]))


def load_estimator(estimator, file=None):
    """Return ``run(data, n_bins, norm) -> (estimates, bins used)`` for SortedBatch of m rows.

    ``file`` overrides where the estimator is looked for. Raises InputError for an unknown name, a
    file without either function, a file or a call that raises or exits, a norm that is not among
    the file's NORMS, and what it returns where that is not of the right form or not finite.
    """
    path = Path(file) if file else estimator_file(estimator)
    try:
        module = _load_module(path)
    except (Exception, SystemExit) as error:
        raise _named(error, path, f"estimator {estimator} cannot be loaded") from error
    if hasattr(module, "estimate_data_sets"):
        estimate_data_sets = module.estimate_data_sets
    else:
        estimate_data_sets = _one_by_one(module.estimate, path)
    options = estimator_options(estimator, path)
    norms = literal(path, "NORMS", default=None)

    def run(data, n_bins, norm=2.0):
        if norms and norm not in norms:
            known = " or ".join(f"{value:g}" for value in norms)
            raise InputError(f"{estimator} is defined for norm {known} only, not {norm:g}")
        try:
            result = estimate_data_sets(data, n_bins, norm, **options)
        except (Exception, SystemExit) as error:
            given = f"a data set of {data.scores.shape[1]} samples"
            raise _named(error, path, f"estimator {estimator} fails on {given}") from error
        m = data.scores.shape[0]
        if not _are_arrays(result, m):
            raise InputError(
                f"{path}: estimate_data_sets must return two arrays of numbers, ({m},): the "
                f"estimates and the numbers of bins"
            )
        values, n_bins_used = result
        if not math.isfinite(values.dot(values)):  # cheaper than looking at each
            row = int(np.argmin(np.isfinite(values)))
            raise InputError(
                f"{path}: estimator {estimator} returned {values[row]} for a data set of "
                f"{data.scores.shape[1]} samples: it must return a finite number"
            )
        return values, n_bins_used

    return run


def _are_arrays(result, m):
    """Return whether a result is a pair of arrays (m,): of numbers, and of whole numbers."""
    return (
        isinstance(result, tuple | list)
        and len(result) == 2
        and all(isinstance(array, np.ndarray) and array.shape == (m,) for array in result)
        and result[0].dtype.kind in "fiu"
        and result[1].dtype.kind in "iu"
    )


def _one_by_one(function, path):
    """Return an ``estimate_data_sets`` from a function of one data set's scores and hits."""

    def estimate_data_sets(data, n_bins, norm, **options):
        # simulated scores near 1 may be out of order by a rounding
        scores = np.maximum.accumulate(data.scores, axis=1)
        hits = data.hits()
        scores.flags.writeable = hits.flags.writeable = False  # what it changed, others would read
        rows = zip(scores, hits, strict=True)
        values = _numbers([function(c, y, n_bins, norm, **options) for c, y in rows], path)
        return values, np.full(values.shape, bin_numbers(path, [n_bins])[0], np.int64)

    return estimate_data_sets


def _numbers(results, path):
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


def _named(error, path, what):
    """Return an exception from an estimator's file as one line that names the file and the line."""
    if isinstance(error, InputError | MemoryError):
        return error
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if Path(frame.filename).resolve() == path.resolve()]
    line = error.lineno if isinstance(error, SyntaxError) else lines[-1] if lines else None
    place = f"{path}, line {line}" if line else f"{path}"
    message = " ".join(str(error.msg if isinstance(error, SyntaxError) else error).split())
    return InputError(f"{place}: {what}: {type(error).__name__}: {message}")


_own_estimator = cache(load_estimator)


def _load_module(path):
    """Return the module of an estimator's file; a file outside calbias gets a name of its own."""
    path = path.resolve()
    if path.parent == FOLDER.resolve():
        module = importlib.import_module(f"calbias.estimators.{path.stem}")
    else:
        name = f"{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:12]}"
        if name not in sys.modules:
            spec = importlib.util.spec_from_file_location(name, path)
            sys.modules[name] = importlib.util.module_from_spec(spec)
            try:
                spec.loader.exec_module(sys.modules[name])
            except BaseException:
                del sys.modules[name]  # mended, it can be loaded
                raise
        module = sys.modules[name]
    if not (hasattr(module, "estimate_data_sets") or hasattr(module, "estimate")):
        raise InputError(f"{path}: define estimate(scores, hits, n_bins, norm) in it")
    return module
