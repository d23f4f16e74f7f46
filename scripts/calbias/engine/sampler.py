"""Simulated data sets of a scenario, drawn in sorted order and with their prefix sums.

Sorted uniforms u come without a sort (``random_words``), the score c and the hit probability T from
the scenario's table; the hit is decided by 32 more random bits. docs/papers/sampler.md explains
the method and states its accuracy.

**Table.** The inverse Beta CDF and the curve are evaluated exactly at the nodes, with their
derivatives, and interpolated by cubic Hermite polynomials. A cell is 1/64 of an octave of
d = min(u, 1 - u), so that its number is the exponent and the first six bits of the mantissa of d,
and the error is small relative to u and to 1 - u.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
from scipy.special import betaln, expit

from calbias.engine.float_scores import EXACT, log_gap_below_one, rounded
from calbias.engine.jit import njit, uint64
from calbias.engine.random_words import (
    BLOCK,
    MANTISSA,
    STATE_WORDS,
    high_half,
    low_half,
    place_of,
    seed_lanes,
    sum_exponentials,
)
from calbias.engine.seeding import stream_key
from calbias.engine.simd import (
    LANES,
    bits_of,
    copies,
    float_of,
    gather_rows,
    lanes_from,
    last_lane,
    load,
    prefix_sums,
    select,
    store_groups,
)
from calbias.engine.sorted_batch import SortedBatch
from calbias.errors import InputError
from calbias.truth.counted import CountedScenario
from calbias.truth.curves import score
from calbias.truth.scenarios import Scenario, score_quantiles

CELLS_PER_OCTAVE = 64
SMALLEST = 2.0**-36  # one draw in 3e10 is nearer to 0 or 1, and is moved there
OCTAVES = 35  # up to 1/2, and one cell more: d = 1/2 is in it
CELLS = OCTAVES * CELLS_PER_OCTAVE + 1
WORD = 2.0**32


def build_quantile_table(
    scenario: Scenario | CountedScenario, precision: str = EXACT
) -> np.ndarray:
    """Return the table of a scenario, (2·CELLS·8,) float64, aligned to 64 bytes.

    With another ``precision`` the curve is constant from the largest float below 1 on.

    A cell has eight numbers: the coefficients, constant term first, of the score and, interleaved,
    of T·2^32. The cells of u up to 1/2 come first, then the cells of 1 - u.
    """
    octave_starts = SMALLEST * 2.0 ** np.arange(OCTAVES + 1)
    steps = 1.0 + np.arange(CELLS_PER_OCTAVE) / CELLS_PER_OCTAVE
    nodes = (octave_starts[:, None] * steps).ravel()[: CELLS + 1]
    table = _aligned(2 * CELLS * 8)
    for half, side in zip(table.reshape(2, CELLS, 4, 2), ("lower", "upper"), strict=True):
        least = log_gap_below_one(precision)
        if isinstance(scenario, CountedScenario):
            half[:] = _interpolated(scenario, nodes, side, least)
        else:
            half[:] = _cubics(scenario, nodes, side, least)
    return table


def _aligned(size: int) -> np.ndarray:
    """Return an array (size,) of float64 that begins at a multiple of 64 bytes."""
    array = np.empty(size + 7)
    start = -array.ctypes.data % 64 // 8
    return array[start : start + size]


def _cubics(scenario: Scenario, nodes: np.ndarray, side: str, least: float) -> np.ndarray:
    """Return (cells, 4, 2) coefficients between the nodes in u, or in 1 - u where ``upper``.

    The curve is evaluated where log(1 - c) is at least ``least``.
    """
    alpha, beta, curve = scenario.alpha, scenario.beta, scenario.curve
    logs = score_quantiles(alpha, beta, **{side: nodes})
    log_density = (alpha - 1) * logs[0] + (beta - 1) * logs[1] - betaln(alpha, beta)
    direction = -1.0 if side == "upper" else 1.0
    scores = _hermite(nodes, score(*logs), direction * np.exp(-log_density))
    is_constant = logs[1] < least
    logs = logs[0], np.maximum(logs[1], least)
    sign, log_slope = curve.log_abs_slope(*logs)
    hit_slope = np.where(is_constant, 0.0, sign * np.exp(log_slope - log_density))
    hits = _hermite(nodes, WORD * curve.hit(*logs), WORD * direction * hit_slope)
    return np.stack([scores, hits], axis=2)


def _interpolated(
    scenario: CountedScenario, nodes: np.ndarray, side: str, least: float
) -> np.ndarray:
    """Return the coefficients of ``_cubics``, through four values of each cell of the table.

    Where the cubic of the scores turns back, both are straight: drawn scores are in order.
    """
    t = np.arange(4) / 3
    log_odds = scenario.log_odds(nodes[:-1, None] + np.diff(nodes)[:, None] * t, side == "upper")
    hits = expit(scenario.logit_hit(np.minimum(log_odds, np.log(np.expm1(-least)))))
    values = np.stack([expit(log_odds), WORD * hits], axis=2)
    cubics = np.linalg.inv(np.vander(t, increasing=True)) @ values
    steps = np.diff(
        np.vander(np.linspace(0, 1, 33), 4, increasing=True) @ cubics[:, :, 0].T, axis=0
    )
    turns = ((steps < 0) if side == "lower" else (steps > 0)).any(axis=0)
    first, last = values[turns, 0], values[turns, 3]
    cubics[turns] = np.stack([first, last - first, 0 * first, 0 * first], axis=1)
    return np.asarray(cubics)


def _hermite(nodes: np.ndarray, values: np.ndarray, derivatives: np.ndarray) -> np.ndarray:
    """Return the four coefficients of each cell's cubic in t = (u - node)/width, (cells, 4)."""
    width = np.diff(nodes)
    rise = np.diff(values)
    left, right = width * derivatives[:-1], width * derivatives[1:]
    return np.stack([values[:-1], left, 3 * rise - 2 * left - right, left + right - 2 * rise], 1)


