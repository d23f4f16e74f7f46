"""R14 and R15: the spread of the estimates (appendix B.2, Figures 10 to 12)."""

import numpy as np
import pandas as pd

from calbias.claims.evidence import BINS, HEATMAP_MODELS, HEATMAP_SIZES, PAPER_BINS
from calbias.claims.judgement import (
    CLEAR,
    REPRODUCED,
    SEARCHED,
    Judgement,
    Rule,
    verdict_of,
    worst_of,
)
from calbias.claims.tallies import CONSISTENTLY, FEW, RARE, Tally, error_of_mean, tally

FIXED_BINS = ("ece_bin_ew", "ece_bin_em", "ece_debias_ew", "ece_debias_em")
FLAT = 1.5  # factor by which the spread may change with the number of bins


def debias_varies_more(evidence):
    """R14: standard deviation of debias_em at each number of bins, and each n, against sweep_em."""
    names = ("ece_debias_em", "ece_sweep_em")
    realistic = with_se(evidence.bias("realistic", names))
    usual, by_n = ratios_by("n_bins", realistic), ratios_by("n_samples", realistic)
    by_bins = ratios_by("n_bins", spreads(evidence, names))
    above = {b: np.log(r) > CLEAR * se for b, (r, se, _) in {**by_bins, **usual}.items()}
    cells = Tally(*(sum(t[k] for _, _, t in by_bins.values()) for k in range(3)))
    ratio, error, _ = usual[PAPER_BINS]
    return Judgement(
        verdict_of(all(above.values()), above[PAPER_BINS]),
        f"standard deviation, debias_em / sweep_em: {ratio:.3f} ± {ratio * error:.3f} with "
        f"{PAPER_BINS} bins; {PAPER_BINS} bins by n: {ratio_words(by_n)}; heat maps by bins: "
        f"{ratio_words(by_bins)}; heat maps cell by cell larger {cells.words()}",
        "± one standard error (normal approximation, whatever the correlation); of a ratio by n or "
        f"by bins ≤ {max(r * se for r, se, _ in (*by_bins.values(), *by_n.values())):.3f}",
        evidence.source("heatmaps", HEATMAP_MODELS),
        where_not_above(above, by_n),
    )


def ratios_by(key, rows):
    """Return {value of column ``key``: (geometric mean of sd ratios, standard error of its
    logarithm, Tally of cells)} of ece_debias_em over ece_sweep_em, over all other columns."""
    keys = ["scenario", "n_samples"]
    sweep = rows[rows["estimator"] == "ece_sweep_em"].set_index(keys)
    debias = rows[rows["estimator"] == "ece_debias_em"]
    both = debias.join(sweep[["sd_percent", "se"]].add_suffix("_sweep"), on=keys)
    result = {}
    for value, cells in both.groupby(key):
        log_ratio = np.log(cells["sd_percent"] / cells["sd_percent_sweep"])
        errors = cells["se"] / cells["sd_percent"] + cells["se_sweep"] / cells["sd_percent_sweep"]
        ratio, error = float(np.exp(log_ratio.mean())), error_of_mean(errors)
        result[int(value)] = (ratio, error, tally(log_ratio, errors))
    return result


def ratio_words(ratios):
    """Return ratios by their key as text."""
    return ", ".join(f"{key}: {ratio:.3f}" for key, (ratio, _, _) in ratios.items())


def where_not_above(above, by_n):
    """Return a note on the numbers of bins and the n without a clearly larger spread."""
    notes = []
    fewer = [str(b) for b, clear in above.items() if not clear]
    if fewer:
        notes.append(f"debias_em does not vary clearly more with {', '.join(fewer)} bins")
    logs = {n: np.log(ratio) / error for n, (ratio, error, _) in by_n.items()}
    more, less = ([str(n) for n, x in logs.items() if s * x > CLEAR] for s in (1, -1))
    if len(more) < len(logs):
        notes.append(
            f"with {PAPER_BINS} bins it varies clearly more at n = {', '.join(more) or 'none'}, "
            f"clearly less at n = {', '.join(less) or 'none'}; the ratio goes from "
            f"{next(iter(by_n.values()))[0]:.3f} at the smallest n to "
            f"{list(by_n.values())[-1][0]:.3f} at the largest"
        )
    return "; ".join(notes)


