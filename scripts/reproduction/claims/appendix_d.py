"""R25: the number of bins that the sweep chooses (appendix D, Figure 14)."""

import numpy as np
import pandas as pd

from pipeline.claims.claim import claim
from pipeline.claims.run_tables import RunTables
from pipeline.claims.verdicts import NAN, POINTS, Measurement, NotJudged, Ruling, Verdict, by_case
from pipeline.paper import CALIBRATED_BINS, MODEL_SIZES
from reproduction.claims.section_4 import TIED

SLIGHT_PERCENT = 0.25
MOST = 5  # of the seven sample sizes


@claim("R25", "App D, Fig 14", "chosen_bins", "fig14_chosen_bins", experiment="chosen_bins")
def near_optimal_unless_calibrated(run: RunTables) -> Ruling:
    """The equal-mass sweep chooses nearly optimal numbers of bins for a miscalibrated model; for a
    calibrated one the optimum is at most 4 and the sweep overshoots.

    published: ≤ 4 when calibrated
    rule: Scores Uniform(0, 1), seven n. Best numbers of bins are those whose |bias| is within
    {TIED:g} points of the least. Miscalibrated (logistic curve): near-optimal where the sweep's
    mean number of bins costs at most {SLIGHT_PERCENT:g} points of |bias|. Calibrated: some best
    number is ≤ {CALIBRATED_BINS}, and the sweep's mean is above all best numbers and above
    {CALIBRATED_BINS}. Reproduced if all three hold at every n, approximate if each holds at {MOST}
    or more.
    errors: range of the best numbers
    """
    wrong, right = (chosen_bins(run, f"beta_1_1_{curve}") for curve in ("logistic", "identity"))
    near = {n: excess <= SLIGHT_PERCENT for n, (_, _, excess) in wrong.items()}
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
    notes = [
        f"not near-optimal at n = {n}: {chosen:.1f} bins cost {excess:.2f} points of |bias|, with "
        f"{min(best):.0f} to {max(best):.0f} the best"
        for n, (chosen, best, excess) in wrong.items()
        if not near[n]
    ]
    least = min(counts.values())
    verdict = Verdict.of(least == len(MODEL_SIZES), least >= MOST)
    words = [f"{what} {n}" for what, n in counts.items()]
    reason = f"sample sizes of {len(MODEL_SIZES)} as claimed: {', '.join(words)}"
    return Ruling(verdict, measurements, notes=notes, reason=reason)


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
    bins = rows["n_bins"].to_numpy(float)
    best = bins[bias <= bias.min() + TIED]
    chosen = float(rows["mean_n_bins_sweep"].iloc[0])
    excess = np.interp(np.log(chosen), np.log(bins), bias) - bias.min()
    return chosen, best, float(excess)
