"""How biased each estimator is on the user's own scores, by construction.

Hits are redrawn on these scores twice: with the scores as their chances, where the mean estimate is
the noise floor, and with the posterior calibration curve as their chances, where the true error is
the curve's (Roelofs et al. 2022, section 4). The 32 bits that decide a hit are a function of the
key, the replicate and the rank alone: both redraws share them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from calbias.auditing.data import Options
from calbias.auditing.description import is_determined
from calbias.defaults import N_BINS
from calbias.engine.posterior import Average, curve_of
from calbias.engine.random_words import fill_words
from calbias.engine.seeding import stream_key
from calbias.engine.sorted_batch import SortedBatch, of_sorted_scores, sorted_data_set
from calbias.errors import InputError
from calbias.estimation.loading import estimate_sums, load_estimator
from calbias.estimation.registry import (
    FOLDER,
    estimator_file,
    estimator_options,
    estimator_target,
    usable_norm,
)
from calbias.samples.by_score import MOST_ROWS, Scored
from calbias.truth.targets import TARGETS, target_value_of_sample

HEADLINE = "ece_bin_ew"
"""The ECE that other packages print."""
ESTIMATORS = (
    "ece_bin_ew", "ece_bin_em", "ece_sweep_ew", "ece_sweep_em", "kde", "ece_debias_ew",
    "ece_debias_em", "ks", "mce_ew",
)  # fmt: skip
"""Those of ``estimators="all"``, the simplest first."""

_SAMPLES_PER_BATCH = 1 << 16
COLUMNS = (
    "estimator", "target", "n_bins", "value", "noise_floor", "noise_sd", "curve_error", "bias",
    "bias_se", "rmse",
)  # fmt: skip


class Audited(NamedTuple):
    """An estimator in an audit, with the true value ``target(scores, rates)`` where it has one."""

    apply: Callable  # data -> (values, numbers of bins), (m,) each
    target: Callable | None
    target_name: str

    def run(self, data: SortedBatch) -> np.ndarray:
        """Return the estimates (m,) of a SortedBatch of m rows."""
        return self.apply(data)[0]


def audited_estimators(
    norm: float = 1.0,
    n_bins: int = N_BINS,
    names: Iterable[str] = (HEADLINE,),
    folders: Iterable[Path | str] = (FOLDER,),
) -> dict[str, Audited]:
    """Return {name: Audited}; one that is not defined for ``norm`` has its own first norm."""
    audited = {}
    for name in names:
        path = estimator_file(name, folders)
        own_norm, target = usable_norm(name, norm, path), estimator_target(name, path)
        options = {"norm": own_norm, "n_bins": n_bins, **estimator_options(name, path)}
        audited[name] = Audited(
            partial(load_estimator(name, path), n_bins=n_bins, norm=own_norm),
            partial(target_value_of_sample, target, **options) if target in TARGETS else None,
            _in_words(target, own_norm),
        )
    return audited


def _in_words(target: str, norm: float) -> str:
    """Return the target's name; equal names are equal quantities."""
    if target == "lp" or (target, norm) == ("lp_power", 1.0):
        return f"ℓ{norm:g}"
    if target == "lp_power":
        return "ℓ2²" if norm == 2 else f"ℓ{norm:g}^{norm:g}"
    return target or "none"


