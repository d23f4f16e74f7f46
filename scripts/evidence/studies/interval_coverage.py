"""How often the intervals hold the truth: every method on data whose true error is known.

A cell is a score law, a calibration curve and a sample size. The truth is the error of the law, not
of the sample's scores. A one-sided bound covers where the truth is on its side. The cells of
``JUDGING`` and ``BLIND`` are those that the interval of the audit was not made on: see
``posterior_scenarios``, ``blind_cells``. ``found_by_verdict`` says whether a test sees the error.
"""

import itertools

import numpy as np
import pandas as pd
from scipy.special import betaincinv, expit

from calbias.auditing.estimator_bias import HEADLINE, audited_estimators
from calbias.auditing.intervals.interval import Interval
from calbias.auditing.intervals.posterior_hull import posterior_errors
from calbias.auditing.verdict.judge import p_value_of_groups
from calbias.auditing.verdict.rows import groups_of
from calbias.conventions import CONFIDENCE_LEVEL, SIGNIFICANT
from calbias.engine.seeding import stream
from calbias.engine.sorted_batch import sorted_data_set
from calbias.truth.curves import score
from calbias.truth.targets.population import quantile_grid
from evidence.scenarios.sets import SATURATED_ROUNDED, UNIFORM
from evidence.scenarios.wave import Wave
from evidence.studies import blind_cells, verdict_clusters
from evidence.studies.intervals.methods import Method, other_methods
from evidence.studies.intervals.sample import Sample
from evidence.studies.posterior_scenarios import JUDGING, of_half, random_world
from pipeline.figures.names import CLUSTERED

LAWS = {"uniform": UNIFORM, "saturated": SATURATED_ROUNDED}
SIZES = (200, 1000)
BLIND, CLUSTERS = "blind", "clusters"
CHOICES = (*LAWS, JUDGING, BLIND, CLUSTERS)
JUDGED_AT = 1000  # rows of a cell of the judging half
N_WORLDS = 12  # random laws with random curves
OURS = {"posterior_hull": ("l1", 1), "posterior_hull_l2": ("l2", 2)}  # the audit's interval
_DRAWS = 200  # bootstrap resamples
_GRID = 1 << 16
_VERDICTS, _REDRAWS = 20, 499  # data sets of a cell that get a verdict


def slope(slope):
    """Return the curve logit c = slope·logit s."""
    return lambda log_score, log1m_score: expit(slope * (log_score - log1m_score))


CURVES = {"calibrated": slope(1.0), "slope_0.8": slope(0.8), "slope_0.5": slope(0.5),
          "wave": Wave().hit}  # fmt: skip


def methods(draws=_DRAWS):
    """Return {name: Method} of all interval methods."""
    ece = audited_estimators()[HEADLINE]
    return {**posterior_methods(), **other_methods(ece, CONFIDENCE_LEVEL, draws=draws)}


def posterior_methods():
    """Return {name: Method} of the audit's own interval, for the ℓ1 and the ℓ2 error."""

    last = {}  # one posterior serves both norms

    def interval(norm):
        def of_sample(sample):
            if last.get("sample") is not sample:
                data = sorted_data_set(sample.scores, sample.hits)
                last.update(sample=sample, errors=posterior_errors(data))
            return last["errors"].interval(norm, CONFIDENCE_LEVEL)

        return of_sample

    return {name: Method(target, interval(norm)) for name, (target, norm) in OURS.items()}


def truths(parameters, curve):
    """Return {target: value} for Beta scores with a curve, by the mid-quantiles of the law."""
    logs = quantile_grid(*parameters, _GRID)
    gap = curve(*logs) - score(*logs)
    square = float(np.mean(gap**2))
    return {"l1": float(np.mean(np.abs(gap))), "l2": square**0.5, "l2^2": square}


def samples(parameters, curve, n, count, seed, names):
    """Yield ``count`` Samples of a cell; the k-th depends on seed, names and k."""
    alpha, beta = parameters
    for k in range(count):
        generator = stream(seed, "coverage", *names, str(k))
        # log of a Gamma(a) variate by Gamma(a + 1) and a uniform, which cannot underflow
        x, y = (
            np.log(generator.gamma(a + 1, size=n)) + np.log(1 - generator.random(n)) / a
            for a in (alpha, beta)
        )
        log_score, log1m_score = x - np.logaddexp(x, y), y - np.logaddexp(x, y)
        hits = generator.random(n) < curve(log_score, log1m_score)
        scores = np.minimum(score(log_score, log1m_score), 1.0)
        yield Sample(scores, hits, seed=int(generator.integers(2**31)))


