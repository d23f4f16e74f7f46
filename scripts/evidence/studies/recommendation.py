"""The recommending rule of an audit, judged on scenarios that it was not made on.

On each data set the rule recommends an estimator of the ℓ1 error. The root mean squared error of
the recommended values is compared with the error of each estimator used throughout; what the rule
loses is its error divided by the error of the best estimator, which no user can know. The table
also says how often the p-value that decides finds the miscalibration, and how often the p-value of
another estimator does.

Every estimator is applied to hits drawn from the curves c_λ on the data set's scores. λ = 0 gives
the p-value; the λ weighted by their likelihood give the root mean squared error of the rule.
"""

from itertools import product

import numpy as np
import pandas as pd

from calbias.auditing.estimators import HEADLINE, audited_estimators
from calbias.conventions import CONFIDENCE_LEVEL, N_BINS, SIGNIFICANT
from calbias.engine.redraw import redraw_p_value
from calbias.truth.curves import Curve, score
from evidence.scenarios.sets import CONFIDENT, SPREAD
from evidence.scenarios.wave import Wave
from evidence.studies.interval_coverage import samples, slope, truths
from evidence.studies.intervals.inversion import Construction

ESTIMATORS = (
    "ece_bin_ew", "ece_bin_em", "ece_bin_cube_root_em", "ece_sweep_ew", "ece_sweep_em", "kde",
)  # fmt: skip
SIZES = (200, 1000)
LAWS = {"spread": SPREAD, "high": CONFIDENT}
OTHER = "ece_sweep_em"  # whose p-value could decide instead of the headline's
_DRAWS, _NULL_DRAWS = 60, 199
CURVES = {
    "calibrated": slope(1.0),
    "power_1.2": Curve("power", b1=1.2).hit,
    "shift": lambda *logs: np.maximum(score(*logs) - 0.03, 0.0),
    "ripple": Wave("ripple", 0.05, 3).hit,
}
_TIED = 1.05  # times the least error: the Monte Carlo error with 200 data sets
_LEAST_WEIGHT = 0.005


def recommendation_table(count, seed):
    """Return the table ``recommendation``: a row per scenario and sample size."""
    estimators = audited_estimators(1.0, N_BINS, ESTIMATORS)
    rows = []
    for (law, parameters), (name, curve) in product(LAWS.items(), CURVES.items()):
        truth = truths(parameters, curve)["l1"]
        for n in SIZES:
            drawn = samples(parameters, curve, n, count, seed, (f"{law}_{name}", str(n)))
            rows.append(_row(f"{law}_{name}", n, truth, drawn, estimators))
    return pd.DataFrame(rows)


def _row(scenario, n, truth, drawn, estimators):
    tables = [
        estimates_table(Construction(sample, estimators, _DRAWS, _NULL_DRAWS), CONFIDENCE_LEVEL)
        for sample in drawn
    ]
    chosen = [recommended(table) for table in tables]
    errors = pd.DataFrame([table["value"] - truth for table in tables], columns=list(estimators))
    p_values = pd.DataFrame([table["p_value"] for table in tables], columns=list(estimators))
    rmse = np.sqrt((errors**2).mean())
    best = rmse.idxmin()
    picked = errors.to_numpy()[np.arange(len(chosen)), errors.columns.get_indexer(chosen)]
    of_rule = float(np.sqrt(np.mean(picked**2)))
    return {
        "scenario": scenario,
        "n_samples": n,
        "truth": truth,
        "best_estimator": best,
        "share_best": float(np.mean(np.array(chosen) == best)),
        "rmse": of_rule,
        "best_rmse": float(rmse[best]),
        "headline_rmse": float(rmse[HEADLINE]),
        "worst_rmse": float(rmse.max()),
        "rmse_ratio": of_rule / float(rmse[best]),
        **{
            f"detected_by_{name}": float(np.mean(p_values[name] <= SIGNIFICANT))
            for name in (HEADLINE, OTHER)
        },
        "n_data_sets": len(chosen),
    }


def estimates_table(construction, level):
    """Return a row per estimator of a Construction: target, value, p_value, rmse and rank."""
    construction.explore(level)
    sample = construction.sample
    is_known = 0 < sample.hits.sum() < sample.n  # with hits of one kind no curve can be fitted
    weights = sample.likelihood_weights(sorted(construction.estimates))
    heavy = {lam: weight for lam, weight in weights.items() if weight > _LEAST_WEIGHT}
    rows = {}
    for name, each in construction.estimators.items():
        value = construction.observed[name]
        rows[name] = {
            "target": each.target_name,
            "value": value,
            "p_value": redraw_p_value(value, construction.at(0.0)[name]),
            "rmse": _rmse(construction, name, heavy) if each.target and is_known else np.nan,
        }
    for row in rows.values():
        others = [other["rmse"] for other in rows.values() if other["target"] == row["target"]]
        row["rank"] = 1 + sum(_TIED * other < row["rmse"] for other in others)
    return pd.DataFrame.from_dict(rows, orient="index")


def recommended(estimates):
    """Return the estimator to trust: of those with the headline's target, ranked by their root mean
    squared error weighted by the curves' likelihood, the first."""
    same = estimates["target"] == estimates.loc[HEADLINE, "target"]
    first = estimates.index[same & (estimates["rank"] == 1) & estimates["rmse"].notna()]
    return str(first[0]) if len(first) else HEADLINE


def _rmse(construction, name, weights):
    """Return the weighted root mean squared error: curves share the replicates' random bits."""
    total = sum(weights.values())
    squares = np.zeros(construction.replicates)
    for lam, weight in weights.items():
        drawn = construction.at(lam)[name][: construction.replicates]
        squares = squares + weight / total * (drawn - construction.target(name, lam)) ** 2
    return float(np.sqrt(squares.mean()))
