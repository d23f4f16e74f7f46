"""The audit of a model's scores: how miscalibrated, how sure, how many labels.

Everything rests on one construction (Roelofs et al. 2022, section 4): hits are drawn on the user's
own scores from known curves, from perfect calibration through the curve fitted to the data and
beyond, and every estimator and test is applied to them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from calbias.auditing.calibration_tests import tests_table
from calbias.auditing.cells import accumulated
from calbias.auditing.description import description_of, warnings_of
from calbias.auditing.estimates import construct, estimates_table, null_table, recommended
from calbias.auditing.estimators import ESTIMATORS, HEADLINE, audited_estimators
from calbias.auditing.inputs import prepared
from calbias.auditing.intervals.interval import LEVEL, Interval
from calbias.auditing.intervals.methods import intervals_table
from calbias.auditing.labels import halving_labels, labels_table
from calbias.auditing.large import large_audit
from calbias.auditing.options import Options
from calbias.auditing.plan import DETECT
from calbias.auditing.planning import curve_with_error
from calbias.auditing.recalibrations import recalibration_table
from calbias.auditing.result import Audit
from calbias.errors import InputError
from calbias.estimation.registry import FOLDER

LARGEST_IN_MEMORY = 200_000
"""More rows are audited on sums over fine cells, see ``calbias.auditing.large``."""


def audit(
    scores: ArrayLike | None = None,
    hits: ArrayLike | None = None,
    *,
    probabilities: ArrayLike | None = None,
    logits: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    n_bins: int = 15,
    norm: float = 1.0,
    level: float = LEVEL,
    estimators: Sequence[str] | None = None,
    replicates: int | None = None,
    seed: int = 0,
    progress: Callable[[str], None] | None = None,
) -> Audit:
    """Judge the calibration of a model by its scores and hits.

    Parameters
    ----------
    scores, hits : array_like (n,)
        Scores in [0, 1], and 1 where the prediction was correct, else 0. Arrays, pandas columns
        and tensors all do.
    probabilities : array_like (n, K) or (n,)
        Class probabilities instead of scores, with ``labels``; (n,) is that of class 1 of two.
    logits : array_like (n, K)
        Logits instead of probabilities.
    labels : array_like (n,)
        Class numbers, counted from 0.
    n_bins : int
        Bins of the estimators that take a number of bins.
    norm : float
        p of the ℓp errors; estimators that are not defined for it take their own.
    level : float
        Probability of the intervals.
    estimators : sequence of str, optional
        By default twenty; ``ece_bin_ew``, which decides, is always among them.
    replicates : int, optional
        Simulated data sets at each λ; by default 200 to 1000, so that the audit takes seconds.
        More than 200 000 rows are audited on sums over fine cells of the score, without replicates.
    seed : int
        Seed of the simulations; the same seed gives the same numbers.
    progress : callable, optional
        Called with a short text before each step.

    Returns
    -------
    Audit

    Raises
    ------
    InputError
        For input that is not what the parameters say.

    Examples
    --------
    >>> import numpy as np
    >>> import calbias
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.beta(6, 1.5, 2000)
    >>> found = calbias.audit(scores, rng.random(2000) < scores**1.3)
    >>> found.miscalibrated
    True
    """
    data = prepared(scores, hits, probabilities, logits, labels, seed)
    if isinstance(estimators, str):
        raise InputError(f"estimators must be a list of names, such as [{estimators!r}]")
    return audit_data(data, Options(n_bins, norm, level, seed, replicates), estimators, progress)


def audit_data(data, options, estimators=None, progress=None, folders=(FOLDER,)):
    """Return the Audit of a ``Data``; ``folders`` hold the files of the estimators."""
    sample, progress = data.sample, progress or (lambda text: None)
    options = options.of_rows(sample.n)
    names = list(dict.fromkeys([HEADLINE, *(ESTIMATORS if estimators is None else estimators)]))
    audited = audited_estimators(options.norm, options.n_bins, names, folders)
    if sample.n > LARGEST_IN_MEMORY:
        rows = [(sample.scores, sample.hits)]
        cells = accumulated(rows, sample.n, options.n_bins, options.seed)
        return large_audit(*cells, options, progress)
    progress("drawing hits along the family of curves")
    construction, slow = construct(sample, audited, options)
    estimates = estimates_table(construction, options.level)
    if slow:
        progress("slow estimators")
        estimates = pd.concat([estimates, null_table(sample, slow)])
    progress("bootstrap, bounds and tests")
    headline, row = audited[HEADLINE], estimates.loc[HEADLINE]
    curves = {error: curve_with_error(sample.rates, sample.scores, error) for error in DETECT}
    tests = tests_table(construction, curves, options.replicates)
    intervals = intervals_table(sample, headline, Interval(row["low"], row["high"]), options)
    progress("labels needed")
    halving = np.nan  # where the interval has no length
    if row["high"] > row["low"]:
        halving = halving_labels(sample, headline, row["corrected"], options.level)
    labels = labels_table(sample, curves, halving, options.seed)
    progress("cross-validated recalibration")
    description = description_of(data, options.norm)
    return Audit(
        description=description,
        warnings=warnings_of(data, description),
        estimates=estimates,
        tests=tests,
        intervals=intervals,
        recommended=recommended(estimates),
        labels=labels,
        recalibration=recalibration_table(
            sample.scores, sample.hits, *data.ordered_logits(), options.seed
        ),
        sample=sample,
        options=vars(options),
    )
