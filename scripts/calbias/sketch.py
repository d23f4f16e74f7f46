"""A sketch of any number of scores and hits in constant memory: sketches add up, bytes and all.

Rows are counted in fixed cells of the score. A cell keeps whole numbers: rows, hits and the sum of
the scores in units of 2^-53, each score rounded down. Sums of whole numbers do not depend on the
order of the rows, so that parts counted by threads, machines or databases give the same sketch, to
the last byte, as one pass over all rows. ``calbias.samples.cells`` has the cells. The scores
of a ``Scored`` are not rounded: a ``Sketch`` becomes one when it is read.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from calbias.defaults import N_BINS
from calbias.engine.scores_and_hits import (
    as_array,
    scores_and_hits,
    validate_options,
    validate_same_order,
)
from calbias.errors import InputError
from calbias.estimation.api import Estimate
from calbias.estimation.loading import estimate_sums
from calbias.estimation.registry import estimator_target
from calbias.samples import cells
from calbias.samples.by_score import Scored
from calbias.samples.cells import FIRST, LOW, LOW_BITS, MOST_CELLS, MOST_ROWS, N_CELLS

if TYPE_CHECKING:
    from calbias.auditing.results import Audit

_MAGIC, VERSION = b"calbias\0", 1
_HEADER = struct.Struct("<8sHHIQ")  # magic, version, 0, linear cells, cells that follow
_DIGEST = 32


class Sketch:
    """Counts of scores and hits in cells of the score.

    Parameters
    ----------
    n_cells : int, default 57600
        The number K of cells of equal width. Sketches that are added have the same one.

    Attributes
    ----------
    n : int
        The number of rows.
    n_cells : int

    Notes
    -----
    A score is rounded to the mean score of its cell, which is less than w = 1/K away. What that
    changes, against the same estimate from all rows (proofs in ``docs/tool/sketches.md``):

    - ECE, MCE and debiased estimates with b bins of equal width where b divides K: nothing but
      rounding; T-Cal: at most 2w·b/n;
    - KS: at most m/n, ECCE-R: at most 2m/n, with m the most rows in a cell (``largest``);
    - smooth calibration error: at most w; squared kernel error of bandwidth ν: at most 2w + 2w/ν;
    - accuracy: nothing; mean score: 2^-53.

    Equal-mass bins and the sweep keep cells whole, as equal scores.

    Examples
    --------
    >>> import calbias
    >>> one, two = calbias.Sketch(), calbias.Sketch()
    >>> one.add([0.3, 0.8], [0, 1])
    >>> two.add([0.4, 0.9], [1, 1])
    >>> both = one + two
    >>> both.n, round(both.estimate("ece_bin_ew", n_bins=2).value, 3)
    (4, 0.15)
    >>> calbias.Sketch.from_bytes(both.to_bytes()) == both
    True
    """

    def __init__(self, n_cells: int = N_CELLS) -> None:
        if not (isinstance(n_cells, int) and 100 <= n_cells <= MOST_CELLS):
            raise InputError(
                f"n_cells must be a whole number of 100 to {MOST_CELLS}, not {n_cells!r:.60}"
            )
        self.n_cells = n_cells
        self._counts = np.zeros((4, n_cells + 2 * FIRST), np.int64)

    @property
    def n(self) -> int:
        """The number of rows."""
        return int(self._counts[0].sum())

    def add(
        self, scores: ArrayLike, hits: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> None:
        """Count rows.

        Parameters
        ----------
        scores : array_like, shape (k,)
            Scores in [0, 1].
        hits : array_like, shape (k,)
            1 where the prediction was correct, else 0.
        sample_weight : array_like of int, shape (k,), optional
            How often each row is counted: 3 is three rows, 0 is none. Other weights are refused: a
            sketch is a sum of whole numbers, and keeps no squares of weights.

        Raises
        ------
        InputError
            For input that is not of this form; nothing is counted then.
        """
        validate_same_order(scores=scores, hits=hits, sample_weight=sample_weight)
        rows, outcomes = scores_and_hits(scores, hits)
        times = np.ones(rows.size, np.int64)
        if sample_weight is not None:
            times = cells.whole_weights(sample_weight, rows.size)
        self._check_room(sum(times.tolist()))
        cells.count(rows, outcomes, times, self.n_cells, self._counts)
        cells.carry(self._counts)

    def __add__(self, other: object) -> Sketch:
        """Return the sketch of the rows of both; InputError for sketches of other cells."""
        if not isinstance(other, Sketch):
            return NotImplemented
        if other.n_cells != self.n_cells:
            raise InputError(
                f"sketches of {self.n_cells} and of {other.n_cells} cells cannot be added: make "
                "both with the same n_cells"
            )
        total = Sketch(self.n_cells)
        self._check_room(other.n)
        total._counts = self._counts + other._counts
        cells.carry(total._counts)
        return total

    def __radd__(self, other: object) -> Sketch:
        """Allow ``sum(sketches)``."""
        return self if other == 0 else NotImplemented

    def __eq__(self, other: object) -> bool:
        """Return whether both counted the same rows."""
        if not isinstance(other, Sketch):
            return NotImplemented
        return self.n_cells == other.n_cells and np.array_equal(self._counts, other._counts)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Sketch(n={self.n}, n_cells={self.n_cells})"

    def to_array(self) -> np.ndarray:
        """Return the counts, int64 (4, n_cells + 38): rows, hits, high and low part of the sums.

        Arrays of several sketches may be added, element by element: ``from_array`` of the sum is
        the sketch of all rows.
        """
        return self._counts.copy()

    @classmethod
    def from_array(cls, counts: ArrayLike) -> Sketch:
        """Return the sketch of an array of ``to_array``, or of a sum of such arrays.

        Raises
        ------
        InputError
            For an array of another shape or with impossible counts.
        """
        array = as_array("counts", counts)
        if array.ndim != 2 or array.shape[0] != 4 or array.dtype.kind not in "iu":
            raise InputError(
                f"counts must be whole numbers of shape (4, cells), not {array.dtype} "
                f"{array.shape}: give what to_array returned, or a sum of it"
            )
        sketch = cls(int(array.shape[1]) - 2 * FIRST)
        sketch._counts = array.astype(np.int64)
        return sketch._validated()

    @classmethod
    def from_counts(
        cls,
        cells: Sequence[int],
        rows: Sequence[int],
        hits: Sequence[int],
        score_sums: Sequence[int],
        n_cells: int = N_CELLS,
    ) -> Sketch:
        """Return the sketch of what ``Sketch.sql`` selects: four columns, a row for each cell.

        Parameters
        ----------
        cells, rows, hits, score_sums : sequence of int
            Cell number, rows, hits, and Σ ⌊score·2^53⌋, which may exceed 64 bits.
        n_cells : int, default 57600

        Raises
        ------
        InputError
            For unknown cells and impossible counts.
        """
        sketch = cls(n_cells)
        size = sketch._counts.shape[1]
        lengths = {len(column) for column in (cells, rows, hits, score_sums)}
        if len(lengths) > 1:
            raise InputError("cells, rows, hits and score_sums must have one length each")
        for cell, *numbers in zip(cells, rows, hits, score_sums, strict=True):
            try:
                position = int(cell)
                row, hit, total = map(int, numbers)
                counts = np.array([row, hit, total >> LOW_BITS, total & LOW], np.int64)
            except (TypeError, ValueError, OverflowError):
                raise InputError(
                    f"cell {cell!r:.60}: rows, hits and the sum of scores must be whole numbers, "
                    f"not {numbers!r:.200}: see Sketch.sql"
                ) from None
            if not 0 <= position < size:
                raise InputError(f"cell {cell} is not one of 0 to {size - 1}: see Sketch.sql")
            sketch._counts[:, position] += counts
        return sketch._validated()

    @staticmethod
    def sql(table: str, score: str = "score", hit: str = "hit", n_cells: int = N_CELLS) -> str:
        """Return a SQL query that counts a table's rows in the cells of a sketch.

        Parameters
        ----------
        table, score, hit : str
            A table (or a sub-select in brackets), and SQL expressions of its rows: the score, a
            DOUBLE in [0, 1], and the hit, 0 or 1.
        n_cells : int, default 57600

        Returns
        -------
        str
            ``SELECT … GROUP BY 1``, with the columns cell, n_rows, n_hits, score_sum that
            ``from_counts`` takes. Plain SQL for DuckDB and PostgreSQL; for Spark, replace
            ``DOUBLE PRECISION`` by ``DOUBLE``. SQLite needs its mathematics, and its integers
            overflow from 1024 rows in one cell.

        Examples
        --------
        >>> import calbias
        >>> print(calbias.Sketch.sql("predictions")[:25])
        SELECT 19 + c + up - down
        """
        return cells.sql(table, score, hit, n_cells)

    def to_bytes(self) -> bytes:
        """Return the sketch as bytes, which are equal for equal rows in any order.

        A header with the version, the cells that hold rows in little-endian numbers, and the
        SHA-256 of all that.
        """
        [full] = np.nonzero(self._counts[0])
        body = _HEADER.pack(_MAGIC, VERSION, 0, self.n_cells, full.size)
        body += full.astype("<u4").tobytes() + self._counts[:, full].astype("<i8").tobytes()
        return body + hashlib.sha256(body).digest()

    @classmethod
    def from_bytes(cls, data: bytes) -> Sketch:
        """Return the sketch of ``to_bytes``.

        Raises
        ------
        InputError
            For bytes that are no sketch, of another version, or with a wrong checksum.
        """
        if not isinstance(data, bytes | bytearray | memoryview):
            raise InputError(
                f"a {type(data).__name__} is not a sketch: give the bytes that Sketch.to_bytes "
                "returned"
            )
        data = bytes(data)
        if len(data) < _HEADER.size + _DIGEST or not data.startswith(_MAGIC):
            raise InputError("these bytes are not a sketch: give what Sketch.to_bytes returned")
        _, version, _, n_cells, size = _HEADER.unpack_from(data)
        if version != VERSION:
            raise InputError(
                f"the sketch has version {version}, and this calbias reads version {VERSION}: "
                "update calbias where it reads the sketch"
            )
        body = data[:-_DIGEST]
        if hashlib.sha256(body).digest() != data[-_DIGEST:]:
            raise InputError("the sketch's checksum is wrong: it was cut or damaged; copy it again")
        sketch = cls(n_cells)
        try:
            cells = np.frombuffer(body, "<u4", size, _HEADER.size)
            counts = np.frombuffer(body, "<i8", 4 * size, _HEADER.size + 4 * size)
            sketch._counts[:, cells] = counts.reshape(4, size)
        except (ValueError, IndexError, OverflowError):  # too few bytes, an unknown cell
            sketch._counts[:] = 0
        if sketch._validated().to_bytes() != data:
            raise InputError("the sketch's counts are not as to_bytes writes them: make it again")
        return sketch

    def estimate(self, estimator: str, n_bins: int = N_BINS, norm: float | None = None) -> Estimate:
        """Estimate the calibration error of the rows.

        Parameters
        ----------
        estimator : str
            Any estimator of ``calbias.list_estimators()`` but the kernel densities.
        n_bins, norm
            As for ``calbias.estimate``; equal-width bins are exact where n_bins divides n_cells.

        Returns
        -------
        Estimate

        Raises
        ------
        InputError
            For other estimators, and for a sketch without rows.
        """
        validate_options(n_bins, norm)
        value, used, norm = estimate_sums(estimator, self.scored(), int(n_bins), norm)
        return Estimate(value, used, norm, estimator, estimator_target(estimator))

    def audit(self, n_bins: int = N_BINS, norm: float = 1.0, seed: int = 0) -> Audit:
        """Audit the rows, as a file of any number of rows is audited.

        Parameters
        ----------
        n_bins : int, default 15
            A divisor of n_cells.
        norm : float, default 1
        seed : int, default 0

        Returns
        -------
        Audit

        Raises
        ------
        InputError
            For fewer than two rows, and bins that divide cells.
        """
        from calbias.auditing.audit import audit_data  # loads the audit where it is used
        from calbias.auditing.data import Data, Options

        options = Options(n_bins, norm, seed=seed)
        if self.n_cells % options.n_bins:
            raise InputError(
                f"{n_bins} bins divide cells: n_bins must divide {self.n_cells}, as 10, 15 and 20 "
                "divide the usual 57600"
            )
        return audit_data(Data(self.scored()), options)

    def scored(self) -> Scored:
        """Return the rows with the mean score of each cell."""
        if not self.n:
            raise InputError("the sketch has no rows: add some")
        [full] = np.nonzero(self._counts[0])
        means = cells.mean_scores(self._counts, full, self.n_cells)
        rows, hits = self._counts[:2, full]
        return Scored.of(means, hits, rows=rows, width=1.0 / self.n_cells)

    @property
    def largest(self) -> int:
        """The most rows in a cell of several possible scores."""
        return int(self._counts[0, 1:-1].max())

    def _validated(self) -> Sketch:
        """Return this sketch, low parts of sums carried; InputError for counts no rows have."""
        cells.carry(self._counts)
        cells.validate(self._counts, self.n_cells)
        return self

    def _check_room(self, more: int) -> None:
        if self.n + more > MOST_ROWS:
            raise InputError(f"a sketch holds at most {MOST_ROWS} rows: start another one")
