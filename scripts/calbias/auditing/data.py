"""One sample to audit, with what recalibration, classes and subgroups need; and the options.

``Data`` adds to a ``Scored`` single rows in the given order, their logits and columns, another
fold, and how all of it was read.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calbias.auditing.error.within import answer
from calbias.auditing.subgroups.segments import named_columns
from calbias.auditing.verdict.clusters import cluster_codes
from calbias.defaults import CONFIDENCE_LEVEL, N_BINS
from calbias.engine.scores_and_hits import (
    MOST_AUDITED_BINS,
    validate_level,
    validate_options,
    validate_whole,
)
from calbias.errors import InputError
from calbias.outcomes.mean_outcomes import MeanOutcomes
from calbias.reading.output_file import Place
from calbias.reading.top_label import TopLabel
from calbias.samples.by_score import Scored

NORMS = (1, 2)
EVENT, TOP_LABEL = "event", "top label"


@dataclass(frozen=True)
class Options:
    """Bins of the ECE, p of the error, level of the interval, seed, data sets a curve.

    ``replicates`` are the data sets that show the bias of an estimator, where that is asked for.
    ``within`` is an error, a fraction: is the model's at most so large? None does not ask.
    """

    n_bins: int = N_BINS
    norm: float = 1
    confidence_level: float = CONFIDENCE_LEVEL
    seed: int = 0
    replicates: int = 200
    within: float | None = None

    def __post_init__(self) -> None:
        validate_options(self.n_bins, None, MOST_AUDITED_BINS)
        object.__setattr__(self, "n_bins", int(self.n_bins))  # 15.0 is a number of bins
        validate_whole("seed", self.seed, 0)
        validate_whole("replicates", self.replicates, 20)
        if self.norm not in NORMS:
            raise InputError(f"norm must be 1 or 2, not {self.norm!r:.60}")
        validate_level(self.confidence_level, 0.5)
        if self.within is not None:
            answer((0.0, 0.0), self.within)


@dataclass(frozen=True)
class Data:
    """What was read.

    ``kind`` is "event", where the scores are probabilities of class 1 of two and the hits its
    labels, or "top label". ``form`` is what was read: "scores", "binary" (one probability of two
    classes), "probabilities" or "logits". ``rows``, ``logits`` (n, K), ``labels`` and ``clusters``
    (n,), in the given order, are None where they are not known. ``warnings`` are those of a file's
    reader; ``notes`` say in a line each what was read, ``hints`` which options may be missing.
    ``by`` are the columns of subgroups; ``place`` says which rows of the file these are.
    ``validation`` is another fold, in the same form, on which recalibration is fitted. ``classes``
    are the names of the classes, if known, ``score`` is the column of the scores, and ``read_as``
    is the form in which its values, or the columns of the classes, were read.
    ``outcomes`` are those that are right on average, where hits are not 0 and 1.
    """

    scored: Scored
    form: str = "scores"
    kind: str = TOP_LABEL
    rows: TopLabel | None = None
    logits: np.ndarray | None = None
    labels: np.ndarray | None = None
    clusters: np.ndarray | None = None
    warnings: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    by: Any = None
    place: Place | None = None
    validation: Data | None = None
    classes: tuple[str, ...] = ()
    score: str | None = None
    read_as: str | None = None
    outcomes: MeanOutcomes | None = None

    @classmethod
    def of(
        cls,
        rows: TopLabel,
        clusters: Any = None,
        *,
        outcomes: MeanOutcomes | None = None,
        **more: Any,
    ) -> Data:
        """Return the Data of rows; as many clusters as rows are none."""
        if clusters is not None:
            clusters, number = cluster_codes(clusters, rows.score.size)
            clusters = None if number == rows.score.size else clusters
        logs = rows.log_score, rows.log1m_score
        if outcomes is None:
            scored = Scored.of(rows.score, rows.hit, *logs, clusters=clusters)
        else:
            scored = Scored.of_means(rows.score, outcomes, *logs, clusters)
        return cls(scored, rows=rows, clusters=clusters, outcomes=outcomes, **more)

    def part(self, rows: np.ndarray) -> Data:
        """Return the rows at these places."""
        clusters = None if self.clusters is None else self.clusters[rows]
        by = self.by and {name: np.asarray(each)[rows] for name, each in self.by.items()}
        top = TopLabel(*(column[rows] for column in self.single))
        outcomes = self.outcomes if self.scored.seen is not None else None
        outcomes = outcomes and outcomes.of_rows(rows)
        return Data.of(top, clusters, kind=self.kind, by=by, outcomes=outcomes)

    def with_outcomes(self, outcomes: MeanOutcomes) -> Data:
        """Return the rows that are judged with other outcomes than their hits.

        Outcomes that are 0 and 1 are hits.
        """
        at = np.flatnonzero(outcomes.kept)
        outcomes = outcomes.of_rows(at)
        top = TopLabel(*(column[at] for column in self.single))
        values = outcomes.values.astype(np.uint8) if outcomes.is_exact else outcomes.values
        clusters = None if self.clusters is None else self.clusters[at]
        averages = None if outcomes.is_exact else outcomes
        data = Data.of(top._replace(hit=values), clusters, outcomes=averages)
        by = self.by
        if by is not None and at.size < self.single.score.size:
            by = {
                name: column.to_numpy()[at]
                for name, column in named_columns(by, self.single.score.size)
            }
        return replace(
            self, scored=data.scored, rows=data.rows, clusters=data.clusters, by=by,
            outcomes=outcomes, logits=None, labels=None, validation=None,
            notes=(*self.notes, *outcomes.notes), warnings=self.warnings,
        )  # fmt: skip

    @property
    def single(self) -> TopLabel:
        """The ``rows`` of arrays or a file, which has them all."""
        assert self.rows is not None
        return self.rows

    @property
    def n_classes(self) -> int | None:
        """The number of classes, or None where it is not known."""
        if self.kind == EVENT:
            return 2
        return None if self.logits is None else self.logits.shape[1]

    def ordered_logits(self) -> tuple[np.ndarray | None, np.ndarray | None]:
        """Return (logits, labels) in the order of ``scored.of_rows``, or (None, None).

        An event's scores are not of a top class: temperature scaling does not apply.
        """
        if self.logits is None or self.labels is None or self.rows is None or self.kind == EVENT:
            return None, None
        keys = [self.rows.hit, -self.rows.log1m_score, self.rows.score]
        if self.clusters is not None:
            keys.insert(1, self.clusters)
        order = np.lexsort(keys)
        return self.logits[order], self.labels[order]
