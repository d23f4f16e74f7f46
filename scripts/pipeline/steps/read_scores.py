import warnings
from pathlib import Path

from pipeline import logits
from pipeline.logits import REAL_SCORES, Origin, write_top_labels


def read_scores(
    *,
    file: Path,
    manifest: Path,
    model: str,
    output_top_labels: Path,
) -> None:
    """Read a model's top-label scores from a file, check them, and write its top-label table.

    FILE is CSV, Parquet or NPZ with score and hit (1 where the prediction was correct), or with
    score, label and prediction, and optionally with folds. The files that ship with the project
    must match their checksums.

    file: the model's file of scores
    manifest: the shipped files (JSON)
    model: the model's name
    output_top_labels: top-label table to write
    """
    folds, doubts = logits.read_scores(file, manifest)
    for text in doubts:
        warnings.warn(f"{file}: {text}", stacklevel=1)
    origin = Origin(model, REAL_SCORES, "none", doubts)
    write_top_labels(output_top_labels, folds, origin)
