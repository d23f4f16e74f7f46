"""Read a model's logits from a file, check them, and write them in the pipeline's own form.

FILE is a published pickle (size and SHA-256 must be those of the manifest) or your own: NPZ, CSV or
Parquet, logits or probabilities, with or without folds. Without a validation fold the top-label
table has all rows as fold test; the logits, which recalibration needs in two folds, are split in
half by the seed.
"""

import argparse
import warnings
from pathlib import Path

from calbias.io.command_line import command, written_whole
from calbias.logits.manifest import read_manifest
from calbias.logits.read_logits import read_logits, two_folds
from calbias.logits.store import save_logits
from calbias.logits.top_label import SOFTMAXES, top_label
from calbias.logits.top_label_table import Origin, write_top_labels

MANIFEST = (
    Path(__file__).parents[1] / "resources" / "published" / "nn_calibration_logits_manifest.csv"
)


@command
def main(argv=None):
    """Run the command line; ``argv`` defaults to that of the process."""
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--model", required=True, help="the model's name, as in the config")
    add("--file", type=Path, required=True, help="the file of its outputs")
    add("--manifest", type=Path, default=MANIFEST, help="the published files, CSV")
    add("--n-classes", type=int, help="how many classes its rows must have (any number)")
    add("--softmax", choices=SOFTMAXES, default="exact", help="how scores are made (exact)")
    add("--seed", type=int, default=0, help="seed of the split of a file without folds (0)")
    add("--logits", type=Path, required=True, help="output: logits, NPZ")
    add("--top-labels", type=Path, required=True, help="output: top-label table, Parquet")
    args = parser.parse_args(argv)

    found = read_logits(args.file, args.model, read_manifest(args.manifest), args.n_classes)
    for text in found.warnings:
        warnings.warn(f"{args.file}: {text}", stacklevel=1)
    top_labels = {name: top_label(*fold, args.softmax) for name, fold in found.folds.items()}
    origin = Origin(args.model, "real_logits", args.softmax, found.warnings)
    table = written_whole(args.top_labels, checksum=True)
    with written_whole(args.logits) as npz, table as parquet:
        save_logits(npz, two_folds(found.folds, args.seed))
        write_top_labels(parquet, top_labels, origin)


if __name__ == "__main__":
    main()
