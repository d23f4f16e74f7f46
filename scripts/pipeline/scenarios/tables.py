"""Scenario tables: which scenarios an experiment has, as CSV (table ``scenarios``)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from calbias.errors import InputError
from calbias.truth.curves import NAMED_CURVES, Curve
from calbias.truth.scenarios import Scenario, validate_scenario
from pipeline.scenario_names import curve_names, scenario_name, validate_scenarios
from pipeline.tables.rows import read_rows
from pipeline.tables.schema import columns_of

Row = dict[str, Any]

COLUMNS = columns_of("scenarios")


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
    return dict(zip(COLUMNS, values, strict=True))


def read_scenarios(path: Path) -> list[tuple[Scenario, dict[str, str]]]:
    """Return [(Scenario, row)] of a scenario table; raises InputError for a bad row or file."""
    return [(_scenario(f"{path}, line {line}", row), row) for line, row in read_rows(path, COLUMNS)]


def _scenario(place: str, row: dict[str, str]) -> Scenario:
    try:
        alpha, beta, b0, b1 = (float(row[name]) for name in ("alpha", "beta", "b0", "b1"))
        name, curve = row["scenario"], row["curve"]
    except (ValueError, TypeError) as error:
        raise InputError(f"{place}: not a scenario ({error})") from error
    scenario = Scenario(name, alpha, beta, Curve(curve, b0, b1))
    validate_scenario(scenario, place)
    return scenario
