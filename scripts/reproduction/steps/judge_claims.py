"""The claims judged, and the published numbers next to the recomputed ones."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pipeline.claims.ledger import judge_all, ledger_table, measurement_table
from pipeline.claims.run_tables import RunTables
from pipeline.claims.verdicts import NotJudged
from pipeline.logits import REAL_LOGITS, REAL_SCORES
from pipeline.paper import N_REPLICATES, TYPE_1_RATE
from pipeline.table_schema import columns_of
from pipeline.tables import read_tables, write_table
from reproduction.bias import error_of_mean
from reproduction.standard_errors import rows_with_table3_errors

Row = tuple[Any, ...]
_Z = 1.96  # standard errors from the middle of a 95 % range to its end


def judge_claims(
    *,
    tables: dict[str, Path],
    output_claims: Path,
    output_measurements: Path,
    output_comparison: Path,
) -> None:
    """Judge the claims from result tables: tables ``claims``, ``measurements`` and ``comparison``.

    Verdicts come from rules on numbers (``reproduction.claims``); a claim without its tables is not
    judged. The last table has the published numbers next to the recomputed ones.

    tables: result tables, as NAME=PATH
    output_claims: table claims to write
    output_measurements: table measurements to write
    output_comparison: table comparison to write
    """
    run = RunTables(read_tables(tables))
    judged = judge_all(run, "reproduction")
    measurements = measurement_table(judged)
    write_table(output_claims, "claims", ledger_table(judged, run.tables.get("batch_verdicts")))
    write_table(output_measurements, "measurements", measurements)
    write_table(output_comparison, "comparison", comparison(run, measurements))


def comparison(run: RunTables, measurements: pd.DataFrame) -> pd.DataFrame:
    """Return the table ``comparison``: Tables 2 to 4, then what the claims measured.

    ``run`` has the result tables, ``measurements`` is the table of this name.
    ``standard_error`` is of the difference: for fits of real logits the error of Table 3's means
    over ten resamples; the Monte Carlo errors of simulated means, the paper's taken from its 1000
    replicates; in the text's figures the rounding of the printed number too. It is empty where the
    paper computed the number from the same data, and where no error is known. Tables that this run
    did not compute are left out.
    """
    fits = run.printed_fits()
    rows = [
        *_table_2(run, fits),
        *_table_3(run, fits),
        *_table_4(run),
        *_type_1(run),
        *_measured(measurements),
    ]
    names = "where quantity model source published recomputed standard_error"
    table = pd.DataFrame(rows, columns=names.split())
    error = table["standard_error"].where(table["standard_error"] > 0)
    difference = table["recomputed"] - table["published"]
    columns = {"difference": difference, "standard_error": error}
    table = table.assign(**columns, n_standard_errors=difference / error)
    return table[list(columns_of("comparison"))]


def _table_2(run: RunTables, fits: Iterable[str]) -> Iterator[Row]:
    for row in _rows(run, "beta_fits", fits).itertuples():
        for name in ("alpha", "beta"):
            values = getattr(row, f"published_{name}"), getattr(row, name), np.nan
            yield "Table 2", name, row.model, row.source, *values


def _table_3(run: RunTables, fits: Iterable[str]) -> Iterator[Row]:
    beta_fits, glm_fits = _rows(run, "beta_fits", fits), _rows(run, "glm_fits", fits)
    if beta_fits.empty or glm_fits.empty:
        return
    for row, resampled in rows_with_table3_errors(beta_fits, glm_fits):
        errors = resampled if row["source"] == REAL_LOGITS else {}
        for name in ("b0", "b1", "aic"):
            published = row[f"published_{name}"]
            if np.isfinite(published):
                values = published, row[name], errors.get(name, np.nan)
                yield "Table 3", f"{row['glm']} {name}", row["model"], row["source"], *values


def _table_4(run: RunTables) -> Iterator[Row]:
    table = run.tables.get("ece_bin_real_and_simulated")
    if table is None:
        return
    bias = run.tables.get("bias", pd.DataFrame(columns=["experiment", "n_replicates"]))
    ours = bias.loc[bias["experiment"] == "fits", "n_replicates"].max()
    ours = float(ours) if ours > 0 else N_REPLICATES
    for row in table.dropna(subset=["published_ece_bin_percent"]).itertuples():
        fold = ", test fold" if row.source == REAL_SCORES else ""
        values = row.published_ece_bin_percent, row.ece_bin_percent, np.nan
        if np.isfinite(row.ece_bin_percent):
            yield "Table 4", f"ECE_bin{fold}, percent", row.model, row.source, *values
        error = row.simulated_se_percent * np.sqrt(1 + ours / N_REPLICATES)
        values = row.published_simulated_percent, row.mean_simulated_ece_bin_percent, error
        quantity = "mean simulated ECE_bin, percent"
        yield "Table 4", quantity, row.model, row.simulated_source, *values


def _type_1(run: RunTables) -> Iterator[Row]:
    try:
        source, table = run.source("detection"), run.table("detection_limits")
    except NotJudged:
        return
    for estimator, limits in table.dropna(subset="type_1_rate").groupby("estimator"):
        by_n = limits.drop_duplicates("n_samples")
        error = error_of_mean(by_n["type_1_rate_se"])
        quantity = f"type I error of the test, {estimator}, mean over n"
        yield "§7.2", quantity, "", source, TYPE_1_RATE, by_n["type_1_rate"].mean(), error


def _measured(measurements: pd.DataFrame) -> Iterator[Row]:
    """Yield the measurements with a published number; an error is the known ones together."""
    for row in measurements.dropna(subset=["published", "value"]).itertuples():
        error = row.error if np.isfinite(row.error) else (row.high - row.low) / (2 * _Z)
        words = (row.name, row.case, row.unit)
        quantity = ", ".join(word for word in words if isinstance(word, str) and word)
        error = np.hypot(error, row.published_error)
        yield row.where, quantity, "", row.source, row.published, row.value, error


def _rows(run: RunTables, stem: str, fits: Iterable[str]) -> pd.DataFrame:
    table = run.tables.get(stem)
    table = pd.DataFrame(columns=["model"]) if table is None else table
    return table[table["model"].isin(list(fits))]
