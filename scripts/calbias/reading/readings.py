"""Which readings of a table the conventions admit (docs/tool/input_files.md), and which they offer.

An admitted reading is one that names and types suffice for; an offered one needs its options. No
reading is chosen by how its results look.
"""

from __future__ import annotations

from calbias.reading.class_readings import of_classes
from calbias.reading.columns import Columns
from calbias.reading.reading import Header, Reading
from calbias.reading.score_readings import of_scores
from calbias.reading.words import (
    LABEL,
    LESS_OFTEN_LABEL,
    plain,
)  # fmt: skip


def readings_of(header: Header, columns: Columns) -> list[Reading]:
    """Return the readings of a table that the options leave: the admitted, else the offered."""
    readings = [*dict.fromkeys(of_classes(header, columns))]
    if not columns.classes and not any(each.is_admitted for each in readings):
        named = (*LABEL, *LESS_OFTEN_LABEL)
        classes = {
            n
            for each in readings
            for n in each.classes
            if plain(str(each.outcome)) in named
            or (each.group and each.group.labels and len(each.classes) > 2)
        }
        scores = dict.fromkeys(of_scores(header, columns))
        readings += [each for each in scores if columns.score or each.score not in classes]
    admitted = [each for each in readings if each.is_admitted]
    return admitted or readings
