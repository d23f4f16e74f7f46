"""How near the averaged posterior comes to the truth, and how often its interval holds the truth.

Every estimator sees the same data sets. RMSE ratios are geometric means over cells (scenario × n);
their intervals are by the spread over scenarios, not over data sets.
"""

import math
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from calbias.auditing.intervals.interval import Interval
from calbias.auditing.intervals.posterior_hull import posterior_errors
from calbias.conventions import N_BINS
from calbias.engine.sorted_batch import sorted_data_set
from calbias.estimation.loading import load_estimator
from calbias.estimation.registry import estimator_file, literal
from evidence.studies.interval_coverage import clopper_pearson
from evidence.studies.posterior_scenarios import StudyScenario

OURS = "averaged_posterior"
RIVALS = ("ece_sweep_em", "plugin_loess", "ece_bin_em", "ece_bin_ew", "ece_debias_em")
SIZES = (200, 1000, 3000, 10_000)
LEVELS = (0.9, 0.95, 0.99)
NORMS = (1, 2)


def rmse_rows(scenario: StudyScenario, n: int, count: int) -> Iterator[dict[str, object]]:
    """Yield one row per estimator and norm: truth, bias, RMSE and its Monte Carlo error.

    Of ``count`` data sets fewer are drawn where n is above 3000, at least 60.
    """
    count = max(min(count, 60), min(count, count * 3000 // n))
    runs = {
        (name, norm): load_estimator(name)
        for name in (OURS, *RIVALS)
        for norm in NORMS
        if norm in (literal(estimator_file(name), "NORMS", None) or NORMS)
    }
    truths = scenario.truths()
    errors: dict[tuple[str, int], list[float]] = {key: [] for key in runs}
    for number in range(count):
        data = sorted_data_set(*scenario.draw(n, 0, number))
        for (name, norm), run in runs.items():
            value = float(run(data, N_BINS, float(norm))[0][0])
            errors[name, norm].append(value - truths[norm])
    for (name, norm), values in errors.items():
        squares = np.square(values)
        rmse = math.sqrt(squares.mean())
        yield {
            "half": scenario.half,
            "scenario": scenario.name,
            "estimator": name,
            "norm": norm,
            "n_samples": n,
            "truth": truths[norm],
            "bias": float(np.mean(values)),
            "rmse": rmse,
            "rmse_se": float(squares.std(ddof=1)) / math.sqrt(count) / (2 * max(rmse, 1e-12)),
            "n_data_sets": count,
        }


def ratios(table: pd.DataFrame, by: Sequence[str] = ()) -> pd.DataFrame:
    """Return geometric means of RMSE ratios, ours to a rival's, with 95 % over scenarios.

    ``table`` has the rows of ``rmse_rows``. ``is_calibrated`` tells scenarios of truth 0 apart.
    """
    table = table.assign(is_calibrated=table["truth"] < 1e-9)
    keys = ["half", "scenario", "norm", "n_samples", "is_calibrated"]
    ours = table[table["estimator"] == OURS].set_index(keys)["rmse"]
    rivals = table[table["estimator"] != OURS].set_index([*keys, "estimator"])["rmse"]
    joined = rivals.rename("rival").reset_index().join(ours.rename("ours"), on=keys)
    ours, rival = (joined[name].clip(lower=1e-5) for name in ("ours", "rival"))  # some are exact
    joined["log_ratio"] = np.log(ours / rival)
    rows, keys = [], ["half", "norm", "estimator", *by]
    for key, cells in joined.groupby(keys):
        per_scenario = cells.groupby("scenario")["log_ratio"].mean()
        mean = float(cells["log_ratio"].mean())
        few = len(per_scenario) < 2
        error = math.nan if few else float(per_scenario.std()) / math.sqrt(len(per_scenario))
        rows.append(
            {
                **dict(zip(keys, key, strict=True)),
                "ratio": math.exp(mean),
                "low": math.exp(mean - 1.96 * error),
                "high": math.exp(mean + 1.96 * error),
                "worst": math.exp(float(cells["log_ratio"].max())),
                "n_cells": len(cells),
            }
        )
    return pd.DataFrame(rows)


def coverage_rows(scenario: StudyScenario, n: int, count: int) -> Iterator[dict[str, object]]:
    """Yield one row per norm and level: coverage with exact limits, and the mean width."""
    truths = scenario.truths()
    found: dict[tuple[int, float], list[Interval]] = {(p, x): [] for p in NORMS for x in LEVELS}
    for number in range(count):
        errors = posterior_errors(sorted_data_set(*scenario.draw(n, 1, number)))
        for norm, level in found:
            found[norm, level].append(errors.interval(norm, level))
    for (norm, level), intervals in found.items():
        low, high = np.array(intervals).T
        truth = truths[norm]
        held = (low <= truth * (1 + 1e-9)) & (truth <= high)
        yield {
            "half": scenario.half,
            "scenario": scenario.name,
            "norm": norm,
            "nominal": level,
            "n_samples": n,
            "truth": truth,
            "coverage": float(held.mean()),
            **clopper_pearson(int(held.sum()), count)._asdict(),
            "below": float((high < truth).mean()),
            "mean_width": float((high - low).mean()),
            "n_data_sets": count,
        }
