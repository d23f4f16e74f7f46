"""Is a model miscalibrated, by how much, and which estimate is to be trusted at its sample size?

Each estimator is applied to the model's own scores and judged by construction (the paper's
framework, §4): on the same scores, hits are drawn anew from a known calibration curve. From the
model's fitted curve, of lowest AIC, come bias and spread; from perfect calibration, T(c) = c, the
p-value (consistency resampling, Bröcker and Smith 2007).
"""

import numpy as np

from calbias.engine.seeding import stream_key
from calbias.engine.sorted_batch import of_sorted_scores, sorted_data_set
from calbias.errors import InputError
from calbias.fits.empirical_error import empirical_tce, fit_curve, hit_probability

MOST_REPLICATES = 10_000  # enough for a p-value; each has all samples of the model
_SAMPLES_PER_BATCH = 1 << 17


def assess(top_label, estimators, replicates, n_bins=15, norm=2.0, seed=0):
    """Return one dict per estimator with the table's columns from n_samples on.

    ``top_label`` is the TopLabel of the data and ``estimators`` {name: run} as ``load_estimator``
    returns them. Bias, spread (sd) and root mean squared error are those of the estimator over
    ``replicates`` data sets (at most 10 000) with the model's scores and hits from its fitted
    curve, whose true calibration error over these scores is ``fitted_tce_percent``;
    ``debiased_percent`` is the estimate less that bias, not below 0. ``trust_rank`` orders by the
    root mean squared error. The p-value is (1 + #{null ≥ estimate})/(1 + replicates);
    ``miscalibrated`` is p < 0.05. All values are in percent. Where all samples are hits, or none
    is, no hits can be redrawn: bias, spread and rank are NaN. Raises InputError for fewer than 2
    samples.
    """
    replicates = min(replicates, MOST_REPLICATES)
    n = top_label.score.size
    if n < 2:
        raise InputError(f"{n} samples are too few to judge a model by: give at least 2")
    curve = fit_curve(top_label).curve
    tce = empirical_tce(top_label, curve, norm)
    one_outcome = top_label.hit.min() == top_label.hit.max()
    rates = {"null": top_label.score}
    if not one_outcome:
        rates["fitted"] = hit_probability(top_label, curve)
    drawn = {
        name: redrawn_estimates(
            top_label.score, rate, estimators, replicates, n_bins, norm, stream_key(seed, name, n)
        )
        for name, rate in rates.items()
    }
    data = sorted_data_set(top_label.score, top_label.hit)
    untold = dict.fromkeys(estimators, np.full(replicates, np.nan))
    rows = []
    for name, run in estimators.items():
        observed, n_bins_used = (array[0] for array in run(data, n_bins, norm))
        values, null = drawn.get("fitted", untold)[name], drawn["null"][name]
        bias, sd = values.mean() - tce, values.std(ddof=1)
        p_value = (1 + np.count_nonzero(null >= observed)) / (1 + replicates)
        rows.append(
            {
                "n_samples": n,
                "estimator": name,
                "n_bins": n_bins_used,
                "estimate_percent": 100 * observed,
                "bias_percent": 100 * bias,
                "bias_se_percent": 100 * sd / np.sqrt(replicates),
                "sd_percent": 100 * sd,
                "rmse_percent": 100 * np.sqrt(np.mean((values - tce) ** 2)),
                "debiased_percent": 100 * np.maximum(observed - bias, 0.0),
                "fitted_curve": "mean_label" if curve is None else curve.name,
                "fitted_tce_percent": 100 * tce,
                "null_mean_percent": 100 * null.mean(),
                "null_95_percent": 100 * np.quantile(null, 0.95),
                "p_value": p_value,
                "miscalibrated": p_value < 0.05,
            }
        )
    rows.sort(key=lambda row: row["rmse_percent"])
    return [
        {**row, "trust_rank": np.nan if one_outcome else rank}
        for rank, row in enumerate(rows, start=1)
    ]


def redrawn_estimates(scores, rates, estimators, replicates, n_bins, norm, key):
    """Return {estimator: (replicates,)} on ``scores`` (n,) with hits drawn at ``rates`` (n,)."""
    generator = np.random.default_rng(key)
    order = np.argsort(scores, kind="stable")
    scores, rates = scores[order], rates[order]
    values = {name: np.empty(replicates) for name in estimators}
    rows = max(1, _SAMPLES_PER_BATCH // scores.size)
    for start in range(0, replicates, rows):
        batch = slice(start, min(start + rows, replicates))
        shape = batch.stop - batch.start, scores.size
        data = of_sorted_scores(scores, generator.random(shape) < rates)
        for name, run in estimators.items():
            values[name][batch] = run(data, n_bins, norm)[0]
    return values
