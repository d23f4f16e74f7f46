"""Cells that may be looked at while a method is changed, and random worlds."""

import numpy as np

from calbias.engine.seeding import stream
from reproduction.judging import DESIGN, HalfCell, half_cells

CELLS = half_cells(
    DESIGN,
    ("beta", (1, 1), "calibrated", ()),
    ("beta", (2, 0.7), "calibrated", ()),
    ("beta", (2.78, 0.048), "calibrated", ()),
    ("verbalised", (), "calibrated", ()),
    ("beta", (1, 1), "slope", (0.7,)),
    ("beta", (2, 0.7), "shift", (-0.4,)),
    ("beta", (2.78, 0.048), "slope", (0.5,)),
    ("beta", (3, 1), "wave", (0.05, 2)),
    ("beta", (1, 1), "jump", (0.6, -0.08)),
    ("beta", (2, 0.7), "bump", (0.7, 0.06, -0.12)),
    ("beta", (1, 1), "stairs", (6,)),
    ("beta", (5, 0.2), "line", (-0.8, 0.8)),
    ("beta", (2, 0.7), "power", (1.5,)),
    ("verbalised", (), "values", (0.08,)),
    ("rounded", (2, 0.7, 2), "slope", (0.8,)),
    ("beta", (1, 1), "band", (0.8, 0.9, -0.15)),
    ("beta", (1, 1), "wave", (0.05, 7.5)),
)


def random_world(number: int) -> HalfCell:
    """Return a cell with a random distribution and curve: a function of its number."""
    generator = stream(2025, "random world", str(number))
    alpha, beta = np.exp(generator.uniform(np.log(0.3), np.log(6), 2))
    kind = ("line", "wave", "jump", "bump", "stairs", "values", "power")[generator.integers(7)]
    u = generator.random(3)
    values = {
        "line": (1.6 * u[0] - 0.8, 0.5 + u[1]),
        "wave": (0.1 * u[0], np.ceil(6 * u[1])),
        "jump": (u[0], 0.3 * u[1] - 0.15),
        "bump": (u[0], 0.03 + 0.1 * u[1], 0.4 * u[2] - 0.2),
        "stairs": (np.ceil(2 + 8 * u[0]),),
        "values": (0.15 * u[0],),
        "power": (0.6 + u[0],),
    }[kind]
    distribution: tuple[str, tuple[float, ...]] = ("beta", (round(alpha, 2), round(beta, 2)))
    if kind == "values":
        distribution = ("verbalised", ())
    return HalfCell("world", distribution, (kind, tuple(round(float(x), 3) for x in values)))
