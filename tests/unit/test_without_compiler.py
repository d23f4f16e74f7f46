"""Verdict, estimate and curve of an audit load no compiler: numba is for simulation."""

from command import python

PROGRAM = """
import sys
import numpy as np
from calbias.auditing.bins import binned_ece
from calbias.auditing.recalibrations import Rows, recalibration_table
from calbias.auditing.verdict.judge import judge
from calbias.engine.posterior.mixture import average_of, curve_of
from calbias.scored import Scored

generator = np.random.default_rng(0)
scores = generator.beta(2, 1, 500)
scored = Scored.of(scores, generator.random(500) < scores, clusters=np.arange(500) % 50)
judge(scored)
curve_of(average_of(scored.scores, scored.rows, scored.hits))
binned_ece(scored)
place, hits, _ = scored.of_rows
recalibration_table(Rows(scored.scores[place], hits))
print(*(name in sys.modules for name in ("numba", "scipy.optimize", "scipy.stats")))
"""


def test_numba_and_scipy_s_large_parts_stay_out():
    assert python(PROGRAM).split() == ["False", "False", "False"]
