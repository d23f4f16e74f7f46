"""Run the estimators for all classes on one population, each against its own truth."""

import numpy as np
from scipy.special import softmax

from calbias.logits.read_logits import read_outputs
from evidence.studies.multiclass_league import POPULATION, dirichlet_population, league_rows
from pipeline.script import OUTPUT, SEED, option, script
from pipeline.tables.files import write_table


@script(
    option("--law", "a Dirichlet law, or the model of --logits"),
    option("--logits", "a model's outputs of all classes (NPZ)", default=None),
    option("--n-samples", "sample sizes", int, least=2, many=True),
    option("--replicates", "data sets at the smallest size", int, least=3),
    SEED,
    OUTPUT,
)
def main(options):
    if options.logits:
        logits = read_outputs(options.logits).folds["test"].logits[:POPULATION]
        population = softmax(logits.astype(np.float64), axis=1)
    else:
        population = dirichlet_population(options.law, options.seed)
    rows = league_rows(options.law, population, options.n_samples, options.replicates, options.seed)
    write_table(options.output, "multiclass_league", rows)


if __name__ == "__main__":
    main()
