"""Scenarios of models by their fits: of Tables 2 and 3, as printed, rounded, or of a run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from calbias.errors import InputError
from calbias.truth.curves import Curve
from calbias.truth.scenarios import Scenario
from pipeline.tables.rows import read_rows

if TYPE_CHECKING:
    import pandas as pd

HALF_LAST_DIGIT = 0.005  # of b0 and b1, printed to two decimals
HALF_LAST_DIGIT_BETA = 0.00005  # of alpha and beta, printed to four


class PrintedFits(NamedTuple):
    """A model's Beta parameters and its GLM Curves, best published AIC first."""

    model: str
    alpha: float
    beta: float
    curves: list

    def scenario(self, place: int = 0) -> Scenario:
        """Return the Scenario with the GLM in this place of the published AICs."""
        return Scenario(self.model, self.alpha, self.beta, self.curves[place])


def printed_fits(table2: pd.DataFrame, table3: pd.DataFrame) -> dict[str, PrintedFits]:
    """Return {model: PrintedFits} of the published tables, DataFrames as read from CSV."""
    table3 = table3.sort_values("aic", kind="stable").astype({"b0": float, "b1": float})
    fits = {}
    for row in table2.itertuples():
        rows = table3[table3["model"] == row.model].fillna({"b0": 0.0, "b1": 0.0})
        curves = [Curve.from_row(glm) for glm in rows.to_dict("records")]
        fits[row.model] = PrintedFits(row.model, float(row.alpha), float(row.beta), curves)
    return fits


def printed_coefficients(curve: Curve) -> list[str]:
    """Return the names of the coefficients that Table 3 prints for a GLM: b0, b1 or both."""
    return [name for name in ("b0", "b1") if name in curve.name.split("_")]


def fitted_scenario(
    model: str, curve: str, beta_fits: Sequence[Path], glm_fits: Sequence[Path]
) -> tuple[Scenario, str]:
    """Return (Scenario, source) of ``model``; ``curve`` is ``fitted`` or ``identity``.

    The first path that lists the model counts; a table without ``source`` is published.
    """
    beta = _rows(model, beta_fits)[0]
    fitted = Curve("identity")
    if curve == "fitted":
        fitted = Curve.from_row(min(_rows(model, glm_fits), key=lambda row: float(row["aic"])))
    scenario = Scenario(model, float(beta["alpha"]), float(beta["beta"]), fitted)
    return scenario, beta.get("source", "published_fits")


def _rows(model: str, paths: Sequence[Path]) -> list[dict[str, str]]:
    for path in paths:
        rows = [row for _, row in read_rows(path, ["model"]) if row["model"] == model]
        if rows:
            return rows
    raise InputError(
        f"model {model} has no fit in {', '.join(map(str, paths))}: give it logits in logits_dir"
    )
