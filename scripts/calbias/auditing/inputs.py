"""What a user hands in (scores and hits, probabilities or logits with labels) as one sample."""

from dataclasses import dataclass

import numpy as np

from calbias.auditing.sample import Sample
from calbias.engine.scores_and_hits import as_array, scores_and_hits
from calbias.errors import InputError
from calbias.estimation.inputs import as_top_label
from calbias.logits.checks import RawFold, log_probabilities, zero_floor


@dataclass
class Data:
    """What was read.

    ``sample`` has ascending scores; ``order`` leads from the given rows to its rows. ``logits``
    and ``labels``, in the given order, are None where only scores are known. ``kind`` is
    "scores", "binary", "probabilities" or "logits". ``warnings`` are those of a file's reader.
    """

    sample: Sample
    order: np.ndarray
    kind: str
    logits: np.ndarray | None = None
    labels: np.ndarray | None = None
    n_classes: int | None = None
    warnings: tuple | None = None

    def ordered_logits(self):
        """Return (logits, labels) in the order of the sample's rows, or (None, None)."""
        if self.logits is None:
            return None, None
        return self.logits[self.order], self.labels[self.order]


def prepared(scores=None, hits=None, probabilities=None, logits=None, labels=None, seed=0):
    """Return the Data of one of: scores and hits; probabilities and labels; logits and labels.

    ``probabilities`` (n, K) and ``logits`` (n, K) are reduced to the top label. ``probabilities``
    (n,) are those of class 1 of two: the probability is the score and the label the hit. Raises
    InputError for everything else.
    """
    if probabilities is not None and _flat(as_array("probabilities", probabilities)).ndim == 1:
        if labels is None:
            raise InputError("probabilities go with labels: give these")
        scores, hits = scores_and_hits(probabilities, labels)
        return Data(Sample(scores, hits, seed=seed), _order(scores, hits), "binary", n_classes=2)
    top = as_top_label(scores, hits, logits=logits, probabilities=probabilities, labels=labels)
    sample = Sample(top.score, top.hit, top.log_score, top.log1m_score, seed=seed)
    order = _order(top.score, top.hit)
    if scores is not None:
        return Data(sample, order, "scores")
    values = np.asarray(probabilities if logits is None else logits)
    labels = np.asarray(labels)
    labels = labels.argmax(axis=1) if labels.shape == values.shape else labels.reshape(-1)
    kind = "probabilities" if logits is None else "logits"
    logits = _log_probabilities(values) if logits is None else values
    return Data(sample, order, kind, logits, labels.astype(np.int64), values.shape[1])


def _log_probabilities(values):
    """Return the logarithms (n, K), a zero as a part of the least positive value."""
    floor = zero_floor([RawFold(values, None, None)])
    return log_probabilities(values, floor)


def _order(scores, hits):
    return np.lexsort((_flat(np.asarray(hits)), _flat(np.asarray(scores, dtype=np.float64))))


def _flat(values):
    return values.reshape(-1) if values.ndim == 2 and 1 in values.shape else values
