"""R14, R15, R27: the spread of the estimates (section 4, appendix B.2, Figures 10 to 12)."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from calbias.estimation.registry import CHOSEN
from pipeline.claims.claim import claim
from pipeline.claims.run_tables import RunTables
from pipeline.claims.verdicts import (
    CLEAR,
    FEW,
    RARE,
    SEARCHED,
    Measurement,
    Ruling,
    Verdict,
    by_case,
)
from pipeline.paper import BINNED, HEATMAP_BINS, HEATMAP_MODELS, HEATMAP_SIZES, N_BINS
from reproduction.bias import error_of_mean
from reproduction.claims.compared_biases import CellCounts, cell_measurements, count_cells

PAIR = ("ece_debias_em", "ece_sweep_em")
MAPS = HEATMAP_SIZES, HEATMAP_MODELS, HEATMAP_BINS
FIXED_BINS = ("ece_bin_ew", "ece_bin_em", "ece_debias_ew", "ece_debias_em")
FLAT = 1.5  # factor by which a spread may change that does not depend clearly on something
FLAT_VARIANCE = FLAT**2
KEYS = ("scenario", "estimator", "n_samples")
DEPENDS = (
    "It is clear where the largest standard deviation is more than "
    f"{FLAT:g} times the smallest ({FLAT_VARIANCE:g} times in variance) and above it by "
    f"{SEARCHED:g} standard errors: reproduced if that is so in at most {RARE:.0%} of the cells, "
    f"approximate in at most {FEW:.0%}"
)
"""The rule of R15 and R27, which say nearly the same."""
FIGURES = "fig10_sd_resnet110_c10 fig11_sd_resnet_wide32_c100 fig12_sd_resnet152_imgnet"


@claim("R14", "App B", "bias", FIGURES, experiment="heatmaps")
def debias_varies_more(run: RunTables) -> Ruling:
    """Equal-mass debias varies more than the equal-mass sweep.

    published: higher variance; no number
    rule: Standard deviation over data sets of ece_debias_em divided by that of ece_sweep_em, as
    geometric means: with {N_BINS} bins over ten models × seven n, and with each of six numbers of
    bins over the heat maps' three models × six n. Reproduced if all seven are above 1 by {CLEAR:g}
    standard errors, approximate if that with {N_BINS} bins is. The ratio at each n is shown too.
    errors: ± one standard error (normal approximation, an upper bound over correlations)
    """
    realistic = with_se(run.bias("realistic", PAIR))
    usual, by_n = ratios_by("n_bins", realistic), ratios_by("n_samples", realistic)
    by_bins = ratios_by("n_bins", with_se(run.bias("heatmaps", PAIR, *MAPS)))
    cases = {f"{b} bins:": statistics for b, statistics in usual.items()}
    cases |= {f"{N_BINS} bins, n = {n}:": statistics for n, statistics in by_n.items()}
    cases |= {f"heat maps, {b} bins:": statistics for b, statistics in by_bins.items()}
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
    return Ruling(verdict, measurements, notes=notes, reason=reason)


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


@claim("R15", "App B.2", "bias", FIGURES, experiment="heatmaps")
def falls_with_n_not_with_bins(run: RunTables) -> Ruling:
    """The variance falls with the sample size and does not depend clearly on the number of bins.

    published: no clear dependence; no number
    rule: Heat maps of the standard deviation of bin and debias, ew and em, three models: 12 maps ×
    six n × six numbers of bins. From one n to the next it falls: {CONSISTENTLY}. Its dependence on
    the number of bins is judged at each n of each map, 72 cells. {DEPENDS}. The worse of the two
    verdicts counts.
    errors: standard error of a standard deviation (normal approximation)
    """
    rows = with_se(run.bias("heatmaps", FIXED_BINS, *MAPS))
    falls, factor = falls_with_n(rows)
    factors = factors_within(rows)
    clear, over = factors[factors["clear"]], factors["factor"]
    along_n = f"fall from n = {HEATMAP_SIZES[0]} to {HEATMAP_SIZES[-1]}, factor"
    along_bins = f"change over {HEATMAP_BINS[0]} … {HEATMAP_BINS[-1]} bins, factor"
    changes = {"least": over.min(), "greatest": over.max(), "median": over.median()}
    measurements = [
        Measurement(f"steps of n of {falls.total} in which it falls clearly", falls.agree),
        Measurement(f"cells of {len(factors)} that depend clearly on the bins", len(clear)),
        Measurement("share of these cells", 100 * len(clear) / len(factors), "percent"),
        Measurement(along_n, factor),
        *by_case(along_bins, changes),
        *by_case("change over the bins, median factor", _medians(factors)),
    ]
    reason = (
        f"clear dependence on the bins in {len(clear)} of {len(factors)} cells, those of "
        f"{_dependent(clear)}"
    )
    notes = []
    for (model, estimator), cells in clear.groupby(level=["scenario", "estimator"], sort=False):
        worst = cells.loc[cells["factor"].idxmax()]
        notes.append(
            f"{model} {estimator} depends on the number of bins at {len(cells)} of "
            f"{len(HEATMAP_SIZES)} n (up to {worst['factor']:.2f}×, largest with "
            f"{worst['at']} bins)"
        )
    verdict = Verdict.worst([falls.verdict(), flat(factors)])
    return Ruling(verdict, measurements, "", notes, rows["se"].max(), reason=reason)


def falls_with_n(rows: pd.DataFrame) -> tuple[CellCounts, float]:
    """Return the steps of n in which the spread falls, and the mean factor over all of them."""
    keys = ["scenario", "estimator", "n_bins"]
    wide, se = (rows.pivot(index=keys, columns="n_samples", values=v) for v in ("sd_percent", "se"))
    wide, se = wide.to_numpy(), se.to_numpy()
    falls = count_cells(-np.diff(wide).ravel(), (se[:, :-1] + se[:, 1:]).ravel())
    return falls, float(np.exp(np.mean(np.log(wide[:, 0] / wide[:, -1]))))


def insensitive_to(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return factors_within over the estimators (16 bins), and over their numbers of bins."""
    usual = rows[rows["n_bins"].isin((16, CHOSEN))]
    return {
        "technique": factors_within(usual, "estimator", ("scenario", "n_samples")),
        "number of bins": factors_within(rows[rows["n_bins"] > 0]),
    }


