"""Read a model's top-label scores from a file, check them, and write its top-label table.

FILE is CSV, Parquet or NPZ with score and hit (1 where the prediction was correct), or with score,
label and prediction, and optionally with folds. The files that ship with the project must match
their checksums.
"""

import warnings
from pathlib import Path

from pipeline.logits.options import MODEL, RESOURCES, TO_TOP_LABELS
from pipeline.logits.read import read_scores
from pipeline.logits.store import REAL_SCORES
from pipeline.logits.top_label_table import Origin, write_top_labels
from pipeline.script import option, script

MANIFEST = RESOURCES / "manifest.json"


@script(
    option("--file", "the model's file of scores", Path),
    option("--manifest", "the shipped files (JSON)", Path, default=MANIFEST),
    MODEL,
    TO_TOP_LABELS,
)
def main(options):
    outputs = read_scores(options.file, options.manifest)
    for text in outputs.warnings:
        warnings.warn(f"{options.file}: {text}", stacklevel=1)
    origin = Origin(options.model, REAL_SCORES, "none", outputs.warnings)
    write_top_labels(options.top_labels, outputs.folds, origin)


if __name__ == "__main__":
    main()
