from pathlib import Path

import pandas as pd

from evidence.studies.subjects import compared_rows, printed_rows, subject_rows
from pipeline.manifest import verify_shipped
from pipeline.steps import Seed
from pipeline.tables import write_table


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
    manifest: the files of resources/subjects (JSON)
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
