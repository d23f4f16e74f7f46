"""Populations of scores in cells of log odds, as Parquet: a row is a cell of one of them."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from calbias.errors import InputError
from calbias.reading.top_label import TopLabel
from calbias.truth.counted import CountedScenario
from pipeline.tables import read_table, validate_columns, write_table

COLUMNS = ("name", "cell", "n", "hits")
FEWEST_ROWS, FEWEST_EVENTS = 100, 10
LARGEST_LOG_ODDS = 53 * np.log(2)  # of a score that was rounded to 1
_REMEDY = "give more rows, or write fits: refitted"


def read_populations(path: Path) -> dict[str, CountedScenario]:
    """Return {name: CountedScenario} of a file; InputError if it lacks a column."""
    table = read_table(path)
    validate_columns(table.columns, COLUMNS, path, f"it needs the columns {', '.join(COLUMNS)}")
    return {
        str(name): CountedScenario(
            str(name), *(rows[column].to_numpy() for column in ("cell", "n", "hits"))
        )
        for name, rows in table.groupby("name", observed=True)
    }


def read_own_scores(paths: Iterable[Path]) -> dict[str, tuple[CountedScenario, str]]:
    """Return {model: (its population, source of its outputs)} of files of ``write_own_scores``."""
    return {
        name: (population, str(read_table(path)["source"].iloc[0]))
        for path in paths
        for name, population in read_populations(path).items()
    }


def write_own_scores(path: Path, population: CountedScenario, source: str) -> None:
    """Write a model's population, with the source of its outputs."""
    assert population.hits is not None
    counts = (
        values.astype(np.int64).tolist()
        for values in (population.cells, population.n, population.hits)
    )
    rows = [(population.name, source, *row) for row in zip(*counts, strict=True)]
    write_table(path, ("name", "source", *COLUMNS[1:]), rows)


def population_of(name: str, top: TopLabel) -> CountedScenario:
    """Return the population of a fold's own scores; InputError where they determine no curve."""
    rows, hits = top.hit.size, int(top.hit.sum())
    needed = (
        (rows, "rows", FEWEST_ROWS),
        (hits, "hits", FEWEST_EVENTS),
        (rows - hits, "misses", FEWEST_EVENTS),
    )
    for number, words, fewest in needed:
        if number < fewest:
            raise InputError(
                f"{number} {words}: a curve of a model's own scores needs {fewest}; {_REMEDY}"
            )
    log_odds = own_log_odds(top)
    if np.ptp(log_odds) == 0:
        raise InputError("all scores are equal: no curve can be fitted; give distinct scores")
    return CountedScenario.from_log_odds(name, log_odds, top.hit)


def own_log_odds(top: TopLabel) -> np.ndarray:
    """Return the log odds (n,) of a fold's scores; of 0 and 1 as if these were rounded."""
    log_odds = top.log_score - top.log1m_score
    is_end = np.isinf(log_odds)
    return np.where(is_end, np.sign(log_odds) * LARGEST_LOG_ODDS, log_odds)
