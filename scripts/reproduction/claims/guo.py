"""G01 to G07: Guo et al. (2017), On calibration of modern neural networks.

The models of the public logits are the same architectures in other trainings.
"""

from functools import partial

import numpy as np
import pandas as pd

from pipeline.claims.claim import claim
from pipeline.claims.run_tables import RunTables
from pipeline.claims.verdicts import (
    CLEAR,
    NAN,
    POINTS,
    Measurement,
    NotJudged,
    Ruling,
    Verdict,
    by_case,
)
from pipeline.paper import MODELS
from reproduction.claims.by_method import MOST, ByMeasure, Networks, by_share, paired, share

BINNING = ("histogram_binning", "isotonic_regression", "bbq")
RECALIBRATED = (*BINNING, "temperature_scaling", "vector_scaling")
OF_GUO = (*RECALIBRATED, "matrix_scaling")
NEAR = 0.3  # points
CONSTANT = 0.10  # standard deviation of the entries of a nearly constant vector, over their mean
ENTRIES = ("weights_least", "weights_greatest", "weights_variation")
LOWEST = 0.7  # of the printed models
CIFAR = [model for model in MODELS if not model.endswith("imgnet")]
BOOTSTRAP = "95 % bootstrap intervals; of differences, both methods on the same resamples"
FEWEST_MODELS = 4
TEMPERATURE, HUNDRED = "temperature_scaling", 100
LINEAR = 0.1  # of an exponent
ORDERS = {"histogram_binning": 1, "isotonic_regression": 1, "bbq": 3}  # powers of ten


@claim("G01", "Guo §3, Fig 1", "measures", "guo_fig1_confidence")
def modern_networks_are_overconfident(run: RunTables) -> Ruling:
    """Modern neural networks are overconfident.

    published: ECE of 3 to 17 % on CIFAR and ImageNet
    rule: Mean score minus accuracy of the models with genuine outputs, at least four: reproduced if
    it is above 0 by its whole interval for each, approximate if for most of them. Other networks,
    trained otherwise, are shown beside.
    errors: {BOOTSTRAP}
    """
    networks = Networks(run, {"overconfidence": ["uncalibrated"]})
    above = networks.rows["overconfidence"]["low_percent"] > 0
    if len(above) < FEWEST_MODELS:
        raise NotJudged(f"{len(above)} models have genuine outputs; the rule wants 4")
    networks.holds(lambda values: values["overconfidence"]["uncalibrated"] > 0, "above 0")
    measurements = [
        *networks.measured("mean score minus accuracy", "overconfidence", "uncalibrated", POINTS),
        share("above 0", above),
    ]
    reason = f"{above.sum()} of {len(above)} models are clearly overconfident"
    return networks.ruling(by_share(above, strict=1), measurements, reason)


@claim("G02", "Guo §5, Table 1", "measures printed_tables", "guo_fig4_recalibrated", real=True)
def temperature_outperforms(run: RunTables) -> Ruling:
    """Temperature scaling outperforms all other methods on the vision tasks.

    published: the lowest ECE for 7 of the ten architectures of CIFAR and ImageNet, and at most 0.3
    points above the lowest for the others
    rule: ECE (15 bins) after temperature scaling minus the lowest after histogram binning, isotonic
    regression, BBQ and vector scaling: reproduced if below 0 for as large a share of the models as
    printed ({LOWEST:.0%}), approximate if at most {NEAR} points for most. {IF_AGREED}
    errors: {BOOTSTRAP}
    """

    def excess(values: ByMeasure) -> pd.Series:
        others = values["ece"].drop(columns="temperature_scaling")
        return values["ece"]["temperature_scaling"] - others.min(axis=1)

    networks = Networks(run, {"ece": RECALIBRATED})
    lowest = networks.holds(lambda values: excess(values) < 0, "the lowest of all methods")
    near = excess(networks.of) <= NEAR
    measurements = [
        *by_case("ECE minus the lowest of the other methods", excess(networks.of), POINTS),
        share("below 0", lowest),
        share(f"at most {NEAR} points", near),
        *paired(run, "ece", RECALIBRATED),
    ]
    verdict = Verdict.of(lowest.mean() >= LOWEST, near.mean() > 0.5)
    reason = f"the lowest for {lowest.sum()} of {len(lowest)} models"
    return networks.ruling(verdict, measurements, reason, holds=[lowest])


