"""Rows in which several classes have the largest value.

Which of the tied classes is the top one would follow from the numbering of the classes. A row of k
tied classes, one of which is the label, counts as 1/k of a hit instead: of such rows every k-th is
a hit, in the order of their scores.
"""

import numpy as np

from calbias.logits.top_label import TopLabel

_DIGITS = 9  # of scores that the order of a sum changes in the last digit


def tied_rows(values: np.ndarray) -> np.ndarray:
    """Return the rows (n, K) with more than one largest value."""
    return np.flatnonzero((values == values.max(axis=1, keepdims=True)).sum(axis=1) > 1)


def share_ties(top: TopLabel, values: np.ndarray, labels: np.ndarray) -> TopLabel:
    """Return the top labels of values (n, K) with the hits of tied rows by their share."""
    rows = tied_rows(values)
    if not rows.size:
        return top
    rows = rows[np.argsort(np.round(top.score[rows], _DIGITS), kind="stable")]
    is_top = values[rows] == values[rows].max(axis=1, keepdims=True)
    chance = is_top[np.arange(rows.size), labels[rows]] / is_top.sum(axis=1)
    expected = np.floor(np.round(np.cumsum(chance), _DIGITS) + 0.5)
    hit = top.hit.copy()
    hit[rows] = np.diff(expected, prepend=0.0).astype(np.uint8)
    return top._replace(hit=hit)
