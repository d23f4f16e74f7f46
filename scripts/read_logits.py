"""Read a model's logits from a file, check them, and write them in the pipeline's own form.

FILE is a published pickle (a model that the manifest lists must match its size and sha256) or your
own: NPZ, CSV or Parquet, logits or probabilities, with or without a split.
"""

import argparse
from pathlib import Path

from calbias.io.command_line import command, written_whole
from calbias.logits.manifest import read_manifest
from calbias.logits.read_logits import read_logits
from calbias.logits.store import save_logits
from calbias.logits.top_label import SOFTMAXES
from calbias.logits.top_label_table import Origin, top_labels_of, write_top_labels

MANIFEST = (
    Path(__file__).parents[1] / "resources" / "published" / "nn_calibration_logits_manifest.csv"
)


@command
def main(argv=None):
    """Run the command line; ``argv`` defaults to that of the process."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True, help="the model's name, as in the config")
    parser.add_argument(
        "--n-classes", type=int, help="how many classes its rows must have (any number)"
    )
    parser.add_argument("--file", type=Path, required=True, help="the file of its outputs")
    parser.add_argument(
        "--softmax", choices=SOFTMAXES, default="exact", help="how scores are made (exact)"
    )
    parser.add_argument("--manifest", type=Path, default=MANIFEST, help="the published files, CSV")
    parser.add_argument(
        "--seed", type=int, default=0, help="seed of the split of a file without one (0)"
    )
    parser.add_argument("--logits", type=Path, required=True, help="output: logits, NPZ")
    parser.add_argument(
        "--top-labels", type=Path, required=True, help="output: top-label table, Parquet"
    )
    args = parser.parse_args(argv)

    manifest = read_manifest(args.manifest)
    logits = read_logits(args.file, args.model, manifest, args.seed, args.n_classes)
    top_labels = top_labels_of(logits, args.softmax)
    with written_whole(args.logits) as npz, written_whole(args.top_labels) as parquet:
        save_logits(npz, logits)
        write_top_labels(parquet, top_labels, Origin(args.model, logits.source, args.softmax))


if __name__ == "__main__":
    main()
