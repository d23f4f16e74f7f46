"""R14, R15, R27: the spread of the estimates (section 4, appendix B.2, Figures 10 to 12)."""

from collections.abc import Hashable, Mapping, Sequence

import numpy as np
import pandas as pd

from calbias.estimation.registry import CHOSEN
from pipeline.claims.claim import claim
from pipeline.claims.run_tables import RunTables
from pipeline.claims.verdicts import CLEAR, RARE, Measurement, Ruling, Verdict, by_case
from pipeline.paper import BINNED, HEATMAP_BINS, HEATMAP_MODELS, HEATMAP_SIZES, N_BINS
from reproduction.bias import error_of_mean
from reproduction.claims.compared_biases import (
    CellCounts,
    cell_measurements,
    count_cells,
    wide,
)

PAIR = ("ece_debias_em", "ece_sweep_em")
MAPS = HEATMAP_SIZES, HEATMAP_MODELS, HEATMAP_BINS
FIXED_BINS = ("ece_bin_ew", "ece_bin_em", "ece_debias_ew", "ece_debias_em")
FLAT = 1.5  # factor by which a spread may change that does not depend clearly on something
FLAT_VARIANCE = FLAT**2
RELATIVE = 0.1  # of what n explains, where a spread is relatively insensitive
KEYS = ("scenario", "estimator", "n_samples")
FIGURES = "fig10_sd_resnet110_c10 fig11_sd_resnet_wide32_c100 fig12_sd_resnet152_imgnet"


@claim("R14", "App B", "bias correlations", FIGURES, experiment="heatmaps")
def debias_varies_more(run: RunTables) -> Ruling:
    """Equal-mass debias varies more than the equal-mass sweep.

    published: higher variance; no number
    rule: Standard deviation over data sets of ece_debias_em divided by that of ece_sweep_em, as
    geometric means: with {N_BINS} bins over ten models × seven n, and with each of six numbers of
    bins over the heat maps' three models × six n. Reproduced if all seven are above 1 by {CLEAR:g}
    standard errors, approximate if that with {N_BINS} bins is. The ratio at each n is shown too.
    errors: ± one standard error of a ratio on the same data sets (normal approximation)
    """
    ratios_at, errors = log_ratios(run, run.bias("realistic", PAIR), *PAIR)
    usual = {N_BINS: mean_ratio(ratios_at, errors)}
    by_n = {
        int(n): mean_ratio(at_n, errors[at_n.index]) for n, at_n in ratios_at.groupby("n_samples")
    }
    maps, sweep = run.bias("heatmaps", PAIR, *MAPS), (PAIR[1], CHOSEN)
    by_bins = {b: mean_ratio(*log_ratios(run, maps, (PAIR[0], b), sweep)) for b in HEATMAP_BINS}
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


def log_ratios(
    run: RunTables, rows: pd.DataFrame, a: Hashable, b: Hashable
) -> tuple[pd.Series, pd.Series]:
    """Return the log of the standard deviation of a over that of b by cell, and its errors.

    Of two normal samples with correlation r the squares have the correlation r².
    """
    (sd,), correlation = wide(run, rows, ["sd_percent"])
    i, j = (sd.columns.get_loc(name) for name in (a, b))
    unshared = 1 - correlation[:, i, j] ** 2
    error = np.sqrt(unshared.clip(0) / (rows["n_replicates"].min() - 1))
    return np.log(sd[a] / sd[b]), pd.Series(error, sd.index)


def mean_ratio(logs: pd.Series, errors: pd.Series) -> tuple[float, float, CellCounts]:
    """Return the geometric mean of ratios, the error of its log, and the CellCounts."""
    return float(np.exp(logs.mean())), float(error_of_mean(errors)), count_cells(logs, errors)


@claim("R15", "App B.2", "bias", FIGURES, experiment="heatmaps")
def falls_with_n_not_with_bins(run: RunTables) -> Ruling:
    """The variance falls with the sample size and does not depend clearly on the number of bins.

    published: no clear dependence; no number
    rule: Heat maps of the standard deviation of bin and debias, ew and em, three models: 12 maps ×
    six n × six numbers of bins. Two conditions. From one n to the next it falls: {MOSTLY}. At each
    n of each map, 72 cells, the largest standard deviation is at most {FLAT:g} times the smallest
    ({FLAT_VARIANCE:g} times in variance), but for {RARE:.0%} of the cells. Reproduced if both hold,
    approximate if one does.
    errors: standard error of a standard deviation (normal approximation)
    """
    rows = with_se(run.bias("heatmaps", FIXED_BINS, *MAPS))
    falls, factor = falls_with_n(rows)
    factors = factors_within(rows)
    above, over = factors[factors["factor"] > FLAT], factors["factor"]
    along_n = f"fall from n = {HEATMAP_SIZES[0]} to {HEATMAP_SIZES[-1]}, factor"
    along_bins = f"change over {HEATMAP_BINS[0]} … {HEATMAP_BINS[-1]} bins, factor"
    changes = {"least": over.min(), "greatest": over.max(), "median": over.median()}
    measurements = [
        Measurement(f"steps of n of {falls.total} in which it falls clearly", falls.agree),
        Measurement(f"cells of {len(factors)} that depend clearly on the bins", len(above)),
        Measurement("share of these cells", 100 * len(above) / len(factors), "percent"),
        Measurement(along_n, factor),
        *by_case(along_bins, changes),
        *by_case("change over the bins, median factor", _medians(factors)),
    ]
    reason = (
        f"it falls with n in {falls.agree} of {falls.total} steps, and depends on the bins in "
        f"{len(above)} of {len(factors)} cells"
    )
    notes = []
    for (model, estimator), cells in above.groupby(level=["scenario", "estimator"], sort=False):
        worst = cells.loc[cells["factor"].idxmax()]
        notes.append(
            f"{model} {estimator} depends on the number of bins at {len(cells)} of "
            f"{len(HEATMAP_SIZES)} n (up to {worst['factor']:.2f}×, largest with "
            f"{worst['at']:.0f} bins)"
        )
    verdict = Verdict.all_or_some([falls.verdict() == Verdict.REPRODUCED, flat(factors)])
    return Ruling(verdict, measurements, "", notes, rows["se"].max(), reason=reason)


