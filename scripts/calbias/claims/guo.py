"""G01 to G07: Guo et al. (2017), On calibration of modern neural networks.

The models are those of the public logits: the same architectures in other trainings.
"""

import numpy as np

from calbias.claims.by_method import genuine, measured, share
from calbias.claims.evidence import until_complete
from calbias.claims.measurements import Measurement, by_case
from calbias.claims.verdicts import CLEAR, Judgement, NotJudged, claim, verdict_of
from calbias.truth.paper import MODELS

BINNING = ("histogram_binning", "isotonic_regression", "bbq")
RECALIBRATED = (*BINNING, "temperature_scaling", "vector_scaling")
NEAR = 0.3  # points
CIFAR = [model for model in MODELS if not model.endswith("imgnet")]
BOOTSTRAP = "95 % bootstrap intervals"
MOST = 0.9
FEWEST_MODELS = 4


@claim(
    "G01",
    "Guo §3, Fig 1",
    says="Modern neural networks are overconfident",
    published="ECE of 3 to 17 % on CIFAR and ImageNet",
    figures="guo_fig1_confidence",
    tables="measures",
    rule="Mean score minus accuracy of the models with genuine outputs, at least four: reproduced "
    "if it is above 0 by its whole interval for each, approximate if for most of them.",
    uncertainty=BOOTSTRAP,
)
def modern_networks_are_overconfident(evidence):
    """G01: mean score minus accuracy."""
    values, rows = genuine(evidence, "overconfidence", ["uncalibrated"])
    if len(values) < FEWEST_MODELS:
        raise NotJudged(f"{len(values)} models have genuine outputs; the rule wants 4")
    above = rows["low_percent"] > 0
    measurements = [
        *measured("mean score minus accuracy", values, rows, "uncalibrated", "percentage points"),
        share("above 0", above),
    ]
    source = " + ".join(dict.fromkeys(rows["source"]))
    return Judgement(verdict_of(above.all(), above.mean() > 0.5), measurements, source)


@claim(
    "G02",
    "Guo §5, Table 1",
    says="Temperature scaling is the best method on vision models, or nearly so",
    published="at most 0.3 points above the lowest ECE, on ten models of CIFAR and ImageNet",
    tables="measures printed_tables",
    figures="guo_fig4_recalibrated",
    needs_real_logits=True,
    rule="ECE (15 bins) after temperature scaling minus the lowest of the other methods': "
    f"reproduced if at most {NEAR} points for nine of ten models, approximate if for most. Needs "
    "all ten real files.",
    uncertainty=BOOTSTRAP,
)
def temperature_is_near_best(evidence):
    """G02: distance of temperature scaling from the best method."""
    values, rows = genuine(evidence, "ece", ["uncalibrated", *RECALIBRATED])
    excess = values["temperature_scaling"] - values.drop(columns="uncalibrated").min(axis=1)
    near = excess <= NEAR
    measurements = [
        *by_case("excess over the lowest ECE", excess.to_dict(), "percentage points"),
        share(f"at most {NEAR} points", near),
    ]
    verdict = verdict_of(near.mean() >= MOST, near.mean() > 0.5)
    return until_complete(rows, verdict, measurements, failure_is_final=False)


@claim(
    "G03",
    "Guo §5, Table 1",
    says="Vector scaling comes out close to temperature scaling",
    published="ECEs differ by at most 0.37 points",
    tables="measures printed_tables",
    needs_real_logits=True,
    rule="Difference of the two ECEs (15 bins): reproduced if at most 0.4 points for nine of ten "
    "models, approximate if for most. Needs all ten real files.",
    uncertainty=BOOTSTRAP,
)
def vector_is_close_to_temperature(evidence):
    """G03: ECE of vector scaling minus that of temperature scaling."""
    values, rows = genuine(evidence, "ece", ["temperature_scaling", "vector_scaling"])
    difference = values["vector_scaling"] - values["temperature_scaling"]
    near = difference.abs() <= 0.4
    measurements = [
        *by_case("vector minus temperature", difference.to_dict(), "percentage points"),
        share("at most 0.4 points", near),
    ]
    verdict = verdict_of(near.mean() >= MOST, near.mean() > 0.5)
    return until_complete(rows, verdict, measurements, failure_is_final=False)


@claim(
    "G04",
    "Guo §5, Table 1",
    says="Matrix scaling overfits where there are hundreds of classes",
    published="CIFAR-100: 20 to 25 % after matrix scaling, 10 to 17 % before; ImageNet: no fit",
    tables="measures printed_tables",
    needs_real_logits=True,
    rule="ECE (15 bins) after matrix scaling minus before: reproduced if above 0 for all four "
    "CIFAR-100 models and below 0 for all four CIFAR-10 models, approximate if for most of each. "
    "With 1000 classes matrix scaling is refused. Needs these eight real files.",
    uncertainty=BOOTSTRAP,
)
def matrix_overfits(evidence):
    """G04: ECE of matrix scaling minus that of the model as it is."""
    values, rows = genuine(evidence, "ece", ["uncalibrated", "matrix_scaling"])
    change = values["matrix_scaling"] - values["uncalibrated"]
    many = change.index.str.endswith("c100")
    as_said = (change > 0) == many
    measurements = [
        *by_case("ECE after minus before", change.to_dict(), "percentage points"),
        share("worse with 100 classes, better with 10", as_said),
    ]
    verdict = verdict_of(as_said.all(), as_said.mean() > 0.5)
    return until_complete(rows, verdict, measurements, failure_is_final=False, models=CIFAR)


