"""N26, N30, NG02 to NG06: recalibration of trained networks, by true errors (Table 1; Guo).

The rules on selection read maps of the top label, whose true error follows from the population.
Methods that need all logits were measured outside the run; their true errors are kept.
"""

import pandas as pd

from networks.over_networks import (
    MOST,
    TESTED,
    OverNetworks,
    Sample,
    means,
    measured,
    on_networks,
    share,
)
from pipeline.claims.verdicts import Measurement, NotJudged, Ruling, Verdict
from reproduction.claims import guo, table_1

SWEEP, USUAL, DEBIAS = "ece_sweep_em", "ece_bin_ew", "ece_debias_em"
AT_SIZES = (
    "At each n (the paper's folds on CIFAR have 10 000 rows): reproduced if above 0 at every n by "
    f"{TESTED}, approximate if at some n."
)
KEPT = "True errors that were measured outside the run and are kept"
MAPS = "a logistic map, histogram binning and isotonic regression of the top label"
HUNDREDS = 100  # classes
FEWEST = 3  # networks with hundreds of classes


def _selection(sample: Sample, column: str, factor: float = 1.0) -> dict[int, pd.DataFrame]:
    """Return {n: a column of table ``network_selection``, networks × estimators}."""
    rows = sample.table("network_selection").assign(value=lambda x: factor * x[column])
    return {
        int(n): at_n.pivot(index="scenario", columns="estimator", values="value")
        for n, at_n in rows.groupby("n_samples")
    }


def _by_size(values: dict[int, pd.DataFrame], name: str) -> list[Measurement]:
    return [
        m._replace(case=f"{m.case}, n = {n}:")
        for n, at_n in values.items()
        for m in means(at_n, name)
    ]


def _at_every_size(
    gains: dict[int, OverNetworks], what: str, measurements: list[Measurement]
) -> Ruling:
    """Return the Ruling of a gain by sample size: at every one, or at some."""
    verdict = Verdict.all_or_some([x.positive for x in gains.values()])
    measurements = [*measurements, *measured(what, {f"n = {n}:": x for n, x in gains.items()})]
    words = [f"{x} at n = {n}" for n, x in gains.items()]
    return Ruling(verdict, measurements, reason=f"{what}: {', '.join(words)}")


@on_networks(table_1.sweep_selects_better, "network_selection")
def sweep_selects_better(sample: Sample) -> Ruling:
    """ECE_sweep selects the same recalibration method as the true error more often than ECE_bin.

    rule: Share of test folds of fresh rows on which an estimator selects the best of {MAPS};
    equal-mass sweep minus ECE_bin, over networks. {AT_SIZES} The equal-mass debias is shown too.
    """
    best = _selection(sample, "share_best", 100)
    gains = {n: OverNetworks.of(x[SWEEP] - x[USUAL]) for n, x in best.items()}
    debias = {f"n = {n}:": OverNetworks.of(x[SWEEP] - x[DEBIAS]) for n, x in best.items()}
    measurements = [
        *_by_size(best, "best selected"),
        *_by_size(_selection(sample, "share_worst", 100), "worst selected"),
        *measured("sweep less debias, best selected", debias),
    ]
    return _at_every_size(gains, "sweep less ECE_bin, best selected", measurements)


@on_networks(table_1.sweep_selects_what_calibrates_better, "network_selection")
def sweep_selects_what_calibrates_better(sample: Sample) -> Ruling:
    """rule: Regret: true error of the selected one of {MAPS} less the least one, on test folds of
    fresh rows; of ECE_bin minus that of the equal-mass sweep, over networks. {AT_SIZES}
    """
    regret = _selection(sample, "regret_percent")
    gains = {n: OverNetworks.of(x[USUAL] - x[SWEEP]) for n, x in regret.items()}
    debias = {f"n = {n}:": OverNetworks.of(x[DEBIAS] - x[SWEEP]) for n, x in regret.items()}
    measurements = [
        *_by_size(regret, "regret"),
        *measured("regret of debias less that of the sweep", debias),
    ]
    return _at_every_size(gains, "regret of ECE_bin less that of the sweep", measurements)


def _recalibrated(sample: Sample, column: str, *methods: str, kept: bool | None) -> pd.DataFrame:
    """Return a column of table ``network_recalibrated``, networks × methods, without gaps.

    Values are those that are kept or those of the run; ``None``: of the run, else kept.
    """
    rows = sample.table("network_recalibrated").dropna(subset=column).sort_values("kept")
    if kept is not None:
        rows = rows[rows["kept"] == kept]
    rows = rows[rows["method"].isin(methods)]
    rows = rows.drop_duplicates(["scenario", "method"])
    wide = rows.pivot(index="scenario", columns="method", values=column)
    wide = wide.reindex(columns=[*methods]).dropna()
    if len(wide) < FEWEST:
        raise NotJudged(f"table network_recalibrated has {len(wide)} networks with {methods[-1]}")
    return wide


