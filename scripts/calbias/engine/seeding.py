"""Random streams that depend on a seed and names alone, never on the order of the jobs."""

import hashlib

import numpy as np


def stream(seed, *names):
    """Return a NumPy Generator keyed by a seed (an integer >= 0) and names, such as a model's."""
    key = hashlib.sha256("\0".join(names).encode()).digest()
    return np.random.default_rng(
        np.random.SeedSequence(seed, spawn_key=[int.from_bytes(key[:16], "big")])
    )
