"""N16 to N18: detecting the miscalibration of trained networks of known truth (section 7.2)."""

import itertools

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
from pipeline.claims.verdicts import Measurement, Ruling, Verdict
from pipeline.detection_limits import TARGETS, crossing, without_infinities
from pipeline.paper import DETECTABLE_PERCENT, MODEL_SIZES
from reproduction.claims import section_7_2

FIGURE = "trained_networks_detection"
RESAMPLES = 200
NETWORKS = "networks of known truth, as they are and after temperature scaling"
RANGES = "in brackets 95 % ranges over resampled networks"


def tested(sample: Sample) -> pd.DataFrame:
    """Return miss rates of both estimators, a row a population and n, with its true error."""
    rows = sample.table("network_bias").dropna(subset="miss_rate")
    keys = ["scenario", "law", "tce_percent", "n_samples", "n_replicates"]
    return rows.pivot(index=keys, columns="estimator", values="miss_rate").reset_index()


@on_networks(section_7_2.sweep_misses_less, "network_bias", FIGURE)
def sweep_misses_less(sample: Sample) -> Ruling:
    """rule: Miss rate of ece_bin_ew minus that of ece_sweep_em on {NETWORKS}, at each n where their
    mean is within {section_7_2.UNDECIDED[0]:g} … {section_7_2.UNDECIDED[1]:g}, a network's mean:
    reproduced if above 0 by {TESTED} and larger below {section_7_2.MANY} samples than above,
    approximate if only above 0.
    """
    rows = tested(sample)
    usual, best = section_7_2.PAIR
    rows = rows[((rows[usual] + rows[best]) / 2).between(*section_7_2.UNDECIDED)]
    gain = 100 * (rows[usual] - rows[best])
    overall = OverNetworks.of(mean_by_network(rows, gain))
    is_few = rows["n_samples"] < section_7_2.MANY
    few, many = (OverNetworks.of(mean_by_network(rows[x], gain[x])) for x in (is_few, ~is_few))
    verdict = Verdict.of(overall.positive and few.mean > many.mean, overall.positive)
    cases = {"all n:": overall, "below 10 000 samples:": few, "above:": many}
    measurements = measured("ECE_bin misses more often than the sweep", cases)
    reason = f"ECE_bin misses {overall} points more often, {few} below 10 000 samples"
    return Ruling(verdict, measurements, reason=reason)


def _limits(sample: Sample, n: int) -> list[Measurement]:
    """Return the TCE that n samples detect, as ``section_7_2.detectable``, over networks."""
    rows = tested(sample)
    rows = rows[rows["n_samples"] == n].sort_values("tce_percent")
    names = rows["scenario"].unique()
    rng = np.random.default_rng(0)
    draws = rng.multinomial(len(names), np.full(len(names), 1 / len(names)), size=RESAMPLES)
    m = rows["n_replicates"].to_numpy(float)
    weights = m * pd.DataFrame(draws, columns=names)[rows["scenario"]].to_numpy()
    limits = []
    for estimator in section_7_2.PAIR:
        tce, rate = rows["tce_percent"].to_numpy(), rows[estimator].to_numpy()
        for target in TARGETS:
            drawn = [crossing(tce[w > 0], rate[w > 0], w[w > 0], target) for w in weights]
            low, high = np.quantile(drawn, (0.025, 0.975), method="nearest").tolist()
            ends = without_infinities(crossing(tce, rate, m, target), low, high, tce)
            limits.append((estimator, n, target, *ends))
    columns = ["estimator", "n_samples", "target_miss_rate"]
    columns += ["tce_percent", "tce_low_percent", "tce_high_percent"]
    table = RunTables({"detection_limits": pd.DataFrame(limits, columns=columns)})
    return section_7_2.detectable(table, n, TARGETS)


def _above(sample: Sample, percent: float, n: int, loose_n: int) -> Ruling:
    """Return the ruling that all ranges are above a TCE: at n samples, approximate at loose_n."""
    limits = {size: _limits(sample, size) for size in sorted((n, loose_n))}
    holds = {size: all(x.low > percent for x in each) for size, each in limits.items()}
    least = min(limits[n], key=lambda x: x.low)
    reason = f"{n} samples detect {least.value:.2g} % ({least.case})"
    measurements = [*itertools.chain.from_iterable(limits.values())]
    return Ruling(Verdict.of(holds[n], holds[loose_n]), measurements, reason=reason)


@on_networks(section_7_2.two_percent_needs_many, "network_bias", FIGURE)
def two_percent_needs_many(sample: Sample) -> Ruling:
    """rule: True error at which the miss rate, made nonincreasing over {NETWORKS}, falls to the
    three rates of R17, for both estimators. Reproduced if all six ranges are above 2 % at
    {MODEL_SIZES[6]} samples, approximate if at {MODEL_SIZES[5]}.
    errors: {RANGES}
    """
    return _above(sample, DETECTABLE_PERCENT[section_7_2.MANY], MODEL_SIZES[6], MODEL_SIZES[5])


@on_networks(section_7_2.ten_percent_below_500, "network_bias", FIGURE)
def ten_percent_below_500(sample: Sample) -> Ruling:
    """rule: As for N17: reproduced if all six ranges are above 10 % at {MODEL_SIZES[1]} samples,
    approximate if at {MODEL_SIZES[0]}.
    errors: {RANGES}
    """
    return _above(sample, DETECTABLE_PERCENT[500], MODEL_SIZES[1], MODEL_SIZES[0])
