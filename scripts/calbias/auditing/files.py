"""A user's file, read by calbias.logits, as the Data of an audit."""

import numpy as np

from calbias.auditing.inputs import Data
from calbias.auditing.sample import Sample
from calbias.errors import InputError
from calbias.logits.read_logits import read_outputs
from calbias.logits.top_label import TopLabel, top_label


def read_data(path, by=None, seed=0):
    """Return (Data, groups) of a file: of its fold ``test``, or of all rows where it has no folds.

    ``by`` names a column of groups: ``groups`` (n,) are in the order of the file, else None.
    """
    found = read_outputs(path, by)
    fold = found.folds["test"]
    top = _top(fold)
    if len(top.hit) < 2:
        raise InputError(f"{path}: one row is too few to judge a model by: give at least two")
    sample = Sample(top.score, top.hit, top.log_score, top.log1m_score, seed=seed)
    order = np.lexsort((top.hit, top.score))
    if fold is top:
        return Data(sample, order, "scores", warnings=found.warnings), found.groups
    probabilities = any("the values are probabilities" in text for text in found.warnings)
    kind = "probabilities" if probabilities else "logits"
    labels = fold.labels.reshape(-1).astype(np.int64)
    n_classes = fold.logits.shape[1]
    data = Data(sample, order, kind, fold.logits, labels, n_classes, found.warnings)
    return data, found.groups


def read_rows(path):
    """Return scores and hits, (n,) each, of the same rows in the order of the file."""
    top = _top(read_outputs(path).folds["test"])
    return top.score, top.hit


def _top(fold):
    return fold if isinstance(fold, TopLabel) else top_label(*fold)
