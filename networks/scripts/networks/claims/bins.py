"""N02, N03, N15, N25, N27: numbers of bins, and the spread, on trained networks of known truth."""

import numpy as np
import pandas as pd

from networks.over_networks import (
    MOST,
    OverNetworks,
    Sample,
    by_network,
    measured,
    on_networks,
    share,
)
from pipeline.claims.verdicts import SEARCHED, Measurement, NotJudged, Ruling, Verdict
from pipeline.paper import CALIBRATED_BINS, HEATMAP_BINS, HEATMAP_SIZES
from reproduction.claims import appendix_b, appendix_d, section_4

GRID = f"{len(HEATMAP_SIZES)} n × {len(HEATMAP_BINS)} numbers of bins, {HEATMAP_BINS[0]} to " + str(
    HEATMAP_BINS[-1]
)
SHARES = "± one standard error of a share of networks"


def _grid(sample: Sample, law: str, *estimators: str) -> pd.DataFrame:
    """Return the rows of the heat maps' grid, the sweep's one a n; NotJudged without them."""
    rows = sample.grid(law)
    rows = rows[rows["n_samples"].isin(HEATMAP_SIZES) & rows["estimator"].isin(estimators)]
    rows = rows[rows["n_bins"].isin(HEATMAP_BINS) | rows["estimator"].str.contains("sweep")]
    if rows.empty:
        raise NotJudged(f"table network_bias has no grid of bins of {estimators[0]}")
    return rows


@on_networks(section_4.both_signs_and_turning_point, "network_bias")
def both_signs(sample: Sample) -> Ruling:
    """rule: ECE_bin (equal width), {GRID}, the two conditions of R02 on a network. {BY_NETWORK}.
    errors: {SHARES}
    """
    rows = _grid(sample.above(), "population", "ece_bin_ew")
    by_name = rows.groupby("scenario")
    signs = by_name.apply(section_4.has_both_signs, include_groups=False)
    worse = by_name.apply(_more_bins_are_worse, include_groups=False)
    shares = [share(signs, "bias of both signs"), share(worse, "more bins clearly worse somewhere")]
    verdicts = {name: Verdict.of(x, False) for name, x in (signs & worse).items()}
    return by_network(verdicts, shares)


def _more_bins_are_worse(cells: pd.DataFrame) -> bool:
    """Return whether |bias| at some n clearly exceeds the one of fewer bins, of one estimator.

    The bound of the error holds for any correlation of both.
    """
    cells = cells.assign(size=cells["bias_percent"].abs())
    size, se = (
        cells.pivot(index="n_samples", columns="n_bins", values=name).to_numpy()
        for name in ("size", "bias_se_percent")
    )
    few, many = np.triu_indices(size.shape[1], 1)
    return bool((size[:, many] - size[:, few] > SEARCHED * (se[:, many] + se[:, few])).any())


@on_networks(section_4.best_number_grows, "network_bias")
def best_number_grows(sample: Sample) -> Ruling:
    """rule: ECE_bin, ew and em, {GRID}: a curve passes as in R03. A network is reproduced if both
    curves pass, approximate if one does. {BY_NETWORK}.
    errors: {SHARES}
    """
    names = "ece_bin_ew", "ece_bin_em"
    rows = _grid(sample.above(), "population", *names)
    grow = pd.Series(
        {
            key: section_4.grows(*section_4.best_bins(cells))
            for key, cells in rows.groupby(["estimator", "scenario"])
        }
    ).unstack(0)
    shares = [share(grow[name], f"grows, {name}") for name in names]
    verdicts = {name: Verdict.all_or_some([*row]) for name, row in grow.iterrows()}
    return by_network(verdicts, shares)


