"""N16 to N18: detecting the miscalibration of trained networks of known truth (section 7.2)."""

import numpy as np
import pandas as pd

from networks.over_networks import (
    OverNetworks,
    Sample,
    mean_by_network,
    measured,
    on_networks,
)
from pipeline.claims.run_tables import RunTables
from pipeline.claims.verdicts import NotJudged, Ruling, Verdict, by_case
from pipeline.detection_limits import TARGETS, crossing, without_infinities
from reproduction.claims import section_7_2

FIGURE = "trained_networks_detection"
RESAMPLES = 200
NETWORKS = "networks of known truth, as they are and after temperature scaling"
RANGES = "in brackets 95 % ranges over resampled networks"


def tested(sample: Sample) -> pd.DataFrame:
    """Return miss rates of both estimators, a row a population and n, with its true error."""
    rows = sample.table("network_bias").dropna(subset="miss_rate")
    if rows.empty:
        raise NotJudged("table network_bias has no rates of tests")
    keys = ["scenario", "law", "tce_percent", "n_samples", "n_replicates"]
    return rows.pivot(index=keys, columns="estimator", values="miss_rate").reset_index()


@on_networks(section_7_2.sweep_misses_less, "network_bias", FIGURE)
def sweep_misses_less(sample: Sample) -> Ruling:
    """rule: Miss rate of ece_bin_ew minus that of ece_sweep_em on {NETWORKS}, at each n where their
    mean is within {section_7_2.UNDECIDED[0]:g} … {section_7_2.UNDECIDED[1]:g}, a network's mean:
    reproduced if above 0 by {TESTED}, and the area between the curves of miss rate over true error,
    averaged over n, is larger below {section_7_2.MANY} samples; approximate if only the first.
    """
    rows = tested(sample)
    usual, best = section_7_2.PAIR
    rows = rows.assign(gain=rows[usual] - rows[best])
    is_open = ((rows[usual] + rows[best]) / 2).between(*section_7_2.UNDECIDED)
    overall = OverNetworks.of(mean_by_network(rows[is_open], 100 * rows["gain"][is_open]))
    names = rows["scenario"].unique()
    areas = np.array([_areas(rows[rows["scenario"].isin(x)]) for x in _resampled(names)])
    few, many = _areas(rows)
    parts = {"below 10 000 samples:": few, "from there:": many}
    errors = dict(zip(parts, areas.std(axis=0), strict=True))
    measurements = [
        *measured("ECE_bin misses more often than the sweep", {"all n:": overall}),
        *by_case(
            "mean gap between the curves of miss rate over true error",
            {x: (value, float(errors[x])) for x, value in parts.items()},
            "points of error",
        ),
    ]
    verdict = Verdict.of(overall.positive and few > many, overall.positive)
    reason = (
        f"ECE_bin misses {overall} points more often, area {few:.2f} below 10 000 samples, "
        f"{many:.2f} from there"
    )
    return Ruling(verdict, measurements, reason=reason)


def _areas(rows: pd.DataFrame) -> tuple[float, float]:
    """Return the area between the curves, a mean over n below MANY and one over the others."""
    areas = {n: _area(at_n) for n, at_n in rows.groupby("n_samples")}
    few, many = (
        np.mean([x for n, x in areas.items() if (n < section_7_2.MANY) == is_few])
        for is_few in (True, False)
    )
    return float(few), float(many)


def _area(rows: pd.DataFrame) -> float:
    """Return the integral of the gain over true error in percent, by trapezoids."""
    gain, error = rows.sort_values("tce_percent")[["gain", "tce_percent"]].to_numpy().T
    return float(np.sum(np.diff(error) * (gain[1:] + gain[:-1])) / 2)


def _resampled(names: np.ndarray) -> list[np.ndarray]:
    """Return the networks of each resample, drawn with replacement."""
    draws = np.random.default_rng(0).integers(len(names), size=(RESAMPLES, len(names)))
    return [np.unique(names[x]) for x in draws]


def _limits(sample: Sample, *sizes: int) -> RunTables:
    """Return table ``detection_limits`` at these n, over networks."""
    limits = []
    for n in sizes:
        rows = tested(sample)
        rows = rows[rows["n_samples"] == n].sort_values("tce_percent")
        if rows.empty:
            raise NotJudged(f"table network_bias has no tests at n = {n}")
        names = rows["scenario"].unique()
        rng = np.random.default_rng(0)
        draws = rng.multinomial(len(names), np.full(len(names), 1 / len(names)), size=RESAMPLES)
        m = rows["n_replicates"].to_numpy(float)
        weights = m * pd.DataFrame(draws, columns=names)[rows["scenario"]].to_numpy()
        for estimator in section_7_2.PAIR:
            tce, rate = rows["tce_percent"].to_numpy(), rows[estimator].to_numpy()
            for target in TARGETS:
                drawn = [crossing(tce[w > 0], rate[w > 0], w[w > 0], target) for w in weights]
                low, high = np.quantile(drawn, (0.025, 0.975), method="nearest").tolist()
                ends = without_infinities(crossing(tce, rate, m, target), low, high, tce)
                limits.append((estimator, n, target, *ends))
    columns = ["estimator", "n_samples", "target_miss_rate"]
    columns += ["tce_percent", "tce_low_percent", "tce_high_percent"]
    return RunTables({"detection_limits": pd.DataFrame(limits, columns=columns)})


@on_networks(section_7_2.two_percent_needs_many, "network_bias", FIGURE)
def two_percent_needs_many(sample: Sample) -> Ruling:
    """rule: R17's, on the true errors at which the miss rate, made nonincreasing over {NETWORKS},
    falls to its three rates: {section_7_2.two_percent_needs_many.rule}
    errors: {RANGES}
    """
    return section_7_2.two_percent_needs_many.judge(_limits(sample, section_7_2.MANY))


@on_networks(section_7_2.ten_percent_below_500, "network_bias", FIGURE)
def ten_percent_below_500(sample: Sample) -> Ruling:
    """rule: R18's, on the true errors of N17: {section_7_2.ten_percent_below_500.rule}
    errors: {RANGES}
    """
    return section_7_2.ten_percent_below_500.judge(_limits(sample, 200, 500))
