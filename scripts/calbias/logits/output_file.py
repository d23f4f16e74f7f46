"""What a reader found in a file of model outputs: folds, the form of the values, other columns."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from calbias.logits.checks import RawFold

FOLDS = ("validation", "test")


class Fold(NamedTuple):
    """Logits of shape (n, K), float32, and labels of shape (n,), int64."""

    logits: np.ndarray
    labels: np.ndarray


class OutputFile(NamedTuple):
    """The folds of a file by name, ``validation`` and ``test`` or ``test`` alone.

    Readers give ``RawFold``s, unchecked; ``read_outputs`` makes ``TopLabel``s or ``Fold``s of them.
    ``form`` is ``scores`` (labels are then hits), ``event`` (values are probabilities of label 1),
    ``logits``, ``probabilities``, or None: their values show it. ``by`` holds columns of subgroups
    and ``clusters`` a number for each row of fold ``test``, where these were asked for. ``notes``
    say in a line each how the columns were read, ``hints`` which options may be missing, and
    ``warnings`` what looks like a mistake.
    """

    folds: Mapping[str, Any]
    form: str | None = None
    by: dict[str, Any] | None = None
    clusters: np.ndarray | None = None
    notes: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def split_by_fold(whole: RawFold, names: Sequence[str | None]) -> dict[str, RawFold]:
    """Split a ``RawFold`` by a fold name per row (None: empty) into ``{fold: RawFold}``."""
    values, labels, place = whole
    if len(names) != len(values) or len(labels) != len(values):
        raise place.error(
            f"{len(values)} rows of outputs, {len(labels)} labels and {len(names)} fold names; "
            "give one each per row"
        )
    for row, name in enumerate(names):
        if name not in FOLDS:
            problem = f"fold {name!r} is unknown" if name else "column fold is empty"
            raise place.error(f"{problem}; write {' or '.join(FOLDS)}", row)
    of_row = np.asarray(names)
    rows = {fold: np.flatnonzero(of_row == fold) for fold in FOLDS}
    if not len(rows["test"]):
        raise place.error("no row of fold test; drop the column fold to judge all rows")
    return {
        fold: RawFold(values[at], labels[at], place._replace(part=f"fold {fold}", rows=at))
        for fold, at in rows.items()
        if len(at)
    }
