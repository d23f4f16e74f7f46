"""Fifty language models by subject: printed errors, a claim, and whom recalibration leaves behind.

Tao et al. (NeurIPS 2025, github.com/Linwei94/LLM-Calibration-Study, commit ddc349e) ask language
models 12 032 questions of MMLU-Pro in 14 subjects for three confidences: the number that the model
writes (numerical), how sure its words sound (linguistic) and the probability of its tokens (token).

Their ECE has ten bins that are open on the left: an answer of confidence exactly 0 is in no bin.
The edges are in single precision and the confidences in double: 0.3 is below the edge 0.3.
"no_fail" are the rows in which all three confidences were found.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from calbias.auditing.compare import compare
from calbias.auditing.subgroups.subgroup_audit import audit_subgroups
from calbias.auditing.subgroups.subgroups import ALL
from calbias.defaults import MISCALIBRATED, SIGNIFICANT, holm
from calbias.engine.seeding import stream
from calbias.recalibration.isotonic import isotonic
from calbias.samples.by_score import Scored
from pipeline.manifest import verify_shipped
from pipeline.steps import Seed
from pipeline.tables import write_table

CONFIDENCES = ("linguistic", "numerical", "token")
_PRINTED = {
    "linguistic": ("Linguistic Confidence", "Linguistic Success"),
    "token": ("Logit Perplexity Confidence", "Logit Success"),
    "numerical": ("Verbal Numerical Confidence", "Numerical Success"),
}
_EDGES = 10
_LEAST_ROWS = 2000  # with a confidence, to be judged


def printed_ece(scores: np.ndarray, hits: np.ndarray, precision: type = np.float32) -> float:
    """Return the ECE by the paper's formula, with edges in a precision."""
    bins = np.searchsorted(np.linspace(0, 1, _EDGES + 1, dtype=precision), scores) - 1
    inside = bins >= 0
    gaps = np.bincount(bins[inside], (scores - hits)[inside], minlength=_EDGES)
    return float(np.abs(gaps).sum() / scores.size)


def printed_rows(
    files: Mapping[str, pd.DataFrame], printed: pd.DataFrame
) -> Iterator[dict[str, Any]]:
    """Yield the rows of table ``tao2025`` of the authors' tables by model."""
    for row in printed.itertuples():
        table, name = files[row.model], _PRINTED[row.confidence][0]
        successes = table[[success for _, success in _PRINTED.values()]].all(axis=1)
        part = table if row.rows == "all" else table[successes]
        scores, hits = part[name].to_numpy(np.float64), part["Accuracy"].to_numpy(np.float64)
        value, double = printed_ece(scores, hits), printed_ece(scores, hits, np.float64)
        zeros = float(np.sum(np.abs((scores - hits)[scores == 0].sum())) / scores.size)
        yield {
            "model": row.model,
            "confidence": row.confidence,
            "rows": row.rows,
            "n_rows": scores.size,
            "published_percent": 100 * row.ece,
            "value_percent": 100 * value,
            "agrees": abs(value - row.ece) < 1e-6,
            "agrees_in_double_precision": abs(double - row.ece) < 1e-6,
            "dropped_rows_percent": 100 * float(np.mean(scores == 0)),
            "with_dropped_rows_percent": 100 * (value + zeros),
        }


def judged(table: pd.DataFrame, confidence: str) -> pd.DataFrame:
    """Return the answered rows with a confidence in [0, 1]: score, hit, subject."""
    rows = table[table["answered"] & table[confidence].between(0.0, 1.0)]
    return rows.rename(columns={confidence: "score"})[["score", "hit", "subject"]]


