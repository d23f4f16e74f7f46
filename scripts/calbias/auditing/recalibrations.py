"""Which recalibration helps, on rows that it was not fitted on.

Each method is fitted on the validation fold where there is one, else on four fifths of the rows for
the others (cross-validation). For an injective map h of the score the refinement of the forecast
stays, so that

    CE₂²(s) − CE₂²(h(s)) = Brier(s) − Brier(h(s)):

the fall of the Brier score is the fall of the squared ℓ2 error, without bins and without bias, and
being a mean it has a standard error (Gruber and Buettner, *Better uncertainty calibration via
proper scores*, NeurIPS 2022). Isotonic regression is not injective: there the fall of the Brier
score is net of the refinement that its steps lose.

The methods are those that the data can bear: with fewer than 100 hits, or misses, those of one
parameter, a shift of the log odds and for logits the temperature; with more Platt's scaling and
isotonic regression too. ``parameter`` is the shift, or the temperature, fitted on the validation
fold, or on all rows.

Temperature scaling divides all logits, the others map the top label's score: none changes which
class is the top one, and so none changes the accuracy.
"""

import warnings
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import expit, ndtr

from calbias.auditing.cox import cox_curve, fit_shift, logits_of
from calbias.conventions import SIGNIFICANT
from calbias.engine.seeding import stream
from calbias.logits.top_label import top_label
from calbias.multiclass.holm import holm
from calbias.recalibration import fit_binary, inverse_temperature

FOLDS, FEWEST = 5, 50
ENOUGH = 100
"""Fewer hits, or misses, allow one parameter."""


class FoldRows(NamedTuple):
    """Scores and hits (n,), and logits (n, K) with labels (n,) where these are known."""

    scores: np.ndarray
    hits: np.ndarray
    logits: Any = None
    labels: Any = None

    def part(self, chosen: np.ndarray) -> "FoldRows":
        """Return the rows that are chosen (n,)."""
        more = () if self.logits is None else (self.logits[chosen], self.labels[chosen])
        return FoldRows(self.scores[chosen], self.hits[chosen], *more)

    @property
    def are_enough(self) -> bool:
        """Whether there are 50 rows or more, of both outcomes."""
        return len(self.scores) >= FEWEST and bool(self.hits.min() < self.hits.max())


def recalibration_table(
    rows: FoldRows,
    *,
    validation: FoldRows | None = None,
    seed: int = 0,
    clusters: np.ndarray | None = None,
) -> pd.DataFrame:
    """Return what recalibration does to the Brier score of rows, by ``method``, best first.

    The methods are fitted on ``validation`` if it has 50 rows and both outcomes, else they are
    cross-validated, and ``validation_rows`` is 0. The rows of a cluster, of numbers ``clusters``
    (n,), are in one fold, and the standard error is of sums over clusters. ``helps`` is a gain
    above 0 at 5 % after Holm's correction. Empty below 50 rows and for rows of one outcome.
    """
    n = len(rows.scores)
    if not rows.are_enough:
        return pd.DataFrame()
    units = np.arange(n) if clusters is None else np.asarray(clusters)
    m = int(units.max()) + 1
    if validation is not None and validation.are_enough:
        if rows.logits is None:
            validation = validation._replace(logits=None, labels=None)
        fitted, n_fitted = validation, len(validation.scores)
        outputs = _recalibrated(validation, rows, _methods(validation))
    else:
        fitted, n_fitted = rows, 0
        fold = (stream(seed, "recalibration", str(m)).permutation(m) % FOLDS)[units]
        outputs = {method: np.empty(n) for method in _methods(rows)}
        for k in range(FOLDS):
            held = fold == k
            part = _recalibrated(rows.part(~held), rows.part(held), outputs)
            for method, values in part.items():
                outputs[method][held] = values
    before = (rows.hits - rows.scores) ** 2
    found: list[dict[str, Any]] = []
    for method, recalibrated in outputs.items():
        fall = before - (rows.hits - recalibrated) ** 2
        sums = np.bincount(units, fall - fall.mean())
        error = float(np.sqrt(sums @ sums * m / (m - 1)) / n)
        z = fall.mean() / error if error > 0 else 0.0
        found.append(
            {
                "method": method,
                "brier_before": float(before.mean()),
                "brier_after": float(before.mean() - fall.mean()),
                "gain": float(fall.mean()),
                "gain_se": error,
                "p_value": float(2 * ndtr(-abs(z))),
                "injective": method != "isotonic",
                "parameter": _parameter(method, fitted),
                "validation_rows": n_fitted,
            }
        )
    table = pd.DataFrame(found).set_index("method")
    table["helps"] = (table["gain"] > 0) & (np.array(holm(table["p_value"])) <= SIGNIFICANT)
    return table.sort_values("gain", ascending=False, kind="stable")


def _methods(rows: FoldRows) -> list[str]:
    """Return the methods that so many rows can bear."""
    methods = ["shift"]
    if min(rows.hits.sum(), len(rows.hits) - rows.hits.sum()) >= ENOUGH:
        methods += ["platt", "isotonic"]
    return methods if rows.logits is None else [*methods, "temperature"]


def _recalibrated(
    rows: FoldRows, others: FoldRows, methods: Iterable[str]
) -> dict[str, np.ndarray]:
    """Return the scores (n,) of ``others`` by each method, fitted on rows."""
    x, of_others = logits_of(rows.scores), logits_of(others.scores)
    outputs = {}
    for method in methods:
        if method == "shift":
            outputs[method] = expit(of_others + fit_shift(x, rows.hits))
        elif method == "platt":
            outputs[method] = cox_curve(x, rows.hits, of_others)
        elif method == "isotonic":
            steps = fit_binary(rows.scores, rows.hits.astype(np.float64))
            outputs[method] = steps.predict(others.scores)
        else:
            scaled = others.logits.astype(np.float64) * _inverse_temperature(rows)
            outputs[method] = top_label(scaled, others.labels).score
    return outputs


def _parameter(method: str, rows: FoldRows) -> float:
    """Return the shift or the temperature that rows give; NaN for other methods."""
    if method == "shift":
        return fit_shift(logits_of(rows.scores), rows.hits)
    return 1.0 / _inverse_temperature(rows) if method == "temperature" else np.nan


def _inverse_temperature(rows: FoldRows) -> float:
    with warnings.catch_warnings(action="ignore"):
        return inverse_temperature(rows.logits, rows.labels)
