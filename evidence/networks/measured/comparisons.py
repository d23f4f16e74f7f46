"""Comparisons of biases: each number with its standard error over networks.

The unit is a network: its mean over the seven sample sizes. Cells of one network are not
independent.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from measured.shipped import table

NEARER_THAN_FIT = ("scores_spline", "beta_glm_true_low")
DEBIAS, SWEEP = "ece_debias_em", "ece_sweep_em"
PAIRS = (
    ("ece_bin_em", "ece_bin_ew"),
    ("ece_debias_em", "ece_debias_ew"),
    ("ece_sweep_em", "ece_sweep_ew"),
    ("ece_sweep_em", "ece_bin_ew"),
    ("ece_sweep_em", "ece_debias_ew"),
    ("ece_debias_em", "ece_bin_ew"),
)


FIRST_JUDGED, JUDGED = "l2 above 4, judging", "l2 above 4, second judging"


def load(path: Path) -> pd.DataFrame:
    """Return all rows of the bias table, with each network's role, task and true error."""
    bias = pd.read_parquet(path)
    networks = pd.DataFrame(table().values())
    for column in ("l2_percent", "share_above_99", "gap_percent"):
        networks[column] = networks[column].astype(float)
    kept = ["name", "role", "task", "l2_percent", "share_above_99", "gap_percent"]
    return bias.merge(networks[kept], on="name")


def subsets(networks: pd.DataFrame) -> Iterator[tuple[str, pd.Series]]:
    """Yield the name and the mask of each set of networks."""
    l2, share, role = networks.l2_percent, networks.share_above_99, networks.role
    trained = role != "control"
    yield "l2 above 4", trained & (l2 > 4)
    yield "l2 above 4, design", (role == "design") & (l2 > 4)
    second = networks.index.str.startswith("k") & (l2 > 4)
    yield FIRST_JUDGED, networks.index.str.startswith("j") & (l2 > 4)
    yield JUDGED, second
    yield "l2 above 4, both judging", networks.index.str.match("[jk]") & (l2 > 4)
    yield f"{JUDGED}, saturated", second & (share > 0.4)
    for kind in ("signals", "uncertain"):
        in_kind = networks.task.str.startswith(kind)
        yield f"{JUDGED}, saturated, {kind}", second & (share > 0.4) & in_kind
    yield "l2 4 to 8", trained & (l2 > 4) & (l2 <= 8)
    yield "l2 8 to 15", trained & (l2 > 8) & (l2 <= 15)
    yield "l2 above 15", trained & (l2 > 15)
    yield "l2 above 4, over 40 % of scores above 0.99", trained & (l2 > 4) & (share > 0.4)
    yield "l2 above 4, over 60 % of scores above 0.99", trained & (l2 > 4) & (share > 0.6)
    yield "l2 above 4, signals", trained & (l2 > 4) & networks.task.str.startswith("signals")
    yield "l2 above 4, uncertain", trained & (l2 > 4) & networks.task.str.startswith("uncertain")
    for size, within in (("l2 4 to 20", (l2 > 4) & (l2 <= 20)), ("l2 above 20", l2 > 20)):
        yield f"{size}, second judging", second & within
        for kind in ("signals", "uncertain"):
            yield f"{size}, {kind}", trained & within & networks.task.str.startswith(kind)
    yield "l2 below 2", trained & (l2 < 2)
    yield "all", trained


def over_networks(values: pd.Series) -> dict[str, Any]:
    """Return mean, standard error, t and p over networks, and how many are above 0."""
    n = len(values)
    if n < 2:
        return {"n_networks": n}
    se = float(values.std(ddof=1)) / n**0.5
    t = float(values.mean()) / se if se else float("nan")
    return {
        "n_networks": n,
        "value": round(float(values.mean()), 4),
        "se": round(se, 4),
        "t": round(t, 2),
        "p": float(f"{2 * stats.t.sf(abs(t), n - 1):.2g}"),
        "n_above_0": int((values > 0).sum()),
    }


def comparisons(rows: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield |bias| of estimators, |debias_em| - |sweep_em| and its excess under each law."""
    rows = rows.assign(size=rows.bias_percent.abs())
    networks = rows.drop_duplicates("name").set_index("name")
    by_network = rows.pivot_table("size", "name", ["law", "estimator"])
    difference = {
        law: by_network[law][DEBIAS] - by_network[law][SWEEP] for law in rows.law.unique()
    }
    for label, mask in subsets(networks):
        names = networks.index[mask]
        for law in difference:
            for estimator in by_network[law].columns:
                values = by_network[law][estimator].loc[names]
                yield {"what": "mean |bias|", "law": law, "estimator": estimator, "set": label} | (
                    over_networks(values)
                )
            about = {"law": law, "estimator": "debias_em - sweep_em", "set": label}
            yield {"what": "difference"} | about | over_networks(difference[law].loc[names])
            excess = (difference[law] - difference["population"]).loc[names]
            if law != "population":
                yield {"what": "excess"} | about | over_networks(excess)
        for law in NEARER_THAN_FIT:
            fit, other = (abs(difference[x] - difference["population"]) for x in ("beta_glm", law))
            about = {"law": law, "estimator": "debias_em - sweep_em", "set": label}
            yield {"what": "nearer than the fit"} | about | over_networks((fit - other).loc[names])
        for a, b in PAIRS:
            values = (by_network["population"][b] - by_network["population"][a]).loc[names]
            about = {"law": "population", "estimator": f"{b} - {a}", "set": label}
            yield {"what": "advantage"} | about | over_networks(values)
    by_size = rows.pivot_table("size", "name", ["law", "n_samples", "estimator"])
    for label, mask in subsets(networks):
        names = networks.index[mask]
        for law in ("population", "beta_glm", "scores_spline"):
            for n in sorted(rows.n_samples.unique()):
                values = (by_size[law][n][DEBIAS] - by_size[law][n][SWEEP]).loc[names]
                about = {"law": law, "estimator": "debias_em - sweep_em", "set": label}
                yield {"what": f"difference at n = {n}"} | about | over_networks(values)


def predictions(rows: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield how well each law of the fold predicts the population's biases."""
    wide = rows.pivot_table("bias_percent", ["name", "n_samples", "estimator"], "law").reset_index()
    wide = wide.merge(rows.drop_duplicates("name")[["name", "role"]], on="name")
    wide = wide[wide.role != "control"]
    for role in ("all", "design", "judging"):
        some = wide if role == "all" else wide[wide.role == role]
        if some.empty:
            continue
        for law in ("beta_glm", "beta_glm_large", "scores_glm", "scores_spline"):
            for estimator in ("all", *sorted(some.estimator.unique())):
                part = some if estimator == "all" else some[some.estimator == estimator]
                error = part[law] - part.population
                explained = (
                    1 - (error**2).sum() / ((part.population - part.population.mean()) ** 2).sum()
                )
                for what, value in (
                    ("correlation", np.corrcoef(part.population, part[law])[0, 1]),
                    ("slope", np.polyfit(part[law], part.population, 1)[0]),
                    ("share explained", explained),
                    ("rms error", np.sqrt((error**2).mean())),
                    ("mean error", error.mean()),
                ):
                    yield {
                        "what": f"prediction: {what}",
                        "law": law,
                        "estimator": estimator,
                        "set": role,
                        "n_networks": part.name.nunique(),
                        "value": round(float(value), 4),
                    }
