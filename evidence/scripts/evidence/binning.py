"""Bins and norms on trained networks of known error, and on genuine files.

    python -m evidence.binning NETWORKS_FOLDER SCORES_FOLDER OUTPUT_FOLDER

``networks.csv``: bias and root mean squared error, in points, over the judged networks, on the
ten parts of 1000 rows of each test fold and on the whole fold of 10 000. ``genuine.csv``: what each
rule prints for a file, and the audit's interval.
"""

import math
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import expit

import calbias
from calbias.defaults import N_BINS

PARTS = 10
_FIXED = (5, 10, N_BINS)


def rules(n: int) -> dict[str, tuple[str, int, float]]:
    """Return {rule: (estimator, number of bins, norm)} for n rows."""
    numbers = {**{str(b): b for b in _FIXED}, "cube root": math.ceil(n ** (1 / 3)),
               "square root": math.ceil(math.sqrt(n))}  # fmt: skip
    names = {"uniform": "ece_bin_ew", "quantile": "ece_bin_em"}
    table: dict[str, tuple[str, int, float]] = {
        f"{strategy}, {text}": (name, number, 1)
        for strategy, name in names.items()
        for text, number in numbers.items()
    }
    table["sweep"] = ("ece_sweep_em", N_BINS, 1)
    table["norm 2: quantile, 15"] = ("ece_bin_em", N_BINS, 2)
    table["norm 2: debiased, 15"] = ("ece_debias_em", N_BINS, 2)
    return table


def values(scores: np.ndarray, hits: np.ndarray) -> dict[str, float]:
    """Return what each rule prints, in points."""
    return {
        rule: 100 * calbias.estimate(name, scores, hits, n_bins=number, norm=norm).value
        for rule, (name, number, norm) in rules(scores.size).items()
    }


def on_networks(folder: Path) -> pd.DataFrame:
    """Return bias and RMSE of each rule over the networks that are not controls."""
    about = pd.read_csv(folder / "networks.csv")
    folds = dict([*pd.read_parquet(folder / "top_labels.parquet").groupby("name", observed=True)])
    rows = []
    for network in about[about.role != "control"].to_dict("records"):
        fold = folds[network["name"]]
        scores, hits = expit(fold.log_odds.to_numpy(float)), fold.hit.to_numpy()
        order = np.random.default_rng(0).permutation(scores.size)
        for part in [*np.array_split(order, PARTS), order]:
            for rule, value in values(scores[part], hits[part]).items():
                truth = network["l2_percent" if rule.startswith("norm 2") else "l1_percent"]
                rows.append({"rule": rule, "rows": part.size, "network": network["name"],
                             "saturated": network["share_above_99"] > 0.6,
                             "miss": value - truth})  # fmt: skip
    table = pd.DataFrame(rows)
    groups = []
    for is_saturated in (None, False, True):
        chosen = table if is_saturated is None else table[table.saturated == is_saturated]
        kind = {None: "all", False: "others", True: "saturated"}[is_saturated]
        by = chosen.groupby(["rule", "rows"], sort=False).miss
        means = chosen.groupby(["rule", "rows", "network"], sort=False).miss.mean()
        error = means.groupby(level=[0, 1], sort=False).std() / np.sqrt(chosen.network.nunique())
        columns = {"bias": by.mean(), "bias_se": error, "rmse": by.apply(lambda x: (x**2).mean())}
        group = pd.DataFrame(columns).reset_index().assign(
            networks=kind, n_networks=chosen.network.nunique()
        )  # fmt: skip
        groups.append(group.assign(rmse=np.sqrt(group.rmse)))
    return pd.concat(groups)


def on_files(folder: Path) -> pd.DataFrame:
    """Return what each rule prints for the files, with the interval of an audit."""
    rows = []
    for path in sorted(folder.glob("*.parquet")):
        table = pd.read_parquet(path)
        scores = table["score"].to_numpy(float)
        hits = (table["label"] == table["prediction"]).to_numpy(int)
        audit = calbias.audit(scores, hits)
        low, high = (100 * end for end in audit.interval)
        rows.append({"file": path.stem, "rows": scores.size, "low": low, "high": high,
                     "error": 100 * audit.error, **values(scores, hits)})  # fmt: skip
    return pd.DataFrame(rows)


def main(networks: str, scores: str, output: str) -> None:
    """Write both tables."""
    options = {"index": False, "float_format": "%.3f"}
    on_files(Path(scores)).to_csv(Path(output) / "genuine.csv", **options)
    on_networks(Path(networks)).to_csv(Path(output) / "networks.csv", **options)


if __name__ == "__main__":
    main(*sys.argv[1:])
