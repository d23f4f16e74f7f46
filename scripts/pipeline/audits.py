"""The rows of tables ``audit_estimates``, ``audit_verdicts`` and ``audit_diagrams``.

Errors are in percent with four decimals, three more than the Monte Carlo error deserves; what is
not known is empty.
"""

import numpy as np
import pandas as pd

from pipeline.tables.schema import columns_of


def estimate_rows(audit, of_model):
    """Return a row per estimator; ``of_model`` holds model, source and fold."""
    return _rows("audit_estimates", _percent(audit.estimates.reset_index()), audit, of_model)


def verdict_row(audit, of_model):
    """Return the model's row."""
    low, high = audit.interval
    row = {
        **audit.description,
        "error": audit.error,
        "low": low,
        "high": high,
        "ece": audit.ece,
        "noise_floor": audit.noise_floor,
        "direction": audit.direction,
        "p_value": audit.p_value,
        "miscalibrated": audit.miscalibrated,
        "fault": audit.verdict.finding.kind if audit.miscalibrated else None,
        "model_verdict": audit.sentence,
        "warnings": " ".join(audit.warnings) or None,
    }
    return _rows("audit_verdicts", _percent(pd.DataFrame([row])), audit, of_model)


def diagram_rows(audit, of_model):
    """Return a row per bin of the reliability diagram, fractions."""
    bins, curve = audit.bins, audit.curve
    table = pd.DataFrame(bins._asdict()).rename(columns={"low": "hit_low", "high": "hit_high"})
    at = np.searchsorted(curve.scores, bins.mean_score)
    for name in ("mean", "low", "high"):
        table[f"curve_{name}"] = getattr(curve, name)[at]
    return _rows("audit_diagrams", table.round(6), audit, of_model)


def _percent(table):
    """Return a table with its fractions also as columns in percent."""
    numbers = table.select_dtypes(np.number)
    table = table.assign(**{f"{name}_percent": (100 * numbers[name]).round(4) for name in numbers})
    if "p_value" in table:
        table["p_value"] = [float(f"{p:.4g}") for p in table["p_value"].astype(float)]
    return table


def _rows(name, table, audit, of_model):
    table = table.assign(**of_model, n_samples=audit.n).reindex(columns=columns_of(name))
    if "n_bins" in table:
        table["n_bins"] = table["n_bins"].astype("Int64")
    return table
