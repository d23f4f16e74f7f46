"""Read a model's top-label scores from a file, check them, and write its top-label table.

FILE is CSV, Parquet or NPZ with score and hit (1 where the prediction was correct), or with score,
label and prediction, and optionally with folds. The files that ship with the project must match
their checksums.
"""

import argparse
import warnings
from pathlib import Path

from calbias.io.command_line import command, written_whole
from calbias.logits.read_logits import read_scores
from calbias.logits.top_label_table import Origin, write_top_labels

MANIFEST = Path(__file__).parents[1] / "resources" / "scores" / "manifest.json"


@command
def main(argv=None):
    """Run the command line; ``argv`` defaults to that of the process."""
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--model", required=True, help="the model's name, as in the config")
    add("--file", type=Path, required=True, help="the file of its scores")
    add("--manifest", type=Path, default=MANIFEST, help="the files of its folder, JSON")
    add("--top-labels", type=Path, required=True, help="output: top-label table, Parquet")
    args = parser.parse_args(argv)

    found = read_scores(args.file, args.manifest)
    for text in found.warnings:
        warnings.warn(f"{args.file}: {text}", stacklevel=1)
    with written_whole(args.top_labels, checksum=True) as parquet:
        origin = Origin(args.model, "real_scores", "none", found.warnings)
        write_top_labels(parquet, found.folds, origin)


if __name__ == "__main__":
    main()
