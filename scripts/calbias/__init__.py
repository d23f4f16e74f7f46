"""Calibration error of a model's confidence, and the bias of the estimators that measure it.

Start with ``calbias.audit`` for a verdict, an estimate and an interval, and with
``calbias.estimate`` for one estimator. Scores are a model's confidences, hits are 1 where its
prediction was correct and 0 elsewhere; errors and estimates are fractions, not percentages. Scores
stand before hits: they are what is judged, and hits may be found from labels.

    example                               scores and hits of a small classifier, to try things
    ece                                   the ECE in bins, as other packages print it
    estimate, Estimate                    calibration error of a model's scores by one estimator
    list_estimators                       which estimators there are
    audit, Audit                          verdict, calibration error with an interval, picture
    compare, Comparison                   which of two models is better calibrated
    plan                                  how many labels a study needs
    reliability_diagram, ReliabilityDiagram   accuracy by score, with a consistency band
    corp_diagram                          the same by isotonic regression, with MCB, DSC, UNC
    Scenario, Curve                       a distribution of scores with a curve
    CountedScenario                       a population: rows and hits in cells of the log odds
    true_calibration_error                the true error of a scenario
    bias                                  an estimator's bias and spread in a scenario
    debias_or_sweep                       which of the two is nearer in a scenario, and why
    simulate                              data sets drawn from a scenario
    noise_floor                           what a calibrated model with these probabilities prints
    Monitor                               an alarm for a stream, with a rate that holds for ever
    Recalibrator                          a map that corrects scores: fit, predict, JSON
    Sketch                                any number of rows in constant memory, from parts
    sklearn                               metric and display under scikit-learn's names
    InputError                            what is raised for a mistake in the input

References
----------
Roelofs, Cain, Shlens and Mozer (2022). Mitigating bias in calibration error estimation. AISTATS.
"""

import importlib
from typing import Any, NoReturn

from calbias.errors import InputError

__version__ = "1.0.0"

# no __all__, so that help(calbias) is the page above and not the help of every name
_MODULES = {
    "Audit": "calbias.auditing.results",
    "Comparison": "calbias.auditing.results",
    "CountedScenario": "calbias.truth.counted",
    "Curve": "calbias.truth.curves",
    "Estimate": "calbias.estimation.api",
    "InputError": "calbias.errors",
    "Monitor": "calbias.monitoring.monitor",
    "Recalibrator": "calbias.recalibrator",
    "ReliabilityDiagram": "calbias.auditing.diagrams.reliability",
    "Sketch": "calbias.sketch",
    "Scenario": "calbias.truth.scenarios",
    "audit": "calbias.auditing.audit",
    "compare": "calbias.auditing.compare",
    "plan": "calbias.auditing.planning.plan",
    "bias": "calbias.simulation",
    "corp_diagram": "calbias.auditing.diagrams.corp",
    "debias_or_sweep": "calbias.bias_expansion",
    "ece": "calbias.estimation.ece",
    "estimate": "calbias.estimation.api",
    "example": "calbias.reading.example",
    "list_estimators": "calbias.estimation.api",
    "noise_floor": "calbias.multiclass.noise",
    "reliability_diagram": "calbias.auditing.diagrams.reliability",
    "simulate": "calbias.simulation",
    "true_calibration_error": "calbias.truth.true_error",
}


def __getattr__(name: str) -> Any:
    # On first use: a command line neither loads nor depends on what it does not use.
    if name == "sklearn":
        return importlib.import_module("calbias.sklearn")
    if name not in _MODULES:
        raise AttributeError(f"module 'calbias' has no attribute {name!r}")
    try:
        return getattr(importlib.import_module(_MODULES[name]), name)
    except InputError as error:  # lacks an extra, which is said where the function is called
        reason = error

    def refused(*_: Any, **__: Any) -> NoReturn:
        raise reason

    refused.__name__, refused.__doc__ = name, f"{reason}"
    return refused


def __dir__() -> list[Any]:
    return sorted([*_MODULES, "__version__"])
