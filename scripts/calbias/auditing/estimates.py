"""How biased each estimator is on the user's own scores, by construction.

Hits are drawn on these scores twice: with the scores as their chances, where the mean estimate is
the noise floor, and with the posterior calibration curve as their chances, where the error is that
of the curve (Roelofs et al. 2022, section 4). Both draws share their random bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from calbias.auditing.description import is_determined
from calbias.auditing.estimators import SLOW, Audited, audited_estimators
from calbias.auditing.options import Options
from calbias.auditing.sample import Sample
from calbias.engine.posterior.curve import curve_of
from calbias.engine.posterior.mixture import Average
from calbias.estimation.registry import FOLDER

COLUMNS = (
    "estimator", "target", "n_bins", "value", "noise_floor", "noise_sd", "curve_error", "bias",
    "bias_se", "rmse",
)  # fmt: skip
_REPLICATES_IF_SLOW, _MOST_SCORES_IF_SLOW = 50, 2000


def estimates_table(
    sample: Sample,
    average: Average,
    names: Sequence[str],
    options: Options,
    folders: Sequence | None = None,
) -> pd.DataFrame:
    """Return a row per estimator, indexed by ``estimator``, with ``COLUMNS``; unknown is NaN.

    ``bias`` and ``rmse`` are unknown where the hits do not determine a curve, and where the target
    has no known value. Of more than 2000 rows a slow estimator has its value alone.
    """
    audited = audited_estimators(options.norm, options.n_bins, names, folders or (FOLDER,))
    rates = None
    if is_determined(sample):
        rates = curve_of(average, sample.scores).mean
    table = pd.DataFrame.from_dict(
        {name: _row(sample, name, each, rates, options) for name, each in audited.items()},
        orient="index",
    )
    return table.rename_axis("estimator").reindex(columns=COLUMNS[1:])


def _row(
    sample: Sample, name: str, each: Audited, rates: np.ndarray | None, options: Options
) -> dict[str, Any]:
    values, bins = each.apply(sample.data)
    row: dict[str, Any] = {
        "target": each.target_name,
        "n_bins": int(bins[0]) if bins[0] > 0 else None,
        "value": float(values[0]),
    }
    is_slow = name in SLOW
    if is_slow and sample.n > _MOST_SCORES_IF_SLOW:
        return row
    replicates = min(options.replicates, _REPLICATES_IF_SLOW) if is_slow else options.replicates
    fixed, runs = sample.redraws(), {name: each.run}
    null = fixed.estimates(sample.scores, runs, replicates)[name]
    row |= {"noise_floor": float(null.mean()), "noise_sd": float(null.std(ddof=1))}
    if rates is not None and each.target is not None:
        errors = fixed.estimates(rates, runs, replicates)[name]
        truth = float(each.target(sample.scores, rates))
        errors = errors - truth
        row |= {
            "curve_error": truth,
            "bias": float(errors.mean()),
            "bias_se": float(errors.std(ddof=1) / np.sqrt(errors.size)),
            "rmse": float(np.sqrt(np.mean(errors**2))),
        }
    return row
