"""Numbers of the article that no table holds as they are: means, ranges and ranks of its rows.

Each public function takes the Results first; the templates call it by its name.
"""

import numpy as np

from calbias.errors import InputError
from pipeline.figures.names import CLUSTERED
from pipeline.logits.store import REAL_SCORES

ALTERNATIVES = ("slope", "shift", "wave", "power")
PRINTED = ("ks_top1", "ece25", "accuracy")
PAPERS = ("ece_bin_ew", "ece_bin_em", "ece_debias_em", "ece_sweep_em", "kde")


def size_of(results, experiment):
    """Return how many models, sample sizes, and cells of data set and size an experiment has."""
    rows, scenarios = results.table("bias"), results.table("scenarios")
    sizes = rows[rows["experiment"] == experiment]["n_samples"].nunique()
    scenarios = scenarios[scenarios["experiment"] == experiment]
    groups = scenarios["group"].nunique()
    return {"models": len(scenarios), "sizes": sizes, "cells": groups * sizes}


def bins_effect(results):
    """Return what the number of bins makes in the standard deviation, and how many were compared.

    ``factor`` is {estimator: median of the greatest over the least}, ``n_cells`` the number of
    these ratios, ``n_steps`` the number of steps from one sample size to the next.
    """
    rows = results.table("bias")
    rows = rows[(rows["experiment"] == "heatmaps") & (rows["n_bins"] > 0)]
    sd = rows.groupby(["estimator", "scenario", "n_samples"])["sd_percent"]
    factors = sd.max() / sd.min()
    return {
        "factor": factors.groupby("estimator").median().to_dict(),
        "n_cells": len(factors),
        "n_steps": int((rows["n_samples"] > rows["n_samples"].min()).sum()),
    }


def rounding(results):
    """Return how far the printed decimals leave the true errors open: median half width, most."""
    rows = results.table("tce_rounding")
    rows = rows[rows["parameters"] == "lowest_aic"]
    half = (rows["high_percent"] - rows["low_percent"]) / 2
    return half.median(), half.max()


def genuine(results):
    """Return the rows of Table 4 with genuine scores, and the largest distance to the table."""
    rows = results.table("ece_bin_real_and_simulated")
    rows = rows[rows["source"] == REAL_SCORES]
    distance = (rows["ece_bin_test_percent"] - rows["published_ece_bin_percent"]).abs()
    return rows.to_dict("records"), distance.max()


def prediction(results):
    """Return what observed and predicted bias are like: by sample size, and the worst model."""
    rows = results.table("predicted_bias")
    distance = (rows["predicted_bias_percent"] - rows["observed_bias_percent"]).abs()
    rows = rows.assign(size=rows["observed_bias_percent"].abs(), distance=distance)
    by_n = rows.groupby("n_samples")[["size", "distance"]].mean()
    by_model = rows.groupby("model")["distance"].mean().sort_values()
    errors = (rows[f"{kind}_bias_se_percent"] for kind in ("observed", "predicted"))
    within = distance <= 2 * np.hypot(*errors)
    return {
        "n_models": rows["model"].nunique(),
        "n_points": len(rows),
        "low": rows["observed_bias_percent"].min(),
        "high": rows["observed_bias_percent"].max(),
        "by_n": [(n, row["size"], row["distance"]) for n, row in by_n.iterrows()],
        "worst": (by_model.index[-1], by_model.iloc[-1]),
        "within_percent": 100 * within.mean(),
    }


