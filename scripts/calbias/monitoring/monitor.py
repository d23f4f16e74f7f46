"""A monitor of calibration whose false alarms have a probability of at most ``level``, for ever.

R_j(i) = P(yᵢ | alternative j)/P(yᵢ | sᵢ) is the likelihood ratio of row i. With prior weights π_j
of the alternatives and w_u of a change before row u, the evidence after t rows is

    M_t = Σ_j π_j Σ_{u <= t} w_u R_j(u) … R_j(t) + Σ_{u > t} w_u,    alarm when M_t >= 1/level.

Proof of the rate.

1. Where P(hit | past, s) = s, E[R_j | past, s] = s·p_j/s + (1 - s)·(1 - p_j)/(1 - s) = 1.
2. A cluster's factor is the mean of its rows' ratios: also 1, whatever the dependence inside.
3. So E[M_t | past] = M_{t-1}, with M_0 = Σ w_u = 1, however the past chose the scores.
4. M_t >= 0, so that P(M_t >= 1/level for some t) <= level (Ville 1939).
5. Scores of 0 and 1 are read as half a step inside, and no alternative lies beyond: E[R_j] <= 1
   at every chance in this half step. Its length comes from the scores before (``blocks.inside``).
   Scores within 10⁻⁶ of 0 and 1 have E[R_j] <= 1, and sums stop at 10³⁰⁰: 3 becomes <=, 4 holds.

References
----------
Arnold, Henzi and Ziegel (2023). Sequentially valid tests for forecast calibration. Annals of
Applied Statistics.
Henzi, Puke, Dimitriadis and Ziegel (2023). A safe Hosmer-Lemeshow test.
"""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calbias.engine.scores_and_hits import scores_and_hits
from calbias.errors import InputError, looked_up, of_extra, reading
from calbias.io.limits import inflated
from calbias.monitoring import blocks as memory
from calbias.monitoring.blocks import N_CELLS, PRIOR, grown, likelihood_ratios, weight_after
from calbias.samples.by_score import Scored

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from calbias.auditing.audit_result import Audit

VERSION = 2
_POINTS, _CHUNK, _MOST_BYTES = 120, 4096, 1 << 20
_PLAIN = ("level", "n", "alarm", "since", "_factors", "_cluster", "_step")
_ARRAYS = ("_sums", "_open", "_track", "_blocks", "_ends")


