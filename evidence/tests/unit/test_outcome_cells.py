"""Cells of outcomes that are right on average: they are, and the study's row is as by hand."""

import numpy as np
import pytest

from evidence.cells.outcomes import JUDGING, TRIAL, Followed
from evidence.outcomes import cell_rates, measured

CELLS = {cell.name: cell for cell in (*TRIAL, *JUDGING)}


@pytest.mark.parametrize(
    "name",
    ["score 35", "ties, horizon at an event", "competing, falling", "judge, labels by score",
     "weights, by score", "shares, weighted"],
)  # fmt: skip
def test_outcomes_are_right_on_average(name):
    cell, sums = CELLS[name], []
    for k in range(20):
        rows = cell.draw(np.random.default_rng(k))
        kept = rows.outcomes.kept
        gaps = rows.outcomes.values - cell_rates(cell, rows.scores)
        sums.append(gaps[kept].mean())
    assert abs(np.mean(sums)) < 4 * np.std(sums) / np.sqrt(len(sums))


def test_the_share_that_is_censored_is_the_cells():
    cell = CELLS["score 35"]
    assert isinstance(cell, Followed)
    strata = cell.draw(np.random.default_rng(1)).outcomes.strata
    assert sum(each.censored for each in strata) / cell.n == pytest.approx(cell.share, abs=0.05)


def test_a_row_of_the_study():
    row = measured(CELLS["few events"], 2)
    assert row["rows"] == 200
    assert row["truth"] == 0
    assert 0 < row["width"] < 1
    assert {row["rejected"], row["coverage"]} <= {0.0, 0.5, 1.0}
