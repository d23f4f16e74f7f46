"""R05, R28, R32, R34: the fits, and what makes them alike (section 6, Figure 3; section 7.1)."""

import functools
import itertools
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import betainc, stdtr

from calbias.truth.curves import Curve
from pipeline.claims.claim import claim
from pipeline.claims.run_tables import RunTables, on_genuine
from pipeline.claims.verdicts import NAN, Measurement, NotJudged, Ruling, Verdict, by_case
from pipeline.paper import N_BINS
from pipeline.tables import is_true
from reproduction import goodness_of_fit

TOP_SCORE, N_HITS = goodness_of_fit.TOP_SCORE, goodness_of_fit.N_HITS
FEWEST_EXPECTED = goodness_of_fit.FEWEST_EXPECTED
SIGNIFICANT = 0.05
FARTHER = 0.5  # within over between: by the triangle inequality the data set moves a fit further
DISTANCE = 0.05  # of distribution functions: one score in twenty on the wrong side
REJECTED = 0.01
FEW_LABELS, DRAWN = 12, 999  # of groupings
LEAST_SKEWED_LAST = ["CIFAR-10", "CIFAR-100", "ImageNet"]
_SCORES = (np.arange(1000) + 0.5) / 1000


class Similarity(NamedTuple):
    """Mean distance within groups over that between, and its exact permutation p-value.

    ``p_value`` is the fraction of all ways to assign the labels whose ratio is as small or smaller.
    """

    ratio: float
    p_value: float


@claim("R05", "§6, Fig 3", "scenarios", "fig3_fits", experiment="realistic")
def data_set_matters_more(run: RunTables) -> Ruling:
    """The data set influences the fits more than the architecture does.

    published: greater influence; no number
    rule: Area between the fitted score distribution functions, and between the fitted calibration
    curves, of two models: mean over pairs within a data set divided by mean over pairs of different
    data sets. Reproduced if both ratios are below {FARTHER:g} with p < {SIGNIFICANT:g} over all
    ways to group the ten models, approximate if one is. Below one half the data set moves a fit
    further than the architecture, by the triangle inequality. Judged on the fits that drive the
    simulation.
    errors: p: exact, over all ways to group the ten models
    """
    fits = realistic_fits(run)
    functions: dict[str, Callable[[pd.Series], np.ndarray]] = {
        "score distributions": lambda row: betainc(row["alpha"], row["beta"], _SCORES),
        "curves": lambda row: Curve.from_row(row).hit(np.log(_SCORES), np.log1p(-_SCORES)),
    }
    groups = run.groups()
    results = {}
    for name, function in functions.items():
        values = [function(fits.loc[model]) for model in groups]
        results[name] = groups_matter(values, groups.values(), lambda a, b: np.abs(a - b).mean())
    measurements = similarity_measurements("mean distance within data sets / between", results)
    matters = [r.ratio < FARTHER and r.p_value < SIGNIFICANT for r in results.values()]
    words = [f"{name} {r.ratio:.2f} (p = {r.p_value:.2g})" for name, r in results.items()]
    reason = f"distance within data sets over that between: {', '.join(words)}"
    return Ruling(Verdict.all_or_some(matters), measurements, reason=reason)


@claim("R28", "§6", "scenarios measures", "fig3_fits", experiment="realistic")
def cifar10_is_most_skewed(run: RunTables) -> Ruling:
    """Score distributions are least skewed on ImageNet and most skewed on CIFAR-10, which
    correlates with the accuracy of the models.

    published: no number; accuracies in Table 5 of Gupta et al. (2021), the same networks
    rule: Two conditions. The skewness of the Beta distributions that drive the simulation: each
    model of CIFAR-10 is more skewed than each of CIFAR-100, and these more than each of ImageNet.
    Over the ten models, skewness to the left correlates with the accuracy that Gupta et al. (2021)
    print, Pearson's correlation above 0 with p < {SIGNIFICANT:g}. Reproduced if both hold,
    approximate if one does.
    errors: rounding of the printed parameters and accuracies
    """
    groups, fits = run.groups(), realistic_fits(run)
    a, b = (fits.loc[list(groups), name] for name in ("alpha", "beta"))
    skewness = 2 * (b - a) * np.sqrt(a + b + 1) / ((a + b + 2) * np.sqrt(a * b))
    by_set = skewness.groupby(groups)
    pairs = itertools.pairwise(LEAST_SKEWED_LAST)
    each = all(by_set.max()[x] < by_set.min()[y] for x, y in pairs)
    accuracy = _printed_accuracy(run)
    accuracies = accuracy.groupby(groups).mean()
    correlation, ranks = -skewness.corr(accuracy), -skewness.rank().corr(accuracy.rank())
    p = p_of_correlation(correlation, len(skewness))
    members = [by_set.groups[name] for name in LEAST_SKEWED_LAST[:2]]  # ImageNet has two
    within = [-skewness[models].corr(accuracy[models]) for models in members]
    measurements = [
        *by_case("skewness, mean", by_set.mean()),
        *by_case("accuracy as printed, mean", accuracies, "percent"),
        Measurement("correlation over the ten models", correlation),
        Measurement("p of the correlation", p),
        Measurement("rank correlation over the ten models", ranks),
        *by_case("correlation", dict(zip(LEAST_SKEWED_LAST, within, strict=False))),
    ]
    order = ", ".join(accuracies.sort_values(ascending=False).index)
    words = "" if each else "not "
    reason = f"{words}each is in the order by skewness, and r = {correlation:.2f} (p = {p:.2g})"
    notes = [f"by mean accuracy the data sets are {order}"]
    verdict = Verdict.all_or_some([each, correlation > 0 and p < SIGNIFICANT])
    return Ruling(verdict, measurements, notes=notes, reason=reason)


