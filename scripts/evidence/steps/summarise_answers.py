from pathlib import Path
from typing import Annotated

import pandas as pd

from evidence.studies.answers import leaderboard_rows, model_row, predicted_rows, read_answers
from pipeline.manifest import verify_shipped
from pipeline.steps import AtLeast, Seed
from pipeline.table_schema import columns_of
from pipeline.tables import read_rows, write_table


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
