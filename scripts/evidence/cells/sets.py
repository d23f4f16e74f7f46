"""The sets of cells by name, each with its half: the intervals of the audit are read on all."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from evidence.cells import blind_2025, blind_2026, clusters, halves
from evidence.cells.beta import CURVES, DISTRIBUTIONS, SIZES, BetaCell
from evidence.runner import DESIGN, JUDGING, Cell

JUDGED_AT = 1000  # rows of a cell of the judging half
N_WORLDS = 12  # random distributions with random curves


class Named:
    """A cell under a longer name."""

    def __init__(self, cell: Cell, prefix: str) -> None:
        self.name = f"{prefix}_{cell.name}"
        self.batches, self.truth = cell.batches, cell.truth


class CellSet(NamedTuple):
    """A set of cells with their numbers of rows, and its half."""

    half: str
    cells: Callable[[], Iterator[tuple[Cell, int]]]


def _of_beta(distribution: str) -> CellSet:
    return CellSet(
        DESIGN, lambda: ((BetaCell(distribution, curve), n) for curve in CURVES for n in SIZES)
    )


def _judging() -> Iterator[tuple[Cell, int]]:
    written = (cell for cell in halves.CELLS if cell.half == JUDGING)
    for cell in (*written, *map(halves.random_world, range(N_WORLDS))):
        yield Named(cell, JUDGING), JUDGED_AT


def _blind_2025() -> Iterator[tuple[Cell, int]]:
    for cell in blind_2025.CELLS:
        yield Named(cell, JUDGING), cell.n


def _blind_2026() -> Iterator[tuple[Cell, int]]:
    for cell in blind_2026.cells():
        mark = "" if cell.assumption_holds else "_broken"
        yield Named(cell, f"{JUDGING}_blind26{mark}"), cell.n


SETS = {
    **{distribution: _of_beta(distribution) for distribution in DISTRIBUTIONS},
    "judging": CellSet(JUDGING, _judging),
    "blind": CellSet(JUDGING, _blind_2025),
    "blind26": CellSet(JUDGING, _blind_2026),
    "clusters": CellSet(DESIGN, lambda: ((cell, cell.n) for cell in clusters.CELLS.values())),
}
