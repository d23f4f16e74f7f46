from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from pipeline.figures import style
from pipeline.figures.selection import Tables
from pipeline.tables import read_table, read_tables
from reproduction.figures import bias_by_n, fig5_detection, worst_cells
from reproduction.steps.judge_estimator import PAPER, errors_of, opponent, shared_cells

WORST = 3


def draw_estimator(
    *,
    tables: dict[str, Path],
    scenarios: list[Path],
    estimators: list[str],
    output: Path,
) -> None:
    """Draw an estimator's figures: those of the paper, it in front; RMSE by n; its worst cells.

    tables: its rows of bias, detection and detection_limits, and the other estimators', as
        NAME=PATH
    scenarios: scenario tables of the experiments realistic and perfect
    estimators: names
    output: folder to write the pictures into
    """
    contents = read_tables(tables)
    all_scenarios = pd.concat([read_table(path) for path in scenarios])
    rows = contents["bias"]
    others = contents["others_bias"]
    others = others[~others["estimator"].isin(estimators)]
    shown = {"bias": with_others(rows, others), "scenarios": all_scenarios}
    limits = with_others(contents["detection_limits"], contents["others_limits"])
    detection = {"detection": contents["detection"], "detection_limits": limits}
    rmse, error = errors_of(shown["bias"], "rmse")
    as_rmse = shown["bias"].assign(bias_percent=rmse, bias_se_percent=error)
    options = bias_by_n.FIGURES
    figures = {
        **{
            name: style.drawn(bias_by_n.draw, shown, **options[name], protagonists=estimators)
            for name in options
        },
        "fig5_detection": style.drawn(fig5_detection.draw, detection, protagonists=estimators),
        "rmse_by_n": style.drawn(
            bias_by_n.draw, shown | {"bias": as_rmse}, **options["fig4_realistic"],
            protagonists=estimators, label="RMSE (%)",
        ),
        "worst_cells": style.drawn(_worst, shown, estimators=estimators),
    }  # fmt: skip
    for name, figure in figures.items():
        style.save(figure, output / f"{name}.png", output / f"{name}.pdf")


def with_others(rows: pd.DataFrame, others: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of a table, with the other estimators' on the same cells."""
    keys = [name for name in ("experiment", "scenario", "n_samples") if name in rows]
    cells = pd.MultiIndex.from_frame(rows[keys])
    others = others[~others["estimator"].isin(rows["estimator"])]
    return pd.concat([rows, others[pd.MultiIndex.from_frame(others[keys]).isin(cells)]])


def _worst(tables: Tables, estimators: Sequence[str]) -> Figure:
    bias = tables["bias"].merge(tables["scenarios"], on=["experiment", "scenario"])
    keys = ["experiment", "scenario", "n_samples"]
    cells = worst(tables["bias"], estimators)
    parts = [bias[(bias[keys] == list(cell)).all(axis=1)] for cell in cells]
    return worst_cells.draw(parts, estimators)


def worst(bias: pd.DataFrame, estimators: Sequence[str]) -> list[tuple[str, str, int]]:
    """Return (experiment, scenario, n) of the cells that are worst against the opponent.

    ``bias`` has the rows of all estimators; |bias| less that of the opponent decides.
    """
    losses: dict[tuple[str, str, int], float] = {}
    for name in estimators:
        for experiment in (PAPER, "perfect"):
            rows = {
                each: bias[(bias["experiment"] == experiment) & (bias["estimator"] == each)]
                for each in (opponent(name), name)
            }
            a, b = shared_cells(*rows.values())
            loss = errors_of(b, "bias")[0] - errors_of(a, "bias")[0]
            for (scenario, n), value in zip(a.index, loss, strict=True):
                key = (experiment, scenario, int(n))
                losses[key] = max(value, losses.get(key, value))
    return sorted(losses, key=lambda key: -losses[key])[:WORST]