_SAMPLES_PER_BATCH = 1 << 17  # 3 MB: fixed costs are few, and it stays in the last cache
_kept: deque[Any] = deque(maxlen=2)  # memory that batches have left; asking for new is slow
_BITS_OF_ONE = uint64(0x3FF0000000000000)
_CELL_BITS = int(np.log2(CELLS_PER_OCTAVE))
_FIRST_CELL = uint64((1023 + int(np.log2(SMALLEST))) * CELLS_PER_OCTAVE)


class Sampler:
    """Draws the replicates of one scenario at one sample size, in any order, in batches.

    A data set is a function of ``seed``, the scenario, ``n_samples`` and the replicate's number
    alone; with another ``precision`` than exact its scores are rounded, and equal ones are tie
    groups. ``table`` is of the same precision. Raises InputError unless n_samples is at least 1.
    """

    def __init__(
        self,
        scenario: Scenario | CountedScenario,
        n_samples: int,
        seed: int,
        table: np.ndarray | None = None,
        precision: str = EXACT,
    ) -> None:
        if n_samples < 1:
            raise InputError(f"n_samples must be at least 1, not {n_samples}")
        self.n_samples = n_samples
        self.precision = precision
        self.table = build_quantile_table(scenario, precision) if table is None else table
        self.key = stream_key(seed, scenario.name, n_samples)

    def batches(self, replicates: Sequence[int] | np.ndarray) -> Iterator[SortedBatch]:
        """Yield a SortedBatch for each run of entries of ``replicates``, an array of numbers.

        The arrays are reused: a batch is valid until the next one is asked for.
        """
        replicates = np.asarray(replicates, dtype=np.uint64)
        n = self.n_samples
        rows = max(1, min(_SAMPLES_PER_BATCH // n, replicates.size))
        n_blocks = n // BLOCK + 1  # n + 1 sums
        row_sums, block_sums = rows * (n + 1) + BLOCK, n_blocks * BLOCK
        sizes = [rows * n + BLOCK, row_sums, row_sums, block_sums, block_sums // 2]
        *drawn, sums, marks = _arrays([-(-size // LANES) * LANES for size in sizes])
        scratch = np.empty(STATE_WORDS, np.uint64), sums, marks.view(np.uint64)
        arrays = _rows(rows, n, *drawn)
        for start in range(0, replicates.size, rows):
            batch = replicates[start : start + rows]
            _draw(batch, n, self.key, self.table, scratch, *drawn)
            is_full = batch.size == rows
            data = SortedBatch.without_ties(*(arrays if is_full else _rows(batch.size, n, *drawn)))
            yield rounded(data, self.precision)


class _Memory:
    """Memory of an array and its views; when the last of them is gone, it is kept for the next."""

    def __init__(self, size: int) -> None:
        kept = _kept.pop() if _kept else np.empty(0)
        self.array = kept if kept.size >= size else np.empty(max(size, 4 * _SAMPLES_PER_BATCH))
        self.__array_interface__ = self.array.__array_interface__

    def __del__(self) -> None:
        _kept.append(self.array)


def _arrays(sizes: Sequence[int]) -> list[np.ndarray]:
    """Return float64 arrays of these sizes, in memory that earlier batches have left."""
    memory = np.asarray(_Memory(sum(sizes)))
    ends = accumulate(sizes)
    return [memory[end - size : end] for size, end in zip(sizes, ends, strict=True)]


def _rows(
    m: int, n: int, scores: np.ndarray, cum_gap: np.ndarray, cum_hit: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the flat arrays as m rows of n scores, and of n + 1 sums."""
    gaps, hits = (values[: m * (n + 1)].reshape(m, n + 1) for values in (cum_gap, cum_hit))
    return scores[: m * n].reshape(m, n), gaps, hits


def draw(
    scenario: Scenario, n_samples: int, replicate: int, seed: int, precision: str = EXACT
) -> SortedBatch:
    """Return the SortedBatch of one replicate: one row."""
    return next(Sampler(scenario, n_samples, seed, precision=precision).batches([replicate]))


@njit
def _draw(
    replicates: np.ndarray,
    n: int,
    key: np.ndarray,
    table: np.ndarray,
    scratch: tuple[np.ndarray, ...],
    scores: np.ndarray,
    cum_gap: np.ndarray,
    cum_hit: np.ndarray,
) -> None:
    """Fill scores (m·n + 32,) and sums (m·(n + 1) + 32,), row by row, in blocks of 32.

    The end of a row's last block runs into the next row, which is written later.
    """
    state, sums, marks = scratch
    n_blocks = n // BLOCK + 1
    for row in range(replicates.shape[0]):
        seed_lanes(key, replicates[row], state)
        sum_exponentials(state, n_blocks, sums, marks)
        total = sums[place_of(n)]
        at, sum_at = row * n, row * (n + 1)
        cum_gap[sum_at] = cum_hit[sum_at] = 0.0
        n_full = (n + BLOCK - 1) // BLOCK
        _look_up(table, sums, marks, total, n_full, scores, at, cum_gap, cum_hit, sum_at + 1)


@njit(error_model="numpy")
def _look_up(
    table: np.ndarray,
    sums: np.ndarray,
    marks: np.ndarray,
    total: float,
    n_blocks: int,
    scores: np.ndarray,
    at: int,
    cum_gap: np.ndarray,
    cum_hit: np.ndarray,
    sum_at: int,
) -> None:
    """Fill the scores, from ``at`` on, and their sums, from ``sum_at`` on, of one data set."""
    scale = 1.0 / total
    gap_before = hit_before = copies(0.0)
    for block in range(n_blocks):
        position = uint64(block * BLOCK)
        marks_01 = load(marks, uint64(block * 2 * LANES))
        marks_23 = load(marks, uint64(block * 2 * LANES + LANES))
        s0, s1 = load(sums, position), load(sums, position + uint64(LANES))
        s2, s3 = load(sums, position + uint64(2 * LANES)), load(sums, position + uint64(3 * LANES))
        c0, y0 = _score_and_hit(table, s0, total, scale, low_half(marks_01))
        c1, y1 = _score_and_hit(table, s1, total, scale, high_half(marks_01))
        c2, y2 = _score_and_hit(table, s2, total, scale, low_half(marks_23))
        c3, y3 = _score_and_hit(table, s3, total, scale, high_half(marks_23))
        store_groups(scores, at + block * BLOCK, c0, c1, c2, c3)
        start = sum_at + block * BLOCK
        gap_before = _cumulate(cum_gap, start, gap_before, c0 - y0, c1 - y1, c2 - y2, c3 - y3)
        hit_before = _cumulate(cum_hit, start, hit_before, y0, y1, y2, y3)


@njit
def _score_and_hit(table: np.ndarray, sums: Any, total: Any, scale: Any, mark: Any) -> Any:
    """Return the scores and the hits, FLOATS, at u = sums/total."""
    other = total - sums
    is_upper = sums > other
    u = select(is_upper, other, sums) * scale
    bits = bits_of(select(u > SMALLEST, u, copies(SMALLEST)))
    row = (bits >> (52 - _CELL_BITS)) - _FIRST_CELL
    row = select(is_upper, row + uint64(CELLS), row)
    t = float_of(((bits << _CELL_BITS) & MANTISSA) | _BITS_OF_ONE) - 1.0
    c0, p0, c1, p1, c2, p2, c3, p3 = gather_rows(table, row)
    square = t * t
    score = (c0 + square * c2) + t * (c1 + square * c3)
    rate = (p0 + square * p2) + t * (p1 + square * p3)
    hit = select(mark < rate, copies(1.0), copies(0.0))
    return select(score < 1.0, score, copies(1.0)), hit


@njit
def _cumulate(out: np.ndarray, at: int, before: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
    """Store the partial sums of 32 values, eight groups of four; return the last in all lanes."""
    b = a + b
    c = b + c
    d = c + d
    sums = prefix_sums(d)
    start, end = before + lanes_from(copies(0.0), sums, 7), before + sums
    store_groups(out, at, start + a, start + b, start + c, end)
    return last_lane(end)
