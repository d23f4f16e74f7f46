from pathlib import Path
from typing import Annotated, Any

import numpy as np
from scipy.special import softmax

from calbias.logits.read_logits import read_outputs
from evidence.cells.classes import POPULATION, dirichlet_population
from evidence.studies.multiclass_league import league_rows
from pipeline.steps import AtLeast, Seed
from pipeline.tables import write_table


def run_multiclass_league(
    *,
    population: str,
    logits: Path | None,
    n_samples: list[Annotated[int, AtLeast(2)]],
    replicates: Annotated[int, AtLeast(3)],
    seed: Seed,
    output: Path,
) -> None:
    """Run the estimators for all classes on one population, each against its own truth.

    population: a Dirichlet distribution, or the model of --logits
    logits: a model's outputs of all classes (NPZ)
    n_samples: sample sizes
    replicates: data sets at the smallest size
    seed: seed of all random streams
    output: table to write
    """
    if logits:
        fold: Any = read_outputs(logits).folds["test"]
        probabilities = softmax(fold.logits[:POPULATION].astype(np.float64), axis=1)
    else:
        probabilities = dirichlet_population(population, seed)
    rows = league_rows(population, probabilities, n_samples, replicates, seed)
    write_table(output, "multiclass_league", rows)
