"""The constants of interval and verdict, held against the judging cells: coverage and size."""

from itertools import product

import numpy as np
import pytest
from verdicts import judge

from calbias.auditing.interval import calibration_interval
from calbias.scored import Scored
from reproduction.judging.halves import CELLS

DATA_SETS = 12


@pytest.mark.nightly
@pytest.mark.slow
def test_intervals_hold_the_error_and_the_verdict_has_its_level_on_judging_cells():
    covered, found, rejected = [], [], []
    for cell, n in product(CELLS, (200, 1000)):
        samples = [cell.draw(n, 2022, number) for number in range(DATA_SETS)]
        truth = cell.truth("l1")
        ends = [calibration_interval(Scored.of(x.scores, x.hits)).at() for x in samples]
        covered.append(np.mean([low <= truth <= high for low, high in ends]))
        p_values = [judge(x.scores, x.hits, replicates=199).p_value <= 0.05 for x in samples]
        (rejected if truth == 0 else found).append(np.mean(p_values))
    assert np.mean(covered) >= 0.95
    assert np.min(covered) >= 8 / DATA_SETS  # of 0.9 less in one of 4000 cells
    assert np.mean(rejected) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / (len(rejected) * DATA_SETS))
    assert np.mean(found) >= 0.5
