"""Probabilities of all classes in an order that does not depend on the order of the rows.

Rows are sorted by a hash of their values. Sums over rows and random labels are then the same bits
however the rows came. Labels are drawn from the normalised row: the 53 random bits of a label are a
function of the key, the row's place and the replicate alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calbias.engine.jit import int64, njit, uint64
from calbias.engine.random_words import block
from calbias.engine.scores_and_hits import as_array
from calbias.engine.seeding import stream_key
from calbias.reading import checks
from calbias.reading.output_file import Place

_LABELS_PER_BATCH = 1 << 23
_UNIT = 2.0**-53
_STREAM = 0xC1A55  # the third counter of these draws alone


@dataclass(frozen=True)
class Rows:
    """Checked probabilities.

    probabilities   (n, K) as given, in float64, rows in the order of their hash
    top             (n,) the class of largest probability; of equal ones the first
    order           (n,) the place of each row in the given array
    """

    probabilities: NDArray[np.float64]
    top: NDArray[np.int64]
    order: NDArray[np.int64]

    @classmethod
    def of(cls, probabilities: NDArray[np.float64]) -> Rows:
        """Return the rows of legal probabilities (n, K)."""
        values = np.ascontiguousarray(probabilities, np.float64) + 0.0  # -0.0 becomes 0.0
        order = np.argsort(_hashes(values.view(np.uint64)), kind="stable")
        values = values[order]
        return cls(values, values.argmax(axis=1), order)

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and classes, (n, K)."""
        n, n_classes = self.probabilities.shape
        return n, n_classes

    def given(self, labels: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return labels (n,) in the given order as one column (n, 1) in the order here."""
        return np.ascontiguousarray(labels[self.order, None], np.int32)

    def redrawn(
        self, replicates: int, seed: int, name: str = "classes"
    ) -> Iterator[NDArray[np.int32]]:
        """Yield labels (n, r) of r replicates at a time, drawn from the probabilities."""
        n = len(self.probabilities)
        key = stream_key(seed, name, n)
        size = max(2, min(_LABELS_PER_BATCH // n, replicates) // 2 * 2)
        for first in range(0, replicates, size):
            labels = np.empty((n, min(size, replicates - first)), np.int32)
            _draw(self.probabilities, key, first // 2, labels)
            yield labels


def checked(
    probabilities: ArrayLike, labels: ArrayLike | None
) -> tuple[Rows, NDArray[np.int64] | None]:
    """Return the Rows of a user's probabilities and the labels (n,), or None without labels.

    Raises InputError, one line, for illegal values; see ``calbias.reading.checks``.
    """
    location = Place(Path("probabilities"), "array")
    values = checks.checked_values(as_array("probabilities", probabilities), location)
    numbers = None
    if labels is not None:
        n, n_classes = values.shape
        numbers = checks.checked_labels(as_array("labels", labels), n, n_classes, location)
    checks.check_probabilities(values, location)
    return Rows.of(np.minimum(values.astype(np.float64), 1.0)), numbers


@njit
def _hashes(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return a hash (n,) of each row of bits (n, K), uint64."""
    out = np.empty(bits.shape[0], np.uint64)
    for i in range(bits.shape[0]):
        mixed = uint64(0x9E3779B97F4A7C15)
        for k in range(bits.shape[1]):
            mixed = (mixed ^ bits[i, k]) * uint64(0xBF58476D1CE4E5B9)
            mixed ^= mixed >> uint64(29)
        out[i] = mixed * uint64(0x94D049BB133111EB)
    return out


@njit
def _draw(
    probabilities: NDArray[np.float64],
    key: NDArray[np.uint32],
    first_pair: int,
    labels: NDArray[np.int32],
) -> None:
    """Fill labels (n, r) with classes drawn from the rows' probabilities (n, K).

    A Philox block, at the counter (row, pair), gives two uniforms: the labels of two replicates.
    """
    n, n_classes = probabilities.shape
    replicates = labels.shape[1]
    sums = np.empty(n_classes)
    uniforms = np.empty(2)
    first_key, second_key = uint64(key[0]), uint64(key[1])
    for i in range(n):
        total = 0.0
        for k in range(n_classes):
            total += probabilities[i, k]
            sums[k] = total
        for pair in range((replicates + 1) // 2):
            second, third = uint64(first_pair + pair), uint64(_STREAM)
            a, b, c, d = block(uint64(i), second, third, uint64(0), first_key, second_key)
            uniforms[0] = float((int64(a) << 21) ^ (int64(b) >> 11)) * _UNIT
            uniforms[1] = float((int64(c) << 21) ^ (int64(d) >> 11)) * _UNIT
            for half in range(min(2, replicates - 2 * pair)):
                labels[i, 2 * pair + half] = _first_above(sums, uniforms[half] * total)


@njit(inline="always")
def _first_above(sums: NDArray[np.float64], level: float) -> int:
    """Return the first place whose partial sum exceeds a level, else the last that adds to it."""
    k = int(np.searchsorted(sums[:-1], level, side="right"))
    while k > 0 and sums[k] == sums[k - 1]:  # the level was rounded up to the total
        k -= 1
    return k
