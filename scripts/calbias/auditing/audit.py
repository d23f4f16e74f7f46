"""The audit of a model's scores: how miscalibrated, how sure, how many labels.

Everything rests on one construction (Roelofs et al. 2022, section 4): hits are drawn on the
user's own scores from the family c_λ = s + λ(ĉ(s) − s), ĉ the fitted curve, and every estimator
and test is applied to them. λ = 0 gives noise floors and p-values; the λ whose estimates agree
with the observed one give the interval and the corrected value; the λ weighted by their likelihood
give bias and root mean squared error.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.special import xlog1py, xlogy

from calbias.auditing import planning
from calbias.auditing.cox import score_test
from calbias.auditing.inputs import Data, prepared, warnings_of
from calbias.auditing.intervals.basic_bootstrap import basic_bootstrap
from calbias.auditing.intervals.interval import LEVEL, Interval
from calbias.auditing.intervals.inversion import Construction
from calbias.auditing.intervals.monotone_band import monotone_band
from calbias.auditing.intervals.percentile_bootstrap import percentile_bootstrap
from calbias.auditing.intervals.sun2024 import sun2024
from calbias.auditing.intervals.variational_bound import variational_bound
from calbias.auditing.recalibrations import cross_validated
from calbias.auditing.result import Audit
from calbias.auditing.sample import Sample
from calbias.auditing.spiegelhalter import spiegelhalter
from calbias.auditing.statistics import audited_estimators, calibration_statistics
from calbias.errors import InputError

HEADLINE = "ece_bin_ew"
"""The estimator of the verdict, with 15 bins and norm 1: the ECE that other packages print."""
ESTIMATORS = (
    "ece_bin_ew",
    "ece_bin_em",
    "ece_bin_cube_root_em",
    "ece_sweep_ew",
    "ece_sweep_em",
    "kde",
    "ece_debias_ew",
    "ece_debias_em",
    "calib_err",
    "ks",
    "ecce_r",
    "skce_unbiased",
    "corp_mcb",
    "tcal",
    "mce_ew",
    "plugin_glm",
    "plugin_loess",
    "variational_isotonic",
    "smce",
    "smece",
)
SLOW = ("plugin_glm", "plugin_loess", "e50_glm", "e90_glm", "e50_loess", "e90_loess", "smce",
        "smece", "variational_isotonic", "variational_platt", "beta_kernel")  # fmt: skip
"""Estimators that are a hundred times slower than a binned one. Among others they get a value, a
noise floor and a p-value from 99 data sets; asked for alone they get an interval too."""
_SLOW_REPLICATES, _MOST_SCORES_IF_SLOW = 99, 20_000
DETECT = (0.01, 0.02, 0.05)
SIGNIFICANT = 0.05
LARGEST_IN_MEMORY = 200_000
"""More rows are audited on sums over fine cells, see ``calbias.auditing.large``."""
_SCORES_PER_LAMBDA = 4_000_000
_FEWEST, _MOST = 200, 1000
_NULL = 4  # times as many data sets at λ = 0, for the p-value


@dataclass
class Options:
    """The options of an audit."""

    n_bins: int
    norm: float
    level: float
    seed: int
    replicates: int


def audit(
    scores: ArrayLike | None = None,
    hits: ArrayLike | None = None,
    *,
    probabilities: ArrayLike | None = None,
    logits: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    n_bins: int = 15,
    norm: float = 1.0,
    level: float = LEVEL,
    estimators: Sequence[str] = ESTIMATORS,
    replicates: int | None = None,
    seed: int = 0,
    progress: Callable[[str], None] | None = None,
) -> Audit:
    """Judge the calibration of a model by its scores and hits.

    Parameters
    ----------
    scores, hits : array_like (n,)
        Scores in [0, 1], and 1 where the prediction was correct, else 0. Arrays, pandas columns
        and tensors all do.
    probabilities : array_like (n, K) or (n,)
        Class probabilities instead of scores, with ``labels``; (n,) is that of class 1 of two.
    logits : array_like (n, K)
        Logits instead of probabilities.
    labels : array_like (n,)
        Class numbers, counted from 0.
    n_bins : int
        Bins of the estimators that take a number of bins.
    norm : float
        p of the ℓp errors; estimators that are not defined for it take their own.
    level : float
        Probability of the intervals.
    estimators : sequence of str
        Names of estimators.
    replicates : int, optional
        Simulated data sets at each λ; by default 200 to 1000, so that the audit takes seconds.
        More than 200 000 rows are audited on sums over fine cells of the score, without replicates.
    seed : int
        Seed of the simulations; the same seed gives the same numbers.
    progress : callable, optional
        Called with a short text before each step.

    Returns
    -------
    Audit

    Raises
    ------
    InputError
        For input that is not what the parameters say.

    Examples
    --------
    >>> import numpy as np
    >>> import calbias
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.beta(6, 1.5, 2000)
    >>> found = calbias.audit(scores, rng.random(2000) < scores**1.3)
    >>> found.miscalibrated
    True
    """
    data = prepared(scores, hits, probabilities, logits, labels, seed)
    options = _options(data.sample.n, n_bins, norm, level, seed, replicates)
    if data.sample.n > LARGEST_IN_MEMORY:
        from calbias.auditing.large import accumulated, large_audit

        rows = [(data.sample.scores, data.sample.hits)]
        cells = accumulated(rows, data.sample.n, options.n_bins, options.seed)
        return large_audit(*cells, options.n_bins, options.norm, options.level, options.seed)
    names = list(dict.fromkeys([HEADLINE, *estimators]))
    return audit_data(data, names, options, progress or (lambda text: None))


def audit_top_label(top, seed=0):
    """Return the Audit of a TopLabel with the default options."""
    sample = Sample(top.score, top.hit, top.log_score, top.log1m_score, seed=seed)
    data = Data(sample, np.lexsort((top.hit, top.score)), "scores")
    return audit_data(data, list(ESTIMATORS), _options(data.sample.n, seed=seed), lambda text: None)


def _options(n, n_bins=15, norm=1.0, level=LEVEL, seed=0, replicates=None):
    replicates = replicates or int(np.clip(_SCORES_PER_LAMBDA // n, _FEWEST, _MOST))
    options = Options(int(n_bins), float(norm), float(level), int(seed), int(replicates))
    validate(**vars(options))
    return options


def audit_data(data, names, options, progress):
    """Return the Audit of a ``Data``; ``names`` of estimators, the headline's first."""
    sample = data.sample
    audited = audited_estimators(options.norm, options.n_bins, names)
    alone = set(names) <= {HEADLINE, *SLOW}
    fast = {name: each for name, each in audited.items() if alone or name not in SLOW}
    progress("drawing hits along the family of curves")
    construction = Construction(
        sample,
        {name: each.run for name, each in fast.items()},
        {name: each.target for name, each in fast.items() if each.target},
        options.replicates,
        _NULL * options.replicates,
    )
    construction.explore(options.level)
    weights = likelihood_weights(sample, sorted(construction.estimates))
    estimates = _estimates(construction, fast, weights, options)
    slow = {name: each for name, each in audited.items() if name not in fast}
    if slow and sample.n <= _MOST_SCORES_IF_SLOW:
        progress("slow estimators")
        estimates = pd.concat([estimates, _null_only(sample, slow)])
    progress("bootstrap, bounds and tests")
    headline = audited[HEADLINE]
    row = estimates.loc[HEADLINE]
    inverted = Interval(row["low"], row["high"])
    return Audit(
        description=description_of(data, options),
        warnings=warnings_of(data),
        estimates=estimates,
        tests=_tests(sample, construction, headline, options),
        intervals=_intervals(sample, headline, inverted, options),
        recommended=recommended(estimates),
        labels=labels_table(sample, construction, headline, row, options, progress),
        recalibration=recalibration_table(data, options, progress),
        sample=sample,
        options=vars(options),
    )


