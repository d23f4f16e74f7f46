"""Does bias by construction predict the bias on real data?

A model's scores are fixed, so the observed bias has no known truth. It is taken at sample size n as
the mean of an estimator over subsamples of the model's N rows, less the debiased estimate
(``ece_debias_em``) on all N rows, whose own bias is negligible. Predicted is the bias by
construction (Roelofs et al. 2022, §4): hits are drawn from a GLM of least AIC, on the same scores,
and the mean estimate is compared with the error of that curve.

- ``predicted``: the curve is fitted to all N rows.
- ``predicted_from_subsample``: the curve is fitted to the n rows alone, as a user has to do.

Subsamples are drawn without replacement; scores of exactly 1 keep their mean label as the curve.
"""

import numpy as np

from calbias.engine.seeding import stream
from calbias.engine.sorted_batch import of_sorted_scores, sorted_data_set
from calbias.errors import InputError
from calbias.estimation.loading import load_estimator
from calbias.fits.empirical_error import empirical_tce, fit_curve, hit_probability
from calbias.logits.top_label import TopLabel

REFERENCE = "ece_debias_em"
N_BINS = 15
N_REDRAWS = 40  # data sets that each fit to a subsample is judged by


def predicted_bias(
    top, estimators, sample_sizes, n_subsamples, n_refits, norm=2.0, seed=0, name=""
):
    """Return one dict per estimator and sample size, with the table's columns from estimator on.

    Parameters
    ----------
    top : TopLabel
        The model's N rows.
    estimators : list of str
        Names of estimators of the ℓp error.
    sample_sizes : list of int
        Sizes n of the subsamples; those above N are left out.
    n_subsamples : int
        Subsamples for the observed bias, at least 2; each also has its hits redrawn once. As many
        resamples give the error of the reference.
    n_refits : int
        How many of the subsamples also have a curve of their own, at least 2.
    norm : float
        p of the ℓp error; 2 for the reference to exist.
    seed, name
        Key of the random streams, with n.

    Returns
    -------
    list of dict
        Percent throughout. ``observed_bias_se_percent`` joins the Monte Carlo error of the mean and
        the bootstrap error of the reference as if they were independent.

    Raises
    ------
    InputError
        If no sample size is at most N, or all rows are hits, or none is.
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
    rates, truth = hit_probability(top, curve), empirical_tce(top, curve, norm)
    reference, reference_se = _reference(top, norm, n_subsamples, stream(seed, "reference", name))
    rows = []
    for n in sizes:
        generator = stream(seed, "subsamples", name, str(n))
        observed, predicted, refitted = _on_subsamples(
            top, rates, runs, n, n_subsamples, n_refits, norm, generator
        )
        for estimator in estimators:
            seen, drawn, own = observed[estimator], predicted[estimator], refitted[estimator]
            rows.append(
                {
                    "estimator": estimator,
                    "n_samples": n,
                    "observed_bias_percent": 100 * (seen.mean() - reference),
                    "observed_bias_se_percent": 100 * np.hypot(_error(seen), reference_se),
                    "predicted_bias_percent": 100 * (drawn.mean() - truth),
                    "predicted_bias_se_percent": 100 * _error(drawn),
                    "predicted_from_subsample_percent": 100 * own.mean(),
                    "predicted_from_subsample_sd_percent": 100 * own.std(ddof=1),
                    "reference_percent": 100 * reference,
                    "fitted_error_percent": 100 * truth,
                }
            )
    return rows


def _on_subsamples(top, rates, runs, n, n_subsamples, n_refits, norm, generator):
    """Return three dicts by estimator: estimates on the rows' own hits (n_subsamples,), on hits
    redrawn at ``rates`` (n_subsamples,), and the biases by construction of n_refits subsamples.
    """
    observed = {name: np.empty(n_subsamples) for name in runs}
    predicted = {name: np.empty(n_subsamples) for name in runs}
    refitted = {name: np.empty(n_refits) for name in runs}
    for k in range(n_subsamples):
        chosen = np.sort(generator.choice(top.hit.size, n, replace=False, shuffle=False))
        scores, redrawn = top.score[chosen], generator.random(n) < rates[chosen]
        data = of_sorted_scores(scores, np.stack([top.hit[chosen], redrawn]))
        for name, run in runs.items():
            observed[name][k], predicted[name][k] = run(data, N_BINS, norm)[0]
        if k < n_refits:
            own = TopLabel(*(array[chosen] for array in top))
            curve = fit_curve(own).curve
            hits = generator.random((N_REDRAWS, n)) < hit_probability(own, curve)
            data, truth = of_sorted_scores(scores, hits), empirical_tce(own, curve, norm)
            for name, run in runs.items():
                refitted[name][k] = run(data, N_BINS, norm)[0].mean() - truth
    return observed, predicted, refitted


def _reference(top, norm, n_resamples, generator):
    """Return the debiased estimate on all rows and its bootstrap error, fractions."""
    run = load_estimator(REFERENCE)
    n = top.hit.size
    resampled = np.empty(n_resamples)
    for b in range(n_resamples):
        rows = np.repeat(np.arange(n), np.bincount(generator.integers(0, n, n), minlength=n))
        data = of_sorted_scores(top.score[rows], top.hit[rows][None])
        resampled[b] = run(data, N_BINS, norm)[0][0]
    value = run(sorted_data_set(top.score, top.hit), N_BINS, norm)[0][0]
    return float(value), float(resampled.std(ddof=1))


def _error(values):
    """Return the standard error of a mean."""
    return values.std(ddof=1) / np.sqrt(values.size)
