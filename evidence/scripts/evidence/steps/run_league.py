"""The league's rows, and in it the price of honesty.

Does a forecaster lower the expected value of a measure by saying less, or more, than it knows?
Events have probabilities p ~ U(0, 1), which four forecasters know. The honest one says p; scenario
``uniform_calibrated`` has the estimates of its forecasts. The three others have columns there:

``two_values`` says 1/4 where p < 1/2, else 3/4: the mean probability of either half
``base_rate``  always says 1/2
``sharpened``  says the probability of twice the log-odds of p

All but the last are calibrated; they tell ever less. All face the same events, so that the
difference to the honest forecaster has a small Monte Carlo error.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from calbias.engine.seeding import stream
from calbias.engine.sorted_batch import SortedBatch, sorted_data_set
from calbias.estimation.registry import known_estimators
from calbias.truth.curves import Curve
from calbias.truth.scenarios import Scenario
from evidence.league import (
    TIED,
    TiedCell,
    league_measures,
    league_rows,
    league_scenarios,
    methods_of,
    n_replicates,
    row_of,
)
from evidence.runner import Row, values_of
from pipeline.steps import AtLeast, Seed
from pipeline.tables import write_table

UNIFORM = Scenario("uniform_calibrated", 1.0, 1.0, Curve("identity"))
SIZES = (500, 5000)
CLEAR = 3.0  # Monte Carlo errors that a difference must have
FORECASTERS: dict[str, Callable[[NDArray], NDArray]] = {
    "honest": lambda p: p,
    "two_values": lambda p: np.where(p < 0.5, 0.25, 0.75),
    "base_rate": lambda p: np.full(p.shape, 0.5),
    "sharpened": lambda p: p * p / (p * p + (1.0 - p) * (1.0 - p)),
}


def honesty_rows(estimators: Mapping[str, Path], replicates: int, seed: int) -> Iterator[Row]:
    """Yield the rows of table ``league`` of scenario ``uniform_calibrated``."""
    measures = league_measures(estimators)
    for n in SIZES:
        data = _data_sets(n, n_replicates(n, SIZES, replicates), seed)
        methods = methods_of(measures, n)
        measured = {name: values_of(methods, [batch]) for name, batch in data.items()}
        for measure in measures:
            if measure.label not in methods:
                continue
            values = {
                name: method_values[measure.label] for name, method_values in measured.items()
            }
            honest = values.pop("honest")
            row = row_of(UNIFORM.name, measure, n, measure.truth(UNIFORM), honest)
            for name, other_values in values.items():
                row[name] = other_values.mean()
                row[f"{name}_se"] = (other_values - honest).std(ddof=1) / np.sqrt(honest.size)
            yield row


def _data_sets(n: int, m: int, seed: int) -> dict[str, SortedBatch]:
    """Return {forecaster: SortedBatch of m data sets of the same events}."""
    parts: dict[str, list[SortedBatch]] = {name: [] for name in FORECASTERS}
    for replicate in range(m):
        generator = stream(seed, "honesty", str(n), str(replicate))
        p = generator.random(n)
        hits = generator.random(n) < p
        for name, forecast in FORECASTERS.items():
            parts[name].append(sorted_data_set(forecast(p), hits))
    return {name: SortedBatch.concatenated(batches) for name, batches in parts.items()}


def pays(rows: pd.DataFrame, forecaster: str) -> pd.Series:
    """Return where a forecaster clearly has a lower expected value than the honest one."""
    difference = rows[forecaster] - rows["mean_estimate"]
    return difference < -CLEAR * rows[f"{forecaster}_se"]


def run_league(
    *,
    estimators: list[Path],
    beta_fits: list[Path],
    glm_fits: list[Path],
    models: list[str],
    n_samples: list[Annotated[int, AtLeast(1)]],
    replicates: Annotated[int, AtLeast(2)],
    seed: Seed,
    output: Path,
) -> None:
    """Run the estimators of some files on the league's scenarios, each against its own truth.

    estimators: files that define the estimators
    beta_fits: fit tables, the first that has a model
    glm_fits: fit tables, the first that has a model
    models: models whose fits join the scenarios
    n_samples: sample sizes
    replicates: data sets at the smallest size
    seed: seed of all random streams
    output: table to write
    """
    files = {path.resolve() for path in estimators}
    folders = sorted({path.parent for path in files})
    existing = known_estimators(folders)
    chosen = [(name, path) for name, path in existing.items() if path.resolve() in files]
    runs = dict(sorted(chosen, key=lambda pair: pair[1].stem))
    scenarios: list[Scenario | TiedCell] = [*league_scenarios(models, beta_fits, glm_fits)]
    scenarios += TIED
    rows = league_rows(runs, scenarios, n_samples, replicates, seed)
    rows += honesty_rows(runs, replicates, seed)
    write_table(output, "league", rows)