def likelihood_weights(sample, lams):
    """Return {λ: weight}: the likelihood of c_λ times the distance between the λ's neighbours."""
    if len(lams) == 1:
        return {lams[0]: 1.0}
    log_likelihood = np.array(
        [
            np.sum(xlogy(sample.hits, rates) + xlog1py(1 - sample.hits, -rates))
            for rates in map(sample.rates, lams)
        ]
    )
    if not np.isfinite(log_likelihood).any():
        return dict(zip(lams, np.full(len(lams), 1 / len(lams)), strict=True))
    weights = np.exp(log_likelihood - log_likelihood.max()) * np.gradient(np.array(lams))
    return dict(zip(lams, weights / weights.sum(), strict=True))


def recommended(estimates):
    """Return the estimator to trust, of those with the headline's target: see ``RULE``."""
    same = estimates[estimates["target"] == estimates.loc[HEADLINE, "target"]]
    same = same[same["rmse"].notna()]
    return str(same["rmse"].idxmin()) if len(same) else HEADLINE


RULE = (
    "Of the estimators of the same quantity, the one with the least root mean squared error on "
    "hits drawn at your scores from curves between perfect calibration and beyond the fitted one, "
    "weighted by their likelihood on your data."
)


def validate(n_bins, norm, level, seed, replicates=_FEWEST):
    """Raise InputError for options that no audit can have."""
    if not 1 <= n_bins <= 10_000:
        raise InputError(f"n_bins must be between 1 and 10000, not {n_bins}")
    if not 0 < norm <= 100:
        raise InputError(f"norm must be above 0 and at most 100, not {norm:g}")
    if not 0.5 <= level < 1:
        raise InputError(f"level must be at least 0.5 and below 1, not {level:g}")
    if replicates < 20 or seed < 0:
        raise InputError("replicates must be at least 20 and seed at least 0")


