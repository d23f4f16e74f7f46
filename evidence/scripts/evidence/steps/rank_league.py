"""The league's ranking: which measure is nearest to its own truth, and how sensitive that is.

Beside it stands what no estimator of the calibration error can pass.

**Bound.** With gap δ = c(S) − S, the efficient influence functions of the errors are

    ℓ1:  |δ| − ℓ1 + sign(δ) (Y − c)              variance  Var |δ| + E 1{δ ≠ 0} c (1 − c)
    ℓ2:  [δ² − ℓ2² + 2 δ (Y − c)] / (2 ℓ2)       variance  [Var δ² + 4 E δ² c (1 − c)] / (4 ℓ2²)

The root of variance/n is the least standard error, for large n, of an estimator that is unbiased
near the curve (van der Vaart, *Asymptotic Statistics*, 1998, chapter 25). Where the model is
calibrated the errors have no derivative and there is no such bound: NaN. A biased estimator, which
pays at other curves, can be below the bound at one.
"""

import math
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from calbias.simulation import rmse_error
from calbias.truth.scenarios import Scenario
from calbias.truth.targets import Population, population_of_scenario
from evidence.league import CURVES, DISTRIBUTIONS
from evidence.reading import ranks
from evidence.steps.run_league import UNIFORM, pays
from pipeline.table_schema import columns_of
from pipeline.tables import read_table, write_table


def information_limit(population: Population, norm: int) -> float:
    """Return √n times the least standard error of an unbiased estimate; NaN if calibrated.

    ``norm`` is 1 or 2; ``population`` is weighted scores with their gaps.
    """
    scores, gaps, weights = population
    curve = np.clip(scores + gaps, 0.0, 1.0)
    noise = curve * (1.0 - curve)
    square = float(weights @ gaps**2)
    if square < 1e-18:
        return math.nan
    if norm == 1:
        mean = float(weights @ abs(gaps))
        return math.sqrt(square - mean * mean + float(weights @ (noise * (gaps != 0.0))))
    spread = float(weights @ gaps**4) - square * square
    return math.sqrt((spread + 4.0 * float(weights @ (gaps**2 * noise))) / (4.0 * square))


def relative_limit(scenario: Scenario, norm: int) -> float:
    """Return the limit of `information_limit` as a share of the true error."""
    population = population_of_scenario(scenario, 1 << 16)
    truth = float(population.weights @ abs(population.gaps) ** norm) ** (1.0 / norm)
    return information_limit(population, norm) / truth


RULE = """\
The error of a measure on a scenario is its RMSE as a share of its own truth, halved where the
truth is a square, because a square's share is twice its root's. On a distribution at sample size n
a measure has the median error over the miscalibrated scenarios (slopes 0.5, 0.8 and 1.25, shift,
wave; of tied scores: values off by eight points up or down, slope 0.7, shift). Its rank is 1 + the
number of measures whose error is smaller by more than two Monte Carlo standard errors; measures
that the simulation cannot tell apart share a rank.
"""

SQUARES = ("l2_squared", "kernel_ce", "isotonic_gain", "averaged_two_bin")
ROOTED = ("mmce",)  # an estimator of kernel_ce that takes the root
NORMS = {"l1": 1, "l2": 2, "l2_squared": 2}  # of the targets that have an information limit
MISCALIBRATED = [name for name in CURVES if name != "calibrated"]
_KEYS = ["distribution", "n_samples", "entry"]


