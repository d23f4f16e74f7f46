from pathlib import Path
from typing import Annotated

from calbias.estimation.registry import known_estimators
from calbias.truth.scenarios import Scenario
from evidence.cells.league import TIED, TiedCell, league_scenarios
from evidence.studies.honesty import honesty_rows
from evidence.studies.league import league_rows
from pipeline.steps import AtLeast, Seed
from pipeline.tables import write_table


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
    known = known_estimators(folders)
    chosen = [(name, path) for name, path in known.items() if path.resolve() in files]
    runs = dict(sorted(chosen, key=lambda pair: pair[1].stem))
    scenarios: list[Scenario | TiedCell] = [*league_scenarios(models, beta_fits, glm_fits)]
    scenarios += TIED
    rows = league_rows(runs, scenarios, n_samples, replicates, seed)
    rows += honesty_rows(runs, replicates, seed)
    write_table(output, "league", rows)