class Monitor:
    """An alarm for calibration that may be read after every row.

    Parameters
    ----------
    level : float, default 0.05
        The probability, at most, that a calibrated model ever rings, however long it is watched.

    Attributes
    ----------
    n : int
        Rows so far.
    alarm : int or None
        The number of the row, from 1, at which it rang.
    evidence : float
        The value of the martingale: 1 before the first row; at 1/level it rings.
    since : Since or None
        After an alarm, ``row``, ``low``, ``high``: the likeliest first row of the change and a
        95 % interval, as they stood at the alarm.

    Notes
    -----
    It assumes P(hit | past, score) = score. ``docs/tool/watch.md`` has delays and limits.

    Examples
    --------
    >>> import numpy as np
    >>> import calbias
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.beta(6, 1.5, 4000)
    >>> hits = rng.random(4000) < np.where(np.arange(4000) < 2000, scores, scores - 0.15)
    >>> monitor = calbias.Monitor()
    >>> monitor.update(scores[:2000], hits[:2000])
    >>> monitor.alarm is None
    True
    >>> monitor.update(scores[2000:], hits[2000:])
    >>> 2000 < monitor.alarm < 2400, monitor.since.low <= 2001 <= monitor.since.high
    (True, True)
    """

    def __init__(self, level: float = 0.05) -> None:
        if isinstance(level, bool) or not isinstance(level, int | float) or not 0 < level < 1:
            raise InputError(f"level must be a number between 0 and 1, not {level!r:.60}")
        self.level = float(level)
        self.n = 0
        self.alarm: int | None = None
        self.since: memory.Since | None = None
        self._factors = 0
        self._sums = np.zeros(PRIOR.size)
        self._cluster: str | None = None  # whose rows are not yet a factor
        self._open = np.zeros(PRIOR.size + 3 * N_CELLS)  # their ratios and counts, summed
        self._blocks = memory.NONE.copy()
        self._step = memory.UNIT
        self._ends = memory.NO_ENDS.copy()
        self._track = np.zeros((0, 2))  # row, log10 of the evidence, after every step-th factor

    @property
    def evidence(self) -> float:
        """The value of the martingale."""
        return float(self._sums.sum() + weight_after(np.array(self._factors)))

    def update(self, scores: ArrayLike, hits: ArrayLike, clusters: ArrayLike | None = None) -> None:
        """Watch further rows, in the order of time; how they are split into calls has no effect.

        Parameters
        ----------
        scores, hits : array_like, shape (k,)
            Scores in [0, 1], and 1 where the prediction was correct, else 0; k may be 0.
        clusters : array_like, shape (k,), optional
            The id of each row's game, patient or user. Neighbouring rows of one id may depend on
            each other in any way; they count when a row of another id follows.

        Raises
        ------
        InputError
            For other input; nothing is counted then.
        """
        if np.size(scores) == np.size(hits) == 0:
            return
        scores, hits = scores_and_hits(scores, hits)
        ids = None if clusters is None else np.asarray(clusters).astype(str)
        if ids is not None and ids.shape != scores.shape:
            raise InputError(
                f"clusters must be one id for each of the {scores.size} rows: their shape is "
                f"{ids.shape}"
            )
        for k in range(0, scores.size, _CHUNK):
            part = slice(k, k + _CHUNK)
            self._watch(scores[part], hits[part], None if ids is None else ids[part])

    def _watch(self, scores: NDArray, hits: NDArray, ids: NDArray | None) -> None:
        """Sum the rows of each cluster and watch the clusters that are complete."""
        scores, is_end, self._ends = memory.inside(scores, self._ends)
        ratios = likelihood_ratios(scores, hits, is_end)
        rows = np.c_[ratios, memory.counts_of(scores, hits)]
        is_first = np.ones(scores.size, bool)
        if ids is not None:
            is_first = np.append(ids[0] != self._cluster, ids[1:] != ids[:-1])
        groups = np.cumsum(is_first)  # 0: of the open rows
        sums = np.zeros((int(groups[-1]) + 1, self._open.size))
        sums[0] = self._open
        np.add.at(sums, groups, rows)  # one after the other, as single updates do
        ends = self.n + np.append(np.flatnonzero(is_first), scores.size)
        self.n += scores.size
        self._open, self._cluster = np.zeros_like(self._open), None
        if ids is not None:
            self._open, self._cluster = sums[-1], str(ids[-1])
            sums, ends = sums[:-1], ends[:-1]
        counts = sums[:, PRIOR.size :].astype(np.int64)
        sizes = counts[:, :N_CELLS].sum(axis=1)
        full = sizes > 0
        ratios = sums[full, : PRIOR.size] / sizes[full, None]
        counts, ends, k = counts[full], ends[full], 0
        while k < len(counts):
            k += self._grow(ratios[k:], counts[k:], ends[k:])

    def _grow(self, ratios: NDArray, counts: NDArray, ends: NDArray) -> int:
        """Watch factors up to the end of the last block, or to the alarm; return how many."""
        room = memory.UNIT - int(self._blocks[-1, 0])
        unspent = weight_after(self._factors + np.arange(min(room, len(ratios)) + 1))
        evidence, used = 0.0, 0
        for weight, after, ratio in zip(-np.diff(unspent), unspent[1:], ratios, strict=False):
            self._sums = grown(self._sums, weight, ratio)
            evidence, used = self._sums.sum() + after, used + 1
            if self.alarm is None and evidence >= 1.0 / self.level:
                self.alarm = int(ends[used - 1])
                break
        self._factors += used
        self._blocks = memory.add(self._blocks, counts[:used])
        if self._factors % self._step == 0:
            point = ends[used - 1], np.log10(evidence)
            self._track = np.append(self._track, [point], axis=0)
            if len(self._track) > _POINTS:
                self._track, self._step = self._track[1::2], 2 * self._step
        if self.alarm is not None and self.since is None:
            self.since, self._blocks = memory.change(self._blocks)
        return used

    def audit(self, *, kind: str = "top label", **options: Any) -> Audit:
        """Audit the rows since the change; without an alarm, all rows.

        Scores stand at the mean of their cell; cells are 0.025 wide, and narrower within 0.025 of 0
        and 1. The alarm picked these rows: the p-value is no second test.

        Parameters
        ----------
        kind : {"top label", "event"}
            "event" where the scores are risks of an event: sentences are then of risks and events.
        **options
            ``n_bins``, ``norm``, ``confidence_level``, ``seed``, as of ``calbias.audit``.

        Raises
        ------
        InputError
            For fewer than two rows, and with clusters, which are not kept.
        """
        from calbias.auditing.audit import audit_data
        from calbias.auditing.inputs import EVENT, TOP_LABEL, Data, Options

        looked_up("kind", kind, dict.fromkeys((TOP_LABEL, EVENT)))
        total = self._blocks.sum(axis=0)
        if total[0] != total[1] or total[1] < 2:  # factors and rows
            raise InputError(
                f"the monitor has {total[1]} rows and keeps no clusters: give calbias.audit the "
                f"rows since row {self.since.row if self.since else 1}, with clusters"
            )
        cells = np.stack(memory.in_cells(total))
        scores, rows, hits = cells[:, cells[1] > 0]
        data = Data(Scored.of(scores, hits, rows=rows, width=0.025), kind=kind)
        return audit_data(data, Options(**options))

    def track(self) -> NDArray:
        """Return rows and log10 of the evidence (k, 2), within -2 and 3 above the alarm's line."""
        points = np.r_[[[0.0, 0.0]], self._track, [[self.n, np.log10(self.evidence)]]]
        points[:, 1] = np.clip(points[:, 1], -2.0, 3.0 - np.log10(self.level))
        return points

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the evidence, the alarm's line and the change on matplotlib axes; return them."""
        if ax is None:
            ax = (
                of_extra("a picture", "matplotlib.pyplot")
                .figure(figsize=(6.4, 3.2), layout="constrained")
                .add_subplot()
            )
        row, height = self.track().T
        limit = 1.0 / self.level
        ax.plot(row, 10.0**height, color="#0a5c7d", label="evidence")
        ax.axhline(limit, color="#b3541e", linestyle="--", label=f"alarm at {limit:g}")
        if self.alarm is not None and self.since is not None:
            _, low, high = self.since
            ax.axvspan(low, high, color="#9aa3ad", alpha=0.4, label="change, 95 % interval")
            ax.plot([self.alarm], [limit], "o", color="#b3541e", label=f"row {self.alarm}")
        ax.set(yscale="log", xlabel="row", ylabel="evidence", xlim=(0, max(self.n, 1)))
        ax.legend(frameon=False, fontsize="small")
        return ax

    def to_json(self) -> str:
        """Return the state as a text of a few kB; ``from_json`` continues from it."""
        state = {"calbias_monitor": VERSION, **{name: getattr(self, name) for name in _PLAIN}}
        state |= {name: _packed(getattr(self, name)) for name in _ARRAYS}
        return json.dumps(state | {"sha256": _digest(state)})

    @classmethod
    def from_json(cls, text: str) -> Monitor:
        """Return the monitor of ``to_json``.

        Raises
        ------
        InputError
            For a text that is no state, of another version, cut or damaged.
        """
        with reading("this text", "state of a monitor", "give what to_json returned"):
            state = json.loads(text)
            version = state["calbias_monitor"]
            if version != VERSION:
                raise InputError(
                    f"the monitor's state has version {version!r:.20}, and this calbias reads "
                    f"version {VERSION}: use the calbias that wrote it, or start a new monitor"
                )
            if state.pop("sha256", None) != _digest(state):
                raise InputError("the monitor's state was cut or damaged: copy it again")
            monitor = cls(state["level"])
            for name in _PLAIN:
                setattr(monitor, name, state[name])
            monitor.since = state["since"] and memory.Since(*state["since"])
            for name in _ARRAYS:
                like = getattr(monitor, name)
                values = _unpacked(state[name], like.dtype).reshape(-1, *like.shape[1:])
                setattr(monitor, name, values)
            if not monitor._is_possible():
                raise InputError(
                    "the monitor's state is of no rows that it can have: copy it again"
                )
        return monitor

    def _is_possible(self) -> bool:
        """Return whether a state could be that of a monitor; the level was checked before."""
        counts = (self.n, self._factors, self._step, *(self.since or ()), *[self.alarm or 1])
        if not all(type(count) is int and 0 <= count < 2**62 for count in counts):
            return False
        sizes = PRIOR.size, PRIOR.size + 3 * N_CELLS, memory.NO_ENDS.size
        arrays = self._sums, self._open, self._ends
        if (
            tuple(values.size for values in arrays) != sizes
            or not 1 <= len(self._blocks) <= _POINTS
        ):
            return False
        blocks = self._blocks.astype(object).sum(axis=0)  # no overflow
        rows, hits, positions = np.split(self._blocks[:, 2:], 3, axis=1)
        row = self._track[:, 0]
        return bool(
            self._factors <= self.n
            and self._step % memory.UNIT == 0 < self._step
            and (self.alarm is None) == (self.since is None)
            and (self.since is None or 1 <= self.since.low <= self.since.row <= self.since.high)
            and (self.alarm is None or max(self.since or (1,)) <= self.n >= self.alarm >= 1)
            and (self._cluster is None or isinstance(self._cluster, str))
            and all(np.isfinite(v).all() and (v >= 0).all() for v in (self._sums, self._open))
            and ((self._ends[1:] >= 0) & (self._ends[1:] <= 1)).all()
            and (self._blocks >= 0).all()
            and (hits <= rows).all()
            and (positions <= 256 * rows.astype(float)).all()
            and (rows.astype(object).sum(axis=1) == self._blocks[:, 1]).all()
            and (self._blocks[:, 0] <= self._blocks[:, 1]).all()
            and blocks[1] <= self.n
            and len(row) <= _POINTS
            and np.isfinite(self._track).all()
            and (np.diff(row, prepend=0) > 0).all()
            and (row <= self.n).all()
        )


def _digest(state: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(state).encode()).hexdigest()[:16]


def _packed(values: NDArray) -> str:
    """Return numbers of 8 bytes as text: all first bytes, all second bytes, …, compressed."""
    data = values.astype(values.dtype.newbyteorder("<")).reshape(-1, 1).view(np.uint8)
    return base64.b64encode(zlib.compress(data.T.tobytes(), 9)).decode()


def _unpacked(text: str, dtype: np.dtype) -> NDArray:
    contents = inflated("the monitor's state", base64.b64decode(text), _MOST_BYTES)
    data = np.frombuffer(contents, np.uint8).reshape(8, -1)
    return np.ascontiguousarray(data.T).view(dtype.newbyteorder("<")).ravel().astype(dtype)
