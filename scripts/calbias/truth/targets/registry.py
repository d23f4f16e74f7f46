"""Targets by name: a target is the file of that name in this folder.

A file defines ``functional(population, ...)``, and where a scenario's value has a better quadrature
than the quantile grid, ``value(scenario, ...)``. Their keywords (``norm``, ``n_bins``,
``bandwidth``, …) are the target's options.
"""

import functools
import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from calbias.io.plug_ins import Kind
from calbias.truth.scenarios import Scenario
from calbias.truth.targets.population import (
    GRID_SIZE,
    Population,
    population_of_sample,
    population_of_scenario,
)

_TARGETS = Kind(
    "target",
    Path(__file__).parent,
    ("functional",),
    "functional(population)",
    helpers=("population", "registry"),
)


def known_targets() -> dict[str, Path]:
    """Return {name: path} of all targets, sorted."""
    return _TARGETS.files()


def target_value(target: str, scenario: Scenario, size: int = GRID_SIZE, **options: Any) -> float:
    """Return the value of a target for a scenario, in the target's own units, by quadrature.

    ``size``: points of the quantile grid, for targets without a quadrature of their own. Of the
    options a target takes those that it knows and ignores the others: one call serves all.
    """
    module = _module(target)
    if hasattr(module, "value"):
        return module.value(scenario, **_taken(module.value, options))
    population = population_of_scenario(scenario, size)
    return module.functional(population, **_taken(module.functional, options))


def target_value_of_sample(
    target: str, scores: np.ndarray, curve_values: np.ndarray, **options: Any
) -> float:
    """Return the value of a target for scores (n,) with the curve's values (n,) at them."""
    return target_value_of(target, population_of_sample(scores, curve_values), **options)


def target_value_of(target: str, population: Population, **options: Any) -> float:
    """Return the value of a target for a Population."""
    module = _module(target)
    return module.functional(population, **_taken(module.functional, options))


def options_taken(target: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return those options that change the value of a target."""
    module = _module(target)
    value = module.value if hasattr(module, "value") else module.functional
    return _taken(value, options)


@functools.cache
def _module(target: str) -> ModuleType:
    return _TARGETS.module(_TARGETS.file(target))


def _taken(function: Callable[..., Any], options: Mapping[str, Any]) -> dict[str, Any]:
    parameters = _parameters(function)
    return {name: value for name, value in options.items() if name in parameters}


@functools.cache
def _parameters(function: Callable[..., Any]) -> frozenset[str]:
    return frozenset(inspect.signature(function).parameters)
