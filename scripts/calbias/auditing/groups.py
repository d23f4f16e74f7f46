"""An audit of every group of rows next to the whole, with a correction for their number."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from calbias.auditing import planning
from calbias.auditing.binned_ece import binned_ece
from calbias.auditing.intervals.posterior_hull import posterior_errors
from calbias.auditing.options import Options
from calbias.auditing.verdict.cluster_interval import cluster_interval
from calbias.auditing.verdict.clusters import LEAST_CLUSTERS
from calbias.auditing.verdict.judge import judge
from calbias.engine.scores_and_hits import scores_and_hits
from calbias.engine.sorted_batch import sorted_data_set
from calbias.errors import InputError
from calbias.multiclass.holm import findings, holm
from calbias.scored import Scored

MOST_GROUPS = 10_000
_MOST_CLASSES_WITH_INTERVALS = 20
TELLABLE = 0.05


def groups_table(
    scores: np.ndarray,
    hits: np.ndarray,
    groups: np.ndarray,
    options: Options | None = None,
    clusters: np.ndarray | None = None,
) -> pd.DataFrame:
    """Return a table of the groups, sorted by name; ``groups`` (n,) names each row's group.

    A row without a name is in the group "", as in a file. ``clusters`` (n,) are the numbers of the
    rows' clusters. A group of fewer than ten clusters has no p-value and no interval.

    "too small to tell": the Cox test of the group would find an error of 5 points (a tilted
    curve's) with less than 80 % probability.
    """
    scores, hits = np.asarray(scores, float), np.asarray(hits)
    column = pd.Series(np.asarray(groups), dtype=object)
    names = column.where(column.notna(), "").astype(str).to_numpy()
    distinct, index = np.unique(names, return_inverse=True)
    if distinct.size > MOST_GROUPS:
        raise InputError(f"{distinct.size} groups are too many: at most {MOST_GROUPS}")
    inside = np.split(np.argsort(index, kind="stable"), np.cumsum(np.bincount(index))[:-1])
    rows = (
        {
            "group": name,
            **_group(scores[rows], hits[rows], options or Options(), _part(clusters, rows)),
        }
        for name, rows in zip(distinct, inside, strict=True)
    )
    return _judged(rows)


def groups(
    scores: ArrayLike, hits: ArrayLike, by: ArrayLike, *, norm: float = 1.0, seed: int = 0
) -> pd.DataFrame:
    """Audit each group of rows, with p-values corrected for the number of groups.

    Parameters
    ----------
    scores, hits : array_like (n,)
        Scores in [0, 1], and 1 where the prediction was correct, else 0.
    by : array_like (n,)
        The name of each row's group.
    norm : float
        p of the ℓp errors.
    seed : int
        Of the redraws.

    Returns
    -------
    DataFrame
        A row per group, sorted by name: n, accuracy, mean_score, ece, noise_floor, low, high,
        p_value, corrected_p_value (Holm) and finding: "miscalibrated", "none found" or "too small
        to tell".

    Raises
    ------
    InputError
        For scores and hits that are not of this form, and another number of groups' names.

    Examples
    --------
    >>> import numpy as np
    >>> scores = np.tile([0.2, 0.4, 0.6, 0.8], 100)
    >>> groups(scores, np.arange(400) % 4 > 1, ["a", "b"] * 200)["n"].to_dict()
    {'a': 200, 'b': 200}
    """
    checked, hit = scores_and_hits(scores, hits)
    names = np.asarray(by)
    if names.shape != checked.shape:
        raise InputError(f"by has the shape {names.shape}, not {checked.shape}: give one per row")
    return groups_table(checked, hit, names, Options(norm=norm, seed=seed))


def classes_table(
    probabilities: np.ndarray,
    labels: np.ndarray,
    options: Options,
    clusters: np.ndarray | None = None,
) -> pd.DataFrame:
    """Return the same table of the classes: probability (n, K) of the class, label (n,) the hit."""
    few = probabilities.shape[1] <= _MOST_CLASSES_WITH_INTERVALS
    return _judged(
        {"group": str(k), **_group(scores, labels == k, options, clusters, with_interval=few)}
        for k, scores in enumerate(probabilities.T)
    )


def _judged(rows: Iterable[dict[str, Any]]) -> pd.DataFrame:
    table = pd.DataFrame(rows)
    table["corrected_p_value"] = holm(table["p_value"])
    table["finding"] = findings(table["corrected_p_value"], table.pop("power"))
    return table.set_index("group")


def _part(clusters: np.ndarray | None, rows: np.ndarray) -> np.ndarray | None:
    return None if clusters is None else np.unique(clusters[rows], return_inverse=True)[1]


def _group(
    scores: np.ndarray,
    hits: np.ndarray,
    options: Options,
    clusters: np.ndarray | None = None,
    with_interval: bool = True,
) -> dict[str, Any]:
    row = {
        "n": scores.size,
        "accuracy": float(hits.mean()),
        "mean_score": float(scores.mean()),
        "ece": np.nan, "noise_floor": np.nan, "low": np.nan, "high": np.nan, "p_value": np.nan,
        "power": 0.0,
    }  # fmt: skip
    if scores.size < 2:
        return row
    row["ece"], row["noise_floor"] = binned_ece(Scored.of(scores, hits), options.n_bins)
    if clusters is not None and clusters.max() + 1 < min(LEAST_CLUSTERS, scores.size):
        return row
    verdict = judge(scores, hits, clusters=clusters, seed=options.seed)
    row["p_value"], facts = verdict.p_value, verdict.cluster_facts
    if with_interval:
        errors = posterior_errors(sorted_data_set(scores, hits))
        low, high = errors.interval(options.norm, options.confidence_level)
        if facts and clusters is not None:
            low, high, _ = cluster_interval(
                scores, hits, clusters, (low, high),
                level=options.confidence_level, seed=options.seed,
            )  # fmt: skip
        row["low"], row["high"] = low, high
    n = facts.effective_rows if facts else scores.size
    return row | {"power": _power(np.sort(scores), n)}


def _power(scores: np.ndarray, n: float) -> float:
    """Return the power of n rows' Cox test against a tilted curve with an ℓ1 error of 5 points."""
    rates = planning.curve_with_error(planning.overconfident(scores), scores, TELLABLE)
    return 0.0 if rates is None else planning.cox_power(scores, rates, n)
