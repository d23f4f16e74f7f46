"""The cells of a sketch: which cell a score is in, and what is counted there.

Cell c of K = 57 600 holds the scores in [c/K, (c + 1)/K). Edges of n bins of equal width are edges
of cells where n divides K: 1, 2, 3, 4, 5, 6, 8, 9, 10, 12, 15, 16, 18, 20, 24, 25, 30, …, 100. The
first cell and the last are divided further at 4^-9, 4^-10, …, 4^-26 from 0 and from 1, and scores
of exactly 0 and 1 have cells of their own.

Counts are whole numbers (4, cells): rows, hits, and the sums of scores in units of 2^-53, each
score rounded down, as a high and a low part of 27 bits.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from calbias.engine.scores_and_hits import weights_of_rows
from calbias.errors import InputError
from calbias.samples.by_score import Scored

N_CELLS = 57_600
TAILS = tuple(4.0**-k for k in range(9, 27))
FIRST = len(TAILS) + 1
"""The number of linear cell 0."""
UNIT = 2.0**53
LOW_BITS = 27
LOW = (1 << LOW_BITS) - 1
MOST_ROWS = 1 << 36
MOST_CELLS = 4**9
"""The tails divide the first cell and the last, and no others."""


def cells_for(n_bins: int) -> int:
    """Return a number of cells that bins of equal width do not cut."""
    return n_bins * -(-N_CELLS // n_bins)


def count(
    scores: np.ndarray, hits: np.ndarray, times: np.ndarray, n_cells: int, counts: np.ndarray
) -> None:
    """Add rows (n,), each so many times, to the counts (4, cells)."""
    cell = cell_numbers(scores, n_cells)
    units = (scores * UNIT).astype(np.int64)
    added = times, times * hits, times * (units >> LOW_BITS), times * (units & LOW)
    for count, values in zip(counts, added, strict=True):
        np.add.at(count, cell, values)


def cell_numbers(scores: np.ndarray, n_cells: int) -> np.ndarray:
    """Return the cell of each score (n,)."""
    cell = (scores * n_cells).astype(np.int64)
    cell += (scores >= (cell + 1) / n_cells).astype(np.int64) - (scores < cell / n_cells)
    cell += FIRST - (scores <= 0.0)
    in_tail = np.flatnonzero((scores < TAILS[0]) | (1.0 - scores < TAILS[0]))
    below, above = (
        np.searchsorted(TAILS[::-1], values[in_tail], side="right")
        for values in (scores, 1.0 - scores)
    )
    cell[in_tail] += below - above
    return cell


def in_cells(scored: Scored, n_cells: int) -> Scored:
    """Return the rows with the mean score of each cell, without clusters."""
    cell = cell_numbers(scored.scores, n_cells)
    starts = np.flatnonzero(np.append(True, cell[1:] != cell[:-1]))
    rows, hits = (np.add.reduceat(column, starts) for column in (scored.rows, scored.hits))
    chances = scored.scores, np.exp(scored.log_scores), np.exp(scored.log1m_scores)
    means, *others = (np.add.reduceat(scored.rows * chance, starts) / rows for chance in chances)
    with np.errstate(divide="ignore"):
        log_scores, log1m_scores = map(np.log, others)
    return Scored(means, rows, hits, log_scores, log1m_scores, width=1.0 / n_cells)


def carry(counts: np.ndarray) -> None:
    """Move what exceeds the low parts of the sums to the high ones."""
    counts[2] += counts[3] >> LOW_BITS
    counts[3] &= LOW


def edges(n_cells: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the least score of each cell, and the score before which it ends; equal at 0, 1."""
    inner = np.arange(1, n_cells) / n_cells
    low, high = np.array(TAILS[::-1]), 1.0 - np.array(TAILS)
    ends = np.concatenate([[0.0, np.nextafter(0, 1)], low, inner, high, [1.0, 1.0]])
    return ends[:-1], np.append(0.0, ends[2:])


def mean_scores(counts: np.ndarray, full: np.ndarray, n_cells: int) -> np.ndarray:
    """Return the mean score of cells that hold rows, inside the cell."""
    rows, _, high, low = counts[:, full]
    means = (high + low / (LOW + 1)) / rows / (UNIT / (LOW + 1))
    lowest, beyond = (ends[full] for ends in edges(n_cells))
    return np.clip(means, lowest, np.where(lowest < beyond, np.nextafter(beyond, 0), lowest))


def validate(counts: np.ndarray, n_cells: int) -> None:
    """Raise InputError for counts that no rows have."""
    rows, hits, high, low = counts
    is_possible = (hits >= 0) & (hits <= rows) & (rows <= MOST_ROWS) & (low >= 0) & (low <= LOW)
    if not is_possible.all() or sum(rows.tolist()) > MOST_ROWS:
        raise InputError(
            "counts are impossible: hits must be at most rows, neither negative, and all rows "
            f"together at most {MOST_ROWS}"
        )
    lowest, beyond = edges(n_cells)
    total = high * float(LOW + 1) + low
    slack = 1.0 + 1e-12
    bad = (total < rows * (lowest * UNIT - 1) / slack) | (total > rows * beyond * UNIT * slack)
    bad &= ~((rows == 0) & (total == 0))
    bad[0] = total[0] != 0
    if bad.any():
        cell = int(np.argmax(bad))
        raise InputError(
            f"cell {cell}: the sum of its scores does not fit its {rows[cell]} rows: give "
            "Σ ⌊score·2^53⌋, as Sketch.sql does"
        )


def whole_weights(sample_weight: ArrayLike, n: int) -> np.ndarray:
    """Return weights (n,) as int64; InputError unless they are whole and at least 0."""
    return weights_of_rows(
        sample_weight, n, lambda weights: (weights <= MOST_ROWS) & (weights == np.floor(weights)),
        "whole number of at least 0; a sketch counts rows: give real weights to calbias.audit or "
        "estimate",
    ).astype(np.int64)  # fmt: skip


def sql(table: str, score: str, hit: str, n_cells: int) -> str:
    """Return the query that counts a table's rows in the cells: see ``Sketch.sql``."""
    s = f"CAST({score} AS DOUBLE PRECISION)"

    def tails_above(below: str) -> str:
        return " + ".join(f"(CASE WHEN {below} < {tail!r} THEN 1 ELSE 0 END)" for tail in TAILS)

    return (
        f"SELECT {FIRST} + c + up - down AS cell, COUNT(*) AS n_rows, SUM(y) AS n_hits, "
        f"SUM(CAST(q AS DECIMAL(38, 0))) AS score_sum FROM (SELECT y, q, "
        f"c + (CASE WHEN s >= (c + 1) / 1e0 / {n_cells} THEN 1 ELSE 0 END) "
        f"- (CASE WHEN s < c / 1e0 / {n_cells} THEN 1 ELSE 0 END) AS c, "
        f"{tails_above('1 - s')} AS up, "
        f"{tails_above('s')} + (CASE WHEN s <= 0 THEN 1 ELSE 0 END) AS down "
        f"FROM (SELECT {s} AS s, CAST({hit} AS BIGINT) AS y, "
        f"CAST(FLOOR({s} * {n_cells}) AS BIGINT) AS c, "
        f"CAST(FLOOR({s} * {UNIT:.0f}e0) AS BIGINT) AS q FROM {table}) AS a) AS b GROUP BY 1"
    )
