"""Paired timing: implementation and baseline in turn, so that a busy machine slows both alike.

Seconds are those that the process spent computing: what other processes take is not counted.
"""

import numpy as np

from pipeline.tables.schema import columns_of
from pipeline.timing import timed


def compare(work, n_scores, implementation, baselines, rounds):
    """Yield a row, a dict, for each baseline against one implementation.

    ``implementation`` is (name, function) and ``baselines`` {name: function}; each round runs the
    implementation once and then every baseline. A ratio is baseline over implementation seconds
    of one round; low and high are the extremes of the rounds.
    """
    name, run = implementation
    seconds = np.array([[timed(f) for f in (run, *baselines.values())] for _ in range(rounds)])
    for k, baseline in enumerate(baselines, start=1):
        ratio, medians = seconds[:, k] / seconds[:, 0], np.median(seconds[:, [0, k]], axis=0)
        numbers = *medians, np.median(ratio), ratio.min(), ratio.max()
        row = work, name, baseline, n_scores, *numbers
        yield dict(zip(columns_of("benchmark"), row, strict=True))


def repeat(calls, function, *arguments, **options):
    """Call a function so many times."""
    for _ in range(calls):
        function(*arguments, **options)
