"""R14 and R15: the spread of the estimates (appendix B.2, Figures 10 to 12)."""

import numpy as np
import pandas as pd

from pipeline.claims.grounds import Grounds
from pipeline.claims.verdicts import (
    CLEAR,
    CONSISTENTLY,
    FEW,
    RARE,
    SEARCHED,
    Measurement,
    Ruling,
    Verdict,
    by_case,
    claim,
)
from pipeline.paper import HEATMAP_BINS, HEATMAP_MODELS, HEATMAP_SIZES, N_BINS
from reproduction.bias import error_of_mean
from reproduction.claims.compared_biases import CellCounts, cell_measurements, count_cells

PAIR = ("ece_debias_em", "ece_sweep_em")
MAPS = HEATMAP_SIZES, HEATMAP_MODELS, HEATMAP_BINS
FIXED_BINS = ("ece_bin_ew", "ece_bin_em", "ece_debias_ew", "ece_debias_em")
FLAT = 1.5  # factor by which the spread may change with the number of bins
FLAT_VARIANCE = FLAT**2
FIGURES = "fig10_sd_resnet110_c10 fig11_sd_resnet_wide32_c100 fig12_sd_resnet152_imgnet"


@claim(
    "R14",
    "App B",
    "bias",
    FIGURES,
    says="Equal-mass debias varies more than the equal-mass sweep",
    published="higher variance; no number",
    rule=(
        "Standard deviation over data sets of ece_debias_em divided by that of ece_sweep_em, as "
        f"geometric means: with {N_BINS} bins over ten models × seven n, and with each of six "
        "numbers of bins over the heat maps' three models × six n. Reproduced if all seven are "
        f"above 1 by {CLEAR:g} standard errors, approximate if that with {N_BINS} bins is. The "
        "ratio at each n is shown too."
    ),
    errors="± one standard error (normal approximation, an upper bound over correlations)",
)
def debias_varies_more(grounds: Grounds) -> Ruling:
    realistic = with_se(grounds.bias("realistic", PAIR))
    usual, by_n = ratios_by("n_bins", realistic), ratios_by("n_samples", realistic)
    by_bins = ratios_by("n_bins", with_se(grounds.bias("heatmaps", PAIR, *MAPS)))
    cases = {f"{b} bins:": found for b, found in usual.items()}
    cases |= {f"{N_BINS} bins, n = {n}:": found for n, found in by_n.items()}
    cases |= {f"heat maps, {b} bins:": found for b, found in by_bins.items()}
    ratios = {case: (ratio, ratio * error) for case, (ratio, error, _) in cases.items()}
    cells = CellCounts(*np.sum([counts for _, _, counts in by_bins.values()], axis=0).tolist())
    measurements = by_case("standard deviation, debias_em / sweep_em", ratios)
    measurements += cell_measurements("larger in the heat maps", {"": cells})
    above = {b: np.log(r) > CLEAR * se for b, (r, se, _) in {**by_bins, **usual}.items()}
    notes = []
    fewer = [str(b) for b, clear in above.items() if not clear]
    reason = f"debias_em does not vary clearly more with {', '.join(fewer)} bins"
    logs = {n: np.log(ratio) / error for n, (ratio, error, _) in by_n.items()}
    more, less = ([str(n) for n, x in logs.items() if s * x > CLEAR] for s in (1, -1))
    if len(more) < len(logs):
        first, *_, last = (ratio for ratio, _, _ in by_n.values())
        notes.append(
            f"with {N_BINS} bins it varies clearly more {_at(more)} and clearly less {_at(less)}; "
            f"the ratio goes from {first:.3f} at the smallest n to {last:.3f} at the largest"
        )
    verdict = Verdict.of(all(above.values()), above[N_BINS])
    source = grounds.source("heatmaps", HEATMAP_MODELS)
    return Ruling(verdict, measurements, source, notes, reason=reason)


def _at(sizes: list[str]) -> str:
    """Return sample sizes in words."""
    return f"at n = {', '.join(sizes)}" if sizes else "at no n"


def ratios_by(key: str, rows: pd.DataFrame) -> dict[int, tuple[float, float, CellCounts]]:
    """Return {value of ``key``: (mean debias_em/sweep_em sd, its log's error, CellCounts)}."""
    keys = ["scenario", "n_samples"]
    sweep = rows[rows["estimator"] == "ece_sweep_em"].set_index(keys)
    debias = rows[rows["estimator"] == "ece_debias_em"]
    both = debias.join(sweep[["sd_percent", "se"]].add_suffix("_sweep"), on=keys)
    result = {}
    for value, cells in both.groupby(key):
        log_ratio = np.log(cells["sd_percent"] / cells["sd_percent_sweep"])
        errors = cells["se"] / cells["sd_percent"] + cells["se_sweep"] / cells["sd_percent_sweep"]
        ratio, error = float(np.exp(log_ratio.mean())), error_of_mean(errors)
        result[int(value)] = (ratio, error, count_cells(log_ratio, errors))
    return result


