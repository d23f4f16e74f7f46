"""What a reader found in a file of model outputs, unchecked: folds and the form of the values."""

from typing import NamedTuple

import numpy as np

from calbias.logits.checks import Place, RawFold
from calbias.logits.store import FOLDS


class RawFile(NamedTuple):
    """The folds of a file, ``validation`` and ``test`` or ``test`` alone, as ``RawFold``s.

    ``form`` is ``scores`` (labels are then hits), ``probabilities``, or None: their values tell.
    ``groups`` holds a text for each row of the file, where a column of groups was asked for.
    """

    folds: dict[str, RawFold]
    form: str | None = None
    groups: np.ndarray | None = None


def split_by_fold(whole, names):
    """Split a ``RawFold`` by a fold name per row (None: empty) into ``{fold: RawFold}``."""
    values, labels, place = whole
    if len(names) != len(values) or len(labels) != len(values):
        raise place.error(
            f"{len(values)} rows of outputs, {len(labels)} labels and {len(names)} fold names; "
            "give one each per row"
        )
    for row, name in enumerate(names):
        if name not in FOLDS:
            found = f"fold {name!r} is unknown" if name else "column fold is empty"
            raise place.error(f"{found}; write {' or '.join(FOLDS)}", row)
    names = np.asarray(names)
    rows = {fold: np.flatnonzero(names == fold) for fold in FOLDS}
    if not len(rows["test"]):
        raise place.error("no row of fold test; drop the column fold to judge all rows")
    return {
        fold: RawFold(values[found], labels[found], Place(place.file, f"fold {fold}", found))
        for fold, found in rows.items()
        if len(found)
    }
