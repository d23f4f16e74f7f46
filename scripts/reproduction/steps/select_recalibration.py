"""Table 1 over all models with the published ticks, and how its conclusion depends on choices."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from calbias.errors import InputError
from pipeline.table_schema import columns_of
from pipeline.tables import read_table, validate_columns, write_table
from reproduction.selection import DEFAULT

PUBLISHED = {"ece_bin_ew": "ece_bin_selects_as_tce", "ece_sweep_em": "ece_sweep_selects_as_tce"}
"""The two estimators of the paper's Table 1 and their columns in the published table."""
_COLUMNS = [name for name in columns_of("recalibration_selection") if name != "published_agrees"]


def select_recalibration(
    *,
    selections: list[Path],
    published: Path,
    output_selection: Path,
    output_sensitivity: Path,
) -> None:
    """Gather the models' recalibration selections into Table 1 and its sensitivity.

    selections: of the models, which recalibrate_model writes
    published: published Table 1
    output_selection: Table 1 to write
    output_sensitivity: agreement under each open choice, to write
    """
    all_selections = gathered(selections)
    table = selection_table(all_selections, read_table(published), published)
    write_table(output_selection, "recalibration_selection", table)
    sensitivity = sensitivity_table(all_selections)
    write_table(output_sensitivity, "recalibration_sensitivity", sensitivity)


def gathered(paths: Sequence[Path]) -> pd.DataFrame:
    """Return the rows of the models' selections as one DataFrame, in the order of the files."""
    tables = []
    for path in paths:
        table = read_table(path)
        remedy = "give the selections that step recalibrate_model wrote"
        validate_columns(table, ("choice", *_COLUMNS), path, remedy)
        tables.append(table)
    joined = pd.concat(tables, ignore_index=True)
    twice = joined[joined.duplicated(["choice", "model", "source", "measure"])]
    if len(twice):
        raise InputError(f"model {twice['model'].iloc[0]} comes twice: give its selections once")
    return joined


def selection_table(selections: pd.DataFrame, published: pd.DataFrame, path: Path) -> pd.DataFrame:
    """Return ``recalibration_selection``; ``path`` is the published table's, for messages."""
    remedy = "give the published Table 1"
    validate_columns(published, ("model", *PUBLISHED.values()), path, remedy)
    ticks = published.set_index("model")
    table = selections.loc[selections["choice"] == DEFAULT.name, _COLUMNS]
    published_agrees = [
        ticks[PUBLISHED[measure]].get(model) if measure in PUBLISHED else None
        for model, measure in zip(table["model"], table["measure"], strict=True)
    ]
    return table.assign(published_agrees=published_agrees)


def sensitivity_table(selections: pd.DataFrame) -> pd.DataFrame:
    """Return ``recalibration_sensitivity``; the resamples of the models are independent."""
    f = selections["agreement_frequency"]
    selections = selections.assign(variance=f * (1 - f))
    groups = selections.groupby(["choice", "measure"], sort=False)
    return groups.agg(
        n_models=("model", "size"),
        n_agree=("agrees", "sum"),
        agreement_frequency=("agreement_frequency", lambda values: values.mean(skipna=False)),
        n_agree_sd=("variance", lambda values: np.sqrt(values.sum(skipna=False))),
        n_resamples=("n_resamples", "min"),
    ).reset_index()
