"""The estimators of an audit, each with its target."""

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from calbias.conventions import N_BINS
from calbias.engine.sorted_batch import SortedBatch
from calbias.estimation.loading import load_estimator
from calbias.estimation.registry import (
    FOLDER,
    estimator_file,
    estimator_options,
    estimator_target,
    usable_norm,
)
from calbias.truth.targets.registry import known_targets, target_value_of_sample

HEADLINE = "ece_bin_ew"
"""The ECE that other packages print."""
ESTIMATORS = (
    "ece_bin_ew", "ece_bin_em", "ece_bin_cube_root_em", "ece_sweep_ew", "ece_sweep_em", "kde",
    "ece_debias_ew", "ece_debias_em", "calib_err", "ks", "ecce_r", "skce_unbiased", "corp_mcb",
    "tcal", "mce_ew", "plugin_glm", "plugin_loess", "variational_isotonic", "smce", "smece",
)  # fmt: skip
"""Those of ``estimators="all"``, the simplest first."""
SLOW = ("plugin_glm", "plugin_loess", "e50_glm", "e90_glm", "e50_loess", "e90_loess", "smce",
        "smece", "variational_isotonic", "variational_platt", "beta_kernel")  # fmt: skip
"""Estimators that are a hundred times slower than a binned one: their bias is of few rows alone."""


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
            partial(target_value_of_sample, target, **options)
            if target in known_targets()
            else None,
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
