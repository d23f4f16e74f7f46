import warnings
from pathlib import Path
from typing import Any

from calbias.logits.top_label import top_label
from pipeline.logits import read
from pipeline.logits.store import REAL_LOGITS, Origin, save_logits, two_folds, write_top_labels
from pipeline.manifest import read_manifest
from pipeline.steps import Seed, Softmax


def read_logits(
    *,
    file: Path,
    manifest: Path,
    model: str,
    n_classes: int | None,
    softmax: Softmax,
    seed: Seed,
    output_logits: Path,
    output_top_labels: Path,
) -> None:
    """Read a model's logits from a file, check them, and write them in the pipeline's own form.

    FILE is a published pickle (with the size and SHA-256 of the manifest) or your own: NPZ, CSV or
    Parquet, logits or probabilities, with or without folds. Without a validation fold the
    top-label table has all rows as fold test; the logits, which recalibration needs in two folds,
    are split in half by the seed.

    file: the model's file of outputs
    manifest: the published files (CSV)
    model: the model's name
    n_classes: how many classes its rows must have
    softmax: how scores are made
    seed: seed of the split of a file without folds
    output_logits: logits to write (NPZ)
    output_top_labels: top-label table to write
    """
    outputs = read.read_logits(file, model, read_manifest(manifest), n_classes)
    folds: Any = outputs.folds
    for text in outputs.warnings:
        warnings.warn(f"{file}: {text}", stacklevel=1)
    top_labels = {
        name: top_label(fold.logits, fold.labels, softmax) for name, fold in folds.items()
    }
    origin = Origin(model, REAL_LOGITS, softmax, outputs.warnings)
    save_logits(output_logits, two_folds(folds, seed))
    write_top_labels(output_top_labels, top_labels, origin)