def cell_coverage(law, curve, n, count, seed=0, draws=_DRAWS):
    """Return the rows of ``interval_coverage`` of one cell: one dict per method."""
    cell, names = (LAWS[law], CURVES[curve]), (law, curve, str(n))
    drawn = samples(*cell, n, count, seed, names)
    return _rows(f"{law}_{curve}", n, methods(draws), truths(*cell), drawn, count)


def judging_coverage(law, count, seed=0):
    """Yield the rows of the judging half with random worlds, or of the blind cells."""
    cells = [(cell, cell.n) for cell in blind_cells.CELLS]
    if law == JUDGING:
        worlds = (random_world(k) for k in range(N_WORLDS))
        cells = [(scenario, JUDGED_AT) for scenario in (*of_half(JUDGING), *worlds)]
    for scenario, n in cells:
        drawn = (Sample(*scenario.draw(n, seed, k)) for k in range(count))
        known = {f"l{norm}": value for norm, value in scenario.truths().items()}
        name = f"{JUDGING}_{scenario.name}"
        yield from _rows(name, n, posterior_methods(), known, drawn, count)


def _rows(scenario, n, every, truth, drawn, count):
    intervals, rejected = {name: [] for name in every}, []
    for k, sample in enumerate(drawn):
        if k < _VERDICTS:
            groups, _ = groups_of(sample.scores, np.asarray(sample.hits, np.uint8))
            rejected.append(p_value_of_groups(groups, _REDRAWS) <= SIGNIFICANT)
        for name, method in every.items():
            if name in OURS or k < max(count // 2, 2):  # the others cost several times as much
                intervals[name].append(method.interval(sample))
    return rows_of(scenario, n, every, truth, intervals, rejected)


def rows_of(scenario, n, every, truth, intervals, rejected):
    """Return a row for each method: of its ``intervals`` (data sets, 2), and verdicts (m,)."""
    rows = []
    for name, method in every.items():
        low, high = np.array(intervals[name]).T
        m = low.size
        true_error = truth[method.target]
        covered = int(np.sum((low <= true_error * (1 + 1e-9)) & (true_error <= high)))
        lengths = high - low
        rows.append(
            {
                "method": name,
                "target": method.target,
                "scenario": scenario,
                "n_samples": n,
                "nominal": CONFIDENCE_LEVEL,
                "coverage": covered / m,
                **clopper_pearson(covered, m)._asdict(),
                "mean_length": float(lengths.mean()) if np.isfinite(lengths).all() else np.nan,
                "truth": true_error,
                "found_by_verdict": float(np.mean(rejected)),
                "n_data_sets": m,
            }
        )
    return rows


def cluster_coverage(count, seed=0):
    """Yield the rows of the intervals of clusters."""
    every = {"cluster_signs": Method("l1", None)}
    for name, cell in verdict_clusters.CELLS.items():
        intervals = {"cluster_signs": verdict_clusters.intervals(cell, count, seed)}
        p_values = verdict_clusters.p_values(cell, min(count, _VERDICTS), seed)["clusters"]
        scenario = CLUSTERED + name
        truth = {"l1": cell.error()}
        rejected = p_values <= SIGNIFICANT
        yield from rows_of(scenario, cell.n, every, truth, intervals, rejected)


def coverage_table(law, count, seed=0):
    """Return the table ``interval_coverage`` of one of ``CHOICES``, a DataFrame."""
    if law == CLUSTERS:
        return pd.DataFrame(cluster_coverage(count, seed))
    if law not in LAWS:  # many cells
        return pd.DataFrame(judging_coverage(law, count, seed))
    cells = itertools.product(CURVES, SIZES)
    return pd.DataFrame(
        row for curve, n in cells for row in cell_coverage(law, curve, n, count, seed)
    )


def clopper_pearson(successes, trials, level=0.95):
    """Return the exact interval of a proportion."""
    tail = (1 - level) / 2
    low = betaincinv(successes, trials - successes + 1, tail) if successes else 0.0
    high = betaincinv(successes + 1, trials - successes, 1 - tail) if successes < trials else 1.0
    return Interval(float(low), float(high))
