"""A model's outputs as it is and recalibrated, as the tables of Guo et al. and Gupta et al. need.

Each method is fitted to the validation fold and gives the outputs of the test fold. Where only the
top label's scores of a test fold are known, one method is left: the spline, fitted to one half of
the rows and judged on the other (``spline_on_half``), which no paper prints.
"""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.special import softmax

from calbias.errors import InputError
from calbias.reading.output_file import Fold
from calbias.reading.top_label import TopLabel, top_label
from calbias.recalibration.spline import fit_binary as fit_spline
from calbias.recalibration.temperature import TemperatureScaling
from pipeline.logits import Logits
from reproduction.measures import MEASURES, PROBABILITIES, TOP_LABEL, Measure
from reproduction.ranked import ranked_hits
from reproduction.recalibration import ON_HALF
from reproduction.recalibration.registry import METHODS, load_method

OF_MATRICES = ("ms_odir", "dir_odir")
MOST_CLASSES = 300  # of a cross-validated matrix: with 1000 classes it takes days on one core
SPLINES = ("spline", "spline_as_written")
SPLINE_OPTIONS = {
    "ece25": {"n_knots": 13},
    "ks_top2": {"rank": 2},
    "ks_top3": {"rank": 3},
    "ks_within_top2": {"rank": 2, "within": True, "n_knots": 14},
    "ks_within_top3": {"rank": 3, "within": True, "n_knots": 14},
}
"""The measures for which Gupta et al. fit a separate spline; else 6 knots on the top label."""
FEWEST_ROWS = 200  # of which a half is recalibrated


class Outputs(NamedTuple):
    """The outputs of a method on n rows.

    ``scores`` and ``hits`` (n,) are of the top label, ``probabilities`` (n, K) and ``labels`` (n,)
    of all classes or None. ``fitted_for`` {measure: (scores, hits)} are top-label outputs by
    another fit, or of another rank, on which that measure is taken. Without any of these, ``needs``
    says what the method lacks. ``extra`` {measure: value} are numbers of this method alone.
    """

    method: str
    scores: np.ndarray = np.empty(0)
    hits: np.ndarray = np.empty(0)
    probabilities: np.ndarray | None = None
    labels: np.ndarray | None = None
    fitted_for: dict = {}  # noqa: RUF012 (never changed)
    needs: str = ""
    extra: dict[str, float] = {}  # noqa: RUF012 (never changed)

    def given(self, name: str) -> tuple[Measure, Any, Any] | None:
        """Return (Measure, predictions, outcomes) of a measure, or None if it needs more."""
        if name in self.fitted_for:
            is_ranked = MEASURES[name].reads == PROBABILITIES
            return MEASURES["ks_top1" if is_ranked else name], *self.fitted_for[name]
        if MEASURES[name].reads == TOP_LABEL:
            return MEASURES[name], self.scores, self.hits
        return None if self.labels is None else (MEASURES[name], self.probabilities, self.labels)


def outputs_of_logits(
    logits: Logits, softmax_convention: str = "exact", methods: Iterable[str] | None = None
) -> Iterator[Outputs]:
    """Yield the Outputs of each method for a ``Logits``, or what the method lacks."""
    for method in methods or METHODS:
        load_method(method)  # a file that defines no method is an error, not a row of the table
        try:
            find = _of_spline if method in SPLINES else _of_classes
            yield find(method, logits.validation, logits.test, softmax_convention)
        except InputError as error:
            yield Outputs(method, needs=str(error))


def _of_classes(method: str, validation: Fold, test: Fold, softmax_convention: str) -> Outputs:
    n_classes = test.logits.shape[1]
    if method in OF_MATRICES and n_classes > MOST_CLASSES:
        raise InputError(f"{method} with {n_classes} classes takes days: fit it by load_method")
    fitted = load_method(method)(*validation)
    z = fitted.predict(test.logits)
    if z.ndim == 1:  # the top label's score alone
        return Outputs(method, z, ranked_hits(*test))
    top = top_label(z, test.labels, softmax_convention)
    probabilities = softmax(z.astype(np.float64), axis=1)
    return Outputs(method, top.score, top.hit, probabilities, test.labels, extra=_extra(fitted))


