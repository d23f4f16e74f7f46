"""An audit of every class, one against the rest, with a correction for their number."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from calbias.auditing import cox
from calbias.auditing.bins import binned_ece
from calbias.auditing.inputs import Options
from calbias.auditing.interval import calibration_interval
from calbias.auditing.verdict.clusters import LEAST_CLUSTERS
from calbias.auditing.verdict.judge import judge
from calbias.multiclass.holm import findings, holm
from calbias.scored import Scored

_MOST_CLASSES_WITH_INTERVALS = 20
TELLABLE = 0.05


def classes_table(
    probabilities: np.ndarray,
    labels: np.ndarray,
    options: Options,
    clusters: np.ndarray | None = None,
) -> pd.DataFrame:
    """Return the table of the classes: probability (n, K) of the class, label (n,) the hit.

    "too small to tell": the Cox test of the class would find an error of 5 points (a tilted
    curve's) with less than 80 % probability. With fewer than ten clusters there is no p-value.
    """
    few = probabilities.shape[1] <= _MOST_CLASSES_WITH_INTERVALS
    table = pd.DataFrame(
        {"group": str(k), **_class(scores, labels == k, options, clusters, with_interval=few)}
        for k, scores in enumerate(probabilities.T)
    )
    table["corrected_p_value"] = holm(table["p_value"])
    table["finding"] = findings(table["corrected_p_value"], table.pop("power"))
    return table.set_index("group")


def _class(
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
        effect = facts.design_effect if facts else 1.0
        scored = Scored.of(scores, hits, clusters=clusters if facts else None)
        found = calibration_interval(scored, effect, options.seed)
        row["low"], row["high"] = found.at(options.norm, options.confidence_level)
    n = facts.effective_rows if facts else scores.size
    return row | {"power": _power(np.sort(scores), n)}


def _power(scores: np.ndarray, n: float) -> float:
    """Return the power of n rows' Cox test against a tilted curve with an ℓ1 error of 5 points."""
    rates = cox.curve_with_error(cox.overconfident(scores), scores, TELLABLE)
    return 0.0 if rates is None else cox.cox_power(scores, rates, n)