@claim("G03", "Guo §5, Table 1", "measures printed_tables", real=True)
def vector_is_nearly_constant(run: RunTables) -> Ruling:
    """The vector that vector scaling learns has nearly constant entries: it is no different than a
    scalar.

    published: nearly constant; in Table 1 the ECEs differ by at most 1.15 points (Birds), over the
    ten architectures of CIFAR and ImageNet by at most 0.37
    rule: Two conditions: the standard deviation of the entries over their mean is at most
    {CONSTANT:.0%} for nine of ten models; the ECE (15 bins) after vector scaling is within {NEAR}
    points of that after temperature scaling for nine of ten. Reproduced if both hold, approximate
    if one does. {IF_AGREED}
    errors: {BOOTSTRAP}
    """

    def difference(values: ByMeasure) -> pd.Series:
        return values["ece"]["vector_scaling"] - values["ece"]["temperature_scaling"]

    needed = {name: ["vector_scaling"] for name in ENTRIES}
    networks = Networks(run, {**needed, "ece": ["temperature_scaling", "vector_scaling"]})
    near = networks.holds(lambda values: difference(values).abs() <= NEAR, f"within {NEAR} points")
    constant = networks.holds(
        lambda values: values["weights_variation"]["vector_scaling"] <= 100 * CONSTANT,
        "nearly constant",
    )
    low, high, variation = (networks.of[name]["vector_scaling"] / 100 for name in ENTRIES)
    measurements = [
        Measurement("entries of the vector, least to greatest", NAN, "", x, NAN, low[x], high[x])
        for x in low.index
    ]
    measurements += [
        *by_case("standard deviation over mean", variation),
        share("nearly constant", constant),
        *by_case("ECE of vector minus temperature", difference(networks.of), POINTS),
        share(f"within {NEAR} points", near),
        *paired(run, "ece", ["vector_scaling"]),
    ]
    verdict = Verdict.all_or_some([constant.mean() >= MOST, near.mean() >= MOST])
    reason = (
        f"nearly constant for {constant.sum()} of {len(constant)} models (entries from "
        f"{low.min():.2f} to {high.max():.2f}), ECE within {NEAR} points for {near.sum()}"
    )
    return networks.ruling(verdict, measurements, reason, holds=[near, constant])


@claim("G04", "Guo §5, Table 1", "measures printed_tables", real=True)
def matrix_overfits(run: RunTables) -> Ruling:
    """Matrix scaling overfits where there are hundreds of classes.

    published: CIFAR-100: 20 to 25 % after matrix scaling, 10 to 17 % before; ImageNet: no fit
    rule: ECE (15 bins) after matrix scaling minus before: reproduced if above 0 for all four
    CIFAR-100 models and below 0 for all four CIFAR-10 models, approximate if for most of each. With
    1000 classes matrix scaling is refused. Needs a model of 100 classes.
    errors: {BOOTSTRAP}
    """

    def change_of(values: ByMeasure) -> pd.Series:
        return values["ece"]["matrix_scaling"] - values["ece"]["uncalibrated"]

    def overfits(values: ByMeasure) -> pd.Series:
        worse = change_of(values) > 0
        return worse == worse.index.str.endswith("c100")

    networks = Networks(run, {"ece": ["uncalibrated", "matrix_scaling"]})
    as_said, change = networks.holds(overfits), change_of(networks.of)
    measurements = [
        *by_case("ECE after minus before", change, POINTS),
        share("worse with 100 classes, better with 10", as_said),
    ]
    hundreds = change.index.str.endswith("c100").any()
    why = "" if hundreds else "and none has a hundred classes"
    verdict = by_share(as_said, strict=1)
    reason = f"as claimed for {as_said.sum()} of {len(as_said)} models"
    return networks.ruling(
        verdict, measurements, reason, models=CIFAR, holds=[as_said], why_open=why
    )


