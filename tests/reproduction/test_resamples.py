"""Resamples from counts: the bits of the rows themselves."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calbias.engine.sorted_batch import TIES, of_sorted_scores
from reproduction.resamples import resampled_batch

ROWS = st.lists(
    st.tuples(st.sampled_from([0.0, 0.1, 0.3, 1 / 3, 0.99, 1.0]), st.booleans(), st.integers(0, 3)),
    min_size=1,
    max_size=12,
).filter(lambda rows: any(count for _, _, count in rows))


@pytest.mark.parametrize("ties", TIES)
@given(ROWS)
def test_a_resample_has_the_bits_of_its_rows(ties, rows):
    scores, hits, counts = (np.array(column) for column in zip(*sorted(rows), strict=True))
    repeated = np.repeat(np.arange(len(scores)), counts)
    expected = of_sorted_scores(scores[repeated], hits[repeated][None], ties)
    for made, array in zip(resampled_batch(scores, hits, counts, ties), expected, strict=True):
        assert made.tobytes() == array.tobytes()
        assert (made.shape, made.dtype) == (array.shape, array.dtype)