def falls_with_n_not_with_bins(evidence):
    """R15: the standard deviation along n, and at each n along the number of bins."""
    rows = spreads(evidence, FIXED_BINS)
    falls, decay = falls_with_n(rows)
    factors = factors_over_bins(rows)
    clear = factors[factors["clear"]]
    share = len(clear) / len(factors)
    return Judgement(
        worst_of([falls.verdict(), verdict_of(share <= RARE, share <= FEW)]),
        f"falls clearly in {falls.wins} of {falls.cells} steps of n, depends clearly on the number "
        f"of bins in {len(clear)} of {len(factors)} cells ({share:.0%}); from n = "
        f"{HEATMAP_SIZES[0]} to {HEATMAP_SIZES[-1]} it falls by a factor {decay:.2f}; over "
        f"{BINS[0]} … {BINS[-1]} bins it changes by a factor {factors['factor'].min():.2f} to "
        f"{factors['factor'].max():.2f}, median {factors['factor'].median():.2f}",
        f"standard error of a standard deviation (normal approximation) ≤ {rows['se'].max():.3f} "
        "percentage points",
        evidence.source("heatmaps", HEATMAP_MODELS),
        depends_words(falls, clear),
    )


def falls_with_n(rows):
    """Return the Tally of falls of the spread from one n to the next, and the geometric mean of the
    factor by which it falls from the first to the last."""
    keys = ["scenario", "estimator", "n_bins"]
    wide, se = (rows.pivot(index=keys, columns="n_samples", values=v) for v in ("sd_percent", "se"))
    wide, se = wide.to_numpy(), se.to_numpy()
    falls = tally(-np.diff(wide).ravel(), (se[:, :-1] + se[:, 1:]).ravel())
    return falls, float(np.exp(np.mean(np.log(wide[:, 0] / wide[:, -1]))))


def factors_over_bins(rows):
    """Return a DataFrame by (scenario, estimator, n_samples): ``factor``, the largest over the
    smallest spread among the numbers of bins, ``n_bins`` of the largest, whether it is ``clear``.
    """
    found = {}
    for cell, bins in rows.groupby(["scenario", "estimator", "n_samples"], sort=False):
        high = bins.loc[bins["sd_percent"].idxmax()]
        low = bins.loc[bins["sd_percent"].idxmin()]
        factor = high["sd_percent"] / low["sd_percent"]
        error = high["se"] / high["sd_percent"] + low["se"] / low["sd_percent"]
        clear = factor > FLAT and np.log(factor) > SEARCHED * error
        found[cell] = {"factor": factor, "n_bins": int(high["n_bins"]), "clear": clear}
    return pd.DataFrame.from_dict(found, orient="index")


def depends_words(falls, clear):
    """Return a note that names the heat maps whose spread depends clearly on the bins."""
    if clear.empty:
        return ""
    words = ["that it falls with n holds"] if falls.verdict() == REPRODUCED else []
    for (model, estimator), cells in clear.groupby(level=[0, 1], sort=False):
        worst = cells.loc[cells["factor"].idxmax()]
        words.append(
            f"{model} {estimator} depends on the number of bins at {len(cells)} of "
            f"{len(HEATMAP_SIZES)} n (up to {worst['factor']:.2f}×, largest with "
            f"{worst['n_bins']} bins)"
        )
    return "; ".join(words)


def spreads(evidence, estimators):
    """Return the heat maps' rows with ``se``, the standard error of sd_percent."""
    return with_se(evidence.bias("heatmaps", estimators, HEATMAP_SIZES, HEATMAP_MODELS, BINS))


def with_se(rows):
    """Return rows of table ``bias`` with ``se``, the standard error of sd_percent."""
    return rows.assign(se=rows["sd_percent"] / np.sqrt(2 * (rows["n_replicates"] - 1)))


RULES = {
    "R14": Rule(
        "Standard deviation over data sets of ece_debias_em divided by that of ece_sweep_em, as "
        f"geometric means: with {PAPER_BINS} bins over ten models × seven n, and with each of six "
        "numbers of bins over the heat maps' three models × six n. Reproduced if all seven are "
        f"above 1 by {CLEAR:g} standard errors, approximate if that with {PAPER_BINS} bins is. The "
        "ratio at each n is shown beside it.",
        debias_varies_more,
    ),
    "R15": Rule(
        "Heat maps of the standard deviation of bin and debias, ew and em, three models: 12 maps × "
        f"six n × six numbers of bins. From one n to the next it falls: {CONSISTENTLY}. Its "
        "dependence on the number of bins is judged at each n of each map, 72 cells, and is clear "
        "where the largest standard deviation over the numbers of bins is more than "
        f"{FLAT:g} times the smallest ({FLAT**2:g} times in variance) and above it by "
        f"{SEARCHED:g} standard errors: reproduced if that is so in at most {RARE:.0%} of these "
        f"cells, approximate in at most {FEW:.0%}. The worse of the two verdicts counts.",
        falls_with_n_not_with_bins,
    ),
}
