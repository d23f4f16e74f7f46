"""Run estimators of one file on the league's scenarios, each against its own truth."""

import argparse
from pathlib import Path

from calbias.beyond.league import league_rows, league_scenarios
from calbias.errors import InputError
from calbias.estimation.registry import known_estimators
from calbias.io.command_line import command
from calbias.io.tables import write_table


@command
def main(argv=None):
    """Write the file's rows of table ``league``."""
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--estimator-file", type=Path, required=True, help="file that defines the estimators")
    add("--beta-fits", nargs="+", required=True, help="fit tables, the first that has a model")
    add("--glm-fits", nargs="+", required=True, help="fit tables, the first that has a model")
    add("--models", nargs="*", default=[], help="models whose fits join the scenario set")
    add("--n-samples", type=int, nargs="+", required=True, help="sample sizes")
    add("--replicates", type=int, required=True, help="data sets at the smallest size, >= 2")
    add("--seed", type=int, required=True, help="seed of the random streams, >= 0")
    add("--output", required=True, help="rows to write (Parquet or CSV)")
    args = parser.parse_args(argv)
    if args.replicates < 2 or args.seed < 0 or min(args.n_samples) < 1:
        raise InputError("--replicates must be >= 2, --seed >= 0 and --n-samples >= 1")

    folder = args.estimator_file.resolve().parent
    estimators = {
        name: path
        for name, path in known_estimators((folder,)).items()
        if path.name == args.estimator_file.name
    }
    scenarios = league_scenarios(args.models, args.beta_fits, args.glm_fits)
    rows = league_rows(estimators, scenarios, args.n_samples, args.replicates, args.seed)
    write_table(args.output, "league", rows)


if __name__ == "__main__":
    main()