def falls_with_n(rows: pd.DataFrame) -> tuple[CellCounts, float]:
    """Return the steps of n in which the spread falls, and the mean factor over all of them."""
    keys = ["scenario", "estimator", "n_bins"]
    by_n, se = (rows.pivot(index=keys, columns="n_samples", values=v) for v in ("sd_percent", "se"))
    by_n, se = by_n.to_numpy(), se.to_numpy()
    falls = count_cells(-np.diff(by_n).ravel(), np.hypot(se[:, :-1], se[:, 1:]).ravel())
    return falls, float(np.exp(np.mean(np.log(by_n[:, 0] / by_n[:, -1]))))


def factors_within(
    rows: pd.DataFrame, along: str = "n_bins", keys: Sequence[str] = KEYS
) -> pd.DataFrame:
    """Return by ``keys`` the largest over the least spread ``along``, and where it is largest."""
    factors = {}
    for cell, group in rows.groupby([*keys], sort=False):
        spread = group["sd_percent"]
        high = spread.idxmax()
        factors[cell] = {"factor": spread[high] / spread.min(), "at": group[along][high]}
    return pd.DataFrame.from_dict(factors, orient="index").rename_axis([*keys])


def flat(factors: pd.DataFrame) -> bool:
    """Return whether few of the factors of factors_within are above FLAT."""
    return bool((factors["factor"] > FLAT).mean() <= RARE)


def _medians(factors: pd.DataFrame) -> dict[str, float]:
    """Return {estimator: the median factor of its cells}."""
    return dict(factors["factor"].groupby(level="estimator", sort=False).median())


@claim("R27", "§4", "bias", FIGURES, experiment="heatmaps")
def variance_is_insensitive(run: RunTables) -> Ruling:
    """The variance is relatively insensitive to the estimation technique and number of bins.

    published: relatively; no number
    rule: Log standard deviations of bin and debias, ew and em, in the heat maps: three models × six
    n × six numbers of bins. Shares of their variance, within a model, that n, the number of bins
    and the technique explain (main effects; the grid is balanced). 'Relatively' is next to n, whose
    effect is the third that Appendix B.2 shows: reproduced if the bins and the technique each
    explain at most {RELATIVE:.0%} of what n explains, approximate if each explains less than n.
    errors: standard error of a standard deviation (normal approximation)
    """
    rows = with_se(run.bias("heatmaps", FIXED_BINS, *MAPS))
    shares = explained(rows)
    everyone = with_se(run.bias("heatmaps", BINNED, *MAPS))
    usual = everyone[everyone["n_bins"].isin((16, CHOSEN))]
    factors = {
        "technique": factors_within(usual, "estimator", ("scenario", "n_samples")),
        "number of bins": factors_within(rows),
        "n, 200 to 6400": factors_within(rows, "n_samples", ("scenario", "estimator", "n_bins")),
    }
    measurements = [
        *by_case("share of the variance of log sd", {k: 100 * x for k, x in shares.items()},
                 "percent"),
        *by_case("median factor over", {over: x["factor"].median() for over, x in factors.items()}),
        *by_case("median factor over the bins", _medians(factors["number of bins"])),
    ]  # fmt: skip
    words = [f"{name} {100 * share:.1f} %" for name, share in shares.items()]
    reason = f"of the variance of log sd, explained by {', '.join(words)}"
    return Ruling(insensitive(shares), measurements, largest_error=rows["se"].max(), reason=reason)


def explained(rows: pd.DataFrame) -> dict[str, float]:
    """Return the fractions of the variance of log sd, within models, that main effects explain."""
    logs = np.log(rows["sd_percent"])
    within = logs - logs.groupby(rows["scenario"]).transform("mean")
    effects = {"n": "n_samples", "number of bins": "n_bins", "technique": "estimator"}
    total = float((within**2).mean())
    return {
        name: float((within.groupby(rows[column]).transform("mean") ** 2).mean()) / (total or 1.0)
        for name, column in effects.items()
    }


def insensitive(shares: Mapping[str, float]) -> Verdict:
    """Return the verdict of R27 on shares of ``explained``, the one of n first."""
    of_n, *others = shares.values()
    return Verdict.of(max(others) <= RELATIVE * of_n, max(others) < of_n)


def with_se(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows of table ``bias`` with ``se``, the standard error of sd_percent."""
    return rows.assign(se=rows["sd_percent"] / np.sqrt(2 * (rows["n_replicates"] - 1)))
