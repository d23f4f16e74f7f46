"""Run the estimators of some files on the league's scenarios, each against its own truth."""

from pathlib import Path

from calbias.estimation.registry import known_estimators
from evidence.studies.honesty import honesty_rows
from evidence.studies.league import league_rows, league_scenarios, tied_scenarios
from pipeline.script import OUTPUT, SEED, option, script
from pipeline.tables.files import write_table


@script(
    option("--estimator-files", "files that define the estimators", Path, many=True),
    option("--beta-fits", "fit tables, the first that has a model", many=True),
    option("--glm-fits", "fit tables, the first that has a model", many=True),
    option("--models", "models whose fits join the scenarios", many=True, default=[]),
    option("--n-samples", "sample sizes", int, least=1, many=True),
    option("--replicates", "data sets at the smallest size", int, least=2),
    SEED,
    OUTPUT,
)
def main(options):
    files = {path.resolve() for path in options.estimator_files}
    folders = sorted({path.parent for path in files})
    known = known_estimators(folders)
    estimators = {name: path for name, path in known.items() if path.resolve() in files}
    scenarios = league_scenarios(options.models, options.beta_fits, options.glm_fits)
    scenarios += tied_scenarios()
    rows = league_rows(estimators, scenarios, options.n_samples, options.replicates, options.seed)
    rows += honesty_rows(estimators, options.replicates, options.seed)
    write_table(options.output, "league", rows)


if __name__ == "__main__":
    main()
