"""Language models' answers: the printed errors by two formulas, and what a few questions give."""

from pathlib import Path

import pandas as pd

from evidence.studies.answers import leaderboard_rows, model_row, predicted_rows, read_answers
from pipeline.logits.options import MODEL, RESOURCES
from pipeline.manifest import verify_shipped
from pipeline.script import SEED, option, script
from pipeline.tables.files import write_table
from pipeline.tables.rows import read_rows
from pipeline.tables.schema import columns_of


@script(
    option("--file", "the model's answers (Parquet)", Path),
    option("--manifest", "the shipped files (JSON)", Path, default=RESOURCES / "manifest.json"),
    option("--printed", "the paper's errors (CSV)"),
    MODEL,
    option("--draws", "draws of questions behind a range", int, least=2),
    option("--subsamples", "subsamples of each size for the bias", int, least=2),
    option("--refits", "how many of them get a curve of their own", int, least=2),
    SEED,
    option("--output", "row of table language_models to write"),
    option("--output-leaderboard", "rows of table leaderboard to write"),
    option("--output-predicted", "rows of table predicted_bias to write"),
)
def main(options):
    verify_shipped(options.file, options.manifest)
    table = read_answers(options.file)
    printed = {row["model"]: float(row["ece"]) for _, row in read_rows(options.printed, ("model",))}
    model, seed = options.model, options.seed
    ranges = leaderboard_rows(model, table, options.draws, seed)
    predicted = predicted_rows(model, table, options.subsamples, options.refits, seed)
    for path, name, rows in (
        (options.output, "language_models", [model_row(model, table, printed.get(model))]),
        (options.output_leaderboard, "leaderboard", ranges),
        (options.output_predicted, "predicted_bias", predicted),
    ):
        write_table(path, name, pd.DataFrame(rows, columns=columns_of(name)))


if __name__ == "__main__":
    main()
