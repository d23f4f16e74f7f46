"""The table of an audit's estimators, and which of them to trust.

Every estimator is applied to hits drawn from the curves c_λ on the user's own scores. λ = 0 gives
noise floor and p-value; the λ whose estimates agree with the observed one give the interval and
the corrected value; the λ weighted by their likelihood give bias and root mean squared error.
"""

import numpy as np
import pandas as pd

from calbias.auditing.estimators import HEADLINE

COLUMNS = (
    "estimator", "target", "n_bins", "value", "noise_floor", "noise_sd", "bias", "bias_se", "rmse",
    "rank", "corrected", "low", "high", "p_value",
)  # fmt: skip
_TIED = 1.05  # times the least error: the Monte Carlo error with 200 data sets
_LEAST_WEIGHT = 0.005


def estimates_table(construction, level):
    """Return a row per estimator of a Construction, indexed by ``estimator``, with ``COLUMNS``."""
    construction.explore(level)
    sample = construction.sample
    is_known = 0 < sample.hits.sum() < sample.n  # with hits of one kind no curve can be fitted
    weights = sample.likelihood_weights(sorted(construction.estimates))
    heavy = {lam: weight for lam, weight in weights.items() if weight > _LEAST_WEIGHT}
    rows = {}
    for name, each in construction.estimators.items():
        n_bins = int(each.apply(construction.data)[1][0])
        rows[name] = {
            "target": each.target_name,
            "n_bins": n_bins if n_bins > 0 else None,
            **construction.against_null(name),
        }
        if each.target:
            inversion = construction.invert(name, level)
            rows[name] |= {"corrected": inversion.corrected, **inversion.interval._asdict()}
        if each.target and is_known:
            errors, squares = _errors(construction, name, heavy)
            rows[name] |= {
                "bias": float(errors.mean()),
                "bias_se": float(errors.std(ddof=1) / np.sqrt(errors.size)),
                "rmse": float(np.sqrt(squares.mean())),
            }
    ranked = [row for row in rows.values() if "rmse" in row]
    for row in ranked:
        others = [other["rmse"] for other in ranked if other["target"] == row["target"]]
        row["rank"] = 1 + sum(_TIED * other < row["rmse"] for other in others)
    table = pd.DataFrame.from_dict(rows, orient="index").rename_axis("estimator")
    return table.reindex(columns=COLUMNS[1:])


def recommended(estimates):
    """Return the estimator to trust: of those with the headline's target, ranked by their root mean
    squared error weighted by the curves' likelihood, the first."""
    same = estimates["target"] == estimates.loc[HEADLINE, "target"]
    first = estimates.index[same & (estimates["rank"] == 1)]
    return str(first[0]) if len(first) else HEADLINE


def _errors(construction, name, weights):
    """Return weighted errors and squared errors, (m,): curves share the replicates' random bits."""
    total = sum(weights.values())
    errors = squares = np.zeros(construction.replicates)
    for lam, weight in weights.items():
        drawn = construction.at(lam)[name][: construction.replicates]
        error = drawn - construction.target(name, lam)
        errors = errors + weight / total * error
        squares = squares + weight / total * error**2
    return errors, squares
