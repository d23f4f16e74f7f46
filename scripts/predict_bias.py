"""Compare the bias by construction with the bias seen on subsamples of a model's own rows."""

import argparse
from pathlib import Path

from calbias.beyond.predicted_bias import predicted_bias
from calbias.errors import InputError
from calbias.io.command_line import command
from calbias.io.tables import write_table
from calbias.logits.read_logits import read_scores


@command
def main(argv=None):
    """Write a model's rows of table ``predicted_bias``."""
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--scores", type=Path, required=True, help="the model's top-label scores and hits")
    add("--manifest", type=Path, help="manifest of the scores that ship with calbias")
    add("--estimators", nargs="+", required=True, help="estimators of the ℓp error")
    add("--n-samples", type=int, nargs="+", required=True, help="sizes of the subsamples")
    add("--subsamples", type=int, required=True, help="subsamples of each size, >= 2")
    add("--refits", type=int, required=True, help="how many of them get a curve of their own")
    add("--seed", type=int, required=True, help="seed of the random streams, >= 0")
    add("--output", required=True, help="rows to write (Parquet or CSV)")
    args = parser.parse_args(argv)
    if args.seed < 0 or min(args.n_samples) < 2:
        raise InputError("--seed must be at least 0 and --n-samples at least 2")

    top = read_scores(args.scores, args.manifest).folds["test"]
    model = args.scores.stem
    rows = predicted_bias(
        top, args.estimators, args.n_samples, args.subsamples, args.refits,
        seed=args.seed, name=model,
    )  # fmt: skip
    write_table(args.output, "predicted_bias", [{"model": model, **row} for row in rows])


if __name__ == "__main__":
    main()
