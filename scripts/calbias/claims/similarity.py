"""Do models of one data set resemble each other more than models of different data sets?"""

import itertools
from typing import NamedTuple

import numpy as np

from calbias.claims.measurements import by_case
from calbias.claims.verdicts import NotJudged


class Similarity(NamedTuple):
    """Mean distance within groups over that between, and its exact permutation p-value.

    ``p_value`` is the fraction of all ways to share the labels out whose ratio is as small.
    """

    ratio: float
    p_value: float


def groups_matter(objects, labels, distance):
    """Return the Similarity of objects (m) with labels (m) under ``distance(a, b)``."""
    m = len(objects)
    distances = np.zeros((m, m))
    for i, j in itertools.combinations(range(m), 2):
        distances[i, j] = distances[j, i] = distance(objects[i], objects[j])
    pairs = np.triu_indices(m, 1)
    d = distances[pairs]
    groupings = np.array(list(_groupings(labels)))
    same = groupings[:, pairs[0]] == groupings[:, pairs[1]]
    if not same[0].any() or same[0].all():
        raise NotJudged("the models table must have models of the same and of different groups")
    with np.errstate(invalid="ignore"):  # all objects equal: no ratio, and no similarity either
        ratios = (same @ d / same.sum(1)) / (~same @ d / (~same).sum(1))
    return Similarity(float(ratios[0]), float(np.mean(ratios <= ratios[0] * (1 + 1e-12))))


def similarity_measurements(name, results):
    """Return Measurements of {case: Similarity}: the ratios, then the p-values."""
    ratios = {case: result.ratio for case, result in results.items()}
    p_values = {case: result.p_value for case, result in results.items()}
    return [*by_case(name, ratios), *by_case("p", p_values)]


def _groupings(labels):
    """Yield the given grouping, as integers, then every other way to share its labels out."""
    codes = tuple(np.unique(labels, return_inverse=True)[1].tolist())
    yield codes
    for other in _arrangements(sorted(codes)):
        if other != codes:
            yield other


def _arrangements(items):
    """Yield the distinct orders of a sorted list, as tuples."""
    if not items:
        yield ()
        return
    for item in dict.fromkeys(items):
        rest = list(items)
        rest.remove(item)
        for tail in _arrangements(rest):
            yield (item, *tail)
