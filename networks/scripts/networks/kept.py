"""The trained networks of known calibration error, as ``networks/resources`` has them."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from calbias.truth.counted import CountedScenario
from pipeline.populations import read_populations


class Network(NamedTuple):
    """A network's population, what ``networks.csv`` says of it, and its test fold, (n,) each.

    ``scaled`` is its population after temperature scaling, of networks that have one.
    """

    population: CountedScenario
    about: dict
    log_odds: np.ndarray
    hits: np.ndarray
    scaled: CountedScenario | None = None


def read_networks(
    networks: Path, sketches: Path, top_labels: Path, scaled: Path | None = None
) -> list[Network]:
    """Return the Networks of the files, in the order of the first."""
    about = pd.read_csv(networks).to_dict("records")
    populations = read_populations(sketches)
    after = read_populations(scaled) if scaled else {}
    folds = dict([*pd.read_parquet(top_labels).groupby("name", observed=True)])
    result = []
    for row in about:
        name = row["name"]
        log_odds, hits = (folds[name][x].to_numpy(np.float64) for x in ("log_odds", "hit"))
        result.append(Network(populations[name], row, log_odds, hits, after.get(name)))
    return result
