"""The league and the power of tests in words: every sentence follows from the tables by a rule."""

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from evidence.names import CLUSTERED, SWEEP, measure_name, name_of_test, scenario_name, target_name

WORDS = """\
- nearest: the least error (see the rule of the ranking).
- tied: worse by at most two Monte Carlo standard errors of the difference.
- off by its truth or more: an error of at least 100 %; an estimate of zero would be as near.
- hardly better: ten times the data or more take less than a tenth off the error.
- blind: power below 20 % at the largest n at which another test has more than 80 %.
"""

DISTRIBUTIONS = {"saturated": "a saturated classifier", "spread": "a classifier with spread scores",
        "tied": "scores of few values"}  # fmt: skip
CALIBRATION_ERRORS = ("l1", "l2")
NOTHING, LEARNS = 1.0, 0.9
BLIND, SEEN = 0.2, 0.8
MOST_NAMES = 3


def league_reading(ranking: pd.DataFrame) -> list[tuple[str, list[str]]]:
    """Return [(distribution in words, [sentence, …])] of table ``league_ranking``."""
    readings = []
    for distribution, words in DISTRIBUTIONS.items():
        rows = ranking[ranking["distribution"] == distribution]
        if rows.empty:
            continue
        sizes = sorted(rows["n_samples"].unique())
        extremes = dict.fromkeys((sizes[0], sizes[-1]))  # one where there is one size
        sentences = [_nearest(rows[rows["n_samples"] == n], n) for n in extremes]
        sentences += [_limit(rows[rows["n_samples"] == sizes[-1]], sizes[-1])]
        sentences += [_nothing(rows, extremes), _stuck(rows, sizes)]
        readings.append((words, [sentence for sentence in sentences if sentence]))
    return readings


def power_reading(power: pd.DataFrame) -> list[str]:
    """Return sentences on table ``test_power``: sizes that are off, and what tests are blind to."""
    power = power[~power["scenario"].str.startswith(CLUSTERED)]
    is_null = power["scenario"].str.endswith("_calibrated")
    null, wrong = power[is_null], power[~is_null]
    off = null[(null["rejection_rate"] - null["level"]).abs() > 3 * null["rejection_rate_se"]]
    words = ", ".join(
        f"{_test(row.test)} {row.rejection_rate:.0%} "
        f"({row.scenario.split('_')[0]} scores, n = {row.n_samples})"
        for row in off.itertuples()
    )
    sentences = [
        f"Of {len(null)} sizes (test, distribution of scores, n) {len(off)} differ from 5 % by "
        f"more than three Monte Carlo errors{words and ': ' + words}."
    ]
    best = wrong.groupby(["scenario", "n_samples"])["rejection_rate"].transform("max")
    seen = wrong[best > SEEN]
    last = seen.groupby(["test", "scenario"])["n_samples"].transform("max")
    blind = seen.assign(last=last)[seen["rejection_rate"] < BLIND]
    for test, rows in blind.groupby("test", sort=False):
        rows = rows[rows["n_samples"] == rows["last"]].sort_values("n_samples")
        words = "; ".join(
            f"{scenario_name(row.scenario)} ({row.rejection_rate:.0%} at n = {row.n_samples})"
            for row in rows.itertuples()
        )
        sentences += [f"{_test(test)} is blind to {words}."] if words else []
    n = power["n_samples"].max()
    hard = wrong[wrong["n_samples"] == n].groupby("scenario")["rejection_rate"].max()
    hard = hard[hard <= SEEN]
    if len(hard):
        words = "; ".join(
            f"{scenario_name(scenario)} (best {rate:.0%})" for scenario, rate in hard.items()
        )
        sentences.append(
            f"With {n:,} samples no test sees these in {SEEN:.0%} of the data sets: {words}."
        )
    return sentences


def detection_reading(detection: pd.DataFrame) -> list[str]:
    """Return a sentence for each n of table ``test_detection``: what the best and worst detect."""
    sentences = []
    for n, rows in detection.groupby("n_samples"):
        detected = rows.dropna(subset="tce_percent").sort_values("tce_percent")
        none = list(rows.loc[rows["tce_percent"].isna(), "test"])
        if len(detected):
            best, worst = detected.iloc[0], detected.iloc[-1]
            nothing = f", and {listed(map(_test, none))} none that was tried" if none else ""
            sentences.append(
                f"With {n:,} samples {_test(best['test'])} detects an ℓ2 error of "
                f"{best['tce_percent']:.1f} % in nine of ten data sets, "
                f"{_test(worst['test'])} one of {worst['tce_percent']:.1f} %{nothing}."
            )
    return sentences


