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
parameter, a shift or a slope of the log odds and for logits the temperature; with more the shift,
Platt's scaling and isotonic regression. ``parameter`` is the shift, the slope or the temperature,
fitted on the validation fold, or on all rows. Log odds are those of scores from ``least`` to
``greatest``: scores of 0 and 1 are taken there, as the verdict takes them.

Temperature scaling divides all logits, the others map the top label's score: none changes which
class is the top one, and so none changes the accuracy.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtr, softmax

from calbias.auditing.data import Data
from calbias.auditing.description import outcomes_seen
from calbias.auditing.verdict.groups import ends_of
from calbias.defaults import SIGNIFICANT, Z_95, holm
from calbias.engine.seeding import stream
from calbias.errors import InputError
from calbias.reading.top_label import top_label
from calbias.recalibration.logistic import ENDS
from calbias.recalibration.methods import INJECTIVE, OF_LOGITS, OF_SCORES
from calbias.samples.by_score import MOST_ROWS, Floats, Ints, Scored, dot

FOLDS, FEWEST = 5, 50
ENOUGH = 100
"""Fewer hits, or misses, allow one parameter."""


class _Part(NamedTuple):
    """A sample, or a part, and, where known, logits (n, K) and labels (n,) of its ``of_rows``.

    ``ends`` are where scores of 0 and 1 are taken.
    """

    sample: Scored
    logits: Any = None
    labels: Any = None
    ends: tuple[float, float] = ENDS

    @property
    def rarer(self) -> int:
        """The number of hits, or of misses if they are fewer."""
        return min(outcomes_seen(self.sample))

    @property
    def are_enough(self) -> bool:
        """Whether there are 50 rows or more, of both outcomes."""
        return self.sample.n >= FEWEST and self.rarer > 0

    @property
    def methods(self) -> list[str]:
        """The methods that so many rows can bear."""
        methods = ["shift", "platt", "isotonic"] if self.rarer >= ENOUGH else ["shift", "slope"]
        return methods if self.logits is None else [*methods, "temperature"]

    def fitted(self, method: str) -> Any:
        """Return the map of a method, fitted on these rows."""
        if method in OF_SCORES:
            return OF_SCORES[method](self.sample, self.ends)
        if self.logits is None:
            raise InputError(
                f"{method} needs logits or probabilities of three classes or more, or of two with "
                f"top_label; methods of scores are {', '.join(OF_SCORES)}"
            )
        return OF_LOGITS[method](self.logits, self.labels)


def recalibration_map(data: Data, method: str) -> Any:
    """Return the map of a method, fitted on the rows that ``recalibration_table`` names."""
    return _fitted_on(data, _part(data)).fitted(method)


def _part(data: Data) -> _Part:
    sample = data.scored
    return _Part(sample, *data.ordered_logits(), ends_of(sample))


def _fitted_on(data: Data, rows: _Part) -> _Part:
    """Return the validation fold, where it has enough rows and the form of the rows, or these."""
    if data.validation is None:
        return rows
    validation = _part(data.validation)
    if rows.logits is None:
        validation = validation._replace(logits=None, labels=None)
    return validation if validation.are_enough else rows


def recalibration_table(
    data: Data, seed: int = 0, methods: Sequence[str] | None = None
) -> pd.DataFrame:
    """Return what recalibration does to the Brier score of a Data, by ``method``, best first.

    ``methods`` are by default those that so many rows can bear. The Brier score is of the judged
    score; of vector scaling, which can change the top class, it is over all classes.

    The methods are fitted on ``data.validation`` if it has 50 rows and both outcomes, else they are
    cross-validated, and ``validation_rows`` is 0. The rows of a cluster are in one fold, and the
    standard error is of sums over clusters. ``helps`` is a gain above 0 at 5 % after Holm's
    correction. Empty below 50 rows and for rows of one outcome.
    """
    rows = _part(data)
    if not rows.are_enough:
        return pd.DataFrame()
    sample, fitted = rows.sample, _fitted_on(data, rows)
    parts, folds = ([], FOLDS) if fitted is rows else ([fitted], 1)
    units = sample.n if sample.clusters is None else sample.clusters.ids.size
    judged = _in_folds(rows, folds, units, seed)
    all_counts = judged.counts.sum(axis=0)
    for k in range(folds if fitted is rows else 0):
        misses, hits = all_counts - judged.counts[k]
        others = (None, None)
        if rows.logits is not None:
            others = rows.logits[judged.fold != k], rows.labels[judged.fold != k]
        parts.append(_Part(sample.counted(misses + hits, hits), *others, rows.ends))
    table_rows = []
    for method in fitted.methods if methods is None else methods:
        maps = [part.fitted(method) for part in parts]
        table_rows.append(
            {
                "method": method,
                **_gain(maps, rows, judged, method, units),
                "injective": method in INJECTIVE,
                "parameter": _parameter(fitted, method),
                "least": fitted.ends[0],
                "greatest": fitted.ends[1],
                "validation_rows": 0 if fitted is rows else fitted.sample.n,
            }
        )
    table = pd.DataFrame(table_rows).set_index("method")
    table["helps"] = (table["gain"] > 0) & (holm(table["p_value"]) <= SIGNIFICANT)
    return table.sort_values("gain", ascending=False, kind="stable")


