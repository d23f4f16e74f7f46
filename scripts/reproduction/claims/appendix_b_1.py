"""R33, R36, R37: bias and the number of bins (sections 2 and 4, appendix B.1, Figures 7 to 9)."""

import itertools

import numpy as np
import pandas as pd

from calbias.truth.curves import Curve, score
from calbias.truth.scenarios import score_quantiles
from calbias.truth.true_error import gap
from pipeline.claims.claim import claim
from pipeline.claims.run_tables import RunTables
from pipeline.claims.verdicts import CLEAR, FEW, POINTS, SAME, Ruling, Verdict, by_case
from pipeline.paper import HEATMAP_BINS, HEATMAP_MODELS, HEATMAP_SIZES
from reproduction.claims.compared_biases import Biases, CellCounts, cell_measurements, counted
from reproduction.claims.section_6 import realistic_fits

MAPS = HEATMAP_SIZES, HEATMAP_MODELS, HEATMAP_BINS
FIGURES = "fig7_bias_resnet110_c10 fig8_bias_resnet_wide32_c100 fig9_bias_resnet152_imgnet"
GENERALLY = (
    f"reproduced if more than half of the cells clearly agree, by {CLEAR:g} standard errors of the "
    f"difference, and at most {FEW:.0%} are the other way round, by more than {SAME:g}; "
    "approximate if more agree than are the other way round"
)
LIMIT_BINS = (2, 15, 64)
N_SCORES = 19200  # equally probable scores: a multiple of each number of bins
ROUNDING_PERCENT = 1e-9


@claim("R33", "App B.1", "bias correlations", FIGURES, experiment="heatmaps")
def equal_mass_is_generally_less_biased(run: RunTables) -> Ruling:
    """Equal mass is generally less biased than equal width, whatever the number of bins and the
    sample size.

    published: generally; no number
    rule: |bias| of the heat maps' cells, em against ew, for bin, debias and sweep: three models ×
    six n × six numbers of bins, 108 cells each, and 18 of the sweep, which chooses its own number.
    'Generally' is weaker than 'consistently': {GENERALLY}. The worst of the three verdicts counts.
    errors: Monte Carlo standard error of a difference
    """
    gains = {}
    for family in ("bin", "debias", "sweep"):
        rows = run.bias("heatmaps", [f"ece_{family}_em", f"ece_{family}_ew"], *MAPS)
        by_bins = [
            Biases.of(run, at_b).gain(f"ece_{family}_em", f"ece_{family}_ew")
            for _, at_b in rows.groupby("n_bins")
        ]
        gain, error = (pd.concat(parts) for parts in zip(*by_bins, strict=True))
        gains[family] = gain, error
    counts, largest = counted(gains)
    words = [f"{x.agree} of {x.total} ({name})" for name, x in counts.items()]
    reason = f"equal mass is clearly less biased in {' and '.join(words)} cells"
    verdict = Verdict.worst(generally(cells) for cells in counts.values())
    measurements = cell_measurements("em less biased", counts)
    return Ruling(verdict, measurements, largest_error=largest, reason=reason)


def generally(cells: CellCounts) -> Verdict:
    """Return the verdict on 'generally', as GENERALLY words it."""
    most = cells.agree > cells.total / 2 and cells.disagree <= FEW * cells.total
    return Verdict.of(most, cells.agree > cells.disagree)


@claim(
    "R36",
    "§4",
    "scenarios true_calibration_error",
    theorem=True,
    experiment="realistic",
    stated_by="Kumar et al. 2019",
)
def limit_underestimates(run: RunTables) -> Ruling:
    """With infinite data a binned error is never above the true calibration error.

    published: underestimates, Proposition 3.3 of Kumar et al. (2019)
    rule: By Jensen's inequality in each bin. Checked on {N_SCORES} equally probable scores of each
    of the ten fitted models, with the hit rates of its curve: error in {LIMIT_BINS[0]},
    {LIMIT_BINS[1]}, {LIMIT_BINS[2]} bins, ew and em, minus the error without bins. Reproduced if
    none is above 0, else not.
    errors: rounding, below {ROUNDING_PERCENT:g} points
    """
    fits = realistic_fits(run).loc[list(run.groups())]
    laws = [_law(row) for _, row in fits.iterrows()]
    excess = {
        f"{scheme}, {b} bins:": 100 * max(_binned(*law, b, scheme) - _norm(law[1]) for law in laws)
        for scheme in ("ew", "em")
        for b in LIMIT_BINS
    }
    measurements = by_case("binned minus true error, largest of ten models", excess, POINTS)
    above = sum(value > ROUNDING_PERCENT for value in excess.values())
    reason = f"the binned error is above the true one in {above} of {len(excess)} cases"
    return Ruling(Verdict.of(above == 0, False), measurements, reason=reason)


def _law(row: pd.Series) -> tuple[np.ndarray, np.ndarray]:
    """Return equally probable scores of a scenario, ascending, and c − T(c) at them."""
    upper = (np.arange(N_SCORES)[::-1] + 0.5) / N_SCORES
    logs = score_quantiles(row["alpha"], row["beta"], upper=upper)
    return score(*logs), gap(Curve.from_row(row), *logs)


def _binned(scores: np.ndarray, gaps: np.ndarray, b: int, scheme: str) -> float:
    """Return the ℓ2 error in bins, a fraction."""
    positions = scores if scheme == "ew" else np.arange(N_SCORES) / N_SCORES
    bins = np.minimum((positions * b).astype(int), b - 1)
    counts, sums = np.bincount(bins, minlength=b), np.bincount(bins, gaps, b)
    return float(np.sqrt(np.sum(sums**2 / np.maximum(counts, 1)) / N_SCORES))


def _norm(gaps: np.ndarray) -> float:
    return float(np.sqrt(np.mean(gaps**2)))


@claim(
    "R37",
    "§2",
    "bias correlations",
    FIGURES,
    experiment="heatmaps",
    stated_by="Kumar et al. 2019",
)
def increases_with_bins(run: RunTables) -> Ruling:
    """ECE_bin increases with the number of bins.

    published: increases; no number
    rule: Mean ECE_bin of the heat maps, ew and em, from one number of bins to the next at the same
    n of three models, 90 steps each: it increases: {CONSISTENTLY}. The worse of the two verdicts
    counts.
    errors: Monte Carlo standard error of a difference
    """
    steps = {}
    for scheme in ("ew", "em"):
        rows = run.bias("heatmaps", [f"ece_bin_{scheme}"], *MAPS)
        means = Biases.of(run, rows, "mean_estimate_percent")  # never negative
        step_gains = [means.gain(few, many) for few, many in itertools.pairwise(means.bias)]
        gain, error = (pd.concat(parts) for parts in zip(*step_gains, strict=True))
        steps[scheme] = gain, error
    counts, largest = counted(steps)
    words = [f"{x.agree} of {x.total} ({name})" for name, x in counts.items()]
    reason = f"ECE_bin increases clearly in {' and '.join(words)} steps"
    verdict = Verdict.worst(cells.verdict() for cells in counts.values())
    measurements = cell_measurements("ECE_bin increases", counts)
    return Ruling(verdict, measurements, largest_error=largest, reason=reason)
