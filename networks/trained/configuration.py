"""The configuration of one network: one YAML file, whose stem is the network's name."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import yaml

Role = Literal["design", "judging", "control"]
TaskName = Literal[
    "signals10", "signals50", "signals100", "uncertain10", "uncertain100", "pictures10"
]
Family = Literal["perceptron", "residual", "bayes"]
Loss = Literal["cross_entropy", "label_smoothing", "focal", "brier"]


@dataclass(frozen=True)
class Configuration:
    """What one network is and how it is trained.

    role: design networks may be looked at while methods are made, judging ones are read once, and
        controls have a truth in closed form
    depth: hidden layers of a perceptron, blocks of a residual network
    learning_rate: it falls to a tenth at half and at three quarters of the epochs
    fresh_rows: rows on which the truth is measured
    task_seed: seed of the task's constants: another seed is another task of the same kind
    folds: whether the logits of a validation and a test fold are kept
    sharpness: factor of the logits of the labels' law, where it is known; 0 is the task's own
    share_above_99: the trained network's logits are multiplied so that this share of the scores is
        above 0.99; 0 leaves them as they are
    """

    name: str
    role: Role
    task: TaskName
    network: Family
    fresh_rows: int
    depth: int = 0
    width: int = 0
    batch_norm: bool = False
    loss: Loss = "cross_entropy"
    weight_decay: float = 0.0
    learning_rate: float = 0.0
    n_train: int = 0
    epochs: int = 0
    seed: int = 0
    task_seed: int = 2022
    folds: bool = False
    sharpness: float = 0.0
    share_above_99: float = 0.0


def read_configuration(path: Path) -> Configuration:
    """Return the configuration in a file; ValueError of one line for an invalid one."""
    content = yaml.safe_load(path.read_text())
    if not isinstance(content, dict):
        raise ValueError(f"{path}: write one key with its value a line, such as role: design")
    types = {field.name: field.type for field in fields(Configuration) if field.name != "name"}
    unknown = sorted(set(content) - set(types))
    if unknown:
        raise ValueError(f"{path}: unknown key {unknown[0]!r}; known: {', '.join(types)}")
    for key, value in content.items():
        _validate(path, key, value, types[key])
    missing = [key for key in ("role", "task", "network", "fresh_rows") if key not in content]
    if missing:
        raise ValueError(f"{path}: {missing[0]} is missing; add it")
    return Configuration(name=path.stem, **content)


def _validate(path: Path, key: str, value: Any, kind: Any) -> None:
    """Raise ValueError for a value of another type, an unknown choice or a negative number."""
    if get_origin(kind) is Literal:
        if value not in get_args(kind):
            raise ValueError(f"{path}: {key} is {value!r}; give one of {', '.join(get_args(kind))}")
        return
    valid = isinstance(value, (int, float) if kind is float else kind)
    if not valid or (isinstance(value, bool) and kind is not bool) or value < 0:
        raise ValueError(f"{path}: {key} is {value!r}; give a {kind.__name__} of at least 0")
