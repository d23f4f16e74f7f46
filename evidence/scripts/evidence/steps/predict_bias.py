"""Does bias by construction predict the bias on real data?

A model's scores are fixed, so the observed bias has no known truth. It is taken at sample size n as
the mean of an estimator over subsamples of the model's N rows, less the debiased estimate
(``ece_debias_em``) on all N rows, whose own bias is negligible. Predicted is the bias by
construction (Roelofs et al. 2022, §4): hits are drawn from a GLM of least AIC, on the same scores,
and the mean estimate is compared with the error of that curve.

- ``predicted``: the curve is fitted to all N rows.
- ``predicted_from_subsample``: the curve is fitted to the n rows alone, as a user has to do.

Subsamples are drawn without replacement. At scores of exactly 1 the curve is their mean hit.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calbias.defaults import N_BINS
from calbias.engine.seeding import stream
from calbias.engine.sorted_batch import SortedBatch, of_sorted_scores, sorted_data_set
from calbias.errors import InputError
from calbias.reading.top_label import TopLabel
from evidence.cells.samples import GenuineRows, by_score
from evidence.estimators import load_estimator
from evidence.runner import Batch, Method, Row, Values, each, run
from pipeline.fits.empirical_error import empirical_tce, fit_curve, hit_probability
from pipeline.logits import read_scores
from pipeline.steps import AtLeast, Seed
from pipeline.tables import write_table

REFERENCE = "ece_debias_em"
N_REDRAWS = 40  # data sets drawn from each curve that is fitted to a subsample
OBSERVED, PREDICTED, REFITTED = "observed", "predicted", "refitted"


class Subsample(NamedTuple):
    """A subsample with its own hits, with hits redrawn at the rates of all rows' curve, and refits.

    ``refitted`` has N_REDRAWS data sets of hits redrawn from a curve that is fitted to the
    subsample alone, and ``truth`` is that curve's error.
    """

    observed: SortedBatch
    predicted: SortedBatch
    refitted: SortedBatch | None
    truth: float


@dataclass(frozen=True)
class RedrawnRows(GenuineRows):
    """Subsamples with redrawn hits; the first ``n_refits`` have a curve of their own."""

    rates: NDArray[np.float64]
    n_refits: int

    def batches(self, n: int, seed: int, data_sets: int) -> Iterator[Batch]:  # type: ignore[override]
        """Yield Batches of one Subsample."""
        generator = self.generator(n, seed)
        for k in range(data_sets):
            chosen = self.chosen(generator, n)
            drawn = TopLabel(*(array[chosen] for array in self.rows))
            redrawn = generator.random(n) < self.rates[chosen]
            observed = of_sorted_scores(drawn.score, drawn.hit[None])
            predicted = of_sorted_scores(drawn.score, redrawn[None])
            refitted, truth = None, np.nan
            if k < self.n_refits:
                curve = fit_curve(drawn).curve
                hits = generator.random((N_REDRAWS, n)) < hit_probability(drawn, curve)
                refitted, truth = of_sorted_scores(drawn.score, hits), empirical_tce(drawn, curve)
            yield Batch([Subsample(observed, predicted, refitted, truth)])


def estimates_of(estimator: str) -> Callable[[SortedBatch], NDArray[np.float64]]:
    """Return the function of a SortedBatch that gives the estimates (m,) of the ℓ2 error."""
    estimate = load_estimator(estimator)
    return lambda data: estimate(data, N_BINS)[0]


def predicted_bias(
    top: TopLabel,
    estimators: Sequence[str],
    sample_sizes: Sequence[int],
    n_subsamples: int,
    n_refits: int,
    seed: int = 0,
    name: str = "",
) -> list[Row]:
    """Return a dict per estimator of the ℓ2 error and size n: the table's columns from estimator.

    The observed bias is over ``n_subsamples``, whose hits are redrawn once each; ``n_refits`` of
    them also have a curve of their own. The errors of the mean and of the reference, which has as
    many resamples, are joined as if independent. ``seed`` and ``name`` key the random streams.
    """
    n_rows = top.hit.size
    sizes = [n for n in sample_sizes if n <= n_rows]
    if not sizes or min(n_subsamples, n_refits) < 2:
        raise InputError(
            f"{name}: {n_rows} rows: give sample sizes of at most that, subsamples >= 2"
        )
    if top.hit.min() == top.hit.max():
        raise InputError(
            f"{name}: all rows are hits, or none is: no calibration curve can be fitted"
        )
    rows = by_score(top)
    curve = fit_curve(rows).curve
    cell = RedrawnRows(
        name, rows, ("subsamples", name, "{n}"), hit_probability(rows, curve), n_refits
    )
    reference = reference_and_error(rows, n_subsamples, stream(seed, "reference", name))
    reduce = partial(
        _reduced, estimators=estimators, reference=reference, truth=empirical_tce(rows, curve)
    )
    methods = {
        f"{kind} {estimator}": Method("l2", each(partial(_estimate, kind, estimates_of(estimator))),
                                      n_refits if kind == REFITTED else None)
        for estimator in estimators
        for kind in (OBSERVED, PREDICTED, REFITTED)
    }  # fmt: skip
    return list(run(((cell, n) for n in sizes), lambda *_: methods, n_subsamples, seed, reduce))


def _estimate(
    kind: str, estimate: Callable[[SortedBatch], NDArray[np.float64]], data: Subsample
) -> float:
    """Return the estimate on a subsample's own or redrawn hits, or its refit's bias."""
    if kind != REFITTED:
        return float(estimate(data.observed if kind == OBSERVED else data.predicted)[0])
    assert data.refitted  # the method has no more data sets than there are refits
    return float(estimate(data.refitted).mean() - data.truth)


def _reduced(
    cell: RedrawnRows,
    n: int,
    methods: Mapping[str, Method],
    values: Values,
    *,
    estimators: Sequence[str],
    reference: tuple[float, float],
    truth: float,
) -> Iterator[Row]:
    for estimator in estimators:
        observed, predicted, refitted = (
            values[f"{kind} {estimator}"] for kind in (OBSERVED, PREDICTED, REFITTED)
        )
        bias = observed.mean() - reference[0]
        yield {
            "estimator": estimator,
            "n_samples": n,
            "observed_bias_percent": 100 * bias,
            "observed_bias_se_percent": 100 * np.hypot(_error(observed), reference[1]),
            "predicted_bias_percent": 100 * (predicted.mean() - truth),
            "predicted_bias_se_percent": 100 * _error(predicted),
            "predicted_from_subsample_percent": 100 * refitted.mean(),
            "predicted_from_subsample_sd_percent": 100 * refitted.std(ddof=1),
            "one_subsample_distance_percent": 100 * np.abs(refitted - bias).mean(),
            "reference_percent": 100 * reference[0],
            "fitted_error_percent": 100 * truth,
        }


def reference_and_error(
    top: TopLabel, n_resamples: int, generator: np.random.Generator
) -> tuple[float, float]:
    """Return the debiased estimate on all rows and its bootstrap error, fractions."""
    estimate, n = estimates_of(REFERENCE), top.hit.size
    resampled = np.empty(n_resamples)
    for b in range(n_resamples):
        rows = np.repeat(np.arange(n), np.bincount(generator.integers(0, n, n), minlength=n))
        resampled[b] = estimate(of_sorted_scores(top.score[rows], top.hit[rows][None]))[0]
    value = estimate(sorted_data_set(top.score, top.hit))[0]
    return float(value), float(resampled.std(ddof=1))


def _error(values: NDArray) -> float:
    """Return the standard error of a mean."""
    return float(values.std(ddof=1) / np.sqrt(values.size))


def predict_bias(
    *,
    scores: Path,
    manifest: Path | None = None,
    estimators: list[str],
    n_samples: list[Annotated[int, AtLeast(2)]],
    subsamples: Annotated[int, AtLeast(2)],
    refits: int,
    seed: Seed,
    output: Path,
) -> None:
    """Compare the bias by construction with the bias seen on subsamples of a model's own rows.

    scores: the model's top-label scores and hits
    manifest: manifest of the scores that ship
    estimators: estimators of the ℓp error
    n_samples: sizes of the subsamples
    subsamples: subsamples of each size
    refits: how many of them get a curve of their own
    seed: seed of all random streams
    output: table to write
    """
    top = read_scores(scores, manifest)[0]["test"]
    model = scores.stem
    rows = predicted_bias(
        top, estimators, n_samples, subsamples, refits,
        seed=seed, name=model,
    )  # fmt: skip
    write_table(output, "predicted_bias", [{"model": model, **row} for row in rows])