class _InFolds(NamedTuple):
    """The rows that are judged: fold, hit, number of the score and cluster of each (q,).

    Without logits and clusters the ``size`` rows of one fold, hit and score are one entry, else
    each row is. ``counts`` (folds, 2, m) are the misses and the hits of each score.
    """

    counts: NDArray
    fold: Ints
    hits: NDArray
    score: Ints
    size: NDArray
    clusters: Ints | None = None


def _gain(
    maps: Sequence[Any], rows: _Part, judged: _InFolds, method: str, units: int
) -> dict[str, float]:
    """Return the Brier score before and after, its fall with the standard error, and the p-value.

    The error is of sums over ``units``, rows or clusters.
    """
    scores = rows.sample.scores
    if method == "vector":
        before, after = _brier_of_classes(maps, rows, judged)
    else:
        outputs = scores[judged.score], _outputs(maps, rows, judged, method)
        before, after = ((judged.hits - p) ** 2 for p in outputs)
        if rows.sample.seen is not None:  # of y − p squared, what is linear in y
            before, after = (judged.hits * (1.0 - 2.0 * p) + p**2 for p in outputs)
    size, n, fall = judged.size, rows.sample.n, before - after
    gain = dot(size, fall) / n
    squares = dot(size, (fall - gain) ** 2)
    if judged.clusters is not None:
        squares = float(np.sum(np.bincount(judged.clusters, size * (fall - gain)) ** 2))
    error = float(np.sqrt(squares * units / (units - 1))) / n
    z = gain / error if error > 0 else 0.0
    return {
        "brier_before": dot(size, before) / n,
        "brier_after": dot(size, before - fall) / n,
        "gain": gain,
        "gain_low": gain - Z_95 * error,
        "gain_high": gain + Z_95 * error,
        "gain_se": error,
        "p_value": float(2 * ndtr(-abs(z))),
    }


def _in_folds(rows: _Part, folds: int, units: int, seed: int) -> _InFolds:
    """Return the rows in folds drawn at random; ``units`` are rows, or clusters, which stay whole.

    More than ``MOST_ROWS`` rows are drawn by counts, not one by one.
    """
    sample, generator = rows.sample, stream(seed, "recalibration", str(units))
    if sample.seen is not None and sample.clusters is not None:
        _, cluster, score, own_rows, own_hits, *_ = sample.clusters
        fold, m = (generator.permutation(units) % folds)[cluster], sample.scores.size
        columns = (own_rows - own_hits, own_hits)
        sums = [np.bincount(fold * m + score, x, folds * m).reshape(folds, m) for x in columns]
        outcomes = own_hits / own_rows
        return _InFolds(np.stack(sums, axis=1), fold, outcomes, score, own_rows, cluster)
    is_plain = rows.logits is None and sample.clusters is None
    if is_plain and sample.n > MOST_ROWS:
        both = np.stack([sample.rows - sample.hits, sample.hits])
        counts = np.moveaxis(generator.multinomial(both, np.full(folds, 1.0 / folds)), -1, 0)
    else:
        score, is_hit, clusters = sample.of_rows
        hits, fold = is_hit.astype(np.int64), generator.permutation(units) % folds
        fold = fold if clusters is None else fold[clusters]
        shape = folds, 2, sample.scores.size
        code = (2 * fold + hits) * sample.scores.size + score
        counts = np.bincount(code, minlength=math.prod(shape)).reshape(shape)
    if is_plain:
        fold, hits, score = np.nonzero(counts)
        return _InFolds(counts, fold, hits, score, counts[fold, hits, score])
    return _InFolds(counts, fold, hits, score, np.ones(sample.n, np.int64), clusters)


def _parameter(rows: _Part, method: str) -> float:
    """Return the fitted shift, slope or temperature; NaN for other methods."""
    if method in ("shift", "slope"):
        line = rows.fitted(method)
        return float(line.intercept if method == "shift" else line.slope)
    return 1.0 / rows.fitted(method).inverse if method == "temperature" else np.nan


def _outputs(maps: Sequence[Any], rows: _Part, judged: _InFolds, method: str) -> Floats:
    """Return the recalibrated scores (q,) of the judged rows, each fold by its map."""
    if method in OF_SCORES:
        outputs = [fitted.predict(rows.sample.scores) for fitted in maps]
        return np.stack(outputs)[judged.fold, judged.score]
    scores = np.empty(judged.score.size)
    for k, fitted in enumerate(maps):
        held = judged.fold == k
        scaled = fitted.predict(rows.logits[held])
        scores[held] = top_label(scaled, rows.labels[held]).score
    return scores


def _brier_of_classes(maps: Sequence[Any], rows: _Part, judged: _InFolds) -> tuple[Floats, Floats]:
    """Return the Brier score over all classes of each judged row (q,), before and after."""
    scores = np.empty((2, judged.score.size))
    for k, fitted in enumerate(maps):
        held = np.flatnonzero(judged.fold == k)
        logits, labels = rows.logits[held], rows.labels[held]
        for values, out in zip((logits, fitted.predict(logits)), scores, strict=True):
            p = softmax(values.astype(np.float64), axis=1)
            p[np.arange(held.size), labels] -= 1.0
            out[held] = np.einsum("ij,ij->i", p, p)
    return scores[0], scores[1]
