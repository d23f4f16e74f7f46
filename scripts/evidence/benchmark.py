"""The rows of table ``benchmark``: Figure 4's grid, its growth, and single calls next to a sort.

Implementation and baseline run in turn, so that a busy machine slows both alike. Seconds are CPU
seconds of the process: time that other processes take is not counted. ``six_binned`` is a baseline:
the six binned estimators of many data sets at once in NumPy.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from calbias.engine.sampler import Sampler, build_quantile_table
from calbias.estimation.api import estimate
from calbias.estimation.loading import load_estimator
from calbias.truth.scenarios import Scenario
from evidence.runner import Row
from pipeline.paper import BINNED, MODEL_SIZES
from pipeline.provenance import timed
from pipeline.table_schema import columns_of

Call = Callable[[], object]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Scenarios = Sequence[Scenario]
SEVEN = (*BINNED, "kde")
_loaded = cache(load_estimator)


class Grid:
    """Figure 4's grid, scenarios × sample sizes × replicates; the tables are built beforehand."""

    def __init__(
        self, scenarios: Scenarios, replicates: int, sample_sizes: Sequence[int] = MODEL_SIZES
    ) -> None:
        self.scenarios, self.replicates, self.sample_sizes = scenarios, replicates, sample_sizes
        self.tables = [build_quantile_table(scenario) for scenario in scenarios]
        self.n_scores = len(scenarios) * replicates * sum(sample_sizes)
        self.generator = np.random.default_rng(0)
        self.unsorted = [self.generator.random((replicates, n)) for n in sample_sizes]

    def calbias(self, names: Iterable[str]) -> None:
        """Draw every data set and apply the estimators."""
        run = [_loaded(name) for name in names]
        for scenario, table in zip(self.scenarios, self.tables, strict=True):
            for n in self.sample_sizes:
                for data in Sampler(scenario, n, 0, table).batches(range(self.replicates)):
                    for estimator in run:
                        estimator(data, 15, 2.0)

    def numpy_beta_draw(self) -> None:
        """Draw the scores alone, by ``numpy.random.Generator.beta``."""
        for scenario in self.scenarios:
            for n in self.sample_sizes:
                self.generator.beta(scenario.alpha, scenario.beta, (self.replicates, n))

    def numpy_sort(self) -> None:
        """Sort as many uniforms, drawn beforehand, a data set a row."""
        for _ in self.scenarios:
            for scores in self.unsorted:
                np.sort(scores, axis=1)

    def numpy_vectorised(self) -> None:
        """Draw and estimate by vectorised NumPy, without the KDE."""
        for scenario in self.scenarios:
            for n in self.sample_sizes:
                shape = self.replicates, n
                scores = self.generator.beta(scenario.alpha, scenario.beta, shape)
                with np.errstate(divide="ignore"):
                    rates = scenario.curve.hit(np.log(scores), np.log1p(-scores))
                six_binned(scores, self.generator.random(shape) < rates)


def grid_rows(
    scenarios: Scenarios, replicates: int, rounds: int, suffix: str = ""
) -> Iterator[Row]:
    """Yield the rows of the whole grid: sampling alone, the six binned estimators, all seven.

    With a suffix of the works' names, against NumPy's Beta draws only.
    """
    grid = Grid(scenarios, replicates)
    grid.calbias(SEVEN)  # compiled before the clock starts
    others = {"numpy_sort": grid.numpy_sort, "numpy_vectorised": grid.numpy_vectorised}
    others = {} if suffix else others
    yield from _against_beta(f"fig4_grid_six_binned{suffix}", grid, BINNED, rounds, others)
    yield from _against_beta(f"fig4_grid_seven{suffix}", grid, SEVEN, rounds)
    yield from _against_beta(f"fig4_grid_sampling_alone{suffix}", grid, (), rounds)