def p_of_correlation(correlation: float, n: int) -> float:
    """Return the two-sided p-value of Pearson's correlation over n pairs, by Student's t."""
    t = abs(correlation) * np.sqrt((n - 2) / max(1 - correlation**2, 1e-300))
    return float(2 * stdtr(n - 2, -t))


def _printed_accuracy(run: RunTables) -> pd.Series:
    """Return the accuracies of the ten models in percent that Gupta et al. print."""
    table = run.table("measures")
    rows = table[(table["measure"] == "accuracy") & (table["method"] == "uncalibrated")]
    accuracy = rows.set_index("model")["published_percent"].reindex([*run.groups()])
    if accuracy.isna().any():
        raise NotJudged("table measures lacks the printed accuracies")
    return accuracy


@claim("R32", "§6, App A.3", "beta_fits glm_fits", "fig3_fits", real=True)
def fits_capture_the_data(run: RunTables) -> Ruling:
    """A Beta distribution and a GLM capture the scores and the calibration curve well.

    published: well captured, well-fit; no number
    rule: Genuine outputs of the test fold. Two conditions on each model: the largest distance of
    the printed Beta's distribution function from that of the scores, up to {TOP_SCORE:g}, is at
    most {DISTANCE:g}; the hits do not reject the selected GLM (χ² of {N_HITS} bins of equal mass,
    joined until {FEWEST_EXPECTED} hits and misses are expected in each, p of at least
    {REJECTED:g}). Reproduced if both hold for each model, approximate if one does.
    {EACH} What a Beta of exact scores would do is shown too.
    errors: of a distance: at most 0.0082 at one standard error with 10 000 rows
    """
    _, beta = run.of_published_models("beta_fits")
    _, glms = run.of_published_models("glm_fits")
    glms = glms[is_true(glms["selected"])].set_index("model")
    beta = beta.set_index("model")
    near = beta["published_distance"] <= DISTANCE
    not_rejected = glms["fit_p_value"] >= REJECTED
    name = "largest distance of distribution functions"
    measurements = [
        *by_case(f"{name}, printed Beta", beta["published_distance"]),
        *by_case(f"{name}, Beta fitted in this run", beta["fit_distance"]),
        *by_case("p of the selected GLM", glms["fit_p_value"]),
    ]
    conditions = [bool(near.all()), bool(not_rejected.all())]
    reason = (
        f"the printed Beta is off by up to {beta['published_distance'].max():.3f}, and the hits "
        f"reject {(~not_rejected).sum()} of {len(not_rejected)} GLMs"
    )
    rows = beta.reset_index()
    return on_genuine(rows, Verdict.all_or_some(conditions), measurements, reason=reason)


@claim("R34", "§7.1", "scenarios", "fig3_fits", experiment="realistic")
def top_bin_has_most_scores(run: RunTables) -> Ruling:
    """Bins of equal width put most scores of CIFAR-10 and CIFAR-100 into the top bin.

    published: most instances; no number
    rule: Probability of the top one of {N_BINS} bins of equal width under the Beta distributions
    that drive the simulation: reproduced if above one half for each model of CIFAR-10 and CIFAR-100
    and less on ImageNet than on both, approximate if above one half for most.
    errors: rounding of the printed parameters, below 0.002
    """
    groups, fits = run.groups(), realistic_fits(run)
    top = pd.Series(
        {name: 1 - betainc(*fits.loc[name, ["alpha", "beta"]], 1 - 1 / N_BINS) for name in groups}
    )
    by_set = top.groupby(groups)
    means, cifar = by_set.mean(), top[top.index.map(groups) != "ImageNet"]
    least = means["ImageNet"] < means.drop("ImageNet").min()
    limits = {name: (by_set.min()[name], by_set.max()[name]) for name in means.index}
    measurements = [
        Measurement("share in the top bin", means[name], "", name, NAN, low, high)
        for name, (low, high) in limits.items()
    ]
    reason = f"above one half for {(cifar > 0.5).sum()} of {len(cifar)} models of CIFAR"
    verdict = Verdict.of((cifar > 0.5).all() and least, (cifar > 0.5).mean() > 0.5)
    return Ruling(verdict, measurements, reason=reason)


def realistic_fits(run: RunTables) -> pd.DataFrame:
    """Return the scenarios of the paper's models, by model; NotJudged if one is absent."""
    table = run.table("scenarios")
    table = table[table["experiment"] == "realistic"].set_index("scenario")
    if absent := [model for model in run.groups() if model not in table.index]:
        raise NotJudged(f"experiment realistic lacks the scenario of {', '.join(absent)}")
    if models := table.index[table["alpha"].isna()].tolist():
        raise NotJudged(f"own scores in place of a Beta distribution: {', '.join(models)}")
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
    """Return a grouping and its other arrangements, one in a row; many distances ask for them.

    Of more than FEW_LABELS there are too many: DRAWN of them stand for all.
    """
    if len(observed) > FEW_LABELS:
        rng = np.random.default_rng(0)
        return np.array([observed, *(rng.permutation(observed) for _ in range(DRAWN))])
    others = (codes for codes in _arrangements(sorted(observed)) if codes != observed)
    return np.array([observed, *others])


def _arrangements(items: list[int]) -> Iterator[tuple[int, ...]]:
    """Yield the distinct orders of a sorted list, as tuples."""
    if not items:
        yield ()
    for item in dict.fromkeys(items):
        others = list(items)
        others.remove(item)
        for tail in _arrangements(others):
            yield (item, *tail)
