"""The rows of tables ``audit_estimates``, ``audit_verdicts`` and ``audit_diagrams``.

Errors are in percent with four decimals, three more than the Monte Carlo error deserves; what is
not known is empty.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from calbias.auditing.audit import audit_data
from calbias.auditing.data import Data, Options
from calbias.auditing.error.estimator_bias import ESTIMATORS
from calbias.auditing.inputs import read_data
from calbias.auditing.page.page import page
from calbias.auditing.results import Audit
from calbias.errors import InputError
from calbias.estimation.registry import FOLDER
from calbias.reading.columns import Columns
from pipeline.logits import REAL_SCORES, Origin, read_top_labels
from pipeline.manifest import verify_shipped
from pipeline.steps import Seed
from pipeline.table_schema import columns_of
from pipeline.tables import write_table
from pipeline.write_results import write_text

Row = dict[str, Any]


def audit_model(
    *,
    top_labels: Path | None,
    scores: Path | None,
    manifest: Path,
    label: str | None,
    cluster: list[str],
    estimator_dir: list[str],
    name: str,
    estimators: list[str],
    n_bins: int,
    norm: float,
    seed: Seed,
    output_page: Path,
    output_numbers: Path,
    output_estimates: Path,
    output_verdict: Path,
    output_diagram: Path,
) -> None:
    """Audit one model of the workflow: the page and the numbers that ``calbias audit`` writes.

    top_labels: the model's top-label table
    scores: a file of top-label scores, instead of it
    manifest: the shipped files (JSON)
    label: its column of an event's labels: scores are then of it
    cluster: its columns of clusters of rows
    estimator_dir: folder of your own estimators
    name: the model's name, for the title
    estimators: estimators besides the ones of every audit
    n_bins: number of bins
    norm: p of the ℓp errors
    seed: seed of all random streams
    output_page: page to write (HTML)
    output_numbers: the same numbers, to write (JSON)
    output_estimates: a row per estimator, to write
    output_verdict: the model's row, to write
    output_diagram: bins of the reliability diagram, to write
    """
    subject = f"model {name}, fold test"
    if scores:
        verify_shipped(scores, manifest)
        score = "score" if label else None
        columns = Columns(score, label=label, cluster=tuple(cluster))
        data = read_data(scores, columns=columns)
        origin = Origin(name, REAL_SCORES, "none", tuple(data.warnings or ()))
    elif top_labels:
        folds, origin = read_top_labels(top_labels)
        n = len(folds["test"].hit)
        if n < 2:
            raise InputError(f"{subject}: {n} rows are too few to judge by: give at least 2")
        validation = Data.of(folds["validation"]) if len(folds["validation"].hit) > 1 else None
        data = Data.of(folds["test"], warnings=origin.warnings, validation=validation)
    else:
        raise InputError("give --top-labels or --scores")
    audit = audit_data(
        data,
        Options(n_bins, norm, seed=seed),
        list(dict.fromkeys([*ESTIMATORS, *estimators])),
        folders=(FOLDER, *estimator_dir),
    )
    audit.description["source"] = origin.source
    print(f"{subject}: {audit.sentence}")
    model_columns = {"model": name, "source": origin.source, "fold": "test"}
    for path, table, rows in (
        (output_estimates, "audit_estimates", estimate_rows),
        (output_verdict, "audit_verdicts", verdict_row),
        (output_diagram, "audit_diagrams", diagram_rows),
    ):
        write_table(path, table, rows(audit, model_columns))
    text = page(audit, name, output_numbers.name)
    write_text(output_page, text + "\n")
    write_text(output_numbers, audit.to_json() + "\n")


def estimate_rows(audit: Audit, of_model: Row) -> pd.DataFrame:
    """Return a row per estimator; ``of_model`` holds model, source and fold."""
    assert audit.estimates is not None  # the step asks for estimators
    return _rows("audit_estimates", _percent(audit.estimates.reset_index()), audit, of_model)


def verdict_row(audit: Audit, model_columns: Row) -> pd.DataFrame:
    """Return the model's row."""
    low, high = audit.interval
    row = {
        **audit.description,
        "error": audit.error,
        "low": low,
        "high": high,
        "ece": audit.ece,
        "noise_floor": audit.noise_floor,
        "direction": audit.direction,
        "p_value": audit.p_value,
        "miscalibrated": audit.miscalibrated,
        "fault": audit.verdict.finding.kind if audit.miscalibrated else None,
        "model_verdict": audit.sentence,
        "warnings": " ".join(audit.warnings) or None,
    }
    return _rows("audit_verdicts", _percent(pd.DataFrame([row])), audit, model_columns)


def diagram_rows(audit: Audit, model_columns: Row) -> pd.DataFrame:
    """Return a row per bin of the reliability diagram, fractions."""
    bins, curve = audit.bins, audit.curve
    table = pd.DataFrame(bins._asdict()).rename(columns={"low": "hit_low", "high": "hit_high"})
    at = np.searchsorted(curve.scores, bins.mean_score)
    for name in ("mean", "low", "high"):
        table[f"curve_{name}"] = getattr(curve, name)[at]
    return _rows("audit_diagrams", table.round(6), audit, model_columns)


def _percent(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with its fractions also as columns in percent."""
    numbers = table.select_dtypes(np.number)
    table = table.assign(**{f"{name}_percent": (100 * numbers[name]).round(4) for name in numbers})
    if "p_value" in table:
        table["p_value"] = [float(f"{p:.4g}") for p in table["p_value"].astype(float)]
    return table


def _rows(name: str, table: pd.DataFrame, audit: Audit, of_model: Row) -> pd.DataFrame:
    table = table.assign(**of_model, n_samples=audit.n).reindex(columns=columns_of(name))
    if "n_bins" in table:
        table["n_bins"] = table["n_bins"].astype("Int64")
    return table
