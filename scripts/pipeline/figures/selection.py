"""Rows of result tables for a figure, with a one-line error where there are none."""

from typing import Any

import pandas as pd

from calbias.errors import InputError

Tables = dict[str, pd.DataFrame]  # by name

PRINTED = ("published_fits", "synthetic")  # sources of scenarios with the paper's own parameters


def rows(tables: Tables, stem: str, **equal: Any) -> pd.DataFrame:
    """Return the rows of ``tables[stem]`` with columns equal to these; InputError for none."""
    table = tables[stem]
    for column, value in equal.items():
        table = table[table[column] == value]
    if table.empty:
        values = ", ".join(f"{column} = {value}" for column, value in equal.items())
        raise InputError(
            f"results/tables/{stem}.csv: no row{' with ' + values if values else ''}, which the "
            "figure draws; run the experiments that it rests on with what it draws"
        )
    return table


def with_scenario(tables: Tables, bias: pd.DataFrame) -> pd.DataFrame:
    """Return rows of the bias table with the columns of their scenario, its group named."""
    known = tables["scenarios"].drop_duplicates(["experiment", "scenario"])
    merged = bias.merge(known, on=["experiment", "scenario"], how="left", validate="many_to_one")
    return merged.assign(group=merged["group"].fillna("other models"))


def norm(tables: Tables) -> str:
    """Return the norm of a run's calibration errors, such as ℓ2."""
    return f"ℓ{tables['true_calibration_error']['norm'].iloc[0]:g}"


def within_rounding(tables: Tables, experiment: str, scenario: str) -> str:
    """Return the range of a scenario's TCE within the paper's printed decimals, or nothing."""
    scenarios = tables["scenarios"]
    truths = scenarios[scenarios["scenario"] == scenario]
    is_printed = (truths["experiment"] == experiment) & truths["source"].isin(PRINTED)
    truths = truths[is_printed]
    ranges = truths.merge(tables["tce_rounding"], on=["scenario", "curve"])
    ranges = ranges.dropna(subset=["low_percent", "high_percent"])
    ends = ranges[["low_percent", "high_percent"]].to_numpy()
    return f"{ends[0, 0]:.2f}–{ends[0, 1]:.2f}" if len(ends) else ""


def in_order(column: pd.Series) -> list[Any]:
    """Return the distinct values of a column in order of first appearance, without NaN."""
    return list(dict.fromkeys(column.dropna()))


def preferred(table: pd.DataFrame, model: str) -> str:
    """Return the model to show alone: with real logits if there is one, ``model`` among equals."""
    best = table[table["source"] == table["source"].min()]  # real_logits before real_scores
    return model if (best["model"] == model).any() else best["model"].iloc[0]
