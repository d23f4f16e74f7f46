"""Generators of labelled rows that never end.

A task is a function of its name and a seed. Rows are a function of the task, a seed and names: the
training rows of a network, its folds and each block of its fresh rows have streams of their own.

``signalsK``: a row is a class's template, scaled, shifted in time, with a drift and coloured noise.
The label is the class that made the row.

``uncertainK``: a row is normal, and its label is drawn from probabilities that a fixed random
function of the row gives. So the probability of each class is known, row by row.

``pictures10``: a row is a small picture, and its label is drawn from the softmax of a known teacher
(``trained.pictures``).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from calbias.engine.seeding import stream
from trained.pictures import SIDE, draw_pictures, teacher_bank, teacher_logits

POINTS = 40
TEMPLATE_POINTS = 24
FEATURES, HIDDEN = 24, 64
SIGNAL_NOISE = {10: 0.6, 50: 0.5, 100: 0.4}
SHARPNESS = {"uncertain10": 10.0, "uncertain100": 12.0, "pictures10": 12.0}


@dataclass(frozen=True)
class Rows:
    """Inputs (n, d) float32, labels (n,), and the logits of the labels' law (n, K), if known."""

    inputs: np.ndarray
    labels: np.ndarray
    true_logits: np.ndarray | None


@dataclass(frozen=True)
class Task:
    """A generator: ``draw(n, generator)`` returns Rows.

    ``logits(inputs)`` are those of the labels' law, where it is known: a Bayes-optimal model.
    """

    name: str
    n_classes: int
    n_inputs: int
    draw: Callable[[int, np.random.Generator], Rows]
    logits: Callable[[np.ndarray], np.ndarray] | None = None


@cache
def load_task(name: str, seed: int = 2022, sharpness: float = 0.0) -> Task:
    """Return the task of a name, such as ``signals10``, with the constants of a seed.

    ``sharpness`` multiplies the logits of the labels' law, where it is known; 0 is SHARPNESS.
    """
    kind = name.rstrip("0123456789")
    n_classes = int(name.removeprefix(kind))
    generator = stream(seed, name)
    if kind == "signals":
        templates = _templates(n_classes, generator)
        noise = SIGNAL_NOISE[n_classes]
        return Task(name, n_classes, POINTS, lambda n, rng: _signals(n, rng, templates, noise))
    sharpness = sharpness or SHARPNESS[name]
    if kind == "pictures":
        bank = teacher_bank(generator)
        logits = teacher_logits(bank, sharpness)

        def draw(n: int, rng: np.random.Generator) -> Rows:
            return _labelled(draw_pictures(n, rng, bank), rng, logits)

        return Task(name, n_classes, SIDE**2, draw, logits)
    first = generator.standard_normal((FEATURES, HIDDEN)).astype(np.float32) / FEATURES**0.5
    second = generator.standard_normal((HIDDEN, n_classes)).astype(np.float32) / HIDDEN**0.5
    second *= sharpness

    def hidden_layer_logits(inputs: np.ndarray) -> np.ndarray:
        return np.asarray(np.tanh(2 * (inputs @ first)) @ second)

    def draw_features(n: int, rng: np.random.Generator) -> Rows:
        inputs = rng.standard_normal((n, FEATURES), dtype=np.float32)
        return _labelled(inputs, rng, hidden_layer_logits)

    return Task(name, n_classes, FEATURES, draw_features, hidden_layer_logits)


def _templates(n_classes: int, generator: np.random.Generator) -> np.ndarray:
    """Return (K, 24) random sums of five waves, each of mean 0 and standard deviation 1."""
    time = np.linspace(0.0, 1.0, TEMPLATE_POINTS)
    order = np.arange(1, 6)
    waves = 1.4 * np.pi * order[:, None] * time
    cosines, sines = generator.standard_normal((2, n_classes, 5)) / np.sqrt(order)
    templates = cosines @ np.cos(waves) + sines @ np.sin(waves)
    templates -= templates.mean(1, keepdims=True)
    scaled: np.ndarray = (templates / templates.std(1, keepdims=True)).astype(np.float32)
    return scaled


def _signals(n: int, rng: np.random.Generator, templates: np.ndarray, noise: float) -> Rows:
    """Return n rows: e^(Z/4)·template at a uniform shift, a drift, and coloured noise."""
    labels = rng.integers(len(templates), size=n, dtype=np.int16)
    shifts = rng.integers(POINTS - TEMPLATE_POINTS + 1, size=n)
    white = rng.standard_normal((n, POINTS + 3), dtype=np.float32)
    white *= np.float32(noise / 2)
    inputs = white[:, :-3] + white[:, 1:-2]
    inputs += white[:, 2:-1]
    inputs += white[:, 3:]
    scale, drift = rng.standard_normal((2, n, 1), dtype=np.float32)
    inputs += drift * np.linspace(-0.5, 0.5, POINTS, dtype=np.float32)
    padded = np.zeros((len(templates), 2 * POINTS - TEMPLATE_POINTS), np.float32)
    padded[:, POINTS - TEMPLATE_POINTS : POINTS] = templates
    windows = np.lib.stride_tricks.sliding_window_view(padded, POINTS, axis=1)
    inputs += np.exp(0.25 * scale) * windows[labels, POINTS - TEMPLATE_POINTS - shifts]
    return Rows(inputs, labels, None)


def _labelled(
    inputs: np.ndarray, rng: np.random.Generator, logits_of: Callable[[np.ndarray], np.ndarray]
) -> Rows:
    """Return rows with labels drawn from softmax(logits_of(row)), by Gumbel's maximum."""
    logits = logits_of(inputs)
    exponentials = rng.standard_exponential(logits.shape, dtype=np.float32)
    gumbel = -np.log(np.maximum(exponentials, np.float32(1e-30)))
    labels = np.argmax(logits + gumbel, axis=1).astype(np.int16)
    return Rows(inputs, labels, logits)
