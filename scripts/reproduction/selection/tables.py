"""The rows of a model in ``recalibration``, ``recalibration_details`` and its selections."""

from calbias.auditing.description import ties_of
from pipeline.fits.empirical_error import atoms
from reproduction.selection.analysis_choices import METHODS, VARIANTS
from reproduction.selection.measures import draw_counts
from reproduction.selection.outcomes import outcomes
from reproduction.selection.reference import REFERENCES
from reproduction.selection.selection import Selections, selected

ALL_METHODS = ("uncalibrated", *METHODS)


def recalibration_tables(logits, model, softmax, seed, n_resamples, estimators=None):
    """Return the tables (values, selections, details) of a model's Logits, each a list of dicts."""
    judged = outcomes(logits.validation, logits.test, VARIANTS, softmax)
    tops = {variant: outcome.top for variant, outcome in judged.items()}
    counts = draw_counts(len(logits.test.labels), n_resamples, seed, model)
    selections = Selections(tops, counts, estimators)
    origin = {"model": model, "source": logits.source}
    return (
        [{**origin, **row} for row in _value_rows(judged, selections)],
        [{**origin, **row} for row in selections.rows()],
        [{**origin, **row} for row in _detail_rows(judged, selections)],
    )


def _value_rows(judged, selections):
    values = {}
    for method in ALL_METHODS:
        top, nll = judged[method]
        of_measures = {name: value for name, (value, _) in selections.measured(method).items()}
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


def _detail_rows(judged, selections):
    """Yield a row per method: the atoms, the bins that the sweeps chose and the fitted curve."""
    for method in ALL_METHODS:
        top, curve = judged[method].top, selections.curve(method).curve
        at_zero, at_one, _ = atoms(top)
        measured = selections.measured(method)
        yield {
            "method": method,
            "n_samples": len(top.hit),
            "accuracy_percent": 100 * float(top.hit.mean()),
            **ties_of(top.score),
            "atom_at_zero": float(at_zero.mean()),
            "atom_at_one": float(at_one.mean()),
            "n_bins_ece_sweep_ew": measured.get("ece_sweep_ew", (None, None))[1],
            "n_bins_ece_sweep_em": measured.get("ece_sweep_em", (None, None))[1],
            "reference_curve": "mean_label" if curve is None else curve.name,
            "reference_b0": None if curve is None else curve.b0,
            "reference_b1": None if curve is None else curve.b1,
        }