def description_of(data, options):
    """Return what was read, a dict."""
    sample = data.sample
    counts = np.unique(sample.scores, return_counts=True)[1]
    v = sample.scores * (1 - sample.scores)
    return {
        "kind": data.kind,
        "n": sample.n,
        "n_classes": data.n_classes,
        "accuracy": float(sample.hits.mean()),
        "mean_score": float(sample.scores.mean()),
        "mean_gap": float(sample.scores.mean() - sample.hits.mean()),
        "mean_gap_se": float(np.sqrt(v.mean() / sample.n)),
        "brier": float(np.mean((sample.hits - sample.scores) ** 2)),
        "n_distinct_scores": len(counts),
        "largest_atom": float(counts.max() / sample.n),
        "scores_of_one": float(np.mean(sample.scores == 1)),
        "fitted_curve": sample.curve.name if sample.curve else "mean_label",
        "fitted_b0": float(sample.curve.b0) if sample.curve else None,
        "fitted_b1": float(sample.curve.b1) if sample.curve else None,
        "fitted_error": float(
            np.mean(np.abs(sample.fitted - sample.scores) ** options.norm) ** (1 / options.norm)
        ),
    }


def _estimates(construction, audited, weights, options):
    rows = []
    one_outcome = construction.sample.hits.min() == construction.sample.hits.max()
    heavy = {lam: w for lam, w in weights.items() if w > 0.005}
    total = sum(heavy.values())
    for name, each in audited.items():
        row = {
            "estimator": name,
            "target": each.target_name,
            **_against_null(construction, name),
        }
        if each.target:
            inversion = construction.invert(name, options.level)
            row |= {"corrected": inversion.corrected, **inversion.interval._asdict()}
        if each.target and not one_outcome:
            bias = square = 0.0
            for lam, weight in heavy.items():
                errors = construction.at(lam)[name] - construction.target(name, lam)
                bias += weight / total * errors.mean()
                square += weight / total * np.mean(errors**2)
            row |= {"bias": float(bias), "rmse": float(np.sqrt(square))}
        rows.append(row)
    columns = [
        "estimator", "target", "value", "noise_floor", "noise_sd", "bias", "rmse", "corrected",
        "low", "high", "p_value",
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=columns).set_index("estimator")


