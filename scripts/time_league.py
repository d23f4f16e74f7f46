"""Time one call of every estimator on one data set: not reproducible, so in a separate table."""

from functools import partial

import numpy as np

from calbias.engine.sampler import draw
from calbias.estimation.registry import estimator_file
from calbias.truth.curves import Curve
from calbias.truth.scenarios import Scenario
from evidence.benchmark.timing import timed
from evidence.studies.league import LAWS, MOST_QUADRATIC, N_BINS, league_entries
from pipeline.script import OUTPUT, option, script
from pipeline.tables.files import write_table

ROUNDS = 3


def _estimate(entry, data):
    """Estimate on a new batch of the one data set: a batch caches what estimators calculate."""
    return entry.run(data.first(1), N_BINS, entry.norm)


@script(
    option("--estimators", "names of estimators", many=True),
    option("--estimator-folders", "folders of their files", many=True),
    option("--n-samples", "sample sizes", int, least=2, many=True),
    OUTPUT,
)
def main(options):
    scenario = Scenario("timed", *LAWS["saturated"], Curve("logit_logit_b1", 0.0, 0.8))
    files = {name: estimator_file(name, options.estimator_folders) for name in options.estimators}
    entries = {entry.name: entry for entry in league_entries(files)}  # one norm each
    rows = []
    for n in options.n_samples:
        data = draw(scenario, n, 0, seed=0)
        for entry in entries.values():
            if n <= MOST_QUADRATIC or not entry.is_quadratic:
                call = partial(_estimate, entry, data)
                call()  # the first one compiles
                seconds = min(timed(call) for _ in range(ROUNDS))
                rows.append((entry.name, n, float(np.format_float_positional(1e3 * seconds, 3))))
    write_table(options.output, "league_times", rows)


if __name__ == "__main__":
    main()
