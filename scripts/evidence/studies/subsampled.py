"""Which estimator comes nearest to the value on all rows, from a few rows of genuine data?

Rows of genuine scores, forecasts and language models' answers are drawn without replacement, at
most half of them, and every estimator of the ℓ2 error sees the same subsamples. The truth is not
known. Two references stand in for it:

- the debiased estimate (``ece_debias_em``) on all rows, which has little bias and, as the table
  says, a standard error; an estimator like it, or one that errs as it does, is favoured;
- the estimator's own value on all rows, which favours an estimator that is stable and wrong.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from calbias.engine.seeding import stream
from calbias.engine.sorted_batch import of_sorted_scores
from evidence.estimators import load_estimator
from evidence.studies.predicted_bias import N_BINS, reference_and_error

ESTIMATORS = (
    "averaged_posterior", "ece_sweep_em", "ece_debias_em", "ece_bin_ew", "plugin_loess",
)  # fmt: skip
SWEEP = "ece_sweep_em"
SIZES = {"scores": (500, 2000), "forecasts": (500, 2000), "answers": (100, 300)}
_LEAST = 1e-12  # of a mean square


def subsampled_rows(
    kind: str, name: str, top: Any, subsamples: int, seed: int
) -> Iterator[dict[str, Any]]:
    """Yield the rows of table ``subsampled`` of one file: TopLabel ``top`` of all its rows."""
    order = np.argsort(top.score, kind="stable")
    scores, hits = top.score[order], top.hit[order]
    runs = {estimator: load_estimator(estimator) for estimator in ESTIMATORS}
    whole = of_sorted_scores(scores, hits[None])
    own = {estimator: run(whole, N_BINS)[0][0] for estimator, run in runs.items()}
    reference, reference_se = reference_and_error(top, subsamples, stream(seed, "reference", name))
    for n in (n for n in SIZES[kind] if 2 * n <= hits.size):
        generator = stream(seed, "subsampled", name, str(n))
        values = {estimator: np.empty(subsamples) for estimator in runs}
        for k in range(subsamples):
            chosen = np.sort(generator.choice(hits.size, n, replace=False, shuffle=False))
            data = of_sorted_scores(scores[chosen], hits[chosen][None])
            for estimator, run in runs.items():
                values[estimator][k] = run(data, N_BINS)[0][0]
        squares = {name: (found - reference) ** 2 for name, found in values.items()}
        of_own = {name: (found - own[name]) ** 2 for name, found in values.items()}
        for estimator, found in values.items():
            ratio, ratio_se = _ratio(squares[estimator], squares[SWEEP])
            own_ratio, own_ratio_se = _ratio(of_own[estimator], of_own[SWEEP])
            yield {
                "kind": kind,
                "data_set": name,
                "n_rows": hits.size,
                "n_samples": n,
                "estimator": estimator,
                "n_subsamples": subsamples,
                "reference_percent": 100 * reference,
                "reference_se_percent": 100 * reference_se,
                "own_reference_percent": 100 * own[estimator],
                "mean_estimate_percent": 100 * found.mean(),
                "rmse_percent": 100 * np.sqrt(squares[estimator].mean()),
                "ratio_to_sweep": ratio,
                "ratio_to_sweep_se": ratio_se,
                "own_ratio_to_sweep": own_ratio,
                "own_ratio_to_sweep_se": own_ratio_se,
            }


def _ratio(squares: np.ndarray, others: np.ndarray) -> tuple[float, float]:
    """Return the ratio of two root mean squares of the same subsamples, and its error."""
    one, other = max(squares.mean(), _LEAST), max(others.mean(), _LEAST)
    ratio = np.sqrt(one / other)
    spread = (squares / one - others / other).std(ddof=1)
    return ratio, ratio * spread / (2 * np.sqrt(squares.size))


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Return geometric means of the ratios over files, with errors over files, and wins."""
    keys = ["kind", "n_samples", "estimator"]
    logs = table.assign(
        ratio_to_sweep=np.log(table["ratio_to_sweep"]),
        own_ratio_to_sweep=np.log(table["own_ratio_to_sweep"]),
        nearer=table["ratio_to_sweep"] < 1,
    )
    groups = logs[logs["estimator"] != SWEEP].groupby(keys, sort=False)
    found = groups.agg(files=("data_set", "size"), nearer_than_sweep=("nearer", "sum"))
    for name in ("ratio_to_sweep", "own_ratio_to_sweep"):
        found[name] = np.exp(groups[name].mean())
        found[f"{name}_se"] = found[name] * groups[name].sem()
    return found.reset_index()
