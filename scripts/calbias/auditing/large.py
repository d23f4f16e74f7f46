"""The audit of more rows than can be drawn again: out of core, on sums over fine cells.

Exact: the numbers of rows, accuracy, mean score, Brier score, the equal-width ECE, and the
statistics of Spiegelhalter's and the Cox test. Rounded to cells: estimators of ranks and of
cumulative sums; the page states the bound. With this many rows the sum of score − hit in a bin is
normal: noise floor, p-value and interval draw these sums and not the hits. Tables that need rows
(labels, recalibration, figures) are made from a random sample of them.
"""

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import expit
from scipy.stats import chi2, norm

from calbias.auditing.audit import (
    DETECT,
    HEADLINE,
    Options,
    description_of,
    labels_table,
    recalibration_table,
)
from calbias.auditing.cells import Cells
from calbias.auditing.cox import logits_of
from calbias.auditing.inputs import Data
from calbias.auditing.result import Audit
from calbias.auditing.sample import Sample
from calbias.auditing.statistics import audited_estimators
from calbias.engine.seeding import stream
from calbias.errors import InputError

SAMPLE = 20_000
_DRAWS = 20_000
_BATCH = 1 << 20


def read_cells(path, n_bins=15, seed=0, progress=None):
    """Return (Cells, scores, hits): a Parquet file or folder, and a random sample of its rows.

    Columns ``score`` and ``hit``, or ``score``, ``label`` and ``prediction``. Memory does not grow
    with the number of rows.
    """
    import pyarrow as pa
    import pyarrow.dataset as ds

    try:
        data = ds.dataset(path, format="parquet")
        names = [
            name for name in ("score", "hit", "label", "prediction") if name in data.schema.names
        ]
        if "score" not in names or not ("hit" in names or {"label", "prediction"} <= set(names)):
            raise InputError(f"{path}: needs columns score and hit, or score, label and prediction")
        if "hit" in names:
            names = ["score", "hit"]
        rows = data.count_rows()
        batches = data.to_batches(columns=names, batch_size=_BATCH, batch_readahead=2,
                                  fragment_readahead=1)  # fmt: skip
        pairs = (_pair(batch) for batch in batches)
        return accumulated(pairs, rows, n_bins, seed, progress)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{path}: no readable Parquet: {str(error).splitlines()[0]}") from error
    except InputError as error:
        message = str(error)
        raise InputError(message if str(path) in message else f"{path}: {message}") from error


def _pair(batch):
    """Return (scores, hits) of a record batch, float64; a null is NaN, which no row may be."""
    columns = {name: batch.column(name) for name in batch.schema.names}
    scores = columns["score"].to_numpy(zero_copy_only=False)
    if "hit" in columns:
        hits = columns["hit"].to_numpy(zero_copy_only=False)
    else:
        hits = columns["label"].to_numpy(zero_copy_only=False) == columns["prediction"].to_numpy(
            zero_copy_only=False
        )
    try:
        return np.asarray(scores, np.float64), np.asarray(hits, np.float64)
    except (TypeError, ValueError):
        raise InputError("score and hit must be numbers, without empty cells") from None