def listed(names: Iterable[str]) -> str:
    """Return names as text: the first ``MOST_NAMES`` and how many others there are."""
    names = list(dict.fromkeys(names))
    others = len(names) - MOST_NAMES
    if others > 0:
        return f"{', '.join(names[:MOST_NAMES])} and {others} other{'s' if others > 1 else ''}"
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def _test(name: str) -> str:
    return f"“{name_of_test(name)}”"


def _nearest(rows: pd.DataFrame, n: int) -> str:
    """Return which measures are nearest to the ℓ1 and ℓ2 error, or to their truth, at one n."""
    groups = [(f"the {target_name(x)}", rows[rows["target"] == x]) for x in CALIBRATION_ERRORS]
    groups = [(words, group) for words, group in groups if len(group)] or [("its own truth", rows)]
    parts = [_best(group.sort_values("error", kind="stable"), words) for words, group in groups]
    return f"With {n:,} samples {' and '.join(parts)}."


def _best(rows: pd.DataFrame, target: str) -> str:
    """Return the best measure with its error, and how many are tied with it."""
    first, tied = rows.iloc[0], int((ranks(rows) == 1).sum()) - 1
    words = f", tied with {tied} other{'s' if tied > 1 else ''}" if tied else ""
    name = measure_name(first["estimator"])
    return f"“{name}” is nearest to {target} (off by {first['error']:.0%}{words})"


def _limit(rows: pd.DataFrame, n: int) -> str:
    """Return the information limits of the ℓ1 and ℓ2 error at one n."""
    limits = rows.dropna(subset="information_limit").drop_duplicates("target")
    limits = limits.set_index("target")["information_limit"]
    words = " and ".join(
        f"{limits[target]:.0%} of the {target_name(target)}"
        for target in CALIBRATION_ERRORS
        if target in limits
    )
    return words and (
        f"With {n:,} samples an unbiased measure is off by at least {words}; a biased one can be "
        "nearer, at the cost of other curves."
    )


def _nothing(rows: pd.DataFrame, extremes: Iterable[int]) -> str:
    """Return how many measures are off by their truth or more, with few and with many samples."""
    words = [
        f"{(rows_of_n['error'] >= NOTHING).sum()} of {len(rows_of_n)} measures with {n:,} samples"
        for n in extremes
        for rows_of_n in [rows[rows["n_samples"] == n]]
    ]
    return f"No nearer to their own truth than a report of zero are {' and '.join(words)}."


def _stuck(rows: pd.DataFrame, sizes: Sequence[int]) -> str:
    """Return which measures more data do not help."""
    wide = rows.pivot(index="entry", columns="n_samples", values="error")
    never = wide.index[wide.ge(NOTHING).all(axis=1)]
    stuck = wide.index[wide[sizes[-1]] > LEARNS * wide[sizes[0]]].difference(never)
    words = []
    if len(never) and len(sizes) > 1:
        words.append(f"{_entries(never)} stay so at every n")
    if len(stuck) and sizes[-1] >= 10 * sizes[0]:
        words.append(f"more data hardly help {_entries(stuck)}")
    sentence = "; ".join(words)
    return sentence and f"{sentence[0].upper()}{sentence[1:]}."


def _entries(entries: Iterable[str]) -> str:
    return listed(f"“{measure_name(entry.partition(' → ')[0])}”" for entry in entries)


def ranks(rows: pd.DataFrame) -> pd.Series:
    """Return 1 + the number of rows whose error is clearly smaller, a Series."""
    error, se = rows["error"].to_numpy(), rows["error_se"].to_numpy()
    apart = error[None, :] + 2 * np.hypot(se[None, :], se[:, None]) < error[:, None]
    return pd.Series(1 + apart.sum(axis=1), rows.index)


def subsampled_summary(table: pd.DataFrame) -> pd.DataFrame:
    """Return geometric means of the ratios over files, with errors over files, and wins."""
    keys = ["kind", "n_samples", "estimator"]
    logs = table.assign(
        ratio_to_sweep=np.log(table["ratio_to_sweep"]),
        own_ratio_to_sweep=np.log(table["own_ratio_to_sweep"]),
        nearer=table["ratio_to_sweep"] < 1,
    )
    groups = logs[logs["estimator"] != SWEEP].groupby(keys, sort=False)
    result = groups.agg(files=("data_set", "size"), nearer_than_sweep=("nearer", "sum"))
    for name in ("ratio_to_sweep", "own_ratio_to_sweep"):
        result[name] = np.exp(groups[name].mean())
        result[f"{name}_se"] = result[name] * groups[name].sem()
    return result.reset_index()
