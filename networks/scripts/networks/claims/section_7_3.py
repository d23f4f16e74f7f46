"""N19 to N23: bias where scores of trained networks are calibrated (section 7.3, appendix C)."""

import itertools

from networks.over_networks import (
    MOST,
    OverNetworks,
    Sample,
    advantage,
    means,
    measured,
    on_networks,
)
from pipeline.claims.verdicts import Ruling, Verdict, by_case
from pipeline.paper import BINNED, OFF_PERCENT
from reproduction.bias import PAIR
from reproduction.claims import appendix_c, section_7_3

GOOD, COMMON = section_7_3.GOOD, section_7_3.COMMON
FALLING = appendix_c.FALLING
AROUND_5000, HALF_OFF = [3200, 6400], OFF_PERCENT / 2
IF_CALIBRATED = "Scores of the trained networks, each a true probability"
FIGURE = "trained_networks_calibrated"


@on_networks(section_7_3.kde_then_debias, "network_bias", FIGURE)
def kde_then_debias(sample: Sample) -> Ruling:
    """rule: {IF_CALIBRATED}, mean |bias| over seven n: reproduced if the KDE (with its p-th root)
    is below each binned estimator by {TESTED} and ece_debias_em second, approximate if only the
    KDE has the least mean.
    """
    sizes = sample.sizes("calibrated")
    order = [*sizes.mean().sort_values().index]
    first = order[0] == "kde"
    clear = all(advantage(sizes, "kde", x).positive for x in BINNED)
    verdict = Verdict.of(first and clear and order[1] == PAIR[0], first)
    reason = (
        f"least biased are {order[0]} and {order[1]}, the KDE is number {order.index('kde') + 1}"
    )
    notes = ["repeats R19 on the paper's own scores: the p-th root of the KDE decides both"]
    return Ruling(verdict, means(sizes), notes=notes, reason=reason)


@on_networks(section_7_3.perfect_t_test, "network_bias", FIGURE)
def debias_if_calibrated(sample: Sample) -> Ruling:
    """rule: {IF_CALIBRATED}: reproduced if ece_debias_em has the least mean |bias| of the six
    binned estimators and is below ece_sweep_em by {TESTED}, approximate if only the latter.
    """
    sizes = sample.sizes("calibrated")
    gain = advantage(sizes, *PAIR)
    first = sizes[[*BINNED]].mean().idxmin()
    verdict = Verdict.of(gain.positive and first == PAIR[0], gain.positive)
    measurements = [*means(sizes), *measured("|sweep_em| − |debias_em|", {"": gain})]
    reason = f"least biased is {first}, debias gains {gain} points on the sweep"
    return Ruling(verdict, measurements, reason=reason)


@on_networks(
    section_7_3.both_beat_common_practice,
    "network_bias",
    f"trained_networks trained_networks_bias {FIGURE}",
)
def both_beat_common_practice(sample: Sample) -> Ruling:
    """rule: |bias| of ece_bin_ew and ece_debias_ew minus that of ece_sweep_em and ece_debias_em, on
    networks of known truth above {MISCALIBRATED:g} % and on the scores of all networks if
    calibrated: reproduced if all eight means are above 0 by {TESTED}, not reproduced if one is
    below 0 so, else approximate.
    """
    settings = {"truth": sample.above().sizes(), "calibrated": sample.sizes("calibrated")}
    gains = {
        f"{setting}, {good} over {common}": advantage(sizes, good, common)
        for (setting, sizes), good, common in itertools.product(settings.items(), GOOD, COMMON)
    }
    measurements = measured("gain in |bias|", {f"{case}:": x for case, x in gains.items()})
    reversed_ = [case for case, x in gains.items() if x.negative]
    verdict = Verdict.of(all(x.positive for x in gains.values()), not reversed_)
    clear = sum(x.positive for x in gains.values())
    reason = f"{clear} of {len(gains)} clear, {len(reversed_)} reversed"
    if reversed_:
        reason += f": {reversed_[0]}"
    notes = ["repeats R21: there too the sweep is behind ece_debias_ew if calibrated"]
    return Ruling(verdict, measurements, notes=notes, reason=reason)


@on_networks(appendix_c.greatest_when_calibrated, "network_bias")
def bias_falls(sample: Sample) -> Ruling:
    """rule: For each of seven estimators: the rank correlation (Spearman) over all networks of the
    signed bias with the true error, mean over seven n, is at most {FALLING:g}; and the bias with
    the same scores, if calibrated, is larger than on the truth in at least {MOST:.0%} of the
    networks above {MISCALIBRATED:g} %. Reproduced if both hold for all seven, approximate if for
    most.
    errors: none: correlations and counts over networks
    """
    rows, keys = sample.bias(), ["scenario", "estimator", "n_samples"]
    errors = sample.networks["l2_percent"]
    wide = rows.pivot(index=["estimator", "n_samples"], columns="scenario", values="bias_percent")
    falls = wide.rank(axis=1).T.corrwith(errors.rank()).groupby(level="estimator").mean()
    high = sample.above()
    truth, calibrated = (
        high.bias(law).set_index(keys)["bias_percent"] for law in ("population", "calibrated")
    )
    signed = (calibrated - truth).groupby(level=["scenario", "estimator"]).mean()
    larger = (signed > 0).groupby(level="estimator").mean()
    holds = [name for name in falls.index if falls[name] <= FALLING and larger[name] >= MOST]
    measurements = [
        *by_case("networks with more bias if calibrated", 100 * larger, "percent"),
        *by_case("rank correlation of bias with the true error", falls),
    ]
    others = [name for name in falls.index if name not in holds]
    reason = f"both hold for {len(holds)} of {len(falls)} estimators"
    notes = [f"not for {', '.join(others)}"] if others else []
    verdict = Verdict.of(not others, len(holds) > len(falls) / 2)
    return Ruling(verdict, measurements, notes=notes, reason=reason)


@on_networks(appendix_c.still_off_at_5000, "network_bias", FIGURE)
def still_off_at_5000(sample: Sample) -> Ruling:
    """rule: {IF_CALIBRATED}, means of n = {AROUND_5000[0]} and {AROUND_5000[1]}. Two conditions:
    the bias of ece_sweep_em is below that of ece_bin_ew by {TESTED}; the mean bias of ece_bin_ew
    is {OFF_PERCENT:g} ± {appendix_c.OFF_TOLERANCE:g} %. Reproduced if both hold and the
    reduction is at least {appendix_c.SMALL:.0%} of the bias, approximate if the first does and
    the bias is at least {HALF_OFF:g} %.
    """
    rows = sample.bias("calibrated")
    rows = rows[rows["n_samples"].isin(AROUND_5000)]
    bias = rows.pivot_table("bias_percent", "scenario", "estimator")
    usual, swept = appendix_c.ESTIMATORS
    gain = OverNetworks.of(bias[usual] - bias[swept])
    mean = float(bias[usual].mean())
    near = abs(mean - OFF_PERCENT) <= appendix_c.OFF_TOLERANCE
    verdict = Verdict.of(
        gain.positive and near and gain.mean >= appendix_c.SMALL * mean,
        gain.positive and mean >= HALF_OFF,
    )
    reason = f"ECE_bin is off by {mean:.2f} %, the sweep reduces it by {gain} points"
    measurements = [*means(bias[[usual, swept]], "bias"), *measured("reduction", {"": gain})]
    return Ruling(verdict, measurements, reason=reason)
