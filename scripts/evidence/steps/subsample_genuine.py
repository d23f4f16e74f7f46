from pathlib import Path
from typing import Annotated, Any

from evidence.studies.answers import benchmarks, read_answers
from evidence.studies.subsampled import subsampled_rows
from pipeline.logits import read_scores
from pipeline.manifest import verify_shipped
from pipeline.steps import AtLeast, Seed
from pipeline.tables import write_table


def subsample_genuine(
    *,
    scores: list[Path],
    answers: list[Path],
    manifest: Path,
    subsamples: Annotated[int, AtLeast(2)],
    seed: Seed,
    output: Path,
) -> None:
    """Hold estimators on few rows of genuine data against the value on all rows of a file.

    scores: files of scores and of forecasts (Parquet)
    answers: files of language models' answers (Parquet)
    manifest: the shipped files (JSON)
    subsamples: subsamples of each size
    seed: seed of all random streams
    output: table to write
    """
    files = [
        (path.parent.name, path.stem, read_scores(path, manifest).folds["test"]) for path in scores
    ]
    for path in answers:
        verify_shipped(path, manifest)
        tops = benchmarks(read_answers(path))
        files += [("answers", f"{path.stem}_{name}", top) for name, top in tops.items()]
    rows: list[dict[str, Any]] = []
    for kind, name, top in files:
        rows += subsampled_rows(kind, name, top, subsamples, seed)
    write_table(output, "subsampled", rows)