def _extra(fitted: Any) -> dict[str, float]:
    """Return the temperature, and how far the entries of vector scaling (K,) are apart."""
    if isinstance(fitted, TemperatureScaling):
        return {"temperature": 1 / fitted.inverse}
    weights = getattr(fitted, "weights", np.empty((0, 0)))
    if weights.ndim != 1:
        return {}
    return {
        "weights_least": weights.min(),
        "weights_greatest": weights.max(),
        "weights_variation": weights.std(ddof=1) / weights.mean(),
    }


def _of_spline(method: str, validation: Fold, test: Fold, _softmax_convention: str) -> Outputs:
    def recalibrated(
        rank: int = 1, within: bool = False, **options: Any
    ) -> tuple[np.ndarray, np.ndarray]:
        fitted = load_method(method)(*validation, rank=rank, within=within, **options)
        return fitted.predict(test.logits), ranked_hits(test.logits, test.labels, rank, within)

    options_of = {"ece25": SPLINE_OPTIONS["ece25"], **of_rank(test.logits.shape[1])}
    fitted_for = {name: recalibrated(**options) for name, options in options_of.items()}
    scores, hits = fitted_for.pop("ks_top1")
    extra = {}
    if method == "spline" and test.logits.shape[1] <= MOST_CLASSES:
        extra["accuracy_all_ranks"] = float(hits_of_all_ranks(validation, test).mean())
    return Outputs(method, scores, hits, fitted_for=fitted_for, extra=extra)


def hits_of_all_ranks(validation: Fold, test: Fold) -> np.ndarray:
    """Return the hits (n,) of the class that is largest after a spline for each rank's score.

    Gupta et al. 2021, Table 5: the K scores of a row in descending order each have a spline.
    """
    splines = [fit_spline(scores, hits.astype(np.float64)) for scores, hits in _by_rank(validation)]
    best, is_hit = np.full(len(test.labels), -1.0), np.zeros(len(test.labels), bool)
    for spline, (scores, hits) in zip(splines, _by_rank(test), strict=True):
        recalibrated = spline.predict(scores)
        is_hit = np.where(recalibrated > best, hits, is_hit)
        best = np.maximum(best, recalibrated)
    return is_hit


def _by_rank(fold: Fold) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the scores and hits (n,) of each rank, the largest score first."""
    order = np.argsort(-fold.logits, axis=1, kind="stable")
    probabilities = softmax(fold.logits.astype(np.float64), axis=1)
    for classes in order.T:
        scores = np.take_along_axis(probabilities, classes[:, None], axis=1)[:, 0]
        yield scores, classes == fold.labels


def of_rank(n_classes: int) -> dict[str, dict[str, Any]]:
    """Return {measure: options of the spline} of the KS errors that so many classes have."""
    ranked = {name: options for name, options in SPLINE_OPTIONS.items() if "rank" in options}
    return {"ks_top1": {}} | {
        name: options
        for name, options in ranked.items()
        if options["rank"] + options.get("within", False) <= n_classes  # all scores sum to 1
    }


def outputs_as_is(test: Fold) -> Outputs:
    """Return the Outputs of a network that no method has recalibrated."""
    top = top_label(*test)
    probabilities = softmax(test.logits.astype(np.float64), axis=1)
    return Outputs("uncalibrated", top.score, top.hit, probabilities, test.labels)


def outputs_of_scores(top: TopLabel, generator: np.random.Generator) -> Iterator[Outputs]:
    """Yield the Outputs of a ``TopLabel``, and of half its rows, recalibrated on the other half."""
    yield Outputs("uncalibrated", top.score, top.hit)
    n = len(top.hit)
    if n < FEWEST_ROWS:
        return
    order = generator.permutation(n)
    fitted, judged = np.sort(order[: n // 2]), np.sort(order[n // 2 :])

    def recalibrated(**options: Any) -> tuple[np.ndarray, np.ndarray]:
        spline = fit_spline(top.score[fitted], top.hit[fitted].astype(np.float64), **options)
        return spline.predict(top.score[judged]), top.hit[judged]

    fitted_for = {"ece25": recalibrated(**SPLINE_OPTIONS["ece25"])}
    scores, hits = recalibrated()
    yield Outputs(ON_HALF, scores, hits, fitted_for=fitted_for)
