"""Fresh rows of a network, and the sketch of them that ships: counts in cells of the log odds."""

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from trained.tasks import Rows

CELLS_PER_UNIT = 100
LARGEST_CELL = 2**15 - 1


class Outputs(NamedTuple):
    """What is kept of rows with logits.

    log_odds: of the top class against all others, (n,) float32; the score would round to 1
    hits: whether the top class is the label, (n,) bool
    chances: the known probability of a hit, (n,) float32, or None
    losses: -log of the label's probability, (n,) float32
    """

    log_odds: np.ndarray
    hits: np.ndarray
    chances: np.ndarray | None
    losses: np.ndarray


def outputs_of(logits: np.ndarray, rows: Rows) -> Outputs:
    """Return the Outputs of logits (n, K); of equal ones the first class is the top one."""
    index = np.arange(len(logits))
    top = logits.argmax(1)
    highest = logits[index, top]
    others = logits.copy()
    others[index, top] = -np.inf
    second = others.max(1)
    log_odds = highest - second - np.log(np.exp(others - second[:, None]).sum(1))
    losses = highest - logits[index, rows.labels] + np.logaddexp(0, -log_odds)
    return Outputs(log_odds, top == rows.labels, _chances(rows.true_logits, top), losses)


def _chances(true_logits: np.ndarray | None, top: np.ndarray) -> np.ndarray | None:
    """Return the probability that the label is the class ``top``, where it is known."""
    if true_logits is None:
        return None
    powers = np.exp(true_logits - true_logits.max(1, keepdims=True))
    chances: np.ndarray = powers[np.arange(len(top)), top] / powers.sum(1)
    return chances


def joined(parts: list[Outputs]) -> Outputs:
    """Return the Outputs of several blocks of rows."""
    log_odds, hits, chances, losses = zip(*parts, strict=True)
    known = None if chances[0] is None else np.concatenate(chances)
    return Outputs(np.concatenate(log_odds), np.concatenate(hits), known, np.concatenate(losses))


def sketch(log_odds: np.ndarray, hits: np.ndarray) -> pa.Table:
    """Return the table cell, n, hits: rows and hits with log odds in [cell, cell + 1)/100.

    Log odds beyond ±327.67 are in the outermost cells.
    """
    cells = np.floor(log_odds.astype(np.float64) * CELLS_PER_UNIT)
    cells = np.clip(cells, -LARGEST_CELL, LARGEST_CELL).astype(np.int64)
    lowest = int(cells.min())
    rows = np.bincount(cells - lowest)
    right = np.bincount(cells - lowest, weights=hits).astype(np.int64)
    [full] = np.nonzero(rows)
    return pa.table(
        {
            "cell": pa.array(full + lowest, pa.int16()),
            "n": pa.array(rows[full], pa.int32()),
            "hits": pa.array(right[full], pa.int32()),
        }
    )
