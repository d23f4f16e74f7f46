"""Kull et al. (2019), Table 3, with noise floors: which of its differences are more than noise.

The table prints the class-wise ECE summed over classes, of 14 networks and six methods. For a
network of the run, whose uncalibrated value comes out as printed, the floor and the spread of a
difference are computed from its own outputs; for another they are medians over the run's networks
of as many classes and test rows. Of a method that these lack (Dirichlet with ℓ2) they are medians
over the other recalibrations of the table. A method is *undecided by noise* against the best of its
row if the distance is at most 1.96 standard deviations of the difference on common labels and of
the rounding of both numbers.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from evidence.names import BEST, UNDECIDED, UNKNOWN, WORSE
from pipeline.tables import write_table

DIFFERENCES = "classwise_ece_14_bins_sum"
"""The measure of the table: the published code's bins are 14, and a probability of 1 alone."""
METHODS = (
    "uncalibrated",
    "temperature_scaling",
    "dirichlet_l2",
    "dir_odir",
    "vector_scaling",
    "ms_odir",
)
PAIR = ["method_a", "method_b", "difference_sd"]
ROUNDED = 0.00051
ROUNDING_SD = 0.001 / np.sqrt(12)
Z = 1.96


def printed_rows(
    printed: pd.DataFrame, floors: pd.DataFrame, differences: pd.DataFrame
) -> Iterator[dict[str, Any]]:
    """Yield the rows of table ``kull2019_table3``."""
    floors = floors[floors["measure"] == DIFFERENCES]
    kinds = floors.drop_duplicates("model").set_index("model")[["n_classes", "n_samples"]]
    for network in printed.to_dict("records"):
        model, kind = network["model"], [network["n_classes"], network["n_samples"]]
        alike = kinds.index[(kinds == kind).all(axis=1)]
        has_outputs = model in alike and _is_printed(floors, network)
        models = [model] if has_outputs else list(alike)
        best = min(METHODS, key=lambda method: network[method])
        source = (
            "its own outputs" if has_outputs else f"{len(models)} other networks" if models else ""
        )
        kind_rows = floors[floors["model"].isin(models)]
        pairs = differences.loc[differences["model"].isin(models), PAIR].to_numpy().tolist()
        for method in METHODS:
            rows = kind_rows[kind_rows["method"] == method]
            noise = kind_rows[kind_rows["method"].isin(METHODS[1:])] if rows.empty else rows
            distance = network[method] - network[best]
            sd = _spread(pairs, method, best)
            spread = Z * np.hypot(sd, np.sqrt(2) * ROUNDING_SD)
            yield {
                **{key: network[key] for key in ("model", "n_classes", "n_samples")},
                "method": method,
                "printed": network[method],
                "recomputed": rows["value"].iloc[0] if has_outputs and len(rows) else float("nan"),
                "floor": noise["floor"].median(),
                "floor_sd": noise["floor_sd"].median(),
                "floor_from": source,
                "best_method": best,
                "distance_to_best": distance,
                "distance_sd": sd,
                "verdict": _verdict(method == best, distance, spread),
            }


def _is_printed(floors: pd.DataFrame, network: dict[str, Any]) -> bool:
    """Return whether the outputs of that name are the printed network's: its value comes out."""
    rows = floors[(floors["model"] == network["model"]) & (floors["method"] == METHODS[0])]
    return bool(((rows["value"] - network[METHODS[0]]).abs() <= ROUNDED).any())


def _spread(pairs: list[list[Any]], a: str, b: str) -> float:
    """Return the standard deviation of the difference of two methods, the median over models."""
    found = [sd for *methods, sd in pairs if {*methods} == {a, b}]
    found = found or [sd for *methods, sd in pairs if {*methods} <= {*METHODS[1:]}]
    return float(np.median(found)) if found else float("nan")


def _verdict(is_best: bool, distance: float, spread: float) -> str:
    if is_best:
        return BEST
    if np.isnan(spread):
        return UNKNOWN
    return UNDECIDED if distance <= spread else WORSE


def judge_printed_classwise(
    *,
    printed: Path,
    floors: Path,
    differences: Path,
    output: Path,
) -> None:
    """Put noise floors next to Kull et al. (2019), Table 3, and say which methods are told apart.

    printed: the printed table (CSV)
    floors: table noise_floors
    differences: table method_differences
    output: table to write
    """
    tables = (pd.read_csv(path) for path in (printed, floors, differences))
    write_table(output, "kull2019_table3", printed_rows(*tables))