@on_networks(appendix_b.falls_with_n_not_with_bins, "network_bias")
def falls_with_n_not_with_bins(sample: Sample) -> Ruling:
    """rule: Standard deviation of bin and debias, ew and em, {GRID}, as in R15. {BY_NETWORK}.
    errors: {SHARES}
    """
    rows = appendix_b.with_se(_grid(sample.above(), "population", *appendix_b.FIXED_BINS))
    verdicts, depends = {}, []
    for name, cells in rows.groupby("scenario"):
        falls, _ = appendix_b.falls_with_n(cells)
        factors = appendix_b.factors_within(cells)
        falling = falls.verdict() == Verdict.REPRODUCED
        verdicts[name] = Verdict.all_or_some([falling, appendix_b.flat(factors)])
        above = factors["factor"] > appendix_b.FLAT
        depends.append(above.groupby(level="estimator").mean())
    shares = _percent(depends, "cells that depend clearly on the bins")
    return by_network(verdicts, shares)


def _percent(rows: list, name: str) -> list[Measurement]:
    """Return the means over networks of shares, a row a network."""
    table = pd.DataFrame(rows)
    return measured(name, {x: OverNetworks.of(100 * table[x]) for x in table}, "percent")


@on_networks(appendix_b.variance_is_insensitive, "network_bias")
def variance_is_insensitive(sample: Sample) -> Ruling:
    """rule: Log standard deviations of bin and debias, ew and em, {GRID}, as in R27. {BY_NETWORK}.
    errors: {SHARES}
    """
    rows = _grid(sample.above(), "population", *appendix_b.FIXED_BINS)
    shares = {name: appendix_b.explained(cells) for name, cells in rows.groupby("scenario")}
    verdicts = {name: appendix_b.insensitive(x) for name, x in shares.items()}
    return by_network(verdicts, _percent([*shares.values()], "share of the variance of log sd"))


@on_networks(appendix_d.near_optimal_unless_calibrated, "network_bias")
def near_optimal_unless_calibrated(sample: Sample) -> Ruling:
    """rule: Equal-mass bins, {GRID}, and the sweep's mean number of bins. Three conditions of R25,
    near-optimal on the truth, and on the same scores, if calibrated, some best number of at most
    {CALIBRATED_BINS} that the sweep overshoots: each holds for a network if it does at five of
    the six n. Reproduced if each holds for at least {MOST:.0%} of the networks, approximate if
    for more than half.
    errors: {SHARES}
    """
    sample, holds = sample.above(), {}
    for name, on_truth in _choices(sample, "population").items():
        holds[name] = {
            "near-optimal on the truth": [x[2] <= appendix_d.SLIGHT_PERCENT for x in on_truth]
        }
    for name, if_calibrated in _choices(sample, "calibrated").items():
        best = [(chosen, numbers) for chosen, numbers, _ in if_calibrated]
        small = [min(numbers) <= CALIBRATED_BINS for _, numbers in best]
        holds[name]["best number small if calibrated"] = small
        holds[name]["overshot if calibrated"] = [appendix_d.overshoots(*x) for x in best]
    table = pd.DataFrame(holds).T.map(lambda x: sum(x) >= len(HEATMAP_SIZES) - 1)
    shares = table.mean()
    verdict = Verdict.of((shares >= MOST).all(), (shares > 0.5).all())
    words = [f"{what} {x:.0%}" for what, x in shares.items()]
    measurements = [share(table[what], what) for what in table]
    return Ruling(verdict, measurements, reason=", ".join(words))


def _choices(sample: Sample, law: str) -> dict[str, list[tuple[float, np.ndarray, float]]]:
    """Return {network: the choice at each n}, as ``appendix_d.choice``."""
    rows = _grid(sample, law, "ece_bin_em", "ece_sweep_em")
    keys, is_sweep = ["scenario", "n_samples"], rows["estimator"] == "ece_sweep_em"
    chosen = rows[is_sweep].set_index(keys)["mean_n_bins_used"].rename("mean_n_bins_sweep")
    rows = rows[~is_sweep].join(chosen, on=keys).sort_values("n_bins")
    rows = rows.assign(
        mean_estimate_percent=rows["bias_percent"] + rows["tce_percent"],
        mean_estimate_se_percent=rows["bias_se_percent"],
    )
    choices: dict[str, list] = {}
    for (name, _), cells in rows.groupby(keys):
        choices.setdefault(name, []).append(appendix_d.choice(cells))
    return choices