def league_errors(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of table ``league`` on DISTRIBUTIONS and ties, with curve, entry, error.

    ``points`` is the RMSE in percentage points, empty for squares; ``error_se`` the Monte Carlo
    standard error of ``error``: var(MSE) = (4 bias²·sd² + 2 sd⁴)/m.
    """
    parts = table["scenario"].str.partition("_")
    rows = table.assign(distribution=parts[0], curve=parts[2])
    rows = rows[rows["distribution"].isin([*DISTRIBUTIONS, "tied"])]
    is_square = rows["target"].isin(SQUARES) & ~rows["estimator"].isin(ROOTED)
    half = np.where(is_square, 0.5, 1.0)
    rmse_se = rmse_error(rows["bias"], rows["sd"], rows["n_replicates"], rows["rmse"])
    return rows.assign(
        entry=rows["estimator"] + " → " + rows["target"],
        error=half * rows["relative_rmse"],
        error_se=half * rmse_se / rows["truth"].where(rows["truth"] > 0),
        points=(100 * rows["rmse"]).where(~is_square),
    )


def league_ranking(table: pd.DataFrame) -> pd.DataFrame:
    """Return table ``league_ranking`` from table ``league``, sorted."""
    errors = league_errors(table)
    others = []
    for curve, rows in errors[~_is_calibrated(errors)].groupby("curve"):
        has_curve = errors["distribution"].isin(rows["distribution"])
        others.append(_ranked(errors[has_curve & (errors["curve"] != curve)])["rank"])
    ranks = pd.concat(others, axis=1)
    calibrated = errors[_is_calibrated(errors)].set_index(_KEYS)["points"]
    ranking = (
        _ranked(errors)
        .assign(rank_low=ranks.min(axis=1), rank_high=ranks.max(axis=1))
        .astype({"rank_low": int, "rank_high": int})
    )
    ranking = ranking.join(calibrated.rename("calibrated_percent")).reset_index()
    ranking[["estimator", "target"]] = ranking["entry"].str.split(" → ", expand=True).to_numpy()
    ranking["information_limit"] = _limits(ranking)
    ranking["hiding_pays"] = ranking["entry"].map(_hiding_pays(table))
    return ranking.sort_values(["distribution", "n_samples", "error", "entry"], ignore_index=True)


def league_sensitivity(table: pd.DataFrame) -> pd.DataFrame:
    """Return table ``league_sensitivity``: the ranking by other rules."""
    errors = league_errors(table)
    wrong = errors[~_is_calibrated(errors)]
    groups = wrong.groupby(_KEYS)
    usual = groups["error"].median()
    rules = {
        f"without {curve}": wrong[wrong["curve"] != curve].groupby(_KEYS)["error"].median()
        for curve in MISCALIBRATED
    }
    rules["mean over scenarios"] = groups["error"].mean()
    rules["worst scenario"] = groups["error"].max()
    rules["squares not halved"] = groups["relative_rmse"].median()
    points = errors.groupby(_KEYS)["points"].median()
    rules["RMSE in points, calibrated among the scenarios"] = points.dropna()
    rows = []
    for rule, values in rules.items():
        both = pd.concat([usual, values], axis=1, keys=["usual", "other"]).dropna()
        for (distribution, n), part in both.groupby(level=["distribution", "n_samples"]):
            correlation = part["usual"].corr(part["other"], method="spearman")
            rows.append((distribution, n, rule, len(part), correlation, part["other"].idxmin()[2]))
    return pd.DataFrame(rows, columns=list(columns_of("league_sensitivity")))


def _is_calibrated(errors: pd.DataFrame) -> pd.Series:
    return errors["curve"].str.endswith("calibrated")


def _ranked(errors: pd.DataFrame) -> pd.DataFrame:
    """Return error, error_se, worst, rank and n_replicates, a DataFrame by _KEYS."""
    entries = errors[~_is_calibrated(errors)].groupby(_KEYS).agg(
        error=("error", "median"), error_se=("error_se", "median"), worst=("error", "max"),
        n_replicates=("n_replicates", "min"),
    )  # fmt: skip
    entries["rank"] = entries.groupby(level=["distribution", "n_samples"], group_keys=False).apply(
        ranks
    )
    return entries


def _hiding_pays(table: pd.DataFrame) -> pd.Series:
    """Return whether saying less lowers a measure's expected value, {entry: bool}."""
    rows = table[table["scenario"] == UNIFORM.name]
    less = pays(rows, "two_values") | pays(rows, "base_rate")
    return less.groupby(rows["estimator"] + " → " + rows["target"]).any()


def _limits(rows: pd.DataFrame) -> NDArray:
    """Return the median least error of an unbiased estimate, NaN for targets without a limit.

    By the delta method the share of a square, halved, has the limit of its root.
    """
    per_root: dict[tuple[str, int], float] = {}  # the limit falls with the root of n
    for distribution in DISTRIBUTIONS.keys() & set(rows["distribution"]):
        scenarios = [
            Scenario(name, *DISTRIBUTIONS[distribution], CURVES[name]) for name in MISCALIBRATED
        ]
        for norm in (1, 2):
            limits = [relative_limit(scenario, norm) for scenario in scenarios]
            per_root[distribution, norm] = float(np.median(limits))
    norms = rows["target"].map(NORMS)
    limits = [per_root.get(key, np.nan) for key in zip(rows["distribution"], norms, strict=True)]
    return np.array(limits) / np.sqrt(rows["n_samples"].to_numpy())


def rank_league(
    *,
    league: Path,
    output_ranking: Path,
    output_sensitivity: Path,
) -> None:
    """Rank the measures of the league, and by other rules.

    league: table league (CSV)
    output_ranking: table league_ranking to write
    output_sensitivity: table league_sensitivity to write
    """
    table = read_table(league)
    write_table(output_ranking, "league_ranking", league_ranking(table))
    write_table(output_sensitivity, "league_sensitivity", league_sensitivity(table))