def league_ranks(results, best, last):
    """Return rows of the league: the best, the paper's estimators and the last, and how many.

    A row has rank, estimator, target and the errors of table ``league_ranking`` for each score law
    at the least and the greatest n. The rank is by the worse law at the greatest n.
    """
    table = results.table("league_ranking")
    sizes = sorted(table["n_samples"].unique())
    keys = ["estimator", "target", "law", "n_samples"]
    shares = table.set_index(keys)["error"].unstack(["law", "n_samples"])
    columns = [(law, n) for law in ("saturated", "spread") for n in (sizes[0], sizes[-1])]
    shares = shares[columns].dropna()
    worse = shares[[columns[1], columns[3]]].max(axis=1)
    shares = shares.loc[worse.sort_values(kind="stable").index]
    rows = [
        {"rank": rank, "estimator": name, "target": target, "shares": list(row)}
        for rank, ((name, target), *row) in enumerate(shares.itertuples(name=None), start=1)
    ]
    chosen = [
        row for row in rows
        if row["rank"] <= best or row["rank"] > len(rows) - last
        or (row["estimator"] in PAPERS and row["target"] == "l2")
    ]  # fmt: skip
    beyond = int((shares[columns[0]] > 1).sum())
    return {"rows": chosen, "n": len(rows), "n_beyond": beyond, "sizes": (sizes[0], sizes[-1])}


def printed(results):
    """Return the measures of networks without recalibration that Gupta et al. print, with ours."""
    rows = results.table("measures")
    rows = rows[(rows["method"] == "uncalibrated") & rows["value"].notna()]
    rows = rows[rows["published_source"].fillna("").str.startswith("Gupta")]
    rows = rows[rows["measure"].isin(PRINTED)]
    pairs = rows.set_index(["model", "measure"])[["value_percent", "published_percent"]]
    models = [
        (model, [tuple(pairs.loc[model, name]) for name in PRINTED])
        for model in dict.fromkeys(rows["model"])
    ]
    distance = (rows["value_percent"] - rows["published_percent"]).abs().max()
    return {"rows": models, "distance": distance, "n_bins": PRINTED[1].removeprefix("ece")}


def tests(results):
    """Return rows of {test, size, worst, power by alternative}; the powers' n, error and level."""
    table = results.table("test_power")
    table = table[~table["scenario"].str.startswith(CLUSTERED)]
    size = sorted(table["n_samples"].unique())[1]
    rows_by_test = []
    for name, rows in table.groupby("test", sort=False):
        calibrated = rows["scenario"].str.endswith("calibrated")
        at = rows[(rows["n_samples"] == size) & ~calibrated]
        powers = {
            alternative: 100 * at[at["scenario"].str.contains(alternative)]["rejection_rate"].mean()
            for alternative in ALTERNATIVES
        }
        sizes = 100 * rows[calibrated]["rejection_rate"]
        rows_by_test.append({"test": name, "size": sizes.mean(), "worst": sizes.max(), **powers})
    error = 100 * table[table["n_samples"] == size]["rejection_rate_se"].max()
    level = 100 * table["level"].iloc[0]
    return {"rows": rows_by_test, "n_samples": size, "error": error, "level": level}


def coverage(results, method):
    """Return mean and least coverage of a method's intervals in percent, and their mean lengths."""
    rows = results.table("interval_coverage")
    rows = rows[rows["method"] == method]
    if rows.empty:
        raise InputError(f"article: table interval_coverage has no method {method}")
    calibrated = rows[rows["scenario"].str.endswith("calibrated")]["coverage"]
    return {
        "mean": 100 * rows["coverage"].mean(),
        "least": 100 * rows["coverage"].min(),
        "calibrated": 100 * calibrated.mean(),
        "nominal": 100 * rows["nominal"].iloc[0],
        "n_cells": len(rows),
        "lengths": {n: 100 * part["mean_length"].mean() for n, part in rows.groupby("n_samples")},
    }


def peers(results):
    """Return how many packages, printed values, and values that differ with a known cause."""
    rows = results.table("peers")
    differ = rows[rows["cause"].notna()]
    return {
        "n_peers": rows["peer"].nunique(),
        "n_values": len(rows),
        "n_data_sets": rows["data_set"].nunique(),
        "n_differ": len(differ),
        "n_established": int((differ["cause_established"].astype(str) == "True").sum()),
    }
