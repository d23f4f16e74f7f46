"""R25: the number of bins that the sweep chooses (appendix D, Figure 14)."""

import numpy as np
import pandas as pd

from pipeline.claims.claim import claim
from pipeline.claims.run_tables import RunTables
from pipeline.claims.verdicts import (
    CLEAR,
    NAN,
    POINTS,
    Measurement,
    NotJudged,
    Ruling,
    Verdict,
    by_case,
)
from pipeline.paper import CALIBRATED_BINS, MODEL_SIZES

FACTOR = 1.5
SLIGHT_PERCENT = 0.25
MOST = 5  # of the seven sample sizes


@claim("R25", "App D, Fig 14", "chosen_bins", "fig14_chosen_bins", experiment="chosen_bins")
def near_optimal_unless_calibrated(run: RunTables) -> Ruling:
    """The equal-mass sweep chooses nearly optimal numbers of bins for a miscalibrated model; for a
    calibrated one the optimum is at most 4 and the sweep overshoots.

    published: ≤ 4 when calibrated
    rule: Scores Uniform(0, 1), seven n. Miscalibrated (logistic curve): near-optimal where the
    sweep's mean number of bins is within a factor {FACTOR:g} of a best number, or costs at most
    {SLIGHT_PERCENT:g} points of |bias|. Calibrated: some best number is ≤ {CALIBRATED_BINS}, and
    the sweep's mean is above all best numbers and above {CALIBRATED_BINS}. Reproduced if all three
    hold at every n, approximate if each holds at {MOST} or more.
    errors: range of the best numbers: all whose |bias| is within {CLEAR:g} standard errors of the
    least
    """
    wrong, right = (chosen_bins(run, f"beta_1_1_{curve}") for curve in ("logistic", "identity"))
    near = {n: near_optimal(*choice) for n, choice in wrong.items()}
    small = [min(best) <= CALIBRATED_BINS for _, best, _ in right.values()]
    over = [overshoots(chosen, best) for chosen, best, _ in right.values()]
    counts = {
        "miscalibrated: near-optimal": sum(near.values()),
        f"calibrated: best number ≤ {CALIBRATED_BINS}": sum(small),
        "calibrated: overshot": sum(over),
    }
    measurements = by_case(f"sample sizes of {len(MODEL_SIZES)}", counts)
    for scores, choices in (("miscalibrated", wrong), ("calibrated", right)):
        by_n = {f"n = {n}:": chosen for n, (chosen, _, _) in choices.items()}
        measurements += by_case(f"bins that the sweep chooses, {scores}", by_n)
        measurements += [
            Measurement(
                f"best numbers of bins, {scores}", NAN, "", f"n = {n}:", NAN, min(best), max(best)
            )
            for n, (_, best, _) in choices.items()
        ]
    extra = {f"n = {n}:": excess for n, (_, _, excess) in wrong.items()}
    measurements += by_case("|bias| above the least, miscalibrated", extra, POINTS)
    name = f"best number of bins when calibrated, largest over n, published as ≤ {CALIBRATED_BINS}"
    greatest = max(max(best) for _, best, _ in right.values())
    measurements.append(Measurement(name, greatest, published=CALIBRATED_BINS))
    far = [str(n) for n, ok in near.items() if not ok]
    notes = [f"not near-optimal at n = {', '.join(far)}"] if far else []
    notes += [
        f"n = {n}: near-optimal by the factor alone, at a cost of {excess:.2f} points"
        for n, (_, _, excess) in wrong.items()
        if near[n] and excess > SLIGHT_PERCENT
    ]
    least = min(counts.values())
    verdict = Verdict.of(least == len(MODEL_SIZES), least >= MOST)
    words = [f"{what} {n}" for what, n in counts.items()]
    reason = f"sample sizes of {len(MODEL_SIZES)} as claimed: {', '.join(words)}"
    return Ruling(verdict, measurements, notes=notes, reason=reason)


def near_optimal(chosen: float, best: np.ndarray, excess: float) -> bool:
    """Return whether a chosen number of bins is near a best one, or costs little bias."""
    return min(max(chosen / b, b / chosen) for b in best) <= FACTOR or excess <= SLIGHT_PERCENT


def overshoots(chosen: float, best: np.ndarray) -> bool:
    """Return whether a chosen number is above all best ones, and above CALIBRATED_BINS."""
    return chosen > max(best) and chosen > CALIBRATED_BINS


def chosen_bins(run: RunTables, scenario: str) -> dict[int, tuple[float, np.ndarray, float]]:
    """Return {n: (the sweep's mean number of bins, the best numbers, |bias| above the least)}."""
    table = run.table("chosen_bins")
    table = table[table["scenario"] == scenario].sort_values("n_bins")
    table = table.dropna(subset=["mean_estimate_percent", "mean_n_bins_sweep"])
    choices = {}
    for n in MODEL_SIZES:
        rows = table[table["n_samples"] == n]
        if len(rows) < CALIBRATED_BINS or rows["n_bins"].min() > 2:
            raise NotJudged(f"table chosen_bins lacks {scenario} at n = {n}")
        choices[n] = choice(rows)
    return choices


def choice(rows: pd.DataFrame) -> tuple[float, np.ndarray, float]:
    """Return those of one n; ``rows`` go on with the number of bins."""
    bias = np.abs(rows["mean_estimate_percent"] - rows["tce_percent"]).to_numpy()
    se, bins = rows["mean_estimate_se_percent"].to_numpy(), rows["n_bins"].to_numpy(float)
    k = int(np.argmin(bias))
    best = bins[bias - bias[k] <= CLEAR * (se + se[k])]
    chosen = float(rows["mean_n_bins_sweep"].iloc[0])
    excess = np.interp(np.log(chosen), np.log(bins), bias) - bias[k]
    return chosen, best, float(excess)
