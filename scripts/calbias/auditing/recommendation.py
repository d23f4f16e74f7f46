"""The recommending rule of an audit, judged on scenarios that it was not made on.

On each data set the rule recommends an estimator of the ℓ1 error. Its own root mean squared error
is that of the recommended values; beside it stand those of each estimator used throughout. What
the rule loses is its error over that of the best estimator, which no user can know.
"""

import numpy as np
import pandas as pd

from calbias.auditing.audit import likelihood_weights, recommended
from calbias.auditing.coverage import samples, slope, truths
from calbias.auditing.intervals.inversion import Construction
from calbias.auditing.statistics import audited_estimators
from calbias.truth.curves import score

ESTIMATORS = (
    "ece_bin_ew", "ece_bin_em", "ece_bin_cube_root_em", "ece_sweep_ew", "ece_sweep_em", "kde",
)  # fmt: skip
SIZES = (200, 1000)
LAWS = {"spread": (2.0, 1.0), "high": (6.0, 1.5)}
_DRAWS = 60


def _power(log_score, log1m_score):
    return np.exp(1.2 * log_score)


def _shift(log_score, log1m_score):
    return np.maximum(score(log_score, log1m_score) - 0.03, 0.0)


def _ripple(log_score, log1m_score):
    s = score(log_score, log1m_score)
    return np.clip(s + 0.05 * np.sin(6 * np.pi * s), 0.0, 1.0)


CURVES = {"calibrated": slope(1.0), "power_1.2": _power, "shift": _shift, "ripple": _ripple}


def recommendation_table(count, seed=0, sizes=SIZES):
    """Return the table ``recommendation``: a row per scenario and sample size."""
    estimators = audited_estimators(1.0, 15, ESTIMATORS)
    rows = []
    for law, parameters in LAWS.items():
        for name, curve in CURVES.items():
            truth = truths(parameters, curve)["l1"]
            for n in sizes:
                names = (f"{law}_{name}", str(n))
                drawn = samples(parameters, curve, n, count, seed, names)
                rows.append(_row(f"{law}_{name}", n, truth, drawn, estimators))
    return pd.DataFrame(rows)


def _row(scenario, n, truth, drawn, estimators):
    chosen, errors = [], []
    for sample in drawn:
        table = _table(sample, estimators)
        chosen.append(recommended(table))
        errors.append(table["value"] - truth)
    errors = pd.DataFrame(errors)
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
        "worst_rmse": float(rmse.max()),
        "rmse_ratio": of_rule / float(rmse[best]),
        "n_data_sets": len(chosen),
    }


def _table(sample, estimators):
    """Return value, target and the rule's error of each estimator on one data set."""
    construction = Construction(
        sample,
        {name: each.run for name, each in estimators.items()},
        {name: each.target for name, each in estimators.items()},
        _DRAWS,
    )
    construction.explore()
    weights = likelihood_weights(sample, sorted(construction.estimates))
    rows = {}
    for name in estimators:
        square = sum(
            weight * np.mean((construction.at(lam)[name] - construction.target(name, lam)) ** 2)
            for lam, weight in weights.items()
            if weight > 0.005
        )
        rows[name] = {
            "target": "ℓ1", "value": construction.observed[name], "rmse": float(np.sqrt(square))
        }  # fmt: skip
    return pd.DataFrame(rows).T.astype({"value": float, "rmse": float})
