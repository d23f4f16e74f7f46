"""Kernels run with NUMBA_BOUNDSCHECK=1 on rows of every kind: in any order, tied, not numbers.

Public functions refuse most of these rows; a kernel must not read or write outside an array.
"""

import contextlib
import faulthandler
import importlib
import warnings
from functools import partial

import numpy as np
from numba.core.registry import CPUDispatcher

from calbias.engine.float_scores import rounded
from calbias.engine.sorted_batch import SortedBatch
from calbias.errors import InputError

GENERATOR = np.random.default_rng(0)
SECONDS = 120.0  # an endless loop ends the process with a traceback
SCORES = {
    "ascending": lambda n: np.sort(GENERATOR.beta(2.0, 0.6, n)),
    "unsorted": GENERATOR.random,
    "descending": lambda n: np.sort(GENERATOR.random(n))[::-1],
    "tied": lambda n: GENERATOR.integers(0, 4, n) / 4,
    "ones": np.ones,
    "far apart": lambda n: GENERATOR.choice([1e-9, 0.5, 1.0], n) * GENERATOR.uniform(0.9, 1.0, n),
    "NaN": lambda n: np.full(n, np.nan),
    "some NaN": lambda n: np.where(GENERATOR.random(n) < 0.2, np.nan, GENERATOR.random(n)),
    "infinite": lambda n: np.sort(GENERATOR.choice([-np.inf, 0.2, 0.7, np.inf], n)),
    "outside": lambda n: GENERATOR.normal(0.0, 50.0, n),
    "huge": lambda n: np.sort(GENERATOR.normal(0.0, 1e300, n)),
}


def batches():
    """Yield (description, SortedBatch) of each kind of rows, with and without tie groups."""
    for n, m in ((1, 1), (2, 9), (9, 8), (40, 9), (300, 1)):
        for kind, make in SCORES.items():
            scores = np.stack([make(n) for _ in range(m)])
            for rate in (0.0, 0.5, 1.0, 3.0):
                hits = (GENERATOR.random((m, n)) < rate) * max(rate, 1.0)
                cumulative = [np.zeros((m, n + 1)) for _ in range(2)]
                for total, values in zip(cumulative, (scores - hits, hits), strict=True):
                    np.cumsum(values, axis=1, out=total[:, 1:])
                data = SortedBatch.without_ties(scores, *cumulative)
                yield f"{n} rows, {kind}, {rate}", data
                yield f"{n} rows, {kind}, {rate}, grouped", rounded(data, "float32")


def estimates(module):
    """Yield an estimator's function of a batch for each of its options and norms."""
    if hasattr(module, "estimate_data_sets"):
        for options in getattr(module, "VARIANTS", {"": {}}).values():
            for norm in getattr(module, "NORMS", (1, 2, 3)):
                yield partial(module.estimate_data_sets, n_bins=15, norm=float(norm), **options)


def print_faults(packages, of_batch=(), calls=()):
    """Print each kernel in the folders ``packages`` that leaves an array or that is not reached.

    ``of_batch`` are called with each batch, as are the estimators in the packages; ``calls``
    without.
    """
    modules = []
    for package, path in ((p, path) for p in packages for path in sorted(p.rglob("*.py"))):
        text = path.read_text(encoding="utf-8")
        if "\n@njit" in text or "needs numba" in text:
            name = ".".join(path.relative_to(package.parent).with_suffix("").parts)
            modules.append(importlib.import_module(name))
    of_batch = [*of_batch, *(call for module in modules for call in estimates(module))]
    faulthandler.dump_traceback_later(SECONDS, exit=True)
    warnings.simplefilter("ignore", RuntimeWarning)
    tries = ((name, partial(call, data)) for name, data in batches() for call in of_batch)
    lines = {}
    for name, call in [*tries, *(("", call) for call in calls)]:
        try:
            with contextlib.suppress(InputError, TypeError, ValueError):
                call()
        except IndexError as error:
            lines.setdefault(f"{getattr(call, 'func', call)}: {error}", name)
    kernels = {
        kernel: f"{module.__name__}.{name} is not reached"
        for module in modules
        for name, kernel in vars(module).items()
        if isinstance(kernel, CPUDispatcher) and kernel.py_func.__module__ == module.__name__
    }
    reached = {kernel for kernel in kernels if kernel.overloads}
    while more := {*callees(reached)} - reached:
        reached |= more
    print(*(f"{line} ({name})" for line, name in lines.items()), sep="\n")
    print(*(name for kernel, name in kernels.items() if kernel not in reached), sep="\n")


def callees(kernels):
    """Yield the kernels that some of these call."""
    for kernel in kernels:
        for name in kernel.py_func.__code__.co_names:
            if isinstance(called := kernel.py_func.__globals__.get(name), CPUDispatcher):
                yield called
