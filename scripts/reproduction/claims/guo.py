"""G01 to G07: Guo et al. (2017), On calibration of modern neural networks.

The models of the public logits are the same architectures in other trainings.
"""

from functools import partial

import numpy as np
import pandas as pd

from pipeline.claims.claim import claim
from pipeline.claims.run_tables import RunTables
from pipeline.claims.verdicts import NAN, POINTS, Measurement, NotJudged, Ruling, Verdict, by_case
from pipeline.paper import MODELS
from reproduction.claims import printed
from reproduction.claims.by_method import MOST, ByMeasure, Networks, by_share, paired, share
from reproduction.claims.printed import GUO_TABLE, NLP, TEMPERATURE

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
HUNDREDS = ("_c100", "_birds", "_cars", "_imgnet")  # of classes


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


@claim("G02", "Guo §5, Table 1", "printed_tables measures", "guo_fig4_recalibrated")
def temperature_outperforms(run: RunTables) -> Ruling:
    """Temperature scaling outperforms all other methods on the vision tasks.

    published: 15 rows of vision tasks
    rule: {printed.BY_PRINT} Table 1 of Guo et al., vision tasks: rows in which the ECE after
    temperature scaling is the lowest of the six methods: {printed.IN_ROWS}. What this run computes
    is shown besides.
    errors: {printed.ROUNDING}
    """
    table = printed.guo(run).drop(NLP)
    lowest = _temperature_is_lowest(table)
    others = table.drop(columns=["uncalibrated", TEMPERATURE]).min(axis=1)
    measurements = [
        printed.count("lowest", lowest),
        *by_case("ECE above the lowest of the others", dict((table[TEMPERATURE] - others)[~lowest]),
                 POINTS),
        *printed.own_runs(run, GUO_TABLE, "ece", _temperature_is_lowest),
    ]  # fmt: skip
    reason = f"lowest in {lowest.sum()} of {len(lowest)} printed rows of vision tasks"
    return printed.ruling(printed.consistently(lowest), measurements, reason)


def _temperature_is_lowest(table: pd.DataFrame) -> pd.Series:
    return table[TEMPERATURE] <= table.drop(columns="uncalibrated").min(axis=1)


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


@claim("G04", "Guo §5, Table 1", "printed_tables measures")
def matrix_overfits(run: RunTables) -> Ruling:
    """Matrix scaling overfits where there are hundreds of classes.

    published: 20 to 25 % after matrix scaling, 10 to 17 % before (CIFAR-100); ImageNet: no fit
    rule: {printed.BY_PRINT} Table 1 of Guo et al., the rows with a hundred classes or more and a
    fit: the ECE after matrix scaling is above the ECE before. Reproduced if in all, approximate if
    in most.
    errors: {printed.ROUNDING}
    """
    table = printed.guo(run)
    rows = table[table.index.str.endswith(HUNDREDS) & table["matrix_scaling"].notna()]
    worse = rows["matrix_scaling"] > rows["uncalibrated"]
    measurements = [
        printed.count("worse than before", worse),
        *by_case("ECE after minus before", dict(rows["matrix_scaling"] - rows["uncalibrated"]),
                 POINTS),
    ]  # fmt: skip
    reason = f"worse than before in {worse.sum()} of {len(worse)} printed rows"
    verdict = Verdict.of(worse.all(), worse.mean() > 0.5)
    return printed.ruling(verdict, measurements, reason)


@claim("G05", "Guo §5, Table 1", "printed_tables measures")
def histogram_beats_the_general_binnings(run: RunTables) -> Ruling:
    """Histogram binning typically outperforms isotonic regression and BBQ.

    published: 19 rows
    rule: {printed.BY_PRINT} Table 1 of Guo et al.: rows in which the ECE after histogram binning is
    lower. 'Typically' is in more than half: reproduced if so against each, approximate if against
    one.
    errors: {printed.ROUNDING}
    """
    table = printed.guo(run)
    lower = {other: _histogram_is_lower(table, other) for other in BINNING[1:]}
    measurements = [printed.count(f"lower than {other}", x) for other, x in lower.items()]
    for other in BINNING[1:]:
        computed = printed.own_runs(
            run, GUO_TABLE, "ece", partial(_histogram_is_lower, other=other)
        )
        measurements += [m._replace(name=f"lower than {other}, {m.name}") for m in computed]
    words = [f"{other} in {x.sum()} of {len(x)}" for other, x in lower.items()]
    reason = f"a lower ECE than {' and than '.join(words)} printed rows"
    verdict = Verdict.all_or_some([x.mean() > 0.5 for x in lower.values()])
    return printed.ruling(verdict, measurements, reason)


def _histogram_is_lower(table: pd.DataFrame, other: str) -> pd.Series:
    return table["histogram_binning"] < table[other]


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
    rule: Not judged: the sentence is about programs in Torch7, and the times of other programs can
    neither confirm nor refute it. CPU times of this project's fits are shown, recorded on the
    machine that table fit_times names. A fixed cost makes an exponent below 1 of a linear time.
    errors: ± standard error of the slope; ratios from least to greatest over the sizes
    """
    table = run.table("fit_times")
    times = table[table["n_classes"] == table["n_classes"].min()]
    times = times[times["method"].isin(OF_GUO)]
    times = times.pivot(index="n_samples", columns="method", values="seconds").dropna(axis=1)
    exponents = {method: _slope(times[method]) for method in times}
    ratios = times.drop(columns=TEMPERATURE).div(times[TEMPERATURE], axis=0)
    measurements = [
        *by_case("exponent of the number of samples", exponents),
        *(
            Measurement("time over temperature scaling's", ratio.median(), "", method, NAN,
                        ratio.min(), ratio.max())
            for method, ratio in ratios.items()
        ),
    ]  # fmt: skip
    notes = [f"measured on {table['processor'].iloc[0]}"]
    reason = "other implementation: times of this project's fits say nothing of Torch7's"
    return Ruling(Verdict.NOT_JUDGED, measurements, "simulation", notes, reason=reason)


def _slope(times: pd.Series) -> tuple[float, float]:
    """Return the slope of log time on log samples, and its standard error."""
    x, y = np.log(times.index.to_numpy()), np.log(times.to_numpy())
    x, y = x - x.mean(), y - y.mean()
    slope = np.sum(x * y) / np.sum(x * x)
    return slope, np.sqrt(np.sum((y - slope * x) ** 2) / (len(x) - 2) / np.sum(x * x))