def growth_rows(scenarios: Scenarios, replicates: int, rounds: int) -> Iterator[Row]:
    """Yield rows by sample size (equal numbers of scores), number of replicates, and estimator."""
    for n in MODEL_SIZES[::2]:
        grid = Grid(scenarios, max(1, replicates * MODEL_SIZES[-2] // n), (n,))
        yield from _against_beta(f"six_binned_n_{n}", grid, BINNED, rounds)
    for m in (replicates, 4 * replicates):
        grid = Grid(scenarios, m, (800,))
        yield from _against_beta(f"six_binned_{m}_replicates", grid, BINNED, rounds)
    grid = Grid(scenarios, replicates)
    for name in SEVEN:
        yield from _against_beta(f"fig4_grid_{name}", grid, [name], rounds)


def _against_beta(
    work: str,
    grid: Grid,
    names: Iterable[str],
    rounds: int,
    others: Mapping[str, Call] | None = None,
) -> Iterator[Row]:
    baselines = {"numpy_beta_draw": grid.numpy_beta_draw, **(others or {})}
    run = "calbias", partial(grid.calbias, names)
    return compare(work, grid.n_scores, run, baselines, rounds)


def argsort_rows(
    rounds: int, sizes: Sequence[int] = (12_800, 1_000_000, 10_000_000)
) -> Iterator[Row]:
    """Yield rows for one call on n scores of a user's own next to ``numpy.argsort`` of them.

    Of the work ``_ties`` the scores are rounded to three digits.
    """
    for n in sizes:
        generator = np.random.default_rng(n)
        scores = generator.random(n)
        hits = generator.random(n) < scores
        calls = max(1, 200_000 // n)
        for name, ties in (("ece_bin_ew", ""), ("ece_bin_ew", "_ties"), ("ece_sweep_em", "")):
            own = scores.round(3) if ties else scores
            call = partial(estimate, name, own, hits)
            call()
            run = "calbias", partial(repeat, calls, call)
            baseline = {"numpy_argsort": partial(repeat, calls, partial(np.argsort, own))}
            yield from compare(f"one_call_{name}_n_{n}{ties}", n * calls, run, baseline, rounds)


def compare(
    work: str,
    n_scores: int,
    implementation: tuple[str, Call],
    baselines: Mapping[str, Call],
    rounds: int,
) -> Iterator[Row]:
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


def repeat(calls: int, call: Call) -> None:
    """Call a function so many times."""
    for _ in range(calls):
        call()


def six_binned(scores: Floats, hits: NDArray, n_bins: int = 15) -> dict[str, Floats]:
    """Return {estimator: (m,)} of ece_bin, ece_debias and ece_sweep, ew and em, at p = 2.

    The baseline that needs no compiler. ``scores`` and ``hits`` (m, n) are in any order, without
    ties; estimates are fractions.
    """
    order = np.argsort(scores, axis=1)
    scores = np.take_along_axis(scores, order, axis=1)
    hits = np.take_along_axis(hits, order, axis=1).astype(float)
    sums = _partial_sums(np.ones_like(hits)), _partial_sums(scores), _partial_sums(hits)
    results = {}
    for name, edges_of in (("ew", _equal_width), ("em", _equal_mass)):
        size, gap, hit = _bin_means(sums, edges_of(scores, n_bins))
        square = np.sum(size * gap**2, axis=1) / scores.shape[1]
        spread = np.where(size > 1, hit * (1 - hit) / np.maximum(size - 1, 1), 0.0)
        debiased = np.sum(np.where(size > 1, size * (gap**2 - spread), 0.0), axis=1)
        results[f"ece_bin_{name}"] = np.sqrt(square)
        results[f"ece_debias_{name}"] = np.sqrt(np.maximum(debiased / scores.shape[1], 0.0))
        results[f"ece_sweep_{name}"] = _sweep(scores, sums, edges_of)
    return results


def _partial_sums(values: Floats) -> Floats:
    return np.concatenate([np.zeros((len(values), 1)), np.cumsum(values, axis=1)], axis=1)


def _equal_mass(scores: Floats, n_bins: int) -> Ints:
    """Return the ranks (m, b + 1) where bins of equal mass begin."""
    n = scores.shape[1]
    edges = (np.arange(n_bins + 1) * n + n_bins - 1) // n_bins
    return np.broadcast_to(edges, (len(scores), n_bins + 1))


def _equal_width(scores: Floats, n_bins: int) -> Ints:
    inner = np.arange(1, n_bins) / n_bins
    edges = np.array([np.searchsorted(row, inner) for row in scores]).reshape(len(scores), -1)
    ends = np.zeros((len(scores), 1), int), np.full((len(scores), 1), scores.shape[1])
    return np.concatenate([ends[0], edges, ends[1]], axis=1)


def _bin_means(sums: Sequence[Floats], edges: Ints) -> tuple[Floats, Floats, Floats]:
    """Return (size, mean score - mean hit, mean hit) of each bin, (m, b); 0 where it is empty."""
    size, score, hit = (np.diff(np.take_along_axis(s, edges, axis=1), axis=1) for s in sums)
    safe = np.maximum(size, 1)
    return size, (score - hit) / safe, hit / safe


def _sweep(
    scores: Floats, sums: Sequence[Floats], edges_of: Callable[[Floats, int], Ints]
) -> Floats:
    """Return the sweep's estimates, all data sets side by side until the last one stops."""
    m, n = scores.shape
    chosen, going = np.ones(m, int), np.arange(m)
    for b in range(2, n + 1):
        size, _, hit = _bin_means([s[going] for s in sums], edges_of(scores[going], b))
        hit = np.where(size > 0, np.round(hit * size) / np.maximum(size, 1), -np.inf)
        before = np.maximum.accumulate(hit, axis=1)[:, :-1]  # empty bins are skipped
        falls = (size[:, 1:] > 0) & (hit[:, 1:] < before - 1e-12)
        going = going[~falls.any(axis=1)]
        chosen[going] = b
        if going.size == 0:
            break
    estimates = np.empty(m)
    for b in np.unique(chosen):
        rows = chosen == b
        size, gap, _ = _bin_means([s[rows] for s in sums], edges_of(scores[rows], b))
        estimates[rows] = np.sqrt(np.sum(size * gap**2, axis=1) / n)
    return estimates