def accumulated(pairs, rows, n_bins=15, seed=0, progress=None):
    """Return (Cells, scores, hits) of an iterable of (scores, hits), ``rows`` in all."""
    cells, sample, done = Cells.empty(n_bins), [], 0
    generator = stream(seed, "sample", str(rows))
    kept = np.sort(generator.choice(rows, min(SAMPLE, rows), replace=False, shuffle=False))
    for scores, hits in pairs:
        cells.add(scores, hits, done)
        inside = kept[np.searchsorted(kept, done) : np.searchsorted(kept, done + len(scores))]
        sample.append((scores[inside - done], hits[inside - done]))
        done += len(scores)
        if progress and (done // _BATCH) % 10 == 0:
            progress(f"{done / 1e6:.0f} of {rows / 1e6:.0f} million rows")
    scores, hits = (np.concatenate(parts) for parts in zip(*sample, strict=True))
    return cells, scores, hits


def large_audit(cells, scores, hits, n_bins=15, norm_=1.0, level=0.95, seed=0, progress=None):
    """Return the Audit of Cells, with a sample of rows (k,) for the tables that need rows."""
    progress = progress or (lambda text: None)
    options = Options(n_bins, norm_, level, seed, _DRAWS)
    sample = Sample(scores, np.asarray(hits, float), seed=seed)
    family = _Family(cells, norm_)
    estimates = _estimates(cells, family, options)
    row = estimates.loc[HEADLINE]
    headline = audited_estimators(norm_, n_bins, [HEADLINE])[HEADLINE]
    labels = labels_table(sample, None, headline, row.copy(), options, progress)
    labels.loc["halve_the_interval", "n"] = 4.0 * cells.n
    data = Data(sample, np.lexsort((hits, scores)), "scores")
    return Audit(
        description=_of_all_rows(description_of(data, options), cells, family),
        warnings=_warnings(cells, sample.n),
        estimates=estimates,
        tests=_tests(cells, row),
        intervals=_interval(row),
        recommended=HEADLINE,
        labels=labels,
        recalibration=recalibration_table(data, options, progress),
        sample=sample,
        options=vars(options),
    )


def _interval(row):
    found = {key: [row[key]] for key in ("target", "low", "high")}
    found["note"] = ["used for the verdict; sums of bins are normal"]
    return pd.DataFrame(found, index=pd.Index(["test_inversion"], name="method"))


class _Family:
    """The curves c_λ on cells, from calibration through the logistic curve fitted to the cells."""

    def __init__(self, cells, p):
        kept = cells.full()
        self.size, self.p = kept.size, p
        self.share = kept.size / kept.size.sum()
        self.score = kept.score / kept.size
        a, b = _weighted_line(logits_of(self.score), kept.size, kept.hits)
        self.a, self.b = a, b
        self.direction = expit(a + b * logits_of(self.score)) - self.score
        starts = np.flatnonzero(np.diff(np.floor(_bin_of(self.score, cells.n_bins)), prepend=-1))
        self.starts = starts
        self.n = kept.size.sum()

    def gaps(self, lam):
        """Return c_λ − s of each cell."""
        return np.clip(self.score + lam * self.direction, 0.0, 1.0) - self.score

    def target(self, lam):
        """Return the ℓp error of c_λ over the cells."""
        return float(np.dot(self.share, np.abs(self.gaps(lam)) ** self.p) ** (1 / self.p))

    def draws(self, lam, normals):
        """Return the equal-width ECE (R,) of hits from c_λ: sums of bins are normal."""
        gaps = self.gaps(lam)
        rates = self.score + gaps
        mean = np.add.reduceat(self.size * gaps, self.starts)
        spread = np.sqrt(np.add.reduceat(self.size * rates * (1 - rates), self.starts))
        size = np.add.reduceat(self.size, self.starts)
        sums = np.abs(mean + spread * normals[:, : size.size]) / size
        return (sums**self.p @ (size / self.n)) ** (1 / self.p)


def _bin_of(scores, n_bins):
    return np.minimum(np.searchsorted(np.arange(1, n_bins) / n_bins, scores, side="right"), n_bins)


def _weighted_line(x, size, hits):
    a, b = 0.0, 1.0
    for _ in range(50):
        p = expit(a + b * x)
        v = size * p * (1 - p)
        residual = hits - size * p
        h = np.array([[v.sum(), v @ x], [v @ x, v @ (x * x)]]) + 1e-9 * np.eye(2)
        step = np.linalg.solve(h, [residual.sum(), residual @ x])
        step *= min(1.0, 2.0 / max(np.abs(step).max(), 1e-300))
        a, b = a + step[0], b + step[1]
        if np.abs(step).max() < 1e-10:
            break
    return a, b


def _estimates(cells, family, options):
    normals = stream(options.seed, "large", str(cells.n)).standard_normal((_DRAWS, options.n_bins))
    size, gap, _ = cells.bins()
    p = options.norm
    observed = float(np.sum(size / cells.n * np.abs(gap / size) ** p) ** (1 / p))
    null = family.draws(0.0, normals)
    tail = (1 - options.level) / 2

    def quantile(lam, probability):
        return float(np.quantile(family.draws(lam, normals), probability))

    ceiling = max(observed, float(np.quantile(null, 0.16)))
    row = {
        "estimator": HEADLINE,
        "target": f"ℓ{p:g}",
        "value": observed,
        "noise_floor": float(null.mean()),
        "noise_sd": float(null.std(ddof=1)),
        "p_value": (1 + np.count_nonzero(null >= observed)) / (1 + null.size),
        "corrected": family.target(_least(lambda x: quantile(x, 0.5) - observed)),
        "low": family.target(_least(lambda x: quantile(x, 1 - tail) - observed)),
        "high": family.target(_least(lambda x: quantile(x, tail) - ceiling)),
    }
    kept = cells.full()
    walk = np.append(0.0, np.cumsum(kept.score - kept.hits)) / cells.n
    deviation, spread = np.abs(walk).max(), np.ptp(walk)
    sigma = np.sqrt(kept.variance.sum()) / cells.n
    rows = [
        row,
        {"estimator": "ks", "target": "max_deviation", "value": deviation,
         "noise_floor": sigma * np.sqrt(np.pi / 2), "p_value": _two_sided_walk(deviation / sigma)},
        {"estimator": "ecce_r", "target": "deviation_range", "value": spread,
         "noise_floor": sigma * 2 * np.sqrt(2 / np.pi)},
    ]  # fmt: skip
    columns = ["estimator", "target", "value", "noise_floor", "noise_sd", "bias", "rmse",
               "corrected", "low", "high", "p_value"]  # fmt: skip
    return pd.DataFrame(rows, columns=columns).set_index("estimator")


def _least(excess):
    """Return the least λ ≥ 0 at which an increasing function is not below 0; 1000 at most."""
    if excess(0.0) >= 0:
        return 0.0
    high = 1.0
    while excess(high) < 0:
        high *= 2
        if high > 1000:
            return high
    return float(brentq(excess, 0.0, high, xtol=1e-4))


def _two_sided_walk(x):
    """Return P(max |W| ≥ x) of Brownian motion on [0, 1] (Feller 1971, X.5)."""
    if x <= 0:
        return 1.0
    k = np.arange(60)
    terms = (-1.0) ** k / (2 * k + 1) * np.exp(-(((2 * k + 1) * np.pi) ** 2) / (8 * x * x))
    return float(np.clip(1 - 4 / np.pi * terms.sum(), 0.0, 1.0))


def _tests(cells, row):
    m = cells.moments
    z = m[1] / np.sqrt(m[2]) if m[2] > 0 else np.nan
    h = np.array([[m[5], m[6]], [m[6], m[7]]])
    statistic = float(m[3:5] @ np.linalg.pinv(h, hermitian=True) @ m[3:5])
    rows = [
        {"test": f"redraw_{HEADLINE}", "statistic": row["value"], "p_value": row["p_value"],
         "blind_to": "errors of opposite sign within a bin"},
        {"test": "spiegelhalter", "statistic": float(z), "analytic_p_value": 2 * norm.sf(abs(z)),
         "blind_to": "errors that cancel in Σ δ(1 − 2s), such as waves"},
        {"test": "cox_score", "statistic": statistic, "analytic_p_value": chi2.sf(statistic, 2),
         "blind_to": "errors that neither shift nor tilt the curve, such as waves"},
    ]  # fmt: skip
    powers = [f"power_{100 * error:g}" for error in DETECT]
    columns = ["test", "statistic", "p_value", "analytic_p_value", *powers, "blind_to"]
    return pd.DataFrame(rows, columns=columns).set_index("test")


def _of_all_rows(description, cells, family):
    n = cells.n
    hits, score = cells.hits.sum(), cells.score.sum()
    kept = cells.full()
    return description | {
        "n": n,
        "accuracy": float(hits / n),
        "mean_score": float(score / n),
        "mean_gap": float((score - hits) / n),
        "mean_gap_se": float(np.sqrt(kept.variance.sum()) / n),
        "brier": float(cells.moments[0] / n),
        "scores_of_one": float(kept.size[kept.low == 1.0].sum() / n),
        "fitted_curve": "logit_logit_b0_b1",
        "fitted_b0": float(family.a),
        "fitted_b1": float(family.b),
        "fitted_error": family.target(1.0),
    }


def _warnings(cells, n_sample):
    exact = "Accuracy, mean score, Brier score, ECE and the statistics of the tests are exact"
    return [
        f"{cells.n} rows were audited in {int(np.sum(cells.size > 0))} cells of the score. "
        f"{exact}; KS and ECCE-R are rounded by at most {100 * cells.largest_split():.3f} points, "
        f"the curve's scores by at most {100 * cells.width():.4f} points.",
        f"Figures, ties, labels and recalibration are from a random sample of {n_sample} rows.",
    ]
