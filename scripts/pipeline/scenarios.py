"""Scenarios: of the table ``scenarios``, and of models by their fits, printed or of a run."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from calbias.errors import InputError
from calbias.truth.counted import CountedScenario
from calbias.truth.curves import NAMED_CURVES, Curve
from calbias.truth.scenarios import Scenario, validate_scenario
from pipeline.populations import read_own_scores
from pipeline.scenario_names import curve_names, scenario_name, validate_scenarios
from pipeline.table_schema import columns_of
from pipeline.tables import read_rows

if TYPE_CHECKING:
    import pandas as pd

Row = dict[str, Any]

OWN_CURVES = {"fitted": "own_scores", "identity": "own_scores_calibrated"}
"""The curves of rows whose law is a model's own scores, by what an experiment asks for."""
HALF_LAST_DIGIT = 0.005  # of b0 and b1, printed to two decimals
HALF_LAST_DIGIT_BETA = 0.00005  # of alpha and beta, printed to four


def synthetic_rows(
    experiment: str,
    scores: Sequence[tuple[float, float]],
    curves: Sequence[str],
    powers: Sequence[float] = (),
    glms: Sequence[Any] = (),
) -> list[Row]:
    """Return a row for each Beta of ``scores`` with each named curve, power c^d and GLM Curve."""
    glms = list(glms)
    validate_scenarios(experiment, scores, curves, powers, glms)
    named = [NAMED_CURVES[name] for name in curves]
    curves_of = [*named, *(Curve("power", 0.0, float(d)) for d in powers), *glms]
    scenarios = [
        Scenario(scenario_name(*pair, name), *pair, curve)
        for pair in scores
        for name, curve in zip(curve_names(curves, powers, glms), curves_of, strict=True)
    ]
    return [scenario_row(experiment, scenario, "synthetic") for scenario in scenarios]


def scenario_row(experiment: str, scenario: Scenario, source: str, group: str = "") -> Row:
    """Return the row, a dict, of a Scenario."""
    name, alpha, beta, curve = scenario
    values = (experiment, name, group, source, float(alpha), float(beta), *curve)
    return dict(zip(columns_of("scenarios"), values, strict=True))


def own_scores_row(experiment: str, model: str, curve: str, source: str, group: str = "") -> Row:
    """Return the row of a model's own scores: no Beta, and a curve of OWN_CURVES."""
    no_beta = Scenario(model, math.nan, math.nan, Curve(OWN_CURVES[curve]))
    return scenario_row(experiment, no_beta, source, group)


def read_scenarios(path: Path) -> list[tuple[Scenario, dict[str, str]]]:
    """Return [(Scenario, row)] of a scenario table; raises InputError for a bad row or file.

    The Scenario of a model's own scores has a name and the name of its curve alone.
    """
    rows = read_rows(path, columns_of("scenarios"))
    return [(_scenario(f"{path}, line {line}", row), row) for line, row in rows]


def read_laws(
    path: Path, own_scores: Sequence[Path]
) -> Iterator[tuple[Scenario, Scenario | CountedScenario]]:
    """Yield (Scenario, what to draw from) of a table, with files of models' own scores."""
    populations = read_own_scores(own_scores)
    for scenario, _ in read_scenarios(path):
        if scenario.curve.name not in OWN_CURVES.values():
            yield scenario, scenario
        elif scenario.name not in populations:
            raise InputError(f"{path}: no file of the own scores of {scenario.name}: rerun")
        else:
            population, _ = populations[scenario.name]
            is_calibrated = scenario.curve.name == OWN_CURVES["identity"]
            yield scenario, population.calibrated() if is_calibrated else population


def _scenario(location: str, row: dict[str, str]) -> Scenario:
    if row["curve"] in OWN_CURVES.values():
        return Scenario(row["scenario"], math.nan, math.nan, Curve(row["curve"]))
    try:
        alpha, beta, b0, b1 = (float(row[name]) for name in ("alpha", "beta", "b0", "b1"))
        name, curve = row["scenario"], row["curve"]
    except (ValueError, TypeError) as error:
        raise InputError(f"{location}: not a scenario ({error})") from error
    scenario = Scenario(name, alpha, beta, Curve(curve, b0, b1))
    validate_scenario(scenario, location)
    return scenario


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
    fits = {
        row.model: PrintedFits(row.model, float(row.alpha), float(row.beta), [])
        for row in table2.itertuples()
    }
    for row in table3.fillna({"b0": 0.0, "b1": 0.0}).to_dict("records"):
        if row["model"] in fits:
            fits[row["model"]].curves.append(Curve.from_row(row))
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