@on_networks(guo.temperature_outperforms, "network_recalibrated", id="NG02")
def temperature_outperforms(sample: Sample) -> Ruling:
    """Temperature scaling outperforms all other methods.

    rule: {KEPT}, after temperature scaling minus the least after vector and matrix scaling and
    after histogram binning and isotonic regression of the top label: reproduced if below 0 for
    {guo.LOWEST:.0%} of the networks, approximate if at most {guo.NEAR} points for most.
    """
    methods = (
        *("temperature_scaling", "vector_scaling", "matrix_scaling"),
        *("histogram_binning_top_label", "isotonic_regression_top_label"),
    )
    errors = _recalibrated(sample, "l2_percent", *methods, kept=True)
    excess = errors[methods[0]] - errors[[*methods[1:]]].min(axis=1)
    lowest, near = excess < 0, excess <= guo.NEAR
    verdict = Verdict.of(lowest.mean() >= guo.LOWEST, near.mean() > 0.5)
    measurements = [*means(errors, "true error"), share(lowest, "temperature scaling is the least")]
    reason = f"the least for {lowest.sum()} of {len(lowest)} networks"
    return Ruling(verdict, measurements, reason=reason)


@on_networks(guo.vector_is_nearly_constant, "network_recalibrated", id="NG03")
def vector_is_nearly_constant(sample: Sample) -> Ruling:
    """rule: Two conditions: the standard deviation of the entries over their mean, fitted to a
    validation fold in the run or before, is at most {guo.CONSTANT:.0%} for {MOST:.0%} of the
    networks; the kept true error after vector scaling is within {guo.NEAR} points of the one after
    temperature scaling for as many. Reproduced if both hold, approximate if one does.
    """
    variation = _recalibrated(sample, "weights_variation", "vector_scaling", kept=None)
    constant = variation["vector_scaling"] <= guo.CONSTANT
    errors = _recalibrated(sample, "l2_percent", "temperature_scaling", "vector_scaling", kept=True)
    difference = errors["vector_scaling"] - errors["temperature_scaling"]
    near = difference.abs() <= guo.NEAR
    measurements = [
        *measured(
            "true error, vector minus temperature scaling", {"": OverNetworks.of(difference)}
        ),
        share(constant, "nearly constant"),
        share(near, f"within {guo.NEAR} points"),
    ]
    verdict = Verdict.all_or_some([constant.mean() >= MOST, near.mean() >= MOST])
    reason = (
        f"nearly constant on {constant.sum()} of {len(constant)} networks, within {guo.NEAR} "
        f"points on {near.sum()} of {len(near)}"
    )
    return Ruling(verdict, measurements, reason=reason)


@on_networks(guo.matrix_overfits, "network_recalibrated", id="NG04")
def matrix_overfits(sample: Sample) -> Ruling:
    """rule: {KEPT}, after matrix scaling minus before, of networks with at least {HUNDREDS}
    classes: reproduced if above 0 by {TESTED}, else not. At least {FEWEST} networks.
    """
    errors = _recalibrated(sample, "l2_percent", "uncalibrated", "matrix_scaling", kept=True)
    change = errors["matrix_scaling"] - errors["uncalibrated"]
    many = sample.networks["n_classes"].reindex(change.index) >= HUNDREDS
    if many.sum() < FEWEST:
        raise NotJudged(f"matrix scaling is kept of {many.sum()} networks with {HUNDREDS} classes")
    hundreds = OverNetworks.of(change[many])
    cases = {f"{HUNDREDS} classes:": hundreds}
    if (~many).sum() > 1:
        cases["fewer classes:"] = OverNetworks.of(change[~many])
    measurements = measured("true error, after minus before", cases)
    reason = f"the true error changes by {hundreds} points with {HUNDREDS} classes"
    return Ruling(Verdict.of(hundreds.positive, False), measurements, reason=reason)


@on_networks(guo.histogram_beats_the_general_binnings, "network_recalibrated", id="NG05")
def histogram_beats_the_general_binnings(sample: Sample) -> Ruling:
    """rule: True errors after isotonic regression and after BBQ of the top label minus that after
    its histogram binning, fitted to 5000 rows: reproduced if both are above 0 by {TESTED},
    approximate if one is.
    """
    methods = [f"{name}_top_label" for name in guo.BINNING]
    errors = _recalibrated(sample, "l2_percent", *methods, kept=False)
    gains = {x: OverNetworks.of(errors[x] - errors[methods[0]]) for x in methods[1:]}
    verdict = Verdict.all_or_some([x.positive for x in gains.values()])
    words = [f"{name.removesuffix('_top_label')} {x}" for name, x in gains.items()]
    measurements = [*means(errors, "true error"), *measured("gain of histograms", gains)]
    return Ruling(verdict, measurements, reason=f"gain in points over {', '.join(words)}")


@on_networks(guo.binning_hurts_the_accuracy, "network_recalibrated", id="NG06")
def binning_hurts_the_accuracy(sample: Sample) -> Ruling:
    """rule: Accuracies that were measured outside the run on fresh rows and are kept, after minus
    before: reproduced if 0 for temperature scaling on every network and below 0 for histogram
    binning and isotonic regression, one class against the rest, by {TESTED}; approximate if for
    one of the two.
    """
    methods = ("temperature_scaling", "histogram_binning", "isotonic_regression")
    accuracy = _recalibrated(sample, "accuracy_percent", "uncalibrated", *methods, kept=True)
    change = accuracy[[*methods]].sub(accuracy["uncalibrated"], axis=0)
    unchanged = bool((change[methods[0]].abs() < 1e-9).all())
    tests = {name: OverNetworks.of(change[name]) for name in methods[1:]}
    hurt = [x.negative for x in tests.values()]
    measurements = measured("accuracy after minus before", tests)
    kept = "keeps" if unchanged else "changes"
    words = [f"{name} {x}" for name, x in tests.items()]
    reason = f"change in points: {', '.join(words)}, temperature scaling {kept} it"
    return Ruling(
        Verdict.of(unchanged and all(hurt), unchanged and any(hurt)), measurements, reason=reason
    )
