"""Which recalibration helps, cross-validated.

Each method is fitted on four folds and applied to the fifth. For an injective map h of the score
the refinement of the forecast stays, so that

    CE₂²(s) − CE₂²(h(s)) = Brier(s) − Brier(h(s)):

the fall of the Brier score is the fall of the squared ℓ2 error, without bins and without bias, and
being a mean it has a standard error (Gruber and Buettner, *Better uncertainty calibration via
proper scores*, NeurIPS 2022). Isotonic regression is not injective: there the fall of the Brier
score is net of the refinement that its steps lose.

The methods are those that the data can bear: with fewer than 100 hits, or misses, those of one
parameter, a shift of the log odds and for logits the temperature; with more Platt's scaling and
isotonic regression too. ``parameter`` is the shift, or the temperature, fitted on all rows.

Temperature scaling divides all logits, the others map the top label's score: none changes which
class is the top one, and so none changes the accuracy.
"""

import warnings
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit, ndtr

from calbias.auditing.cox import cox_curve, logits_of
from calbias.conventions import SIGNIFICANT
from calbias.engine.seeding import stream
from calbias.logits.top_label import top_label
from calbias.multiclass.holm import holm
from calbias.recalibration.isotonic_regression import fit_binary
from calbias.recalibration.temperature_scaling import inverse_temperature

FOLDS, FEWEST = 5, 50
ENOUGH = 100
"""Fewer hits, or misses, allow one parameter."""


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
    x, parameters = logits_of(scores), {"shift": _shift(logits_of(scores), hits)}
    outputs = {"shift": np.empty(n)}
    if min(hits.sum(), n - hits.sum()) >= ENOUGH:
        outputs |= {"platt": np.empty(n), "isotonic": np.empty(n)}
    if logits is not None and labels is not None:
        outputs["temperature"] = np.empty(n)
        parameters["temperature"] = 1.0 / _inverse_temperature(logits, labels)
    for k in range(FOLDS):
        held, rest = fold == k, fold != k
        outputs["shift"][held] = expit(x[held] + _shift(x[rest], hits[rest]))
        if "platt" in outputs:
            outputs["platt"][held] = cox_curve(x[rest], hits[rest], x[held])
            steps = fit_binary(scores[rest], hits[rest].astype(np.float64))
            outputs["isotonic"][held] = steps.predict(scores[held])
        if logits is not None and labels is not None:
            inverse = _inverse_temperature(logits[rest], labels[rest])
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
                "parameter": parameters.get(method, np.nan),
            }
        )
    table = pd.DataFrame(rows).set_index("method")
    table["helps"] = (table["gain"] > 0) & (np.array(holm(table["p_value"])) <= SIGNIFICANT)
    return table.sort_values("gain", ascending=False, kind="stable")


def _shift(x: np.ndarray, hits: np.ndarray) -> float:
    """Return a of greatest likelihood of P(hit) = expit(x + a), for finite logits x (n,)."""
    total = float(hits.sum())
    if total in (0.0, float(hits.size)):
        return 0.0
    a = 0.0
    for _ in range(200):  # Newton converges: in a step of 1 the slope changes at most e times
        p = expit(x + a)
        step = float(np.clip((total - p.sum()) / max(p @ (1.0 - p), 1e-300), -1.0, 1.0))
        a += step
        if abs(step) < 1e-12:
            break
    return a


def _inverse_temperature(logits: np.ndarray, labels: np.ndarray) -> float:
    with warnings.catch_warnings(action="ignore"):
        return inverse_temperature(logits, labels)
