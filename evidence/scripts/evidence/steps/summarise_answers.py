"""Language models' answers: the printed calibration errors, and what a few hundred questions give.

The rows are of Plaut, Nguyen and Trinh (arXiv 2402.13213). Their code forms deciles of the
confidence, [q_k, q_k+1), and takes the mean gap over deciles, not over rows. The last decile
excludes its upper edge, the largest confidence: every confidence of exactly 1 is dropped.
"""

import itertools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd

from calbias.defaults import N_BINS
from calbias.engine.scores_and_hits import scores_and_hits
from calbias.engine.sorted_batch import sorted_data_set
from calbias.errors import InputError
from calbias.reading.output_file import Place
from calbias.reading.top_label import TopLabel, top_label_of_scores
from evidence.cells.samples import GenuineRows, by_score
from evidence.estimators import load_estimator
from evidence.runner import Method, Row, Values, run
from evidence.steps.predict_bias import predicted_bias
from pipeline.manifest import verify_shipped
from pipeline.steps import AtLeast, Seed
from pipeline.table_schema import columns_of
from pipeline.tables import read_parquet, read_rows, validate_file, write_table

COLUMNS = ("dataset", "question", "prompt", "score", "hit")
N_DECILES = 10
SIZES = (100, 300)
ESTIMATORS = ("ece_bin_ew", "ece_sweep_em")
PROMPT = 1
"""One row for each question: the rows of the two prompts depend on each other."""
RANGE = (0.05, 0.95)
FEWEST = 2 * SIZES[0]


def read_answers(path: str | Path) -> pd.DataFrame:
    """Return the rows of a file of answers; InputError for one that lacks a column or is none."""
    validate_file(path)
    table = read_parquet(path).to_pandas()
    if missing := [name for name in COLUMNS if name not in table]:
        raise InputError(
            f"{path}: no column {missing[0]}: a file of answers has the columns "
            f"{', '.join(COLUMNS)}; add it, or restore the file"
        )
    location = Place(Path(path), "scores and hits")
    scores, hits = scores_and_hits(table["score"], table["hit"], location.error)
    return table.assign(score=scores, hit=hits, dataset=table["dataset"].astype(str))


def ece_of_deciles(scores: np.ndarray, hits: np.ndarray) -> float:
    """Return the authors' ECE: the mean over deciles of |mean score − accuracy|, a fraction."""
    edges = np.quantile(scores, np.linspace(0, 1, N_DECILES + 1))
    gaps = []
    for low, high in itertools.pairwise(edges):
        inside = (scores >= low) & (scores < high)
        if inside.any():
            gaps.append(abs(scores[inside].mean() - hits[inside].mean()))
    return float(np.mean(gaps)) if gaps else float("nan")


def ece(scores: np.ndarray, hits: np.ndarray) -> float:
    """Return the usual ECE: 15 bins of equal width, all rows, a fraction."""
    return float(load_estimator("ece_bin_ew")(sorted_data_set(scores, hits), N_BINS, 1)[0][0])


def model_row(model: str, table: pd.DataFrame, printed: float | None) -> Row:
    """Return the row of table ``language_models``."""
    scores, hits = table["score"].to_numpy(), table["hit"].to_numpy()
    decile_ece = ece_of_deciles(scores, hits)
    return {
        "model": model,
        "n_samples": len(table),
        "accuracy_percent": 100 * hits.mean(),
        "mean_score_percent": 100 * scores.mean(),
        "dropped_percent": 100 * np.mean(scores == scores.max()),
        "ece15_percent": 100 * ece(scores, hits),
        "ece_of_deciles_percent": 100 * decile_ece,
        "published_percent": np.nan if printed is None else 100 * printed,
        "agrees": None if printed is None else round(decile_ece, 2) == round(printed, 2),
    }


def benchmarks(table: pd.DataFrame) -> dict[str, TopLabel]:
    """Return {benchmark: TopLabel} of one row for each question, of those with enough rows."""
    rows = table[table["prompt"] == PROMPT].drop_duplicates(["dataset", "question"])
    return {
        str(name): top_label_of_scores(group["score"].to_numpy(), group["hit"].to_numpy())
        for name, group in rows.groupby("dataset", sort=True)
        if len(group) >= FEWEST and 0 < group["hit"].mean() < 1
    }


def leaderboard_rows(model: str, table: pd.DataFrame, n_draws: int, seed: int) -> Iterator[Row]:
    """Yield the rows of table ``leaderboard``: ECE of a few questions against all."""
    estimator = load_estimator("ece_bin_ew")
    method = {"ece": Method("l1", lambda data: estimator(data, N_BINS, 1)[0])}
    for name, top in benchmarks(table).items():
        rows = by_score(top)
        cell = GenuineRows(name, rows, (model, name, "{n}", "leaderboard"))
        sizes = ((cell, size) for size in SIZES if size < rows.hit.size)
        for row in run(sizes, lambda *_: method, n_draws, seed, _range):
            yield {"model": model, **row}


def _range(
    cell: GenuineRows, n: int, methods: Mapping[str, Method], values: Values
) -> Iterator[Row]:
    low, high = np.quantile(values["ece"], RANGE)
    yield {
        "dataset": cell.name,
        "n_questions": cell.rows.hit.size,
        "n_samples": n,
        "value_percent": 100 * ece(cell.rows.score, cell.rows.hit),
        "mean_estimate_percent": 100 * float(values["ece"].mean()),
        "low_percent": 100 * float(low),
        "high_percent": 100 * float(high),
    }


def predicted_rows(
    model: str, table: pd.DataFrame, n_subsamples: int, n_refits: int, seed: int
) -> Iterator[Row]:
    """Yield rows of table ``predicted_bias``, a benchmark being ``model_benchmark``."""
    for name, top in benchmarks(table).items():
        label = f"{model}_{name}"
        counts = n_subsamples, n_refits
        for row in predicted_bias(top, ESTIMATORS, SIZES, *counts, seed=seed, name=label):
            yield {"model": label, **row}


def summarise_answers(
    *,
    file: Path,
    manifest: Path,
    printed: Path,
    model: str,
    draws: Annotated[int, AtLeast(2)],
    subsamples: Annotated[int, AtLeast(2)],
    refits: Annotated[int, AtLeast(2)],
    seed: Seed,
    output_row: Path,
    output_leaderboard: Path,
    output_predicted: Path,
) -> None:
    """Language models' answers: the printed errors by two formulas, and what a few questions give.

    file: the model's answers (Parquet)
    manifest: the shipped files (JSON)
    printed: the paper's errors (CSV)
    model: the model's name
    draws: draws of questions behind a range
    subsamples: subsamples of each size for the bias
    refits: how many of them get a curve of their own
    seed: seed of all random streams
    output_row: row of table language_models to write
    output_leaderboard: rows of table leaderboard to write
    output_predicted: rows of table predicted_bias to write
    """
    verify_shipped(file, manifest)
    table = read_answers(file)
    errors = {row["model"]: float(row["ece"]) for _, row in read_rows(printed, ("model",))}
    ranges = leaderboard_rows(model, table, draws, seed)
    predicted = predicted_rows(model, table, subsamples, refits, seed)
    for path, name, rows in (
        (output_row, "language_models", [model_row(model, table, errors.get(model))]),
        (output_leaderboard, "leaderboard", ranges),
        (output_predicted, "predicted_bias", predicted),
    ):
        write_table(path, name, pd.DataFrame(rows, columns=columns_of(name)))