def _null_only(sample, audited):
    """Return rows of value, noise floor and p-value, no more, of slow estimators."""
    runs = {name: each.run for name, each in audited.items()}
    construction = Construction(sample, runs, {}, _SLOW_REPLICATES, name="slow")
    return pd.DataFrame(
        {
            "estimator": name,
            "target": audited[name].target_name,
            **_against_null(construction, name),
        }
        for name in audited
    ).set_index("estimator")


def _against_null(construction, name):
    null, observed = construction.at(0.0)[name], construction.observed[name]
    return {
        "value": observed,
        "noise_floor": float(null.mean()),
        "noise_sd": float(null.std(ddof=1)),
        "p_value": (1 + np.count_nonzero(null >= observed)) / (1 + null.size),
    }


def _tests(sample, construction, headline, options):
    """Return the table of tests: redraw p-values, analytic ones, and the power at 1, 2, 5 points.

    Power is against a curve of the fitted one's shape with that ℓ1 error.
    """
    runs = {f"redraw_{HEADLINE}": headline.run, **calibration_statistics(sample.scores)}
    fixed = construction.fixed
    data = fixed.observed(sample.hits)
    replicates = construction.null_replicates
    null = fixed.estimates(sample.scores, runs, replicates)
    z, z_p = spiegelhalter(sample.scores, sample.hits)
    statistic, cox_p = score_test(sample.scores, sample.hits)
    analytic = {"spiegelhalter": z_p, "cox_score": cox_p}
    blind = {
        f"redraw_{HEADLINE}": "errors of opposite sign within a bin",
        "spiegelhalter": "errors that cancel in Σ δ(1 − 2s), such as waves",
        "cox_score": "errors that neither shift nor tilt the curve, such as waves",
    }
    powers = {}
    for error in DETECT:
        rates = planning.rates_with_error(sample.rates, sample.scores, error)
        if rates is not None:
            powers[error] = fixed.estimates(rates, runs, options.replicates)
    rows = []
    for name, run in runs.items():
        observed = {"spiegelhalter": z, "cox_score": statistic}.get(name, float(run(data)[0]))
        size = abs(observed) if np.isfinite(observed) else np.inf
        critical = np.quantile(null[name], 1 - SIGNIFICANT)
        row = {
            "test": name,
            "statistic": observed,
            "p_value": (1 + np.count_nonzero(null[name] >= size * (1 - 1e-12))) / (1 + replicates),
            "analytic_p_value": analytic.get(name, np.nan),
        }
        for error in DETECT:
            row[f"power_{100 * error:g}"] = (
                float(np.mean(powers[error][name] > critical)) if error in powers else np.nan
            )
        rows.append({**row, "blind_to": blind[name]})
    return pd.DataFrame(rows).set_index("test")


def _intervals(sample, headline, inverted, options):
    """Return the table of all intervals; the first is the one that the audit uses."""
    level, norm = options.level, options.norm
    squared = sun2024(sample, level, options.n_bins)
    rooted = Interval(*np.sqrt(squared))
    name = headline.target_name
    rows = [
        ("test_inversion", name, inverted, "used for the verdict"),
        ("basic_bootstrap", name, basic_bootstrap(sample, headline.run, level), ""),
        (
            "percentile_bootstrap",
            name,
            percentile_bootstrap(sample, headline.run, level),
            "a warning: its ends are biased upwards; it misses the truth of a calibrated model",
        ),
        ("sun2024", "ℓ2", rooted, "equal-width bins; of the ℓ2 error, by the root of its square"),
        ("variational_bound", "ℓ1", variational_bound(sample, level), "a lower bound"),
        (
            "monotone_band",
            name,
            monotone_band(sample, level, norm),
            "an upper bound that holds at every n if more confidence never means fewer hits",
        ),
    ]
    return pd.DataFrame(
        [
            {"method": method, "target": target, **interval._asdict(), "note": note}
            for method, target, interval, note in rows
        ]
    ).set_index("method")


