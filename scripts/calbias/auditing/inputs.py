"""What a user hands in, arrays or a file, as one sample with its logits where they are known."""

from dataclasses import dataclass

import numpy as np

from calbias.auditing.sample import Sample
from calbias.engine.scores_and_hits import as_array, scores_and_hits
from calbias.errors import InputError
from calbias.estimation.inputs import as_top_label
from calbias.logits.checks import RawFold, log_probabilities, zero_floor
from calbias.logits.read_logits import read_outputs
from calbias.logits.top_label import TopLabel, top_label


@dataclass
class Data:
    """What was read.

    ``kind`` is "scores", "binary", "probabilities" or "logits". ``logits`` (n, K) and ``labels``
    (n,), in the given order, are None where only scores are known. ``warnings`` are those of a
    file's reader.
    """

    sample: Sample
    kind: str = "scores"
    logits: np.ndarray | None = None
    labels: np.ndarray | None = None
    warnings: tuple | None = None

    @property
    def n_classes(self):
        """The number of classes, or None where it is not known."""
        return 2 if self.kind == "binary" else None if self.logits is None else self.logits.shape[1]

    def ordered_logits(self):
        """Return (logits, labels) in the order of the sample's rows, or (None, None)."""
        if self.logits is None:
            return None, None
        return self.logits[self.sample.order], self.labels[self.sample.order]


def prepared(scores=None, hits=None, probabilities=None, logits=None, labels=None, seed=0):
    """Return the Data of one of: scores and hits; probabilities and labels; logits and labels.

    ``probabilities`` (n,) are those of class 1 of two: the score, and the label is the hit.
    """
    if probabilities is not None and _is_column(as_array("probabilities", probabilities)):
        if labels is None:
            raise InputError("probabilities go with labels: give these")
        return Data(Sample(*scores_and_hits(probabilities, labels), seed=seed), "binary")
    top = as_top_label(scores, hits, logits=logits, probabilities=probabilities, labels=labels)
    sample = Sample.of(top, seed)
    if scores is not None:
        return Data(sample)
    values = np.asarray(probabilities if logits is None else logits)
    labels = np.asarray(labels)
    labels = labels.argmax(axis=1) if labels.shape == values.shape else labels.reshape(-1)
    if logits is not None:
        return Data(sample, "logits", values, labels.astype(np.int64))
    floor = zero_floor([RawFold(values, None, None)])  # of a zero: of the least positive value
    logits = log_probabilities(values, floor)
    return Data(sample, "probabilities", logits, labels.astype(np.int64))


def read_data(path, by=None, seed=0):
    """Return (Data, groups) of a file's fold ``test``; ``groups`` (n,) are its column ``by``."""
    found = read_outputs(path, by)
    fold = found.folds["test"]
    top = _top(fold)
    if len(top.hit) < 2:
        raise InputError(f"{path}: one row is too few to judge a model by: give at least two")
    data = Data(Sample.of(top, seed), warnings=found.warnings)
    if fold is not top:
        probabilities = any("the values are probabilities" in text for text in found.warnings)
        data.kind = "probabilities" if probabilities else "logits"
        data.logits, data.labels = fold.logits, fold.labels.reshape(-1).astype(np.int64)
    return data, found.groups


def read_pair(path):
    """Return scores and hits, (n,) each, of the same rows in the order of the file."""
    top = _top(read_outputs(path).folds["test"])
    return top.score, top.hit


def _top(fold):
    return fold if isinstance(fold, TopLabel) else top_label(*fold)


def _is_column(values):
    return values.ndim == 1 or (values.ndim == 2 and 1 in values.shape)
