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

import numpy as np

from calbias.conventions import N_BINS
from calbias.engine.seeding import stream
from calbias.engine.sorted_batch import of_sorted_scores, sorted_data_set
from calbias.errors import InputError
from calbias.logits.top_label import TopLabel
from evidence.estimators import load_estimator
from pipeline.fits.empirical_error import empirical_tce, fit_curve, hit_probability

REFERENCE = "ece_debias_em"
N_REDRAWS = 40  # data sets drawn from each curve that is fitted to a subsample


def predicted_bias(top, estimators, sample_sizes, n_subsamples, n_refits, seed=0, name=""):
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
    order = np.argsort(top.score, kind="stable")
    top = TopLabel(*(array[order] for array in top))
    runs = {estimator: load_estimator(estimator) for estimator in estimators}
    curve = fit_curve(top).curve
    rates, truth = hit_probability(top, curve), empirical_tce(top, curve)
    generator = stream(seed, "reference", name)
    reference, reference_se = reference_and_error(top, n_subsamples, generator)
    rows = []
    for n in sizes:
        generator = stream(seed, "subsamples", name, str(n))
        found = _on_subsamples(top, rates, runs, n, n_subsamples, n_refits, generator)
        for estimator, (observed, predicted, refitted) in found.items():
            bias = observed.mean() - reference
            rows.append(
                {
                    "estimator": estimator,
                    "n_samples": n,
                    "observed_bias_percent": 100 * bias,
                    "observed_bias_se_percent": 100 * np.hypot(_error(observed), reference_se),
                    "predicted_bias_percent": 100 * (predicted.mean() - truth),
                    "predicted_bias_se_percent": 100 * _error(predicted),
                    "predicted_from_subsample_percent": 100 * refitted.mean(),
                    "predicted_from_subsample_sd_percent": 100 * refitted.std(ddof=1),
                    "one_subsample_distance_percent": 100 * np.abs(refitted - bias).mean(),
                    "reference_percent": 100 * reference,
                    "fitted_error_percent": 100 * truth,
                }
            )
    return rows


def _on_subsamples(top, rates, runs, n, n_subsamples, n_refits, generator):
    """Return three arrays by estimator: estimates on the rows' own hits (n_subsamples,), on hits
    redrawn at ``rates`` (n_subsamples,), and the biases by construction of n_refits subsamples.
    """
    found = {name: [np.empty(m) for m in (n_subsamples, n_subsamples, n_refits)] for name in runs}
    for k in range(n_subsamples):
        chosen = np.sort(generator.choice(top.hit.size, n, replace=False, shuffle=False))
        scores, redrawn = top.score[chosen], generator.random(n) < rates[chosen]
        data = of_sorted_scores(scores, np.stack([top.hit[chosen], redrawn]))
        for name, run in runs.items():
            found[name][0][k], found[name][1][k] = run(data, N_BINS)[0]
        if k < n_refits:
            own = TopLabel(*(array[chosen] for array in top))
            curve = fit_curve(own).curve
            hits = generator.random((N_REDRAWS, n)) < hit_probability(own, curve)
            data, truth = of_sorted_scores(scores, hits), empirical_tce(own, curve)
            for name, run in runs.items():
                found[name][2][k] = run(data, N_BINS)[0].mean() - truth
    return found


def reference_and_error(top, n_resamples, generator):
    """Return the debiased estimate on all rows and its bootstrap error, fractions."""
    run = load_estimator(REFERENCE)
    n = top.hit.size
    resampled = np.empty(n_resamples)
    for b in range(n_resamples):
        rows = np.repeat(np.arange(n), np.bincount(generator.integers(0, n, n), minlength=n))
        data = of_sorted_scores(top.score[rows], top.hit[rows][None])
        resampled[b] = run(data, N_BINS)[0][0]
    value = run(sorted_data_set(top.score, top.hit), N_BINS)[0][0]
    return float(value), float(resampled.std(ddof=1))


def _error(values):
    """Return the standard error of a mean."""
    return values.std(ddof=1) / np.sqrt(values.size)
