"""The judging networks: drawn at random from stated spaces, before any of them is trained.

``python -m trained.judging FOLDER`` writes their configurations, always the same ones.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import yaml

from calbias.engine.seeding import stream

WITH_FOLDS = 4  # the first ones with ten classes


class Space(NamedTuple):
    """What the networks of one letter are drawn from: values, or values with their chances."""

    letter: str
    n_networks: int
    draw_seed: int
    first_seed: int
    tasks: dict[str, float]
    losses: dict[str, float]
    decays: tuple[float, ...]
    epochs: tuple[int, ...]
    training_rows: dict[int, tuple[int, ...]]
    depths: dict[str, tuple[int, ...]]
    widths: dict[str, tuple[int, ...]]


FIRST = Space(
    letter="j",
    n_networks=24,
    draw_seed=2026,
    first_seed=100,
    tasks={
        "signals10": 0.35,
        "signals50": 0.15,
        "signals100": 0.15,
        "uncertain10": 0.20,
        "uncertain100": 0.15,
    },
    losses={"cross_entropy": 0.7, "label_smoothing": 0.1, "focal": 0.1, "brier": 0.1},
    decays=(0.0, 1e-4, 5e-4, 1e-3, 3e-3),
    epochs=(20, 40),
    training_rows={10: (2_000, 4_000, 8_000, 16_000), 50: (10_000, 20_000), 100: (10_000, 20_000)},
    depths={"residual": (1, 2, 3, 4), "perceptron": (1, 2, 3, 4, 5)},
    widths={"over time": (8, 12, 16, 24, 32), "dense": (50, 100, 200, 400)},
)
"""Wide: any network that the programs can train."""

SECOND = Space(
    letter="k",
    n_networks=26,
    draw_seed=2027,
    first_seed=200,
    tasks={
        "signals10": 0.40,
        "signals50": 0.15,
        "signals100": 0.10,
        "uncertain10": 0.25,
        "uncertain100": 0.10,
    },
    losses={"cross_entropy": 1.0},
    decays=(0.0, 1e-4),
    epochs=(40, 60),
    training_rows={10: (2_000, 4_000), 50: (5_000, 10_000), 100: (5_000, 10_000)},
    depths={"residual": (2, 3), "perceptron": (2, 3, 4, 5)},
    widths={"over time": (12, 16, 24), "dense": (100, 200, 400)},
)
"""Networks that probably are miscalibrated and saturated: deep, long trained on few rows."""

N_PARTNERS = 8
PARTNER_SEED = 2028


def draw_configuration(rng: np.random.Generator, number: int, space: Space) -> dict[str, Any]:
    """Return the configuration, with its name, of one judging network."""

    def one_of(choices: Any, chances: Any = None) -> Any:
        return list(choices)[rng.choice(len(choices), p=chances)]

    task = one_of(space.tasks, list(space.tasks.values()))
    n_classes = int(task.lstrip("abcdefghijklmnopqrstuvwxyz"))
    network = one_of(("perceptron", "residual"))
    is_residual = network == "residual"
    over_time = is_residual and task.startswith("signals")
    depth = one_of(space.depths[network])
    width = one_of(space.widths["over time" if over_time else "dense"])
    batch_norm = bool(rng.random() < (0.75 if is_residual else 0.3))
    configuration = {
        "role": "judging",
        "task": task,
        "network": network,
        "depth": depth,
        "width": width,
        "batch_norm": batch_norm,
        "loss": one_of(space.losses, list(space.losses.values())),
        "weight_decay": one_of(space.decays),
        "learning_rate": 0.05 if batch_norm or not is_residual else 0.02,
        "n_train": one_of(space.training_rows[n_classes]),
        "epochs": one_of(space.epochs),
        "seed": space.first_seed + number,
        "fresh_rows": 1_000_000 if over_time or n_classes > 10 else 2_000_000,
    }
    return {"name": _name(f"{space.letter}{number:02d}", configuration), **configuration}


def _name(letter_and_number: str, configuration: dict[str, Any]) -> str:
    kind = "res" if configuration["network"] == "residual" else "mlp"
    task = configuration["task"]
    classes = f"{task[0]}{task.lstrip('abcdefghijklmnopqrstuvwxyz')}"
    return f"{letter_and_number}_{kind}{configuration['depth']}x{configuration['width']}_{classes}"


def first_draw() -> Iterator[dict[str, Any]]:
    """Yield the configurations of the first judging set, some with folds of all logits."""
    rng = stream(FIRST.draw_seed, "networks", "judging")
    folds_left = WITH_FOLDS
    for number in range(1, FIRST.n_networks + 1):
        configuration = draw_configuration(rng, number, FIRST)
        configuration["folds"] = folds_left > 0 and configuration["task"].endswith("10")
        folds_left -= configuration["folds"]
        yield configuration


def second_draw() -> Iterator[dict[str, Any]]:
    """Yield the configurations of the second judging set, each with a task of its own."""
    rng = stream(SECOND.draw_seed, "networks", "judging")
    for number in range(1, SECOND.n_networks + 1):
        configuration = draw_configuration(rng, number, SECOND)
        yield configuration | {"fresh_rows": 1_000_000, "task_seed": 1000 + number}


def partners() -> Iterator[dict[str, Any]]:
    """Yield a partner for each of the first networks of the second set, with one value changed."""
    rng = stream(PARTNER_SEED, "networks", "partners")
    for number, configuration in zip(range(1, N_PARTNERS + 1), second_draw(), strict=False):
        over_time = (configuration["network"], configuration["task"][0]) == ("residual", "s")
        values = {
            "depth": SECOND.depths[configuration["network"]],
            "width": SECOND.widths["over time" if over_time else "dense"],
            "batch_norm": (False, True),
            "weight_decay": (1e-3,),
        }
        key = list(values)[rng.integers(len(values))]
        others = [value for value in values[key] if value != configuration[key]]
        changed = configuration | {key: others[rng.integers(len(others))]}
        yield changed | {"name": _name(f"p{number:02d}", changed)}


def write_configurations(folder: Path) -> None:
    """Write the configuration of each judging network to a folder."""
    for configuration in (*first_draw(), *second_draw(), *partners()):
        path = folder / f"{configuration.pop('name')}.yaml"
        path.write_text(yaml.safe_dump(configuration, sort_keys=False))


if __name__ == "__main__":
    write_configurations(Path(sys.argv[1]))