@claim(
    "R15",
    "App B.2",
    "bias",
    FIGURES,
    says=(
        "The variance falls with the sample size and does not depend clearly on the number of bins"
    ),
    published="no clear dependence; no number",
    rule=(
        "Heat maps of the standard deviation of bin and debias, ew and em, three models: 12 maps "
        f"× six n × six numbers of bins. From one n to the next it falls: {CONSISTENTLY}. Its "
        "dependence on the number of bins is judged at each n of each map, 72 cells, and is "
        "clear where the largest standard deviation over the numbers of bins is more than "
        f"{FLAT:g} times the smallest ({FLAT_VARIANCE:g} times in variance) and above it by "
        f"{SEARCHED:g} standard errors: reproduced if that is so in at most {RARE:.0%} of these "
        f"cells, approximate in at most {FEW:.0%}. The worse of the two verdicts counts."
    ),
    errors="standard error of a standard deviation (normal approximation)",
)
def falls_with_n_not_with_bins(grounds: Grounds) -> Ruling:
    rows = with_se(grounds.bias("heatmaps", FIXED_BINS, *MAPS))
    keys = ["scenario", "estimator", "n_bins"]
    wide, se = (rows.pivot(index=keys, columns="n_samples", values=v) for v in ("sd_percent", "se"))
    wide, se = wide.to_numpy(), se.to_numpy()
    falls = count_cells(-np.diff(wide).ravel(), (se[:, :-1] + se[:, 1:]).ravel())
    factors = factors_over_bins(rows)
    clear, over = factors[factors["clear"]], factors["factor"]
    share = len(clear) / len(factors)
    along_n = f"fall from n = {HEATMAP_SIZES[0]} to {HEATMAP_SIZES[-1]}, factor"
    along_bins = f"change over {HEATMAP_BINS[0]} … {HEATMAP_BINS[-1]} bins, factor"
    changes = {"least": over.min(), "greatest": over.max(), "median": over.median()}
    measurements = [
        Measurement(f"steps of n of {falls.total} in which it falls clearly", falls.agree),
        Measurement(f"cells of {len(factors)} that depend clearly on the bins", len(clear)),
        Measurement("share of these cells", 100 * share, "percent"),
        Measurement(along_n, float(np.exp(np.mean(np.log(wide[:, 0] / wide[:, -1]))))),
        *by_case(along_bins, changes),
    ]
    reason = (
        f"clear dependence on the bins in {len(clear)} of {len(factors)} cells (fall with n: "
        f"{falls.agree} of {falls.total})"
    )
    notes = []
    for (model, estimator), cells in clear.groupby(level=[0, 1], sort=False):
        worst = cells.loc[cells["factor"].idxmax()]
        notes.append(
            f"{model} {estimator} depends on the number of bins at {len(cells)} of "
            f"{len(HEATMAP_SIZES)} n (up to {worst['factor']:.2f}×, largest with "
            f"{worst['n_bins']} bins)"
        )
    verdict = Verdict.worst([falls.verdict(), Verdict.of(share <= RARE, share <= FEW)])
    source = grounds.source("heatmaps", HEATMAP_MODELS)
    return Ruling(verdict, measurements, source, notes, rows["se"].max(), reason=reason)


def factors_over_bins(rows: pd.DataFrame) -> pd.DataFrame:
    """Return a DataFrame by heat map and n: largest/smallest spread, its ``n_bins``, ``clear``."""
    found = {}
    for cell, bins in rows.groupby(["scenario", "estimator", "n_samples"], sort=False):
        spread, error = bins["sd_percent"], bins["se"] / bins["sd_percent"]
        high, low = spread.idxmax(), spread.idxmin()
        factor = spread[high] / spread[low]
        clear = factor > FLAT and np.log(factor) > SEARCHED * (error[high] + error[low])
        found[cell] = {"factor": factor, "n_bins": int(bins["n_bins"][high]), "clear": clear}
    return pd.DataFrame.from_dict(found, orient="index")


def with_se(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows of table ``bias`` with ``se``, the standard error of sd_percent."""
    return rows.assign(se=rows["sd_percent"] / np.sqrt(2 * (rows["n_replicates"] - 1)))
