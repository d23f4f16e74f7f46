"""An audit of every group of rows beside the whole, with a correction for their number."""

import numpy as np
import pandas as pd

from calbias.auditing import planning
from calbias.auditing.intervals.interval import LEVEL
from calbias.auditing.intervals.inversion import Construction
from calbias.auditing.recalibrations import holm
from calbias.auditing.sample import Sample
from calbias.auditing.statistics import audited_estimators
from calbias.errors import InputError

HEADLINE = "ece_bin_ew"
MOST_GROUPS = 10_000
TELLABLE, ENOUGH_POWER = 0.05, 0.8
_REPLICATES = 200


def groups_table(scores, hits, groups, n_bins=15, norm=1.0, level=LEVEL, seed=0, intervals=True):
    """Return a table of the groups, sorted by name.

    Parameters
    ----------
    scores, hits, groups : array_like (n,)
        ``groups`` holds the name of each row's group.

    Returns
    -------
    DataFrame
        Indexed by ``group``: n, accuracy, mean_score, ece, noise_floor, low, high, p_value,
        corrected_p_value (Holm) and finding: "miscalibrated", "none found", or "too small to tell"
        where the Cox test of the group would find an error of 5 points (a tilted curve's) with less
        than 80 % probability.
    """
    scores, hits = np.asarray(scores, float), np.asarray(hits)
    names = pd.Series(np.asarray(groups)).astype(str).to_numpy()
    found, index = np.unique(names, return_inverse=True)
    if found.size > MOST_GROUPS:
        raise InputError(f"{found.size} groups are too many: at most {MOST_GROUPS}")
    order = np.argsort(index, kind="stable")
    limits = np.append(0, np.cumsum(np.bincount(index)))
    rows = []
    for k, name in enumerate(found):
        inside = order[limits[k] : limits[k + 1]]
        rows.append(
            {"group": name}
            | _group(scores[inside], hits[inside], n_bins, norm, level, seed, intervals)
        )
    table = pd.DataFrame(rows)
    table["corrected_p_value"] = holm(table["p_value"])
    table["finding"] = np.where(
        table["corrected_p_value"] < 0.05,
        "miscalibrated",
        np.where(table.pop("power") < ENOUGH_POWER, "too small to tell", "none found"),
    )
    return table.set_index("group")


def _group(scores, hits, n_bins, norm, level, seed, intervals):
    row = {
        "n": scores.size,
        "accuracy": float(hits.mean()),
        "mean_score": float(scores.mean()),
        "ece": np.nan, "noise_floor": np.nan, "low": np.nan, "high": np.nan, "p_value": np.nan,
        "power": 0.0,
    }  # fmt: skip
    if scores.size < 2:
        return row
    sample = Sample(scores, hits, seed=seed)
    estimator = audited_estimators(norm, n_bins, [HEADLINE])[HEADLINE]
    construction = Construction(
        sample, {"ece": estimator.run}, {"ece": estimator.target}, _REPLICATES, 5 * _REPLICATES
    )
    null, observed = construction.at(0.0)["ece"], construction.observed["ece"]
    row["ece"], row["noise_floor"] = observed, float(null.mean())
    row["p_value"] = (1 + np.count_nonzero(null >= observed)) / (1 + null.size)
    if intervals:
        row |= construction.invert("ece", level).interval._asdict()
    row["power"] = _power(sample.scores)
    return row


def _power(scores):
    """Return the power of the Cox test against a tilted curve with an ℓ1 error of 5 points."""
    rates = planning.rates_with_error(
        lambda lam: planning.tilted(scores, 1 / (1 + lam)), scores, TELLABLE
    )
    return 0.0 if rates is None else planning.cox_power(scores, rates, scores.size)
