"""Which recalibration helps, cross-validated.

Each method is fitted on four folds and applied to the fifth. For an injective map h of the score
the refinement of the forecast stays, so that

    CE₂²(s) − CE₂²(h(s)) = Brier(s) − Brier(h(s)):

the fall of the Brier score is the fall of the squared ℓ2 error, without bins and without bias, and
being a mean it has a standard error (Gruber and Buettner, *Better uncertainty calibration via
proper scores*, NeurIPS 2022). Isotonic regression is not injective: there the fall of the Brier
score is net of the refinement that its steps lose.

Platt's scaling and isotonic regression map the top label's score, temperature scaling divides all
logits: none of them changes which class is the top one, and so none changes the accuracy.
"""

import warnings
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtr

from calbias.auditing.cox import cox_curve, logits_of
from calbias.conventions import SIGNIFICANT
from calbias.engine.seeding import stream
from calbias.logits.top_label import top_label
from calbias.multiclass.holm import holm
from calbias.recalibration.isotonic_regression import fit_binary
from calbias.recalibration.temperature_scaling import inverse_temperature

FOLDS, FEWEST = 5, 50


def recalibration_table(
    scores: np.ndarray,
    hits: np.ndarray,
    logits: np.ndarray | None = None,
    labels: np.ndarray | None = None,
    seed: int = 0,
    clusters: np.ndarray | None = None,
) -> pd.DataFrame:
    """Return what cross-validated recalibration does to the Brier score, by ``method``, best first.

    ``logits`` (n, K) and ``labels`` (n,) are for temperature scaling; the rows of a cluster, of
    numbers ``clusters`` (n,), are in one fold, and the standard error is of sums over clusters.
    ``helps`` is a gain above 0 at 5 % after Holm's correction. Empty below 50 rows and for rows of
    one outcome.
    """
    n = len(scores)
    if n < FEWEST or hits.min() == hits.max():
        return pd.DataFrame()
    units = np.arange(n) if clusters is None else np.asarray(clusters)
    m = int(units.max()) + 1
    fold = (stream(seed, "recalibration", str(m)).permutation(m) % FOLDS)[units]
    x = logits_of(scores)
    outputs = {"platt": np.empty(n), "isotonic": np.empty(n)}
    if logits is not None and labels is not None:
        outputs["temperature"] = np.empty(n)
    for k in range(FOLDS):
        held, rest = fold == k, fold != k
        outputs["platt"][held] = cox_curve(x[rest], hits[rest], x[held])
        steps = fit_binary(scores[rest], hits[rest].astype(np.float64))
        outputs["isotonic"][held] = steps.predict(scores[held])
        if logits is not None and labels is not None:
            with warnings.catch_warnings(action="ignore"):
                inverse = inverse_temperature(logits[rest], labels[rest])
            scaled = logits[held].astype(np.float64) * inverse
            outputs["temperature"][held] = top_label(scaled, labels[held]).score
    before = (hits - scores) ** 2
    rows: list[dict[str, Any]] = []
    for method, recalibrated in outputs.items():
        fall = before - (hits - recalibrated) ** 2
        sums = np.bincount(units, fall - fall.mean())
        error = float(np.sqrt(sums @ sums * m / (m - 1)) / n)
        z = fall.mean() / error if error > 0 else 0.0
        rows.append(
            {
                "method": method,
                "brier_before": float(before.mean()),
                "brier_after": float(before.mean() - fall.mean()),
                "gain": float(fall.mean()),
                "gain_se": error,
                "p_value": float(2 * ndtr(-abs(z))),
                "injective": method != "isotonic",
            }
        )
    table = pd.DataFrame(rows).set_index("method")
    table["helps"] = (table["gain"] > 0) & (np.array(holm(table["p_value"])) <= SIGNIFICANT)
    return table.sort_values("gain", ascending=False, kind="stable")