def compared_rows(name: str, table: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield the rows of table ``verbal_confidence``: linguistic against the others of a model."""
    for other in CONFIDENCES[1:]:
        is_known = table["linguistic"].between(0.0, 1.0) & table[other].between(0.0, 1.0)
        rows = table[table["answered"] & is_known]
        if len(rows) < _LEAST_ROWS:
            continue
        comparison = compare(rows["linguistic"].to_numpy(), rows[other].to_numpy(), rows["hit"])
        yield {
            "model": name,
            "confidence": other,
            "n_rows": len(rows),
            "difference_percent": 100 * comparison.difference,
            "p_value": comparison.p_value,
        }


def consistency(compared: pd.DataFrame) -> tuple[int, int, int]:
    """Return (better, undecided, worse): linguistic confidence by Holm's corrected p-values.

    The rule: it is *consistently* better if it is clearly worse in no comparison.
    """
    clear = holm(compared["p_value"]) <= SIGNIFICANT
    better = compared["difference_percent"].to_numpy() < 0
    return int((clear & better).sum()), int((~clear).sum()), int((clear & ~better).sum())


def subject_rows(name: str, table: pd.DataFrame, seed: int) -> Iterator[dict[str, Any]]:
    """Yield the rows of table ``subjects`` of a model: each confidence, before and after.

    The isotonic map is fitted on a random half of the rows; both are judged on the other half.
    """
    for confidence in CONFIDENCES:
        rows = judged(table, confidence)
        if len(rows) < _LEAST_ROWS:
            continue
        chosen = stream(seed, "subjects", name, confidence).permutation(len(rows))
        fitted, tested = (rows.iloc[np.sort(half)] for half in np.array_split(chosen, 2))
        scores = tested["score"].to_numpy(np.float64)
        columns = fitted["score"].to_numpy(np.float64), fitted["hit"].to_numpy()
        mapped = isotonic(Scored.of(*columns)).predict(scores)
        for stage, values in (("as given", scores), ("recalibrated", mapped)):
            values = np.clip(values, 0.0, 1.0)
            result = audit_subgroups(
                values, tested["hit"], {"subject": tested["subject"].astype(str)}
            )
            by_name = result.table.set_index("segment")
            parts = by_name.drop(ALL)
            worst = parts.loc[parts["gap"].abs().idxmax()]
            overall = by_name.loc[ALL]
            yield {
                "model": name,
                "confidence": confidence,
                "stage": stage,
                "n_rows": len(tested),
                "n_dropped": len(table) - len(rows),
                "gap_percent": 100 * overall["gap"],
                "noise_floor_percent": 100 * overall["noise_floor"],
                "whole_is_miscalibrated": bool(overall["finding"] == MISCALIBRATED),
                "p_value": result.p_value,
                "n_subjects": len(parts),
                "n_wrong_subjects": int((parts["finding"] == MISCALIBRATED).sum()),
                "worst_subject": worst.name.removeprefix("subject = "),
                "worst_gap_percent": 100 * worst["gap"],
                "worst_low_percent": 100 * worst["low"],
                "worst_high_percent": 100 * worst["high"],
                "worst_noise_floor_percent": 100 * worst["noise_floor"],
            }


def summarise_subjects(
    *,
    files: list[Path],
    printed_files: list[Path],
    manifest: Path,
    printed: Path,
    seed: Seed,
    output_subjects: Path,
    output_printed: Path,
    output_compared: Path,
) -> None:
    """Language models' confidences by subject: printed errors, a claim, and who is left behind.

    files: the models' answers (Parquet)
    printed_files: the tables behind the printed errors (Parquet)
    manifest: the files of evidence/resources/subjects (JSON)
    printed: the printed errors (CSV)
    seed: seed of all random streams
    output_subjects: table subjects to write
    output_printed: table tao2025 to write
    output_compared: table verbal_confidence to write
    """
    for path in (*files, *printed_files):
        verify_shipped(path, manifest)
    models = {path.stem: pd.read_parquet(path) for path in files}
    rows = [row for name, table in models.items() for row in subject_rows(name, table, seed)]
    write_table(output_subjects, "subjects", rows)
    tables = {path.stem: pd.read_parquet(path) for path in printed_files}
    write_table(output_printed, "tao2025", [*printed_rows(tables, pd.read_csv(printed))])
    rows = [row for name, table in models.items() for row in compared_rows(name, table)]
    write_table(output_compared, "verbal_confidence", rows)
