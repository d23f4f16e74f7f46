"""Keyed random streams: every random number is a function of the seed and of names.

The stream of (seed, name, number) does not depend on the order in which jobs run, nor on cores or
shards.
"""

import hashlib
from typing import Any

import numpy as np


def stream_key(seed: int, name: str, number: int) -> np.ndarray:
    """Return the key, (2,) uint32, of the stream of (seed, name, number).

    NumPy's ``SeedSequence`` mixes the three; the name enters by its SHA-256 digest.
    """
    digest = hashlib.sha256(name.encode()).digest()[:16]
    words = np.frombuffer(digest, dtype="<u4").tolist()
    return np.random.SeedSequence([seed, number, *words]).generate_state(2, np.uint32)


def digest_of(scores: np.ndarray, rows: np.ndarray) -> str:
    """Return a digest of scores (m,) with their rows, as the name of a stream.

    Of scores to a millionth: last bits depend on the processor whose logarithms made the scores.
    """
    words = np.rint(1e6 * scores).astype("<i8"), rows.astype("<i8")
    return hashlib.sha256(b"".join(array.tobytes() for array in words)).hexdigest()


def stream(seed: int, *names: Any) -> np.random.Generator:
    """Return the NumPy Generator of the stream of (seed, names), such as a model's and a fold's."""
    digest = hashlib.sha256("\0".join(names).encode()).digest()[:16]
    return np.random.default_rng(
        np.random.SeedSequence(seed, spawn_key=[int.from_bytes(digest, "big")])
    )
