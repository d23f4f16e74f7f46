"""Data that tests share: hypothesis strategies, the ten published scenarios, made-up rows."""

import csv

import numpy as np
from checkout import TABLE_2, TABLE_3
from hypothesis import strategies as st
from scipy.special import softmax

from calbias.reading.output_file import Fold
from pipeline.scenarios import fitted_scenario

MODELS = [row["model"] for row in csv.DictReader(TABLE_2.open(encoding="utf-8"))]
SAMPLE_SIZES = [200 * 2**k for k in range(7)]

EDGES = [0.0, 1.0, 0.5, *(0.2 * k for k in range(1, 5)), *(k / 15 for k in range(1, 15)), 1 / 3]


def published_scenario(model, curve="fitted"):
    """Return the scenario of a model by the paper's Tables 2 and 3."""
    return fitted_scenario(model, curve, [TABLE_2], [TABLE_3])[0]


@st.composite
def data_sets(draw, max_size=30):
    """Draw (scores, hits), lists: ties, bin edges, 0 and 1, all hits, no hits, one to many rows."""
    anywhere = st.floats(0.0, 1.0, allow_subnormal=False)
    score = st.one_of(anywhere, st.sampled_from(EDGES), st.sampled_from(EDGES[:5]))
    scores = draw(st.lists(score, min_size=1, max_size=max_size))
    hit = draw(st.sampled_from([st.integers(0, 1), st.just(0), st.just(1)]))
    hits = draw(st.lists(hit, min_size=len(scores), max_size=len(scores)))
    return scores, hits


def drawn(n, seed=0, curve=lambda s: s, shapes=(2.0, 0.7)):
    """Return Beta scores (n,) and hits (n,) whose rate is a curve of the score."""
    generator = np.random.default_rng(seed)
    scores = generator.beta(*shapes, n)
    return scores, (generator.random(n) < curve(scores)).astype(int)


def monotone_data(n, seed):
    """Return sorted scores (n,) and hits whose rate rises with the score, as a model's do."""
    generator = np.random.default_rng(seed)
    scores = np.sort(generator.beta(2.0, 0.6, n))
    return scores, (generator.random(n) < scores**2).astype(int)


def drawn_fold(n=600, n_classes=4, temperature=1.0, seed=0):
    """Return a Fold whose labels follow softmax(logits / temperature)."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(0, 3, (n, n_classes)).astype(np.float32)
    cumulative = softmax(logits.astype(float) / temperature, axis=1).cumsum(axis=1)
    labels = (rng.random(n)[:, None] > cumulative).sum(axis=1).clip(max=n_classes - 1)
    return Fold(logits, labels)
