"""The networks of ``law``: a factorial on pictures. ``python -m trained.factorial FOLDER``."""

import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import yaml

SHARPNESSES = (9.0, 13.0)
"""They leave about 12 and 4 % of the labels to chance."""
TRAINING_ROWS, WIDTHS, SHARES = (1000, 5000), (30, 300), (0.65, 0.85)
COMMON = {
    "role": "judging",
    "task": "pictures10",
    "loss": "cross_entropy",
    "epochs": 40,
    "learning_rate": 0.05,
    "fresh_rows": 400_000,
}


def configurations() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield names and configurations, each with a task of its own.

    16 perceptrons: label noise × rows × width × share of scores above 0.99. Four convolutional
    networks, their logits as trained.
    """
    number = 0
    for sharpness, n_train, width, share in product(SHARPNESSES, TRAINING_ROWS, WIDTHS, SHARES):
        number += 1
        design = {"network": "perceptron", "depth": 2, "width": width, "n_train": n_train}
        design |= {"sharpness": sharpness, "share_above_99": share}
        yield f"f{number:02d}_mlp2x{width}_p10", COMMON | design | _seeds(number)
    for sharpness, n_train in product(SHARPNESSES, TRAINING_ROWS):
        number += 1
        design = {"network": "residual", "depth": 2, "width": 8, "n_train": n_train}
        yield (
            f"f{number:02d}_res2x8_p10",
            COMMON | design | {"sharpness": sharpness} | _seeds(number),
        )


def _seeds(number: int) -> dict[str, int]:
    return {"seed": 400 + number, "task_seed": 3000 + number}


if __name__ == "__main__":
    for name, configuration in configurations():
        path = Path(sys.argv[1]) / f"{name}.yaml"
        path.write_text(yaml.safe_dump(configuration, sort_keys=False))