@claim("G05", "Guo §5, Table 1", "measures printed_tables", real=True)
def histogram_beats_the_general_binnings(run: RunTables) -> Ruling:
    """Histogram binning typically outperforms isotonic regression and BBQ.

    published: lower ECE than isotonic regression 10 of 10, than BBQ 7 of 10
    rule: Models for which the ECE (15 bins) after histogram binning is lower: reproduced if more
    than half against each, approximate if against one. {IF_AGREED}
    errors: {BOOTSTRAP}
    """
    networks = Networks(run, {"ece": BINNING})
    lower = {other: networks.holds(partial(_is_lower, other), f"lower than {other}")
             for other in BINNING[1:]}  # fmt: skip
    measurements = [share(f"lower than {other}", holds) for other, holds in lower.items()]
    for method in BINNING:
        measurements += networks.measured(f"ECE after {method}", "ece", method)
    verdict = Verdict.all_or_some([holds.mean() > 0.5 for holds in lower.values()])
    words = [f"{other} for {holds.sum()} of {len(holds)}" for other, holds in lower.items()]
    reason = f"a lower ECE than {' and than '.join(words)} models"
    return networks.ruling(verdict, measurements, reason, holds=lower.values())


def _is_lower(other: str, values: ByMeasure) -> pd.Series:
    """Return for which models the ECE after histogram binning is below another's."""
    return values["ece"]["histogram_binning"] < values["ece"][other]


@claim("G06", "Guo §4.2, §5", "measures", real=True)
def binning_hurts_the_accuracy(run: RunTables) -> Ruling:
    """Binning methods tend to change class predictions, which hurts the accuracy; temperature
    scaling does not change it.

    published: temperature scaling keeps the order of the classes
    rule: Accuracy after minus before. Reproduced if 0 for temperature scaling on every model and
    below 0 for more than half of the pairs of a model with histogram binning, isotonic regression
    or BBQ; approximate if not 0 for more than half. {IF_AGREED}
    errors: {BOOTSTRAP}
    """

    def changes(values: ByMeasure) -> pd.DataFrame:
        before = values["accuracy"]["uncalibrated"]
        return values["accuracy"].drop(columns="uncalibrated").sub(before, axis=0)

    def as_said(values: ByMeasure) -> pd.Series:
        change = changes(values)
        hurt = (change[list(BINNING)] < 0).mean(axis=1) > 0.5
        return hurt & (change["temperature_scaling"] == 0)

    methods = ["uncalibrated", "temperature_scaling", *BINNING]
    networks = Networks(run, {"accuracy": methods})
    networks.holds(as_said)
    change = changes(networks.of)
    kept, by_binning = change["temperature_scaling"] == 0, change[list(BINNING)]
    lower, other = (by_binning < 0).mean(axis=1), (by_binning != 0).mean(axis=1)
    pairs = by_binning.size
    measurements = [
        Measurement("lower after a binning method", (by_binning < 0).sum().sum(), f"of {pairs}"),
        Measurement("other after a binning method", (by_binning != 0).sum().sum(), f"of {pairs}"),
    ]
    for method in change:
        name = f"accuracy after {method} minus before"
        measurements += by_case(name, change[method], POINTS)
    verdict = Verdict.of(kept.all() and lower.mean() > 0.5, kept.all() and other.mean() > 0.5)
    reason = (
        f"binning lowers the accuracy in {lower.mean():.0%} of the pairs, and temperature scaling "
        f"keeps it for {kept.sum()} of {len(kept)} models"
    )
    holds = [lower > 0.5] if kept.all() else []
    return networks.ruling(verdict, measurements, reason, holds=holds)


