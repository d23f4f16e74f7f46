"""A monitor's state as a text that is sealed, and whether any rows give it."""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calbias.errors import InputError
from calbias.io.limits import inflated
from calbias.monitoring import blocks as memory
from calbias.monitoring.blocks import N_CELLS, PRIOR, REACH, cell_numbers, weight_after
from calbias.monitoring.sizes import SIZES

POINTS = 120
"""Points of the track, at most."""
_MOST_BYTES, _MOST_SUM, _CLOSE = 1 << 20, 1e300, 1e-9


def sealed(values: dict[str, Any]) -> str:
    """Return values as JSON with a checksum of all of them."""
    return json.dumps(values | {"sha256": _digest(values)})


def unsealed(values: dict[str, Any], names: set[str]) -> dict[str, Any]:
    """Return the values that ``sealed`` made JSON of; InputError for others than of these names."""
    inner = {name: value for name, value in values.items() if name != "sha256"}
    if values.get("sha256") != _digest(inner) or set(inner) != names:
        raise InputError("the state was cut or damaged: copy it again")
    return inner


def _digest(values: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()[:16]


def packed(values: NDArray) -> str:
    """Return numbers of 8 bytes as text: all first bytes, all second bytes, …, compressed."""
    data = values.astype(values.dtype.newbyteorder("<")).reshape(-1, 1).view(np.uint8)
    return base64.b64encode(zlib.compress(data.T.tobytes(), 9)).decode()


def unpacked(text: str, like: NDArray) -> NDArray:
    """Return the numbers of ``packed``, of the type and with the columns of an array."""
    contents = inflated("the monitor's state", base64.b64decode(text), _MOST_BYTES)
    data = np.frombuffer(contents, np.uint8).reshape(8, -1)
    values = np.ascontiguousarray(data.T).view(like.dtype.newbyteorder("<")).ravel()
    return values.astype(like.dtype).reshape(-1, *like.shape[1:])


def is_possible(state: Any) -> bool:
    """Return whether rows can give a Monitor its values, as far as these depend on each other."""
    numbers = (state.n, state._factors, state._step, *(state.since or ()), state.alarm or 1)
    sizes = state._sums.size, state._open.size, state._ends.size, state._sizes.size
    return bool(
        all(type(count) is int and 0 <= count < 2**53 for count in numbers)
        and (state._cluster is None or (isinstance(state._cluster, str) and state._cluster))
        and sizes == (PRIOR.size, PRIOR.size + 3 * N_CELLS, memory.NO_ENDS.size, SIZES.size)
        and 1 <= len(state._blocks) <= memory.MOST
        and _are_counts(state)
        and _is_evidence(state)
        and _is_track(state)
        and _are_ends(state)
    )


def _are_counts(state: Any) -> bool:
    """Return whether blocks, open rows and sizes of clusters count n rows and all factors."""
    is_open, ratios, counts = state._cluster is not None, *np.split(state._open, [PRIOR.size])
    if not ((counts >= 0) & (counts < 2**53) & (counts % 1 == 0)).all():
        return False
    if (state._blocks < 0).any() or (state._blocks > state.n * memory.STEPS).any():
        return False
    blocks = np.concatenate([state._blocks[:, 2:], counts[None].astype(np.int64)]).astype(object)
    rows, hits, positions = np.split(blocks, 3, axis=1)
    n_open, n_rows = rows[-1].sum(), rows[:-1].sum(axis=1)
    factors = state._blocks[:, 0]
    n_before, before = state.n - n_open - n_rows.sum(), state._factors - int(factors.sum())
    clusters = state._sizes
    alone = state._factors - int(clusters.sum())
    in_clusters = state.n - n_open - alone
    return bool(
        (n_open > 0) == is_open
        and (is_open or not ratios.any())
        and (np.abs(np.log1p(np.maximum(ratios, -1.0 + _CLOSE))) <= REACH + _CLOSE).all()
        and (hits <= rows).all()
        and (positions <= memory.STEPS * rows).all()
        and (n_rows == state._blocks[:, 1]).all()
        and (factors <= state._blocks[:, 1]).all()
        and ((factors == 0) == (state._blocks[:, 1] == 0)).all()
        and (factors[:-1] > 0).all()
        and (factors[:-1] % memory.UNIT == 0).all()
        and factors[-1] < memory.UNIT
        and n_before == (state.since.row - 1 if state.since else 0)
        and (n_before > 0) == (before > 0)
        and 0 <= before <= n_before
        and before % memory.UNIT == 0
        and (clusters >= 0).all()
        and alone >= 0
        and clusters @ SIZES.astype(object) <= in_clusters
        and in_clusters <= clusters[:-1] @ (SIZES[1:].astype(object) - 1)
    )


def _is_evidence(state: Any) -> bool:
    """Return whether sums, largest evidence and alarm agree."""
    sums, largest = state._sums, state._largest
    if not ((sums >= 0) & (sums <= _MOST_SUM)).all() or not isinstance(largest, float):
        return False
    n_complete = state.n - int(state._open[PRIOR.size : PRIOR.size + N_CELLS].sum())
    return bool(
        (sums > 0).all() == (state._factors > 0) == sums.any()
        and (not sums.any() or _are_of_factors(np.log(sums / PRIOR), state._factors))
        and max(state.evidence, 1.0) <= largest < np.inf
        and (state.alarm is None) == (largest < 1.0 / state.level)
        and (state.alarm is None) == (state.since is None)
        and (
            state.since is None
            or (
                1 <= state.since.low <= state.since.row <= state.since.high
                and state.since.high <= state.alarm <= n_complete
            )
        )
    )


def _are_of_factors(logs: NDArray, factors: int) -> bool:
    """Return whether logarithms of Σ_u w_u R_j(u) … R_j(t) are those of so many factors."""
    before, after = weight_after(np.array([factors - 1, factors]))
    with np.errstate(divide="ignore"):  # the last weight may be below the rounding
        least, most = np.log(before - after) - REACH, np.log(1.0 - after) + factors * REACH
    return bool(((logs >= least - _CLOSE) & (logs <= most + _CLOSE)).all())


def _is_track(state: Any) -> bool:
    """Return whether the track has its points after every step-th factor."""
    (row, height), step = state._track.T, state._step
    points, doublings = len(row), step // memory.UNIT
    factors = step * np.arange(1, points + 1)
    limit = np.where(row < (state.alarm or np.inf), -np.log10(state.level), np.inf)
    top = min(np.log10(state._largest), np.log10(PRIOR.size * _MOST_SUM))
    return bool(
        step == memory.UNIT * doublings > 0 == doublings & (doublings - 1)
        and points == state._factors // step <= POINTS
        and (step == memory.UNIT or points >= POINTS // 2)
        and np.isfinite(state._track).all()
        and (row % 1 == 0).all()
        and (np.diff(row, prepend=0) >= step).all()
        and (row <= state.n - (state._factors - factors)).all()
        and (height >= np.log10(weight_after(factors)) - _CLOSE).all()
        and (height <= np.minimum(top + _CLOSE, limit)).all()
        and (
            not points
            or state._factors % step > 0
            or abs(height[-1] - np.log10(state.evidence)) <= _CLOSE
        )
    )


def _are_ends(state: Any) -> bool:
    """Return whether the scores next to 0 and 1 are scores that came."""
    counts = state._blocks[:, 2:].sum(axis=0) + state._open[PRIOR.size :]
    cells = np.flatnonzero(counts[:N_CELLS])
    last, low_twice, low, high_twice, high = state._ends.tolist()
    ends = cell_numbers(np.array([0.5 * min(low, 0.98), 0.5 + 0.5 * max(high, 0.02)]))
    if cells.size and not ends[0] <= cells[0] <= cells[-1] <= ends[1]:
        return False
    if np.isnan(last):
        return np.array_equal(state._ends, memory.NO_ENDS, equal_nan=True)
    came_twice = 0.0 < low_twice < 1.0
    came = state._ends if came_twice else np.array([last, low, high])
    return bool(
        state.n > 0
        and (state.since is not None or np.isin(cell_numbers(came), cells).all())
        and 0.0 < low <= last <= high < 1.0
        and (
            low <= low_twice <= high_twice <= high
            if came_twice
            else (low_twice, high_twice) == (1.0, 0.0)
        )
    )
