"""The rows of a model in ``recalibration`` and its selections."""

from calbias.auditing.description import ties_of
from pipeline.logits.store import REAL_LOGITS
from reproduction.selection.analysis_choices import METHODS, VARIANTS
from reproduction.selection.measures import draw_counts
from reproduction.selection.outcomes import outcomes
from reproduction.selection.reference import REFERENCES
from reproduction.selection.selection import Selections, selected

ALL_METHODS = ("uncalibrated", *METHODS)


def recalibration_tables(logits, model, softmax, seed, n_resamples, estimators=None):
    """Return the tables (values, selections) of a model's Logits, each a list of dicts."""
    judged = outcomes(logits.validation, logits.test, VARIANTS, softmax)
    tops = {variant: outcome.top for variant, outcome in judged.items()}
    counts = draw_counts(len(logits.test.labels), n_resamples, seed, model)
    selections = Selections(tops, counts, estimators)
    origin = {"model": model, "source": REAL_LOGITS}
    return (
        [{**origin, **row} for row in _value_rows(judged, selections)],
        [{**origin, **row} for row in selections.rows()],
    )


def _value_rows(judged, selections):
    values = {}
    for method in ALL_METHODS:
        top, nll = judged[method]
        of_measures = selections.measured(method)
        values[method] = {**of_measures, "accuracy": float(top.hit.mean()), "nll": nll}
    accuracy = {method: values[method]["accuracy"] for method in ALL_METHODS}
    for method in ALL_METHODS:
        ties = ties_of(judged[method].top.score)
        for measure, value in values[method].items():
            sign = -1 if measure == "accuracy" else 1
            best = selected({m: sign * values[m][measure] for m in METHODS})
            for reference in REFERENCES:
                yield {
                    "method": method,
                    "measure": measure,
                    "value_percent": 100 * value,
                    "reference_tce_percent": 100 * selections.reference(method, reference),
                    "reference": reference,
                    "selected": method == best,
                    **ties,
                    "accuracy_change_percent": 100 * (accuracy[method] - accuracy["uncalibrated"]),
                }
