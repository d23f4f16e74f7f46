"""Every estimator of the league is fast on many samples: about linear, in units of a sort."""

import time

import numpy as np
import pytest

from calbias.beyond.league import league_entries
from calbias.engine.sampler import draw
from calbias.estimation.registry import known_estimators
from calbias.truth.curves import Curve
from calbias.truth.scenarios import Scenario

N = 100_000
MOST = 150  # times numpy.argsort of as many scores; the slowest needs about 45
DATA = draw(Scenario("slope", 2.8, 0.05, Curve("logit_logit_b1", 0.0, 0.8)), N, 0, seed=0)
ENTRIES = {entry.name: entry for entry in league_entries(known_estimators())}


def seconds(call):
    """Return the least CPU time of three calls; the first one may compile."""
    times = []
    for _ in range(3):
        started = time.process_time()
        call()
        times.append(time.process_time() - started)
    return min(times)


@pytest.mark.parametrize("name", [x for x, entry in ENTRIES.items() if not entry.is_quadratic])
def test_a_call_on_1e5_scores_takes_no_longer_than_a_few_sorts(name):
    unsorted = np.random.default_rng(0).permutation(DATA.scores[0])
    sort = seconds(unsorted.argsort)
    entry = ENTRIES[name]
    assert seconds(lambda: entry.run(DATA, 15, entry.norm)) < MOST * sort
