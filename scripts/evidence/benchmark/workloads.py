"""The pieces of work: Figure 4's grid, its growth, and single calls next to other packages."""

import importlib
from functools import cache, partial

import numpy as np

from calbias.engine.quantile_table import build_quantile_table
from calbias.engine.sampler import Sampler, draw
from calbias.estimation.loading import load_estimator
from evidence.benchmark.timing import compare, repeat
from evidence.benchmark.vectorised import six_binned
from pipeline.scenarios.paper import BINNED, MODEL_SIZES

SEVEN = (*BINNED, "kde")
_loaded = cache(load_estimator)


class Grid:
    """Figure 4's grid, scenarios × sample sizes × replicates; the tables are built beforehand."""

    def __init__(self, scenarios, replicates, sample_sizes=MODEL_SIZES):
        self.scenarios, self.replicates, self.sample_sizes = scenarios, replicates, sample_sizes
        self.tables = [build_quantile_table(scenario) for scenario in scenarios]
        self.n_scores = len(scenarios) * replicates * sum(sample_sizes)
        self.generator = np.random.default_rng(0)
        self.unsorted = [self.generator.random((replicates, n)) for n in sample_sizes]

    def calbias(self, names):
        """Draw every data set and apply the estimators."""
        run = [_loaded(name) for name in names]
        for scenario, table in zip(self.scenarios, self.tables, strict=True):
            for n in self.sample_sizes:
                for data in Sampler(scenario, n, 0, table).batches(range(self.replicates)):
                    for estimator in run:
                        estimator(data, 15, 2.0)

    def numpy_beta_draw(self):
        """Draw the scores alone, by ``numpy.random.Generator.beta``."""
        for scenario in self.scenarios:
            for n in self.sample_sizes:
                self.generator.beta(scenario.alpha, scenario.beta, (self.replicates, n))

    def numpy_sort(self):
        """Sort as many uniforms, drawn beforehand, a data set a row."""
        for _ in self.scenarios:
            for scores in self.unsorted:
                np.sort(scores, axis=1)

    def numpy_vectorised(self):
        """Draw and estimate by vectorised NumPy, without the KDE."""
        for scenario in self.scenarios:
            for n in self.sample_sizes:
                shape = self.replicates, n
                scores = self.generator.beta(scenario.alpha, scenario.beta, shape)
                with np.errstate(divide="ignore"):
                    rates = scenario.curve.hit(np.log(scores), np.log1p(-scores))
                six_binned(scores, self.generator.random(shape) < rates)


def grid_rows(scenarios, replicates, rounds, suffix=""):
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


def growth_rows(scenarios, replicates, rounds):
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


def _against_beta(work, grid, names, rounds, others=None):
    baselines = {"numpy_beta_draw": grid.numpy_beta_draw, **(others or {})}
    run = "calbias", partial(grid.calbias, names)
    return compare(work, grid.n_scores, run, baselines, rounds)


def call_rows(scenario, rounds, n=12800, calls=20):
    """Yield rows for one call on n scores of a user's own, next to packages that are installed."""
    from calbias.estimation.api import estimate

    data = draw(scenario, n, 0, seed=0)
    scores, hits = data.scores[0], np.rint(data.hits()[0]).astype(int)
    for package, ours, call in _peers(scores, hits):
        run = "calbias", partial(repeat, calls, estimate, ours, scores, hits, norm=2)
        baselines = {package: partial(repeat, calls, call)}
        run[1](), call()
        yield from compare(f"one_call_{ours}", n * calls, run, baselines, rounds)


def argsort_rows(rounds, sizes=(12_800, 1_000_000, 10_000_000)):
    """Yield rows for one call on n scores of a user's own next to ``numpy.argsort`` of them.

    Of the work ``_ties`` the scores are rounded to three digits.
    """
    from calbias.estimation.api import estimate

    for n in sizes:
        generator = np.random.default_rng(n)
        scores = generator.random(n)
        hits = generator.random(n) < scores
        calls = max(1, 200_000 // n)
        for name, ties in (("ece_bin_ew", ""), ("ece_bin_ew", "_ties"), ("ece_sweep_em", "")):
            own = scores.round(3) if ties else scores
            estimate(name, own, hits)
            run = "calbias", partial(repeat, calls, estimate, name, own, hits)
            baseline = {"numpy_argsort": partial(repeat, calls, np.argsort, own)}
            yield from compare(f"one_call_{name}_n_{n}{ties}", n * calls, run, baseline, rounds)


def _peers(scores, hits):
    """Yield (package, estimator of ours, a call of the package's own) for those that import."""
    if calibration := _imported("calibration"):
        name = "uncertainty_calibration"
        yield name, "ece_bin_ew", lambda: calibration.get_ece(scores, hits)
        yield name, "ece_debias_em", lambda: calibration.get_calibration_error(scores, hits)
    if relplot := _imported("relplot"):
        yield "relplot_binned_ece", "ece_bin_ew", lambda: relplot.metrics.binnedECE(scores, hits)
        yield "relplot_smooth_ece", "kde", lambda: relplot.smECE(scores, hits)
    if metrics := _imported("netcal.metrics"):
        measure = metrics.ECE(bins=15)
        yield "netcal", "ece_bin_ew", lambda: measure.measure(scores, hits)
    if torchmetrics := _imported("torchmetrics.functional.classification"):
        tensors = [_imported("torch").tensor(values) for values in (scores, hits)]
        call = partial(torchmetrics.binary_calibration_error, *tensors)
        yield "torchmetrics", "ece_bin_ew", call


def _imported(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None