@claim(
    "G05",
    "Guo §5, Table 1",
    says="Histogram binning typically outperforms isotonic regression and BBQ",
    published="lower ECE than isotonic regression 10 of 10, than BBQ 7 of 10",
    tables="measures printed_tables",
    needs_real_logits=True,
    rule="Models for which the ECE (15 bins) after histogram binning is lower: reproduced if more "
    "than half against each, approximate if against one. Needs all ten real files.",
    uncertainty=BOOTSTRAP,
)
def histogram_beats_the_general_binnings(evidence):
    """G05: ECE of histogram binning against the two methods that contain it."""
    values, rows = genuine(evidence, "ece", BINNING)
    lower = [values["histogram_binning"] < values[other] for other in BINNING[1:]]
    measurements = [
        share(f"lower than {other}", holds) for other, holds in zip(BINNING[1:], lower, strict=True)
    ]
    for method in BINNING:
        measurements += measured(f"ECE after {method}", values, rows, method)
    most = [holds.mean() > 0.5 for holds in lower]
    verdict = verdict_of(all(most), any(most))
    return until_complete(rows, verdict, measurements, failure_is_final=False)


@claim(
    "G06",
    "Guo §4.2, §5",
    says="Binning methods change the accuracy, temperature scaling does not",
    published="temperature scaling keeps the order of the classes",
    tables="measures",
    needs_real_logits=True,
    rule="Accuracy after minus before: reproduced if 0 for temperature scaling on every model and "
    "not 0 for histogram binning, isotonic regression and BBQ on nine of ten, approximate if on "
    "most. Needs all ten real files.",
    uncertainty=BOOTSTRAP,
)
def binning_changes_the_accuracy(evidence):
    """G06: change of the accuracy by method."""
    methods = ["uncalibrated", "temperature_scaling", *BINNING]
    values, rows = genuine(evidence, "accuracy", methods)
    change = values.drop(columns="uncalibrated").sub(values["uncalibrated"], axis=0)
    kept = (change["temperature_scaling"] == 0).all()
    changed = (change[list(BINNING)] != 0).all(axis=1)
    measurements = [share("changed by every binning method", changed)]
    for method in change:
        measurements += by_case(
            f"accuracy after {method} minus before", change[method].to_dict(), "percentage points"
        )
    verdict = verdict_of(kept and changed.mean() >= MOST, kept and changed.mean() > 0.5)
    return until_complete(rows, verdict, measurements)


@claim(
    "G07",
    "Guo §5",
    says="Every method takes a time linear in the number of validation samples, and temperature "
    "scaling is by far the fastest",
    published="a fraction of a second; histogram binning and isotonic regression 10 times, vector "
    "scaling at least 100 times, BBQ about 1000 times as long",
    tables="fit_times",
    rule="CPU time of a fit (ten classes), recorded on the machine that table fit_times names. "
    "The exponent is the slope of log time on log samples. Reproduced if it is above 1 by "
    f"{CLEAR:g} standard errors for no method and temperature scaling is the fastest at every "
    "size, approximate if one of the two holds.",
    uncertainty="± standard error of the slope; ratios from least to greatest over the sizes",
)
def fits_take_linear_time(evidence):
    """G07: exponents of the number of samples, and times against temperature scaling's."""
    table = evidence.table("fit_times")
    times = table[table["n_classes"] == table["n_classes"].min()]
    times = times.pivot(index="n_samples", columns="method", values="seconds").dropna(axis=1)
    x = np.log(times.index.to_numpy())
    x -= x.mean()
    exponents, measurements = {}, []
    for method in times:
        y = np.log(times[method])
        slope = np.sum(x * y) / np.sum(x * x)
        error = np.sqrt(np.sum((y - y.mean() - slope * x) ** 2) / (len(x) - 2) / np.sum(x * x))
        exponents[method] = slope, error
    measurements += by_case("exponent of the number of samples", exponents)
    others = times.drop(columns="temperature_scaling")
    ratios = others.div(times["temperature_scaling"], axis=0)
    measurements += [
        Measurement("time over temperature scaling's", ratios[method].median(), "", method,
                    low=ratios[method].min(), high=ratios[method].max())
        for method in ratios
    ]  # fmt: skip
    linear = all(slope <= 1 + CLEAR * error + 1e-9 for slope, error in exponents.values())
    fastest = bool((ratios > 1).all(axis=None))
    notes = [f"measured on {table['processor'].iloc[0]}"]
    quicker = [method for method in ratios if ratios[method].median() < 1]
    if quicker:
        notes.append(f"faster than temperature scaling here: {', '.join(quicker)}")
    return Judgement(verdict_of(linear and fastest, linear or fastest), measurements,
                     "simulation", tuple(notes))  # fmt: skip
