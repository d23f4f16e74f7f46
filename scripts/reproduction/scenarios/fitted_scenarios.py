"""The scenario of a model: its Beta fit with its calibration curve of lowest AIC."""

from calbias.errors import InputError
from calbias.truth.curves import Curve
from calbias.truth.scenarios import Scenario
from reproduction.tables.rows import read_rows


def fitted_scenario(model, curve, beta_fits, glm_fits):
    """Return (Scenario, source) of ``model``; ``curve`` is ``fitted`` or ``identity``.

    The first path that lists the model counts; a table without ``source`` is published.
    """
    beta = _rows(model, beta_fits)[0]
    fitted = Curve("identity")
    if curve == "fitted":
        fitted = Curve.from_row(min(_rows(model, glm_fits), key=lambda row: float(row["aic"])))
    scenario = Scenario(model, float(beta["alpha"]), float(beta["beta"]), fitted)
    return scenario, beta.get("source", "published_fits")


def _rows(model, paths):
    for path in paths:
        rows = [row for _, row in read_rows(path, ["model"]) if row["model"] == model]
        if rows:
            return rows
    raise InputError(
        f"model {model} has no fit in {', '.join(map(str, paths))}: give it logits in logits_dir"
    )
