from functools import partial
from pathlib import Path
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from calbias.engine.sampler import draw
from calbias.engine.sorted_batch import SortedBatch
from calbias.estimation.registry import estimator_file
from calbias.truth.curves import Curve
from calbias.truth.scenarios import Scenario
from evidence.league import DISTRIBUTIONS, MOST_QUADRATIC, LeagueMeasure, league_measures
from pipeline.provenance import timed
from pipeline.steps import AtLeast
from pipeline.tables import write_table

ROUNDS = 3


def _estimate(measure: LeagueMeasure, data: SortedBatch) -> NDArray:
    """Estimate on a new batch of the one data set: a batch caches what estimators calculate."""
    return measure.values(data.first(1))


def time_league(
    *,
    estimators: list[str],
    folders: list[str],
    n_samples: list[Annotated[int, AtLeast(2)]],
    output: Path,
) -> None:
    """Time one call of every estimator on one data set: not reproducible, so in a separate table.

    estimators: names of estimators
    folders: folders of their files
    n_samples: sample sizes
    output: table to write
    """
    scenario = Scenario("timed", *DISTRIBUTIONS["saturated"], Curve("logit_logit_b1", 0.0, 0.8))
    files = {name: estimator_file(name, folders) for name in estimators}
    measures = {measure.name: measure for measure in league_measures(files)}  # one norm each
    rows = []
    for n in n_samples:
        data = draw(scenario, n, 0, seed=0)
        for measure in measures.values():
            if n <= MOST_QUADRATIC or not measure.is_quadratic:
                call = partial(_estimate, measure, data)
                call()  # the first one compiles
                seconds = min(timed(call) for _ in range(ROUNDS))
                rows.append((measure.name, n, float(np.format_float_positional(1e3 * seconds, 3))))
    write_table(output, "league_times", rows)
