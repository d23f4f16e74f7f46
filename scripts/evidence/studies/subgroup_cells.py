"""Does the test over all subgroups hold its level, find faults, and do its intervals cover?

A cell is a distribution of scores, columns of so many values and a curve by subgroup. The method
was made on the cells of the half ``design``; those of ``judging`` were written after it was frozen.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, logit

from calbias.auditing.subgroups import ALL, subgroups
from calbias.engine.seeding import stream

Columns = dict[str, np.ndarray]
Truth = Callable[[np.ndarray, Columns], np.ndarray]
REPLICATES = 999
PAIR = "a = v1 and b = v2"


class Cell(NamedTuple):
    """n rows of scores, columns of ``levels`` values, log odds of a hit; ``clusters`` of 5 rows.

    Rows of a cluster share a normal effect of this standard deviation on the probit scale.
    """

    half: str
    n: int
    scores: Callable[[np.random.Generator, int], np.ndarray]
    levels: tuple[int, ...]
    truth: Truth
    cluster_rows: int = 0
    correlation: float = 0.0
    uneven: bool = False


def _beta(a: float, b: float) -> Callable[[np.random.Generator, int], np.ndarray]:
    return lambda generator, n: generator.beta(a, b, n)


def _normal(mean: float, sd: float) -> Callable[[np.random.Generator, int], np.ndarray]:
    return lambda generator, n: expit(generator.normal(mean, sd, n))


def _tied(*values: float) -> Callable[[np.random.Generator, int], np.ndarray]:
    return lambda generator, n: generator.choice(values, n)


def _same(x: np.ndarray, columns: Columns) -> np.ndarray:
    return x


def _pair(shift: float) -> Truth:
    return lambda x, columns: x + shift * ((columns["a"] == 1) & (columns["b"] == 2))


def _shift(shift: float) -> Truth:
    return lambda x, columns: x + shift


def _slope(slope: float, value: int | None = None) -> Truth:
    def truth(x: np.ndarray, columns: Columns) -> np.ndarray:
        return np.where((columns["a"] == value) | (value is None), slope * x, x)

    return truth


def _by_value(step: float) -> Truth:
    return lambda x, columns: x + step * (columns["a"] - 1)


def _zigzag(x: np.ndarray, columns: Columns) -> np.ndarray:
    return x + 1.5 * np.sign(np.sin(3 * x))


def _opposite(x: np.ndarray, columns: Columns) -> np.ndarray:
    return x + 0.8 * (2 * ((columns["a"] + columns["b"]) % 2) - 1)


_FEW, _SOME, _MANY = (4, 5, 3), (8, 8, 8), (11, 11, 11)
_VERBAL = (0.5, 0.7, 0.8, 0.85, 0.9, 0.95, 0.99)
CELLS = {
    "calibrated": Cell("design", 2000, _beta(6, 1.5), _FEW, _same),
    "two values": Cell("design", 500, _beta(2, 1), (2,), _same),
    "ties": Cell("design", 2000, _tied(*_VERBAL), _FEW, _same),
    "saturated": Cell("design", 3000, _normal(6, 3), _FEW, _same),
    "rare events": Cell("design", 4000, _beta(1, 60), _FEW, _same),
    "217 segments": Cell("design", 12_000, _beta(6, 1.5), _SOME, _same),
    "pair -0.6": Cell("design", 5000, _beta(6, 1.5), _FEW, _pair(-0.6)),
    "pair -0.9": Cell("design", 5000, _beta(6, 1.5), _FEW, _pair(-0.9)),
    "all shifted": Cell("design", 2000, _beta(6, 1.5), _FEW, _shift(-0.8)),
    "slope of all": Cell("design", 2000, _normal(0, 3), _FEW, _slope(0.5)),
    "each value": Cell("design", 2000, _beta(2, 1), _FEW, _by_value(0.6)),
    "zigzag": Cell("design", 2000, _normal(0, 3), _FEW, _zigzag),
    "saturated, shifted": Cell("design", 3000, _normal(6, 3), _FEW, _shift(-1.5)),
    "uniform": Cell("judging", 1000, _beta(1, 1), (3, 3), _same),
    "three values": Cell("judging", 300, _beta(8, 2), (3,), _same),
    "two scores": Cell("judging", 1500, _tied(0.6, 0.9), (5, 4, 2), _same),
    "nearly all 1": Cell("judging", 6000, _normal(9, 3), (6, 4), _same),
    "rare, uneven": Cell("judging", 8000, _beta(0.5, 80), (6, 6, 4), _same, uneven=True),
    "390 segments": Cell("judging", 8000, _beta(3, 1), _MANY, _same),
    "U-shaped": Cell("judging", 2500, _beta(0.4, 0.4), (4, 4, 4), _same),
    "one pair -0.6": Cell("judging", 5000, _beta(5, 2), _FEW, _pair(-0.6)),
    "one pair -0.9": Cell("judging", 5000, _beta(5, 2), _FEW, _pair(-0.9)),
    "one pair +0.9": Cell("judging", 5000, _beta(5, 2), _FEW, _pair(0.9)),
    "slope of a value": Cell("judging", 4000, _normal(0, 2), (4, 3), _slope(0.6, 1)),
    "opposite": Cell("judging", 2500, _beta(3, 1), (4, 4), _opposite),
    "all too low": Cell("judging", 2500, _beta(2, 3), (5, 4), _shift(0.7)),
    "too extreme": Cell("judging", 2500, _beta(0.4, 0.4), (4, 4), _slope(0.3)),
    "rare, tripled": Cell("judging", 6000, _beta(1, 80), (4, 4), _shift(1.1)),
    "few scores, wrong": Cell("judging", 1500, _tied(0.1, 0.5, 0.97), (4, 3), _by_value(0.7)),
    "uneven, wrong": Cell("judging", 4000, _beta(4, 1), (6, 6), _by_value(-0.4), uneven=True),
    "clusters of 5": Cell("design", 2000, _beta(6, 1.5), _FEW, _same, 5, 0.5),
    "clusters of 20": Cell("judging", 4000, _beta(3, 1), (4, 3), _same, 20, 0.3),
    "few clusters": Cell("judging", 1500, _beta(2, 1), (3, 2), _same, 50, 0.3),
    "clusters of 8, wrong": Cell("judging", 3200, _beta(3, 1), (4, 3), _by_value(-0.5), 8, 0.4),
    "clusters, saturated": Cell("judging", 6000, _normal(5, 2), (4, 3), _same, 10, 0.4),
}  # fmt: skip


def drawn(name: str, seed: int, k: int) -> tuple[np.ndarray, np.ndarray, Columns, Any, np.ndarray]:
    """Return scores, hits, columns, clusters and true rates of data set k of a cell."""
    from scipy.special import ndtr

    cell = CELLS[name]
    generator, n = stream(seed, "subgroup cells", name, str(k)), cell.n
    scores = cell.scores(generator, n)
    columns = {}
    for column, levels in zip("abc", cell.levels, strict=False):
        shares = np.ones(levels) if not cell.uneven else 0.6 ** np.arange(levels)
        columns[column] = generator.choice(levels, n, p=shares / shares.sum())
    rates = expit(cell.truth(logit(scores), columns))
    if not cell.cluster_rows:
        return scores, generator.random(n) < rates, columns, None, rates
    clusters = np.arange(n) // cell.cluster_rows
    shared = generator.normal(size=clusters.max() + 1)[clusters]
    noise = generator.normal(size=n)
    level = np.sqrt(cell.correlation) * shared + np.sqrt(1 - cell.correlation) * noise
    return scores, ndtr(level) < rates, columns, clusters, rates


def cell_row(name: str, data_sets: int, seed: int) -> dict[str, Any]:
    """Return the row of table ``subgroup_cells`` of a cell."""
    rejected, covered, named, n_segments, width = 0, 0, 0, 0, 0.0
    for k in range(data_sets):
        scores, hits, columns, clusters, rates = drawn(name, seed, k)
        texts = {name: np.char.add("v", column.astype(str)) for name, column in columns.items()}
        found = subgroups(scores, hits, texts, clusters, replicates=REPLICATES, seed=k)
        table = found.table
        gaps = np.array([(scores - rates)[inside].mean() for inside in _rows(table, columns)])
        covered += bool(((table["low"] <= gaps) & (gaps <= table["high"])).all())
        rejected += found.miscalibrated
        named += found.miscalibrated and table["segment"][0] == PAIR
        n_segments += len(table)
        width += float((table["high"] - table["low"]).mean())
    rate, cover = rejected / data_sets, covered / data_sets
    return {
        "cell": name,
        "half": CELLS[name].half,
        "n_samples": CELLS[name].n,
        "n_segments": round(n_segments / data_sets),
        "calibrated": CELLS[name].truth is _same,
        "n_data_sets": data_sets,
        "rejection_rate": rate,
        "rejection_rate_se": np.sqrt(max(rate * (1 - rate), 1e-4) / data_sets),
        "named": named / max(rejected, 1) if "pair" in name else None,
        "coverage": cover,
        "coverage_se": np.sqrt(max(cover * (1 - cover), 1e-4) / data_sets),
        "mean_length": width / data_sets,
    }


def _rows(table: Any, columns: Columns) -> Iterator[np.ndarray]:
    for words in table["segment"]:
        parts = [] if words == ALL else [part.split(" = v") for part in words.split(" and ")]
        inside = np.ones(len(columns["a"]), bool)
        for name, value in parts:
            inside &= columns[name] == int(value)
        yield inside
