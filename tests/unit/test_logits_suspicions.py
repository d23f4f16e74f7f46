"""Warnings of what is legal but suspicious: each appears when it should and only then."""

import numpy as np
import pytest

from pipeline.logits.read import read_logits

K = 5


def outputs(seed, n=200):
    """Return logits of a model that is mostly right, and labels."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(K, size=n)
    return rng.normal(size=(n, K)) + 3 * np.eye(K)[labels], labels


def changed(array, where, values):
    array = array.copy()
    array[where] = values
    return array


V, VY = outputs(3)
T, TY = outputs(4)
SHUFFLED = np.random.default_rng(0).permutation(TY)
THIRD, FIRST = np.s_[:, 3], np.s_[:, 0]


def probabilities(logits):
    e = np.exp(8 * logits)
    return (e / e.sum(axis=1, keepdims=True)).astype(np.float32)


@pytest.mark.parametrize(
    ("arrays", "expected"),
    [
        ((V, VY, T, TY), []),
        ((changed(V, THIRD, VY), VY, changed(T, THIRD, TY), TY),
         ["column 3 (counted from 0) of the logits holds whole numbers from 0 to 4"]),
        ((np.rint(4 * V), VY, np.rint(4 * T), TY), []),
        # the reference class of a multinomial model
        ((changed(V, FIRST, 0), VY, changed(T, FIRST, 0), TY), []),
        ((V, VY, T, SHUFFLED), ["is at chance (20.0 %)"]),
        # too few to tell
        ((V, VY, T[:4], changed(TY[:4], 0, (T[0].argmax() + 1) % K)), []),
        ((V, VY, T, T.argmax(axis=1)), ["all 200 test samples are hits"]),
        ((changed(V, np.s_[10:13], V[0]), VY, changed(T, 5, V[77]), TY),
         ["3 of 200 validation rows repeat another one", "1 of 200 test rows are validation rows"]),
        ((60 * V, VY, 60 * T, TY),
         ["validation scores are exactly 1: ", "test scores are exactly 1: "]),
        ((probabilities(V), VY, probabilities(T), TY),
         ["values are probabilities", "validation scores are exactly 1: ",
          "test scores are exactly 1: "]),
    ],
)  # fmt: skip
def test_suspicions(tmp_path, arrays, expected):
    names = ("validation_logits", "validation_labels", "test_logits", "test_labels")
    np.savez(tmp_path / "m.npz", **dict(zip(names, arrays, strict=True)))
    found = read_logits(tmp_path / "m.npz", "mine", {}).warnings
    assert len(found) == len(expected), found
    for text, part in zip(found, expected, strict=True):
        assert part in text
        assert "\n" not in text
