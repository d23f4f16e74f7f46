"""The league of all classes in words: every sentence follows from the table by a rule.

- *floor*: the largest mean estimate for a calibrated model, next to the median truth of the rest.
- *nearest*: the least median relative RMSE over the maps with an error ± two Monte Carlo errors.
- *tied*: larger by at most two Monte Carlo errors of the difference.
- *no better than zero*: a median relative RMSE of at least 100 %.
- *closer*: a lower RMSE in the same scenario at the same n.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from pipeline.tables import read_table, write_table

NOTHING = 1.0
TARGET_NAMES = {
    "classwise_l1": "the class-wise ℓ1 error",
    "classwise_l2": "the class-wise ℓ2 error",
    "classwise_l2_squared": "the class-wise ℓ2 error squared",
    "thresholded_l1": "the ℓ1 error of probabilities above 0.01",
    "top_label_l1": "the ℓ1 error given the predicted class",
    "top_label_l2": "the ℓ2 error given the predicted class",
    "confidence_l1": "the ℓ1 error of the confidence",
    "kernel": "the squared kernel error",
}
SUFFIX = "_corrected"


def reading_rows(league: pd.DataFrame) -> Iterator[dict[str, object]]:
    """Yield the rows of table ``multiclass_reading`` from table ``multiclass_league``."""
    for (population, n), rows in league.groupby(["population", "n_samples"], sort=False):
        for target, sentence in _of_cell(rows):
            yield {"population": population, "n_samples": n, "target": target, "sentence": sentence}
    yield from _corrections(league)


def _of_cell(rows: pd.DataFrame) -> Iterator[tuple[str, str]]:
    wrong = rows[rows["truth"] > 0]
    median = wrong.groupby("estimator")[["relative_rmse", "relative_rmse_se"]].median()
    for target, words in TARGET_NAMES.items():
        names = wrong.loc[wrong["target"] == target, "estimator"].unique()
        if not len(names):
            continue
        medians = median.loc[names].sort_values("relative_rmse", kind="stable")
        errors, margins = medians["relative_rmse"], medians["relative_rmse_se"]
        apart = errors - errors.iloc[0] > 2 * np.hypot(margins, margins.iloc[0])
        tied = int((~apart).sum()) - 1
        truth = wrong.loc[wrong["target"] == target, "truth"].median()
        floors = rows[(rows["map"] == "calibrated") & rows["estimator"].isin(names)]
        worst = floors.loc[floors["mean_estimate"].idxmax()]
        sentence = (
            f"Nearest to {words} is {errors.index[0]} (median error {errors.iloc[0]:.0%} ± "
            f"{2 * margins.iloc[0]:.0%} of the truth{f', tied with {tied}' if tied else ''})"
        )
        useless = errors.index[errors >= NOTHING]
        sentence += f"; no better than zero: {', '.join(useless)}" if len(useless) else ""
        if worst["mean_estimate"] > 0:
            sentence += (
                f"; for a calibrated model {worst['estimator']} prints "
                f"{worst['mean_estimate']:.2g}, where the median truth of the others is {truth:.2g}"
            )
        yield target, sentence + "."


def _corrections(league: pd.DataFrame) -> Iterator[dict[str, object]]:
    keys = ["scenario", "n_samples"]
    for name in league["estimator"].unique():
        if not name.endswith(SUFFIX):
            continue
        plain = league[league["estimator"] == name.removesuffix(SUFFIX)].set_index(keys)
        other = league[league["estimator"] == name].set_index(keys)
        for kind, is_distribution in (("Dirichlet distributions", True), ("networks", False)):
            chosen = plain["population"].str.startswith("dirichlet_") == is_distribution
            closer = (other["rmse"] < plain["rmse"])[chosen]
            if len(closer):
                sentence = (
                    f"Without its noise {name.removesuffix(SUFFIX)} is closer to the truth in "
                    f"{closer.sum()} of {len(closer)} cells on {kind}."
                )
                n_samples = int(plain.index.get_level_values("n_samples").max())
                target = plain["target"].iloc[0]
                cell = {"population": kind, "n_samples": n_samples}
                yield {**cell, "target": target, "sentence": sentence}


def read_multiclass_league(
    *,
    league: Path,
    output: Path,
) -> None:
    """Say in words what the league of estimators for all classes shows.

    league: table multiclass_league
    output: table to write
    """
    write_table(output, "multiclass_reading", reading_rows(read_table(league)))
