"""The judging networks: drawn at random from a stated space, before any of them is trained.

``python -m trained.judging FOLDER`` writes their configurations, always the same ones.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from calbias.engine.seeding import stream

N_NETWORKS = 24
DRAW_SEED = 2026
TASKS = {
    "signals10": 0.35,
    "signals50": 0.15,
    "signals100": 0.15,
    "uncertain10": 0.20,
    "uncertain100": 0.15,
}
LOSSES = {"cross_entropy": 0.7, "label_smoothing": 0.1, "focal": 0.1, "brier": 0.1}
DECAYS = (0.0, 1e-4, 5e-4, 1e-3, 3e-3)
TRAINING_ROWS = {10: (2_000, 4_000, 8_000, 16_000), 50: (10_000, 20_000), 100: (10_000, 20_000)}
WITH_FOLDS = 4  # the first ones with ten classes


def draw_configuration(rng: np.random.Generator, number: int) -> dict[str, Any]:
    """Return the configuration, with its name, of one judging network."""

    def one_of(choices: Any, chances: Any = None) -> Any:
        return list(choices)[rng.choice(len(choices), p=chances)]

    task = one_of(TASKS, list(TASKS.values()))
    n_classes = int(task.lstrip("abcdefghijklmnopqrstuvwxyz"))
    network = one_of(("perceptron", "residual"))
    is_residual = network == "residual"
    over_time = is_residual and task.startswith("signals")
    depth = one_of((1, 2, 3, 4) if is_residual else (1, 2, 3, 4, 5))
    width = one_of((8, 12, 16, 24, 32) if over_time else (50, 100, 200, 400))
    batch_norm = bool(rng.random() < (0.75 if is_residual else 0.3))
    kind = "res" if is_residual else "mlp"
    return {
        "name": f"j{number:02d}_{kind}{depth}x{width}_{task[0]}{n_classes}",
        "role": "judging",
        "task": task,
        "network": network,
        "depth": depth,
        "width": width,
        "batch_norm": batch_norm,
        "loss": one_of(LOSSES, list(LOSSES.values())),
        "weight_decay": one_of(DECAYS),
        "learning_rate": 0.05 if batch_norm or not is_residual else 0.02,
        "n_train": one_of(TRAINING_ROWS[n_classes]),
        "epochs": one_of((20, 40)),
        "seed": 100 + number,
        "fresh_rows": 1_000_000 if over_time or n_classes > 10 else 2_000_000,
    }


def write_configurations(folder: Path) -> None:
    """Write the configuration of each judging network to a folder."""
    rng = stream(DRAW_SEED, "networks", "judging")
    folds_left = WITH_FOLDS
    for number in range(1, N_NETWORKS + 1):
        configuration = draw_configuration(rng, number)
        configuration["folds"] = folds_left > 0 and configuration["task"].endswith("10")
        folds_left -= configuration["folds"]
        path = folder / f"{configuration.pop('name')}.yaml"
        path.write_text(yaml.safe_dump(configuration, sort_keys=False))


if __name__ == "__main__":
    write_configurations(Path(sys.argv[1]))
