"""A monitor of calibration whose false alarms have a probability of at most ``level``, for ever.

R_j(i) = P(yᵢ | alternative j)/P(yᵢ | sᵢ) is the likelihood ratio of row i. With prior weights π_j
of the alternatives and w_u of a change before row u, the evidence after t rows is

    M_t = Σ_j π_j Σ_{u <= t} w_u R_j(u) … R_j(t) + Σ_{u > t} w_u,    alarm when M_t >= 1/level.

Proof of the rate.

1. Where P(hit | past, s) = s, E[R_j | past, s] = s·p_j/s + (1 - s)·(1 - p_j)/(1 - s) = 1.
2. A cluster's factor is F = 1 + Σ aᵢ(Rᵢ - 1), aᵢ >= 0 and Σ aᵢ <= 1 known before the cluster
   (``sizes``). F >= 1 - Σ aᵢ >= 0. If row i, where there is one, has P(hit | clusters before, there
   is a row i, s) = s, then E[F] = 1 + Σ aᵢ E[1{there is a row i}(Rᵢ - 1)] = 1, however the rows
   depend on each other, and though earlier hits of the cluster decide whether there is a row i.
   (The mean of the ratios divides by the number of rows, which tells the hits: its mean is not 1.)
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

import json
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calbias.auditing.verdict.clusters import cluster_names
from calbias.engine.scores_and_hits import is_number, scores_and_hits, validate_same_order
from calbias.errors import InputError, looked_up, of_extra, reading
from calbias.monitoring import blocks as memory
from calbias.monitoring.blocks import N_CELLS, PRIOR, grown, likelihood_ratios, weight_after
from calbias.monitoring.sizes import NO_SIZES, class_of, row_weights
from calbias.monitoring.state import POINTS, is_possible, packed, sealed, unpacked, unsealed
from calbias.samples.by_score import Scored

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from calbias.auditing.results import Audit

VERSION = 3
_CHUNK, _LEAST_LEVEL = 4096, 1e-100
_PLAIN = ("level", "n", "alarm", "since", "_factors", "_largest", "_cluster", "_step")
_ARRAYS = ("_sums", "_open", "_sizes", "_track", "_blocks", "_ends")
_NAMES = {"calbias_monitor", *_PLAIN, *_ARRAYS}


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
        if not (is_number(level) and _LEAST_LEVEL <= level < 1):
            raise InputError(
                f"level must be a number between 0 and 1, at least {_LEAST_LEVEL:g}, not "
                f"{level!r:.60}"
            )
        self.level = float(level)
        self.n = 0
        self.alarm: int | None = None
        self.since: memory.Since | None = None
        self._factors = 0
        self._largest = 1.0  # evidence so far
        self._sums = np.zeros(PRIOR.size)
        self._cluster: str | None = None  # whose rows are not yet a factor
        self._open = np.zeros(PRIOR.size + 3 * N_CELLS)  # their Σ aᵢ(Rᵢ − 1) and counts
        self._sizes = NO_SIZES.copy()  # of the clusters before
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
            each other, and their number on their hits, in any way; they count when a row of
            another id follows. The order of the clusters must not depend on their hits.

        Raises
        ------
        InputError
            For other input; nothing is counted then.
        """
        if np.size(scores) == np.size(hits) == 0:
            return
        validate_same_order(scores=scores, hits=hits, clusters=clusters)
        scores, hits = scores_and_hits(scores, hits)
        ids = None if clusters is None else cluster_names(clusters, scores.size)
        for k in range(0, scores.size, _CHUNK):
            part = slice(k, k + _CHUNK)
            self._watch(scores[part], hits[part], None if ids is None else ids[part])

    def complete(self) -> None:
        """Count the last cluster, of which no further rows come."""
        if self._cluster is not None:
            self._watch(np.zeros(0), np.zeros(0), None)

    def _watch(self, scores: NDArray, hits: NDArray, ids: NDArray | None) -> None:
        """Sum the rows of each cluster and watch the clusters that are complete."""
        scores, is_end, self._ends = memory.inside(scores, self._ends)
        ratios = likelihood_ratios(scores, hits, is_end)
        is_first, n_open = np.ones(scores.size, bool), self._n_open
        if ids is not None:
            is_first = np.append(ids[0] != self._cluster, ids[1:] != ids[:-1])
        groups = np.cumsum(is_first)  # 0: of the open rows
        sizes = np.bincount(groups, minlength=1)
        begins = np.cumsum(sizes) - sizes
        sizes[0] += n_open
        if ids is not None:
            ranks = np.arange(1, scores.size + 1) - begins[groups] + n_open * (groups == 0)
            weights = row_weights(self._sizes, sizes[:-1], ranks, groups)
            ratios = 1.0 + weights[:, None] * (ratios - 1.0)
        sums = np.zeros((sizes.size, self._open.size))
        sums[0] = self._open
        # one after the other, as single updates do
        np.add.at(sums, groups, np.c_[ratios - 1.0, memory.counts_of(scores, hits)])
        ends = self.n + np.append(np.flatnonzero(is_first), scores.size)
        self.n += scores.size
        self._open, self._cluster = np.zeros_like(self._open), None
        if ids is not None:
            self._open, self._cluster = sums[-1], str(ids[-1])
            sums, ends, sizes = sums[:-1], ends[:-1], sizes[:-1]
        is_cluster = sizes > 0
        is_cluster[1:] &= ids is not None
        self._sizes += np.bincount(class_of(sizes[is_cluster]), minlength=self._sizes.size)
        is_full, k = sizes > 0, 0
        ratios = np.maximum(1.0 + sums[is_full, : PRIOR.size], 0.0)
        counts, ends = sums[is_full, PRIOR.size :].astype(np.int64), ends[is_full]
        while k < len(counts):
            k += self._grow(ratios[k:], counts[k:], ends[k:])

    @property
    def _n_open(self) -> int:
        return int(self._open[PRIOR.size : PRIOR.size + N_CELLS].sum())

    def _grow(self, ratios: NDArray, counts: NDArray, ends: NDArray) -> int:
        """Watch factors up to the end of the last block, or to the alarm; return how many."""
        room = memory.UNIT - int(self._blocks[-1, 0])
        unspent = weight_after(self._factors + np.arange(min(room, len(ratios)) + 1))
        evidence, used = 0.0, 0
        for weight, after, ratio in zip(-np.diff(unspent), unspent[1:], ratios, strict=False):
            self._sums = grown(self._sums, weight, ratio)
            evidence, used = float(self._sums.sum() + after), used + 1
            self._largest = max(self._largest, evidence)
            if self.alarm is None and evidence >= 1.0 / self.level:
                self.alarm = int(ends[used - 1])
                break
        self._factors += used
        self._blocks = memory.add(self._blocks, counts[:used])
        if self._factors % self._step == 0:
            point = ends[used - 1], np.log10(evidence)
            self._track = np.append(self._track, [point], axis=0)
            if len(self._track) > POINTS:
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
        from calbias.auditing.data import EVENT, TOP_LABEL, Data, Options

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
        return sealed(state | {name: packed(getattr(self, name)) for name in _ARRAYS})

    @classmethod
    def from_json(cls, text: str) -> Monitor:
        """Return the monitor of ``to_json``.

        Raises
        ------
        InputError
            For a text that is no state, of another version, cut or damaged, and for a state that
            no rows give.
        """
        with reading("this text", "state of a monitor", "give what to_json returned"):
            values = json.loads(text)
            version = values["calbias_monitor"]
            if type(version) is not int or version != VERSION:
                raise InputError(
                    f"the monitor's state has version {version!r:.20}, and this calbias reads "
                    f"version {VERSION}: use the calbias that wrote it, or start a new monitor"
                )
            state = unsealed(values, _NAMES)
            monitor = cls(state["level"])
            for name in _PLAIN:
                setattr(monitor, name, state[name])
            monitor.since = state["since"] and memory.Since(*state["since"])
            for name in _ARRAYS:
                setattr(monitor, name, unpacked(state[name], getattr(monitor, name)))
            if not is_possible(monitor):
                raise InputError("the monitor's state is one that no rows give: copy it again")
        return monitor
