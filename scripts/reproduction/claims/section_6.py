"""R05 and R28: what the data set and the architecture do to the fits (section 6, Figure 3)."""

import functools
import itertools
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import betainc

from calbias.truth.curves import Curve
from pipeline.claims.grounds import Grounds
from pipeline.claims.verdicts import Measurement, NotJudged, Ruling, Verdict, by_case, claim

SIGNIFICANT = 0.05
LEAST_SKEWED_LAST = ["CIFAR-10", "CIFAR-100", "ImageNet"]
_SCORES = (np.arange(1000) + 0.5) / 1000


class Similarity(NamedTuple):
    """Mean distance within groups over that between, and its exact permutation p-value.

    ``p_value`` is the fraction of all ways to assign the labels whose ratio is as small or smaller.
    """

    ratio: float
    p_value: float


@claim(
    "R05",
    "§6, Fig 3",
    "scenarios",
    "fig3_fits",
    says="The data set influences the fits more than the architecture does",
    published="greater influence; no number",
    rule=(
        "Area between the fitted score distribution functions, and between the fitted "
        "calibration curves, of two models: mean over pairs within a data set divided by mean "
        "over pairs of different data sets. Reproduced if both ratios are below 1 with p < "
        f"{SIGNIFICANT:g} over all ways to group the ten models, approximate if one is. Judged on "
        "the fits that drive the simulation."
    ),
    errors="p: exact, over all ways to group the ten models",
)
def data_set_matters_more(grounds: Grounds) -> Ruling:
    fits = realistic_fits(grounds)
    functions: dict[str, Callable[[pd.Series], np.ndarray]] = {
        "score distributions": lambda row: betainc(row["alpha"], row["beta"], _SCORES),
        "curves": lambda row: Curve.from_row(row).hit(np.log(_SCORES), np.log1p(-_SCORES)),
    }
    groups = grounds.groups()
    results = {}
    for name, of in functions.items():
        values = [of(fits.loc[model]) for model in groups]
        results[name] = groups_matter(values, groups.values(), lambda a, b: np.abs(a - b).mean())
    measurements = similarity_measurements("mean distance within data sets / between", results)
    matters = [r.ratio < 1 and r.p_value < SIGNIFICANT for r in results.values()]
    source = grounds.source("realistic", list(groups))
    words = [f"{name} {r.ratio:.2f} (p = {r.p_value:.2g})" for name, r in results.items()]
    reason = f"distance within data sets over that between: {', '.join(words)}"
    return Ruling(Verdict.all_or_some(matters), measurements, source, reason=reason)


@claim(
    "R28",
    "§6",
    "scenarios",
    "fig3_fits",
    says="Score distributions are least skewed on ImageNet and most skewed on CIFAR-10",
    published="no number",
    rule=(
        "Skewness of the Beta distributions that drive the simulation: reproduced if each model "
        "of CIFAR-10 is more skewed than each of CIFAR-100, and these more than each of ImageNet; "
        "approximate if the means of the data sets are in this order."
    ),
    errors="none: a function of the fits",
)
def cifar10_is_most_skewed(grounds: Grounds) -> Ruling:
    groups, fits = grounds.groups(), realistic_fits(grounds)
    a, b = (fits.loc[list(groups), name] for name in ("alpha", "beta"))
    skewness = 2 * (b - a) * np.sqrt(a + b + 1) / ((a + b + 2) * np.sqrt(a * b))
    by_set = skewness.groupby(groups)
    pairs = itertools.pairwise(LEAST_SKEWED_LAST)
    each = all(by_set.max()[x] < by_set.min()[y] for x, y in pairs)
    means = by_set.mean()[LEAST_SKEWED_LAST].is_monotonic_increasing
    measurements = by_case("skewness, mean", by_set.mean())
    words = [f"{x.case} {x.value:.1f}" for x in measurements]
    reason = f"mean skewness: {', '.join(words)}"
    source = grounds.source("realistic", list(groups))
    return Ruling(Verdict.of(each, means), measurements, source, reason=reason)


def realistic_fits(grounds: Grounds) -> pd.DataFrame:
    """Return the scenarios of the paper's models, by model; NotJudged if one is absent."""
    table = grounds.table("scenarios")
    table = table[table["experiment"] == "realistic"].set_index("scenario")
    if absent := [model for model in grounds.groups() if model not in table.index]:
        raise NotJudged(f"experiment realistic lacks the scenario of {', '.join(absent)}")
    return table


def groups_matter(
    objects: Collection, labels: Collection[str], distance: Callable[[Any, Any], float]
) -> Similarity:
    """Return the Similarity of objects (m) with labels (m values) under ``distance(a, b)``."""
    distances = np.array([distance(a, b) for a, b in itertools.combinations(objects, 2)])
    observed = tuple(np.unique([*labels], return_inverse=True)[1].tolist())
    groupings = _groupings(observed)
    a, b = np.triu_indices(len(objects), 1)
    same = groupings[:, a] == groupings[:, b]
    if not same[0].any() or same[0].all():
        raise NotJudged("the models table must have models of the same and of different groups")
    with np.errstate(invalid="ignore"):  # all objects equal: no ratio, and no similarity either
        ratios = (same @ distances / same.sum(1)) / (~same @ distances / (~same).sum(1))
    return Similarity(float(ratios[0]), float(np.mean(ratios <= ratios[0] * (1 + 1e-12))))


def similarity_measurements(name: str, results: Mapping[str, Similarity]) -> list[Measurement]:
    """Return Measurements of {case: Similarity}: the ratios, then the p-values."""
    ratios = by_case(name, {case: result.ratio for case, result in results.items()})
    return ratios + by_case("p", {case: result.p_value for case, result in results.items()})


@functools.cache
def _groupings(observed: tuple[int, ...]) -> np.ndarray:
    """Return a grouping and its other arrangements, one in a row; many distances ask for them."""
    others = (codes for codes in _arrangements(sorted(observed)) if codes != observed)
    return np.array([observed, *others])


def _arrangements(items: list[int]) -> Iterator[tuple[int, ...]]:
    """Yield the distinct orders of a sorted list, as tuples."""
    if not items:
        yield ()
    for item in dict.fromkeys(items):
        rest = list(items)
        rest.remove(item)
        for tail in _arrangements(rest):
            yield (item, *tail)
