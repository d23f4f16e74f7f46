"""Warnings of what is legal but suspicious: each appears when it should and only then."""

import numpy as np
import pytest

from calbias.logits.read_logits import read_logits

K = 5


def arrays(n=200):
    rng = np.random.default_rng(3)
    content = {}
    for fold in ("validation", "test"):
        labels = rng.integers(K, size=n)
        content[f"{fold}_labels"] = labels
        content[f"{fold}_logits"] = rng.normal(size=(n, K)) + 3 * np.eye(K)[labels]
    return content


def warnings_of(path, content):
    np.savez(path, **content)
    texts = read_logits(path, "mine", {}).warnings
    assert all("\n" not in text for text in texts)
    return list(texts)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "m.npz"


def test_sound_logits_give_no_warning(path):
    assert warnings_of(path, arrays()) == []


def test_label_among_the_logits(path):
    content = arrays()
    for fold in ("validation", "test"):
        content[f"{fold}_logits"][:, 3] = content[f"{fold}_labels"]
    (text, *_) = warnings_of(path, content)
    assert text.startswith(
        "column 3 (counted from 0) of the logits holds whole numbers from 0 to 4"
    )


def test_whole_numbers_throughout_or_a_constant_column_are_no_label(path):
    content = arrays()
    whole = {k: np.rint(4 * v) if "logits" in k else v for k, v in content.items()}
    assert not any("whole numbers" in text for text in warnings_of(path, whole))
    for fold in ("validation", "test"):
        content[f"{fold}_logits"][:, 0] = 0  # the reference class of a multinomial model
    assert not any("whole numbers" in text for text in warnings_of(path, content))


def test_accuracy_at_chance(path):
    content = arrays()
    content["test_labels"] = np.random.default_rng(0).permutation(content["test_labels"])
    (text,) = warnings_of(path, content)
    assert text.startswith("test accuracy ")
    assert "is at chance (20.0 %)" in text
    content = {name: array[:4] for name, array in content.items()}  # too few to tell
    content["test_labels"][0] = (content["test_labels"][1] + 1) % K
    assert not any("at chance" in text for text in warnings_of(path, content))


def test_nothing_but_hits(path):
    content = arrays()
    content["test_labels"] = content["test_logits"].argmax(axis=1)
    (text,) = warnings_of(path, content)
    assert text.startswith("all 200 test samples are hits: ")


def test_repeated_and_shared_rows(path):
    content = arrays()
    content["validation_logits"][10:13] = content["validation_logits"][0]
    content["test_logits"][5] = content["validation_logits"][77]
    assert [text.split(":")[0] for text in warnings_of(path, content)] == [
        "3 of 200 validation rows repeat another one; check the file",
        "1 of 200 test rows are validation rows too",
    ]


@pytest.mark.parametrize("scale", [60, 1])
def test_scores_that_are_exactly_one(path, scale):
    content = arrays()
    for fold in ("validation", "test"):
        content[f"{fold}_logits"] *= scale
    found = [text for text in warnings_of(path, content) if "exactly 1" in text]
    assert len(found) == (2 if scale == 60 else 0)
    assert all("the largest logit is" in text for text in found)


def test_probabilities_rounded_to_one(path):
    content = arrays()
    for fold in ("validation", "test"):
        e = np.exp(3 * content.pop(f"{fold}_logits"))
        content[f"{fold}_probabilities"] = np.round(e / e.sum(axis=1, keepdims=True), 3)
    texts = warnings_of(path, content)
    assert any("values are probabilities" in text for text in texts)
    assert sum("scores are exactly 1: the model's confidence was rounded" in t for t in texts) == 2