def factors_within(
    rows: pd.DataFrame, along: str = "n_bins", keys: Sequence[str] = KEYS
) -> pd.DataFrame:
    """Return by ``keys`` the largest over the least spread ``along``, where, and if ``clear``."""
    factors = {}
    for cell, group in rows.groupby([*keys], sort=False):
        spread, error = group["sd_percent"], group["se"] / group["sd_percent"]
        high, low = spread.idxmax(), spread.idxmin()
        factor = spread[high] / spread[low]
        clear = factor > FLAT and np.log(factor) > SEARCHED * (error[high] + error[low])
        factors[cell] = {"factor": factor, "at": group[along][high], "clear": clear}
    table = pd.DataFrame.from_dict(factors, orient="index")
    return table.rename_axis([*keys])


def flat(factors: pd.DataFrame) -> Verdict:
    """Return the verdict of DEPENDS on what factors_within returns."""
    share = factors["clear"].mean()
    return Verdict.of(share <= RARE, share <= FEW)


def _medians(factors: pd.DataFrame) -> dict[str, float]:
    """Return {estimator: the median factor of its cells}."""
    return dict(factors["factor"].groupby(level="estimator", sort=False).median())


def _dependent(clear: pd.DataFrame) -> str:
    """Return the estimators of cells that depend on the bins, in words."""
    names = clear.index.get_level_values("estimator").unique()
    return ", ".join(name.removeprefix("ece_") for name in names) or "no estimator"


@claim("R27", "§4", "bias", FIGURES, experiment="heatmaps")
def variance_is_insensitive(run: RunTables) -> Ruling:
    """The variance is relatively insensitive to the estimation technique and number of bins.

    published: no number
    rule: Standard deviations of the heat maps, by cell: over the six binned estimators (16 bins,
    and those that the sweep chooses) of a model and n, 18 cells; over the numbers of bins of one
    estimator, 72 cells. A dependence is judged as in R15. {DEPENDS}. The worse of the two verdicts
    counts. The change over n, which is to be large, is shown too.
    errors: standard error of a standard deviation (normal approximation)
    """
    rows = with_se(run.bias("heatmaps", BINNED, *MAPS))
    factors = insensitive_to(rows)
    over_n = factors_within(rows, "n_samples", ("scenario", "estimator", "n_bins"))
    name = "cells that depend clearly, percent"
    measurements = [
        *by_case(name, {over: 100 * cells["clear"].mean() for over, cells in factors.items()}),
        *by_case("median factor", {over: x["factor"].median() for over, x in factors.items()}),
        *by_case("median factor over the bins", _medians(factors["number of bins"])),
        Measurement("median factor over n from 200 to 6400", over_n["factor"].median()),
    ]
    technique, bins = (x["clear"] for x in factors.values())
    reason = (
        f"dependence on the bins in {bins.sum()} of {len(bins)} cells "
        f"({_dependent(factors['number of bins'].query('clear'))}), on the technique in "
        f"{technique.sum()} of {len(technique)}"
    )
    verdict = Verdict.worst(flat(cells) for cells in factors.values())
    return Ruling(verdict, measurements, largest_error=rows["se"].max(), reason=reason)


def with_se(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows of table ``bias`` with ``se``, the standard error of sd_percent."""
    return rows.assign(se=rows["sd_percent"] / np.sqrt(2 * (rows["n_replicates"] - 1)))
