"""The 123 blind cells of 2026 as the coverage study reads them, see ``evidence.blind``."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from calbias.engine.seeding import stream
from evidence.blind import cells_2026
from evidence.blind.cells_2026 import BlindCell
from evidence.runner import Batch
from evidence.studies.intervals.sample import Sample


class Blind2026(NamedTuple):
    """A cell of the list; its name says whether its author marked the assumption as kept."""

    cell: BlindCell

    @property
    def name(self) -> str:
        """``blind26_`` or ``blind26_broken_`` and the cell's name."""
        return f"blind26_{'' if self.cell.assumption_holds else 'broken_'}{self.cell.name}"

    def batches(self, n: int, seed: int, data_sets: int) -> Iterator[Batch]:
        """Yield Batches of one data set, a Sample."""
        for k in range(data_sets):
            generator = stream(seed, "blind 2026", self.cell.name, str(n), str(k))
            scores = self.cell.draw(generator, n)
            hits = generator.random(n) < self.cell.curve(scores)
            yield Batch([Sample(scores, hits.astype(np.int64))])

    def truth(self, target: str) -> float:
        """Return the error ``l1`` or ``l2``."""
        return cells_2026.truth(self.cell, int(target[1]))


CELLS = [Blind2026(cell) for cell in cells_2026.CELLS]
