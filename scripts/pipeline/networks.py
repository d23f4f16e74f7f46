"""The trained networks of known calibration error, as ``resources/networks`` has them."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from calbias.truth.counted import CountedScenario
from pipeline.populations import read_populations


class Network(NamedTuple):
    """A network's population, what ``networks.csv`` says of it, and its test fold, (n,) each."""

    population: CountedScenario
    about: dict
    log_odds: np.ndarray
    hits: np.ndarray


def read_networks(networks: Path, sketches: Path, top_labels: Path) -> list[Network]:
    """Return the Networks of the three files, in the order of the first."""
    about = pd.read_csv(networks).to_dict("records")
    populations = read_populations(sketches)
    folds = dict([*pd.read_parquet(top_labels).groupby("name", observed=True)])
    result = []
    for row in about:
        name = row["name"]
        fold = folds[name]
        log_odds, hits = fold["log_odds"].to_numpy(np.float64), fold["hit"].to_numpy(np.float64)
        result.append(Network(populations[name], row, log_odds, hits))
    return result
