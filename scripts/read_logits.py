"""Read a model's logits from a file, check them, and write them in the pipeline's own form.

FILE is a published pickle (with the size and SHA-256 of the manifest) or your own: NPZ, CSV or
Parquet, logits or probabilities, with or without folds. Without a validation fold the top-label
table has all rows as fold test; the logits, which recalibration needs in two folds, are split in
half by the seed.
"""

import warnings
from pathlib import Path

from calbias.logits.top_label import top_label
from pipeline.logits.options import MANIFEST, MODEL, SOFTMAX, TO_LOGITS, TO_TOP_LABELS
from pipeline.logits.read import read_logits
from pipeline.logits.store import REAL_LOGITS, save_logits, two_folds
from pipeline.logits.top_label_table import Origin, write_top_labels
from pipeline.manifest import read_manifest
from pipeline.script import option, script


@script(
    option("--file", "the model's file of outputs", Path),
    MANIFEST,
    MODEL,
    option("--n-classes", "how many classes its rows must have", int, default=None),
    SOFTMAX,
    option("--seed", "seed of the split of a file without folds", int, default=0),
    TO_LOGITS,
    TO_TOP_LABELS,
)
def main(options):
    manifest = read_manifest(options.manifest)
    outputs = read_logits(options.file, options.model, manifest, options.n_classes)
    for text in outputs.warnings:
        warnings.warn(f"{options.file}: {text}", stacklevel=1)
    top_labels = {name: top_label(*fold, options.softmax) for name, fold in outputs.folds.items()}
    origin = Origin(options.model, REAL_LOGITS, options.softmax, outputs.warnings)
    save_logits(options.logits, two_folds(outputs.folds, options.seed))
    write_top_labels(options.top_labels, top_labels, origin)


if __name__ == "__main__":
    main()
