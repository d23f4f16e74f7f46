"""An audit of every class, one against the rest, with a correction for their number.

The noise floor of all classes together, and what is left of each class's error without its noise,
are by labels drawn from the probabilities (``calbias.multiclass.noise``).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from calbias.auditing.data import Options
from calbias.auditing.error import cox
from calbias.auditing.error.bins import binned_ece
from calbias.auditing.error.interval import calibration_interval
from calbias.auditing.verdict.clusters import LEAST_CLUSTERS
from calbias.auditing.verdict.judge import judge
from calbias.defaults import (
    ENOUGH_POWER,
    MISCALIBRATED,
    N_BINS,
    NONE_FOUND,
    SIGNIFICANT,
    TOO_SMALL,
    holm,
)
from calbias.multiclass.class_rows import Rows, checked
from calbias.multiclass.measures import prepared
from calbias.multiclass.noise import corrected, drawn_values, summary
from calbias.samples.by_score import Scored

_MOST_CLASSES_WITH_INTERVALS = 20
TELLABLE = 0.05
MEASURE = "classwise_ece_mean"
_LEAST_DRAWN, _DRAWN_A_CLASS, _MOST_LABELS = 999, 40, 200_000_000  # of vectors, and of labels


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
    unfound = np.where(table.pop("power") < ENOUGH_POWER, TOO_SMALL, NONE_FOUND)
    is_bad = table["corrected_p_value"] <= SIGNIFICANT
    table["finding"] = np.where(is_bad, MISCALIBRATED, unfound)
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
    scored = Scored.of(scores, hits, clusters=clusters)
    row["ece"], row["noise_floor"] = binned_ece(scored, options.n_bins)
    if clusters is not None and clusters.max() + 1 < LEAST_CLUSTERS:
        return row
    verdict = judge(scored, seed=options.seed)
    row["p_value"], facts = verdict.p_value, verdict.cluster_facts
    if with_interval:
        effect = facts.design_effect if facts else 1.0
        interval = calibration_interval(scored, effect, options.seed)
        row["low"], row["high"] = interval.at(options.norm, options.confidence_level)
    n = facts.effective_rows if facts else scores.size
    return row | {"power": _power(np.sort(scores), n)}


def _power(scores: np.ndarray, n: float) -> float:
    """Return the power of n rows' Cox test against a tilted curve with an ℓ1 error of 5 points."""
    rates = cox.curve_with_error(cox.overconfident(scores), scores, TELLABLE)
    return 0.0 if rates is None else cox.cox_power(scores, rates, n)


def all_classes(
    probabilities: np.ndarray, labels: np.ndarray, seed: int = 0
) -> tuple[tuple[str, ...], np.ndarray]:
    """Return what all classes together show, a sentence each, and each class's corrected error.

    Rows are taken as independent.
    """
    rows, numbers = checked(probabilities, labels)
    assert numbers is not None
    n, n_classes = rows.shape
    measure = prepared(MEASURE, rows)
    observed = measure.values(rows.given(numbers))
    replicates = min(max(_LEAST_DRAWN, _DRAWN_A_CLASS * n_classes), max(_MOST_LABELS // n, 20))
    [drawn] = drawn_values([measure], rows, replicates, seed)
    result = summary(MEASURE, N_BINS, measure, observed, drawn, rows)
    assert result.p_value is not None
    verdict = "miscalibrated" if result.p_value <= SIGNIFICANT else "not found miscalibrated"
    left = corrected(observed[0], drawn.mean(axis=0), squared=False)
    return (f"The model is {verdict}: {result}", *_notes(rows, numbers)), left


def _notes(rows: Rows, labels: np.ndarray) -> Iterator[str]:
    """Yield what a reader has to know about these probabilities."""
    n, n_classes = rows.shape
    if n_classes == 2:
        yield (
            "Two classes: class 0 and class 1 mirror each other, and their values are equal; the "
            "top label is the larger of the two probabilities"
        )
    absent = np.flatnonzero(np.bincount(labels, minlength=n_classes) == 0)
    if absent.size:
        shown = ", ".join(map(str, absent[:5])) + (", …" if absent.size > 5 else "")
        classes = f"Class {shown}" if absent.size == 1 else f"{absent.size} classes ({shown})"
        yield (
            f"{classes} never occur{'s' * (absent.size == 1)} among the labels: the value is the "
            "mean probability, all of it an error if the labels are complete"
        )
    predicted = np.bincount(rows.top, minlength=n_classes)
    if predicted.max() == n:
        yield f"Class {predicted.argmax()} is predicted in every row"
    zeros = float(np.mean(rows.probabilities == 0.0))
    if zeros > 0:
        impossible = int(np.sum(rows.probabilities[np.arange(n), labels[rows.order]] == 0.0))
        yield (
            f"{100 * zeros:.2g} % of the probabilities are exactly 0, and {impossible} labels have "
            "probability 0: labels are never drawn there"
        )