def labels_table(sample, construction, headline, row, options, progress):
    """Return the table of labels needed: formula, and the power simulated at it."""
    progress("labels needed")
    rows = []
    for error in DETECT:
        rates = planning.rates_with_error(sample.rates, sample.scores, error)
        if rates is None:
            rows.append({"goal": f"detect_{100 * error:g}_points", "n": np.nan})
            continue
        n = planning.detection_labels(sample.scores, rates)
        power, se = planning.simulated_power(sample.scores, rates, n, seed=options.seed)
        rows.append(
            {
                "goal": f"detect_{100 * error:g}_points",
                "n": np.ceil(n),
                "simulated_power": power,
                "simulated_power_se": se,
            }
        )
    rows.append({"goal": "slope_to_0.1", "n": np.ceil(planning.slope_labels(sample.scores))})
    rows.append(
        {"goal": "mean_gap_to_1_point", "n": np.ceil(planning.mean_gap_labels(sample.scores))}
    )
    rows.append({"goal": "halve_the_interval", "n": halving_labels(sample, headline, row, options)})
    return pd.DataFrame(
        rows, columns=["goal", "n", "simulated_power", "simulated_power_se"]
    ).set_index("goal")


def halving_labels(sample, headline, row, options, replicates=200):
    """Return about how many labels halve the interval; NaN where it has no length.

    The scores are repeated two, four and eight times, the observed estimate is the median one of
    the corrected curve, and the length is read off between. Above 20 000 rows: four times n.
    """
    if not row["high"] > row["low"]:
        return np.nan
    if sample.n > 20_000 or sample.hits.min() == sample.hits.max():
        return float(4 * sample.n)
    size = np.abs(sample.rates(1.0) - sample.scores).mean()
    rates = sample.scores
    if size > 0 and row["corrected"] > 0:
        found = planning.rates_with_error(sample.rates, sample.scores, row["corrected"])
        rates = sample.rates(1.0) if found is None else found
    lengths = {}
    for times in (1, 2, 4, 8):
        lengths[times] = _expected_length(sample, headline, rates, times, options, replicates)
        if lengths[times] <= lengths[1] / 2:
            break
    times, length = np.array(list(lengths)), np.array(list(lengths.values()))
    if length[-1] >= length[0] or length.min() <= 0:
        return float(4 * sample.n)
    if length[-1] > length[0] / 2:  # further on at the last pair's rate
        slope = np.log(length[-1] / length[0]) / np.log(times[-1] / times[0])
        factor = np.exp(np.log(0.5) / slope)
    else:
        ratios = np.log(length[-2:] / length[0])
        share = (np.log(0.5) - ratios[0]) / (ratios[1] - ratios[0])
        factor = times[-2] * (times[-1] / times[-2]) ** share
    return float(np.ceil(sample.n * factor))


def _expected_length(sample, headline, rates, times, options, replicates):
    repeated = _Repeated(sample, times)
    construction = Construction(
        repeated, {"one": headline.run}, {"one": headline.target}, replicates, name="halving"
    )
    drawn = construction.fixed.estimates(np.repeat(rates, times), {"one": headline.run}, replicates)
    construction.observed["one"] = float(np.median(drawn["one"]))
    interval = construction.invert("one", options.level).interval
    return interval.high - interval.low


class _Repeated:
    """A sample with each of its scores several times, on the same family of curves."""

    def __init__(self, sample, times):
        self._sample, self._times = sample, times
        self.scores = np.repeat(sample.scores, times)
        self.hits = np.repeat(sample.hits, times)
        self.n, self.seed = self.scores.size, sample.seed
        self.unit = max(sample.unit / np.sqrt(times), 1.0)

    def rates(self, lam):
        return np.repeat(self._sample.rates(lam), self._times)


def recalibration_table(data, options, progress):
    """Return the table of recalibration methods; empty for few rows or one outcome."""
    progress("cross-validated recalibration")
    sample = data.sample
    if sample.n < 50 or sample.hits.min() == sample.hits.max():
        return pd.DataFrame()
    logits = labels = None
    if data.logits is not None:
        logits, labels = data.logits[data.order], data.labels[data.order]
    rows = cross_validated(sample.scores, sample.hits, logits, labels, options.seed)
    return pd.DataFrame(rows).set_index("method")


def print_progress(text):
    """Print a step of an audit on stderr."""
    print(f"{text} …", file=sys.stderr, flush=True)