@claim("G07", "Guo §5", "fit_times")
def fits_take_linear_time(run: RunTables) -> Ruling:
    """Every method takes a time linear in the number of validation samples, and temperature scaling
    is by far the fastest.

    published: a fraction of a second; histogram binning and isotonic regression 10 times, vector
    scaling at least 100 times, BBQ about 1000 times as long
    rule: CPU time of a fit of the paper's methods, recorded on the machine that table fit_times
    names. Six sentences: the exponent, slope of log time on log samples with ten classes, is within
    {LINEAR:g} (and {CLEAR:g} standard errors) of 1 for every method; temperature scaling is the
    fastest at every size; histogram binning and isotonic regression take an order of magnitude
    longer (10 times within half a power of ten, median over the sizes), BBQ three orders; vector
    scaling takes at least 100 times as long with the most classes that are recorded (they say it of
    100). Reproduced if all hold, approximate if more than half do.
    errors: ± standard error of the slope; ratios from least to greatest over the sizes
    """
    table = run.table("fit_times")
    times = table[table["n_classes"] == table["n_classes"].min()]
    times = times[times["method"].isin(OF_GUO)]
    times = times.pivot(index="n_samples", columns="method", values="seconds").dropna(axis=1)
    exponents = {method: _slope(times[method]) for method in times}
    ratios = times.drop(columns=TEMPERATURE).div(times[TEMPERATURE], axis=0)
    most = table["n_classes"].max()
    by_method = table[table["n_classes"] == most].groupby("method")["seconds"].mean()
    vector_ratio = by_method.get("vector_scaling", NAN) / by_method.get(TEMPERATURE, NAN)
    name = "time over temperature scaling's"
    measurements = [
        *by_case("exponent of the number of samples", exponents),
        *(
            Measurement(name, ratio.median(), "", method, NAN, ratio.min(), ratio.max())
            for method, ratio in ratios.items()
        ),
        *by_case(f"{name}, {most} classes", {"vector_scaling": vector_ratio}),
    ]
    orders = np.log10(ratios.median())
    linear = [abs(b - 1) <= LINEAR + CLEAR * error + 1e-9 for b, error in exponents.values()]
    holds = {
        "linear time": all(linear),
        "temperature scaling the fastest": bool((ratios > 1).all(axis=None)),
        **{
            f"{method} {10**order:g} times": abs(orders.get(method, NAN) - order) <= 0.5
            for method, order in ORDERS.items()
        },
        "vector scaling 100 times": bool(vector_ratio >= HUNDRED),
    }
    measurements.append(Measurement("sentences that hold", sum(holds.values()), f"of {len(holds)}"))
    failing = [words for words, is_true in holds.items() if not is_true]
    notes = [
        "times of this project's implementations, not of Torch7, measured on "
        f"{table['processor'].iloc[0]}"
    ]
    notes += [f"fails: {', '.join(failing)}"] if failing else []
    quicker = [method for method, ratio in ratios.items() if ratio.median() < 1]
    reason = f"{sum(holds.values())} of {len(holds)} sentences hold" + (
        f", and faster than temperature scaling: {', '.join(quicker)}" if quicker else ""
    )
    verdict = Verdict.of(not failing, sum(holds.values()) > len(holds) / 2)
    return Ruling(verdict, measurements, "simulation", notes, reason=reason)


def _slope(times: pd.Series) -> tuple[float, float]:
    """Return the slope of log time on log samples, and its standard error."""
    x, y = np.log(times.index.to_numpy()), np.log(times.to_numpy())
    x, y = x - x.mean(), y - y.mean()
    slope = np.sum(x * y) / np.sum(x * x)
    return slope, np.sqrt(np.sum((y - slope * x) ** 2) / (len(x) - 2) / np.sum(x * x))
