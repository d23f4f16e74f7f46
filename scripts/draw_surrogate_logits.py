"""Draw surrogate logits for a published model whose file is absent, from its published fits.

The top-label score follows the model's Beta distribution of Table 2 and the hit its calibration
curve of lowest AIC in Table 3; the source of the output is ``surrogate_logits``.
"""

import argparse
from pathlib import Path

from calbias.io.command_line import command, written_whole
from calbias.logits.manifest import read_manifest
from calbias.logits.store import save_logits
from calbias.logits.surrogate import draw_surrogate, fold_sizes, published_fit
from calbias.logits.top_label import SOFTMAXES
from calbias.logits.top_label_table import Origin, top_labels_of, write_top_labels

PUBLISHED = Path(__file__).parents[1] / "resources" / "published"


@command
def main(argv=None):
    """Run the command line; ``argv`` defaults to that of the process."""
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--model", required=True, help="a model of the published tables")
    add("--n-classes", type=int, required=True, help="its number of classes")
    add(
        "--published-beta",
        type=Path,
        default=PUBLISHED / "roelofs2022_table2_beta_fits.csv",
        help="Table 2, CSV",
    )
    add(
        "--published-glm",
        type=Path,
        default=PUBLISHED / "roelofs2022_table3_glm_fits.csv",
        help="Table 3, CSV",
    )
    add(
        "--manifest",
        type=Path,
        default=PUBLISHED / "nn_calibration_logits_manifest.csv",
        help="the published files, CSV: their numbers of rows are drawn",
    )
    add("--n-validation", type=int, help="rows of the validation fold, instead of the file's")
    add("--n-test", type=int, help="rows of the test fold, instead of the file's")
    add("--seed", type=int, required=True, help="seed of the random streams, an integer >= 0")
    add("--softmax", choices=SOFTMAXES, default="exact", help="how scores are made (exact)")
    add("--logits", type=Path, required=True, help="output: logits, NPZ")
    add("--top-labels", type=Path, required=True, help="output: top-label table, Parquet")
    args = parser.parse_args(argv)

    fit = published_fit(args.model, args.published_beta, args.published_glm)
    sizes = fold_sizes(args.model, args.n_classes, read_manifest(args.manifest))
    n_validation = sizes[0] if args.n_validation is None else args.n_validation
    n_test = sizes[1] if args.n_test is None else args.n_test
    logits, n_redrawn = draw_surrogate(
        args.model, fit, args.n_classes, n_validation, n_test, args.seed
    )
    top_labels = top_labels_of(logits, args.softmax)
    table = written_whole(args.top_labels, checksum=True)
    with written_whole(args.logits) as npz, table as parquet:
        save_logits(npz, logits)
        write_top_labels(parquet, top_labels, Origin(args.model, logits.source, args.softmax))
    print(f"{args.model}: surrogate logits; {n_redrawn} scores below 1/K were drawn again")


if __name__ == "__main__":
    main()
