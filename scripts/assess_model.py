"""Assess one model: is it miscalibrated, by how much, and which estimate is to be trusted?"""

import argparse
import math

from calbias.assessment import assess
from calbias.errors import InputError
from calbias.estimation.api import load_estimator
from calbias.estimation.registry import FOLDER, estimator_file
from calbias.io.command_line import command, written_whole
from calbias.io.tables import write_table
from calbias.logits.top_label_table import read_top_labels


@command
def main(argv=None):
    """Write a model's rows of table ``assessment``, the estimator to trust most first."""
    options = _parse(argv)
    top_label, origin = read_top_labels(options.top_labels, options.fold)
    folders = [FOLDER, *options.estimator_dir]
    runs = {n: load_estimator(n, estimator_file(n, folders)) for n in options.estimators}
    try:
        rows = assess(
            top_label,
            runs,
            options.replicates,
            norm=options.norm,
            seed=options.seed,
        )
    except InputError as error:
        raise InputError(f"model {origin.model}, fold {options.fold}: {error}") from error
    named = {"model": origin.model, "source": origin.source, "fold": options.fold}
    with written_whole(options.output) as temporary:
        write_table(temporary, "assessment", [{**named, **row} for row in rows])


def _parse(argv):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--top-labels", required=True, help="the model's top-label table (Parquet)")
    parser.add_argument("--fold", default="test", help="fold to judge on (test)")
    parser.add_argument("--estimators", nargs="+", required=True, help="estimators to apply")
    parser.add_argument("--estimator-dir", nargs="*", default=[], help="folder of your own ones")
    parser.add_argument(
        "--replicates", type=int, default=1000, help="simulated data sets, >= 2 (1000)"
    )
    parser.add_argument("--norm", type=float, default=2.0, help="p of the ℓp error")
    parser.add_argument("--seed", type=int, required=True, help="seed of the random streams")
    parser.add_argument("--output", required=True, help="rows to write (CSV)")
    options = parser.parse_args(argv)
    if options.replicates < 2 or options.seed < 0:
        raise InputError("--replicates must be at least 2 and --seed at least 0")
    if not 0 < options.norm < math.inf:
        raise InputError(f"--norm must be a finite number above 0, not {options.norm}")
    return options


if __name__ == "__main__":
    main()