def estimates_table(
    scored: Scored,
    average: Average,
    names: Sequence[str],
    options: Options,
    folders: Sequence | None = None,
    noise_floor: float = np.nan,
) -> pd.DataFrame:
    """Return a row per estimator, indexed by ``estimator``, with ``COLUMNS``; unknown is NaN.

    ``noise_floor`` is the audit's, of the ℓ1 ECE; those of other estimators are redrawn, and
    unknown with clusters.

    ``bias`` and ``rmse`` are unknown where the hits do not determine a curve, and where the target
    has no known value. Of more than 2 000 000 rows there is a value alone, of estimators that have
    a definition for sums by score.
    """
    audited = audited_estimators(options.norm, options.n_bins, names, folders or (FOLDER,))
    if scored.n > MOST_ROWS:
        rows = {name: _value(scored, name, each, options) for name, each in audited.items()}
    else:
        score, hits, _ = scored.of_rows
        scores = scored.scores[score]
        data = sorted_data_set(scores, hits)
        rows = {name: _of_sample(data, each) for name, each in audited.items()}
        for name, values in _redrawn(audited, scores, scores, options).items():
            rows[name] |= {
                "noise_floor": float(values.mean()),
                "noise_sd": float(values.std(ddof=1)),
            }
        if is_determined(scored):
            rates = curve_of(average, scores).mean
            targets = {name: each.target for name, each in audited.items() if each.target}
            with_target = {name: audited[name] for name in targets}
            for name, values in _redrawn(with_target, scores, rates, options).items():
                rows[name] |= _errors(values, float(targets[name](scores, rates)))
    table = pd.DataFrame.from_dict(rows, orient="index")
    table = table.rename_axis("estimator").reindex(columns=COLUMNS[1:])
    if scored.clusters is not None:
        table[["noise_floor", "noise_sd"]] = np.nan
    is_ece = (table.index == HEADLINE) & (table["target"] == "ℓ1")
    table.loc[is_ece & table["noise_floor"].notna(), "noise_floor"] = noise_floor
    return table


def _value(scored: Scored, name: str, each: Audited, options: Options) -> dict[str, Any]:
    """Return the value alone, where the estimator has a definition for sums by score."""
    norm = usable_norm(name, options.norm)
    try:
        value, bins, _ = estimate_sums(name, scored, options.n_bins, norm)
    except InputError:
        return {"target": each.target_name}
    return {"target": each.target_name, "n_bins": bins or None, "value": value}


def _of_sample(data: SortedBatch, each: Audited) -> dict[str, Any]:
    """Return the estimate on the user's own hits."""
    values, bins = each.apply(data)
    n_bins = int(bins[0]) if bins[0] > 0 else None
    return {"target": each.target_name, "n_bins": n_bins, "value": float(values[0])}


def _errors(values: np.ndarray, truth: float) -> dict[str, float]:
    """Return the bias and spread of estimates (replicates,) of a true value."""
    errors = values - truth
    return {
        "curve_error": truth,
        "bias": float(errors.mean()),
        "bias_se": float(errors.std(ddof=1) / np.sqrt(errors.size)),
        "rmse": float(np.sqrt(np.mean(errors**2))),
    }


def _redrawn(
    audited: Mapping[str, Audited], scores: np.ndarray, rates: np.ndarray, options: Options
) -> dict[str, np.ndarray]:
    """Return {name: estimates (replicates,)} on the same redraws, {} without estimators."""
    values: dict[str, list[np.ndarray]] = {name: [] for name in audited}
    for batch in redraws(scores, rates, options.replicates if audited else 0, options.seed):
        for name, each in audited.items():
            values[name].append(each.run(batch))
    return {name: np.concatenate(parts) for name, parts in values.items()}


def redraws(
    scores: np.ndarray, rates: np.ndarray, replicates: int, seed: int = 0
) -> Iterator[SortedBatch]:
    """Yield SortedBatches of ascending scores (n,) with hits drawn at rates (n,)."""
    n = scores.size
    limits = np.ceil(np.clip(rates, 0.0, 1.0) * 2.0**32 - 0.5)
    words, key = np.empty((4, (n + 3) // 4), np.uint32), stream_key(seed, "audit", n)
    at_once = max(1, _SAMPLES_PER_BATCH // n)
    for start in range(0, replicates, at_once):
        hits = np.empty((min(at_once, replicates - start), n))
        for row in range(len(hits)):
            fill_words(words, words.shape[1], 0, key[0], key[1], start + row, 0x5EED)
            hits[row] = words.ravel()[:n] < limits
        yield of_sorted_scores(scores, hits)
