"""The one form of a sample: rows and hits by distinct score."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, log_expit

from calbias import Sketch, audit, scored
from calbias.auditing.audit import audit_data
from calbias.auditing.inputs import Data, Options
from calbias.scored import Scored

ROWS = st.lists(
    st.tuples(st.sampled_from([0.0, 0.1, 0.5, 1.0]), st.integers(0, 1), st.sampled_from("abc")),
    min_size=1,
    max_size=30,
)


def of(rows, with_clusters=True):
    scores, hits, ids = map(np.array, zip(*rows, strict=True))
    return Scored.of(scores, hits, clusters=ids if with_clusters else None)


def same(a, b):
    for name in ("scores", "rows", "hits", "log_scores", "log1m_scores"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
    if a.clusters is not None:
        for one, other in zip(a.clusters, b.clusters, strict=True):
            np.testing.assert_array_equal(one, other)
    return a.width == b.width and (a.clusters is None) == (b.clusters is None)


def test_counts_by_hand():
    sample = Scored.of([0.8, 0.2, 0.8, 0.8], [1, 0, 0, 1], clusters=["b", "a", "a", "b"])
    assert sample.scores.tolist() == [0.2, 0.8]
    assert sample.rows.tolist() == [1, 3]
    assert sample.hits.tolist() == [0, 2]
    assert sample.clusters.ids.tolist() == ["a", "b"]
    assert [column.tolist() for column in sample.clusters[1:]] == [
        [0, 0, 1], [0, 1, 1], [1, 1, 2], [0, 0, 2]
    ]  # fmt: skip
    assert sample.n == 4
    assert sample.mean(sample.scores) == pytest.approx(0.65)
    assert sample.gaps == pytest.approx([0.2, 0.4])
    place, hits, clusters = sample.of_rows
    assert place.tolist() == [0, 1, 1, 1]
    assert hits.tolist() == [0, 0, 1, 1]
    assert clusters.tolist() == [0, 0, 1, 1]


@given(ROWS, st.integers(0, 30), st.randoms())
def test_neither_order_nor_parts_matter(rows, cut, random):
    whole, shuffled = of(rows), random.sample(rows, len(rows))
    parts = [part for part in (shuffled[:cut], shuffled[cut:]) if part]
    assert same(whole, sum(map(of, parts)))
    assert same(of(rows, False), sum(of(part, False) for part in parts))


@given(ROWS)
def test_rows_come_back(rows):
    place, hits, clusters = of(rows).of_rows
    scores, ids = of(rows).scores[place], of(rows).clusters.ids[clusters]
    assert sorted(zip(scores, hits, ids, strict=True)) == sorted(rows)


def test_scores_that_round_to_one_are_told_apart_by_log1m():
    log1m = np.array([-40.0, -50.0, -40.0, -1.0])
    scores = np.array([1.0, 1.0, 1.0, 1 - np.exp(-1)])
    sample = Scored.of(scores, [1, 1, 0, 0], np.log1p(-np.exp(log1m)), log1m)
    assert sample.scores.tolist() == [1 - np.exp(-1), 1.0, 1.0]
    assert sample.log1m_scores.tolist() == [-1.0, -40.0, -50.0]
    assert sample.rows.tolist() == [1, 2, 1]


def test_a_drawn_sample_keeps_the_shares(monkeypatch):
    sample = Scored.of([0.1, 0.9], [300, 600], rows=[1000, 1000], width=0.01)
    assert sample.drawn(0) is sample
    monkeypatch.setattr(scored, "MOST_ROWS", 1999)
    monkeypatch.setattr(scored, "SAMPLE", 500)
    few = sample.drawn(0)
    assert few.n == pytest.approx(500, abs=100)
    assert few.width == 0.01
    assert few.rows / few.n == pytest.approx([0.5, 0.5], abs=0.1)
    assert few.hits / few.rows == pytest.approx([0.3, 0.6], abs=0.1)


def test_samples_with_and_without_clusters_are_not_added():
    with pytest.raises(ValueError, match="with and without clusters"):
        Scored.of([0.1], [1]) + Scored.of([0.1], [1], clusters=[1])


@pytest.mark.parametrize("with_clusters", [False, True])
def test_the_audit_of_parts_is_the_audit_of_all_rows(with_clusters):
    generator = np.random.default_rng(3)
    log_odds = generator.normal(8, 12, 600)  # a third of the scores rounds to 1
    hits = (generator.random(600) < expit(0.3 * log_odds)).astype(np.uint8)
    columns = np.array([expit(log_odds), hits, log_expit(log_odds), log_expit(-log_odds)])
    ids = np.arange(600) // 6 if with_clusters else None
    order = generator.permutation(600)
    parts = [
        Scored.of(*columns[:, rows], clusters=None if ids is None else ids[rows])
        for rows in np.split(order, [50, 51, 400])
    ]
    whole = audit_data(Data(Scored.of(*columns, clusters=ids)), Options())
    assert audit_data(Data(sum(parts)), Options()) == whole
    assert whole.miscalibrated


def test_the_audit_of_a_sketch_is_that_of_rows_where_cells_hold_one_score():
    generator = np.random.default_rng(4)
    scores = generator.choice([0.0, 0.25, 0.5, 0.75, 0.9375], 900)
    hits = generator.random(900) < 0.9 * scores
    sketch = Sketch()
    sketch.add(scores, hits)
    found, expected = sketch.audit().to_dict(), audit(scores, hits).to_dict()
    for name in ("error", "interval", "p_value", "verdict", "ece", "noise_floor", "curve", "bins",
                 "recalibration"):  # fmt: skip
        assert found[name] == expected[name], name
