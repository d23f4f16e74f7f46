"""The audit of more rows than memory holds, on the cells of a sketch.

Exact: the numbers of rows, accuracy, mean score and the equal-width ECE. All else takes the rows of
a cell as equal scores; the page states the cells' width. The recalibration is judged on a random
sample of rows, drawn from the cells.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from calbias.auditing.description import Description, sentences
from calbias.auditing.inputs import EVENT, TOP_LABEL
from calbias.auditing.intervals.posterior_hull import THRESHOLDS, errors_of
from calbias.auditing.options import Options
from calbias.auditing.picture_bins import bins_of_groups
from calbias.auditing.recalibrations import recalibration_table
from calbias.auditing.result import Audit
from calbias.auditing.verdict.judge import judge_groups
from calbias.auditing.verdict.rows import Groups as VerdictGroups
from calbias.auditing.verdict.rows import law_of
from calbias.engine.groups import Groups
from calbias.engine.posterior.cells import cells_of, most_cells
from calbias.engine.posterior.curve import curve_of
from calbias.engine.posterior.mixture import average_of
from calbias.engine.seeding import stream

SAMPLE = 20_000


def large_audit(groups: Groups, options: Options, width: float, is_event: bool = False) -> Audit:
    """Return the Audit of Groups, rows of weight 1 in cells of a width that no bin cuts."""
    scores, rows = groups.scores, groups.rows.astype(np.int64)
    hits, n = groups.hits.astype(np.float64), int(rows.sum())
    cum_row, cum_hit = np.r_[0.0, np.cumsum(rows)], np.r_[0.0, np.cumsum(hits)]
    law = law_of(scores)
    surprises = np.where(law.sign > 0, hits, rows - hits).astype(np.int64)
    verdict = judge_groups(
        VerdictGroups(scores, law.x, law.chance, law.sign, rows, surprises, law.rounding),
        words="events" if is_event else "hits",
        seed=options.seed,
    )
    errors = errors_of(scores, cum_hit, cum_row)
    low, high = errors.interval(options.norm, options.confidence_level)
    average = average_of(cells_of(scores, cum_hit, most_cells(n), cum_row=cum_row))
    error = average.l1 if options.norm == 1 else average.l2
    bins = bins_of_groups(scores, rows, hits, options.confidence_level)
    ece, noise_floor = _binned_ece(groups, options.n_bins)
    places = np.unique(np.r_[bins.mean_score, scores[[0, -1]]])
    sample = _drawn(groups, options.seed)
    return Audit(
        kind=EVENT if is_event else TOP_LABEL,
        n=n,
        error=min(max(error, low), high),
        interval=(low, high),
        verdict=verdict,
        probability_below={x: errors.probability_below(x, options.norm) for x in THRESHOLDS},
        resolution=errors.resolution,
        ece=ece,
        noise_floor=noise_floor,
        description=_description(groups),
        curve=curve_of(average, places, options.confidence_level),
        bins=bins,
        options=options,
        warnings=(
            f"{n} rows were audited in {scores.size} cells of the score: accuracy, mean score and "
            f"ECE are exact, and all else has scores rounded by at most {width:.1g}.",
            *(["The numbers of a risk model need fewer rows."] if is_event else []),
            f"Recalibration is judged on a random sample of {sample[0].size} rows.",
            *sentences(verdict.warnings),
        ),
        recalibration=recalibration_table(*sample, seed=options.seed),
    )


def _binned_ece(groups: Groups, n_bins: int) -> tuple[float, float]:
    """Return the ℓ1 ECE and its noise floor; the sum of score − hit in a bin is normal."""
    starts = groups.starts(n_bins, "equal_width")
    gaps, variance = groups.bin_sums(starts, groups.gaps, _variance(groups))
    noise = np.sqrt(2.0 / np.pi * variance)
    return float(np.abs(gaps).sum() / groups.total), float(noise.sum() / groups.total)


def _variance(groups: Groups) -> NDArray[np.float64]:
    """Return Σ s(1 − s) of each group."""
    return groups.weight * groups.scores * (1.0 - groups.scores)


def _description(groups: Groups) -> Description:
    n, s = groups.total, groups.scores
    gap = float(groups.gaps.sum() / n)
    accuracy = float(groups.hits.sum() / n)
    squares = groups.weight * s * s + groups.hits * (1.0 - 2.0 * s)
    return {
        "form": "scores",
        "n_classes": None,
        "accuracy": accuracy,
        "mean_score": accuracy + gap,
        "mean_gap": gap,
        "mean_gap_se": float(np.sqrt(_variance(groups).sum()) / n),
        "brier": float(squares.sum() / n),
        "n_distinct_scores": None,
        "largest_atom": None,
        "scores_of_one": float(groups.weight[s == 1.0].sum() / n),
    }


def _drawn(groups: Groups, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return scores and hits of a random sample of rows: in a cell misses come before hits."""
    upto = np.cumsum(groups.rows)
    n = int(upto[-1])
    generator = stream(seed, "sample", str(n))
    ranks = np.sort(generator.choice(n, min(SAMPLE, n), replace=False, shuffle=False))
    cell = np.searchsorted(upto, ranks, side="right")
    return groups.scores[cell], (upto[cell] - ranks <= groups.hits[cell]).astype(float)
