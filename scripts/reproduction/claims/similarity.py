"""Do models of one data set resemble each other more than models of different data sets?"""

import itertools
from typing import NamedTuple

import numpy as np

from pipeline.claims.measurements import by_case
from pipeline.claims.verdicts import NotJudged


class Similarity(NamedTuple):
    """Mean distance within groups over that between, and its exact permutation p-value.

    ``p_value`` is the fraction of all ways to assign the labels whose ratio is as small or smaller.
    """

    ratio: float
    p_value: float


def groups_matter(objects, labels, distance):
    """Return the Similarity of objects (m) with labels (m values) under ``distance(a, b)``."""
    distances = np.array([distance(a, b) for a, b in itertools.combinations(objects, 2)])
    observed = tuple(np.unique([*labels], return_inverse=True)[1].tolist())
    others = (codes for codes in _arrangements(sorted(observed)) if codes != observed)
    groupings = np.array([observed, *others])
    a, b = np.triu_indices(len(objects), 1)
    same = groupings[:, a] == groupings[:, b]
    if not same[0].any() or same[0].all():
        raise NotJudged("the models table must have models of the same and of different groups")
    with np.errstate(invalid="ignore"):  # all objects equal: no ratio, and no similarity either
        ratios = (same @ distances / same.sum(1)) / (~same @ distances / (~same).sum(1))
    return Similarity(float(ratios[0]), float(np.mean(ratios <= ratios[0] * (1 + 1e-12))))


def similarity_measurements(name, results):
    """Return Measurements of {case: Similarity}: the ratios, then the p-values."""
    yield from by_case(name, {case: result.ratio for case, result in results.items()})
    yield from by_case("p", {case: result.p_value for case, result in results.items()})


def _arrangements(items):
    """Yield the distinct orders of a sorted list, as tuples."""
    if not items:
        yield ()
    for item in dict.fromkeys(items):
        rest = list(items)
        rest.remove(item)
        for tail in _arrangements(rest):
            yield (item, *tail)
