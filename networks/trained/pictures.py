"""Small pictures that never end, with a known teacher: the law of the labels given the pixels.

Each of ten classes has three prototypes: smooth random fields of 10 × 10 pixels. A picture shows a
prototype at one of nine places in 12 × 12 pixels, with a random contrast and white noise. The
teacher compares the pixels with all prototypes at all places. A class's logit is ``sharpness``
times its best match, and the label is drawn from the softmax of the logits.
"""

from collections.abc import Callable

import numpy as np

SIDE, PROTOTYPE_SIDE = 12, 10
N_CLASSES, N_PROTOTYPES = 10, 3
PIXEL_NOISE = 0.6
SMOOTHINGS = 3


def teacher_bank(generator: np.random.Generator) -> np.ndarray:
    """Return prototypes at all places, (10, 27, 144) float32, of mean square 1 over 100 pixels."""
    side = PROTOTYPE_SIDE + 2 * SMOOTHINGS
    fields = generator.standard_normal((N_CLASSES, N_PROTOTYPES, side, side))
    for _ in range(SMOOTHINGS):
        rows = fields[..., :-2, :] + fields[..., 1:-1, :] + fields[..., 2:, :]
        fields = rows[..., :-2] + rows[..., 1:-1] + rows[..., 2:]
    fields -= fields.mean((2, 3), keepdims=True)
    fields /= np.sqrt(np.mean(fields**2, (2, 3), keepdims=True))
    positions = SIDE - PROTOTYPE_SIDE + 1
    bank = np.zeros((N_CLASSES, N_PROTOTYPES, positions, positions, SIDE, SIDE), np.float32)
    for i in range(positions):
        for j in range(positions):
            bank[:, :, i, j, i : i + PROTOTYPE_SIDE, j : j + PROTOTYPE_SIDE] = fields
    return bank.reshape(N_CLASSES, -1, SIDE * SIDE)


def teacher_logits(bank: np.ndarray, sharpness: float) -> Callable[[np.ndarray], np.ndarray]:
    """Return the function from pictures (n, 144) to the logits (n, 10) of the labels' law."""
    templates = bank.reshape(-1, bank.shape[-1]).T / PROTOTYPE_SIDE**2

    def logits(inputs: np.ndarray) -> np.ndarray:
        matches = (inputs @ templates).reshape(len(inputs), N_CLASSES, -1).max(2)
        return np.asarray(np.float32(sharpness) * matches)

    return logits


def draw_pictures(n: int, rng: np.random.Generator, bank: np.ndarray) -> np.ndarray:
    """Return n pictures (n, 144) float32."""
    flat = bank.reshape(-1, bank.shape[-1])
    shown = flat[rng.integers(len(flat), size=n)]
    contrast = np.exp(0.25 * rng.standard_normal((n, 1), dtype=np.float32))
    noise = rng.standard_normal(shown.shape, dtype=np.float32)
    return np.asarray(contrast * shown + np.float32(PIXEL_NOISE) * noise)
