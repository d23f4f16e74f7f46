"""The networks that ship: read from ``resources/networks``."""

import csv
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow.parquet as pq

FOLDER = Path(__file__).parents[3] / "resources" / "networks"


class Cells(NamedTuple):
    """Rows in cells of the log odds: middles (m,), edges (m, 2), counts of rows and of hits."""

    log_odds: np.ndarray
    edges: np.ndarray
    n: np.ndarray
    hits: np.ndarray


class Network(NamedTuple):
    """A network's row of the table, its population in cells, and its test fold."""

    name: str
    row: dict[str, str]
    cells: Cells
    fold_log_odds: np.ndarray
    fold_hits: np.ndarray


def table(folder: Path = FOLDER) -> dict[str, dict[str, str]]:
    """Return {name: row} of ``networks.csv``."""
    with (folder / "networks.csv").open() as file:
        return {row["name"]: row for row in csv.DictReader(file)}


def _columns(path: Path, name: str, *columns: str) -> list[np.ndarray]:
    """Return columns, float64, of a network's rows in a table of all networks."""
    table = pq.read_table(path, columns=list(columns), filters=[("name", "=", name)])
    return [table[column].to_numpy().astype(float) for column in columns]


def read_cells(name: str, file: str = "sketches", folder: Path = FOLDER) -> Cells:
    """Return the Cells of a network, or with ``scaled`` those after temperature scaling."""
    cell, n, hits = _columns(folder / f"{file}.parquet", name, "cell", "n", "hits")
    return Cells((cell + 0.5) / 100, np.stack([cell, cell + 1], 1) / 100, n, hits)


def read_network(name: str, folder: Path = FOLDER) -> Network:
    """Return a Network."""
    fold = _columns(folder / "top_labels.parquet", name, "log_odds", "hit")
    return Network(name, table(folder)[name], read_cells(name, folder=folder), *fold)
