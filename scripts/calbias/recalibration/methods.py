"""The methods by name, and maps as plain values that a file can hold.

A method of scores is fitted to a ``Scored``, a method of logits to logits (n, K) and labels (n,). A
map has ``predict``: scores to scores, or logits to logits whose softmax is recalibrated.
"""

import math
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from calbias.errors import InputError, looked_up
from calbias.recalibration.beta import BetaMap, fit_beta
from calbias.recalibration.isotonic import Interpolated, isotonic, nondecreasing
from calbias.recalibration.logistic import Line, fit_cox, fit_shift, fit_slope, logits_of
from calbias.recalibration.softmax_regression import fit_linear
from calbias.recalibration.spline import SplineMap, fit_counts
from calbias.recalibration.temperature import BOUNDS, TemperatureScaling, inverse_temperature
from calbias.samples.by_score import Scored

MOST_KNOTS = 1000
"""More knots of a spline are thinned, at equal shares of the rows, so that its file is small."""
_MOST_NUMBERS = 1_000_000  # of a map that is read
Ends = tuple[float, float]


class Unchanged(NamedTuple):
    """The map that leaves scores as they are."""

    def predict(self, scores: np.ndarray) -> np.ndarray:
        """Return the scores."""
        return scores


class VectorScaling(NamedTuple):
    """w ∘ z + b of logits z (Guo et al. 2017, section 4.2); both (K,)."""

    weights: np.ndarray
    intercept: np.ndarray

    def predict(self, logits: np.ndarray) -> np.ndarray:
        """Return the recalibrated logits (n, K)."""
        return logits.astype(np.float64) * self.weights + self.intercept


def _shift(sample: Scored, ends: Ends) -> Line:
    x = logits_of(sample.scores, ends)
    return Line(fit_shift(x, sample.hits, sample.rows), 1.0, *ends)


def _slope(sample: Scored, ends: Ends) -> Line:
    x = logits_of(sample.scores, ends)
    return Line(0.0, fit_slope(x, sample.hits, sample.rows), *ends)


def _platt(sample: Scored, ends: Ends) -> Line:
    x = logits_of(sample.scores, ends)
    return Line(*fit_cox(x, sample.hits, sample.rows), *ends)


def _beta(sample: Scored, ends: Ends) -> BetaMap:
    return fit_beta(sample.scores, sample.hits, sample.rows, ends)


def _isotonic(sample: Scored, ends: Ends) -> Interpolated:
    """Return the isotonic map, one row of each step taken from Platt's line; never 0 or 1.

    A step's share of k hits in n rows is (k + p)/(n + 1), with p the mean of the line there. Knots
    inside the steps, which change nothing, are left out.
    """
    knots, shares = isotonic(sample)
    rows = sample.by_score.rows
    step = np.cumsum(np.diff(shares, prepend=shares[0]) != 0.0)
    size = np.bincount(step, rows)
    few = 1.0 / (size.sum() + 2.0)
    line = np.clip(_platt(sample, ends).predict(knots), few, 1.0 - few)
    totals = (np.bincount(step, rows * each) for each in (shares, line))
    hits = next(totals) + next(totals) / size
    values = nondecreasing(hits / (size + 1.0), size + 1.0)[step]
    is_end = np.ones(knots.size, bool)
    is_end[1:-1] = (values[1:-1] != values[:-2]) | (values[1:-1] != values[2:])
    return Interpolated(knots[is_end], values[is_end])


def _spline(sample: Scored, ends: Ends) -> SplineMap:
    sample = sample.by_score
    rows = sample.rows.astype(np.int64)
    if (rows != sample.rows).any():
        raise InputError("a spline takes no weights: take platt, beta or isotonic")
    fitted = fit_counts(sample.scores, sample.hits / rows, rows)
    if fitted.scores.size > MOST_KNOTS:
        shares = np.cumsum(sample.rows) / sample.n
        chosen = np.unique(np.searchsorted(shares, np.linspace(shares[0], 1.0, MOST_KNOTS)))
        chosen = np.minimum(chosen, shares.size - 1)
        fitted = fitted._replace(scores=fitted.scores[chosen], slopes=fitted.slopes[chosen])
    return fitted


def _temperature(logits: np.ndarray, labels: np.ndarray) -> TemperatureScaling:
    with warnings.catch_warnings(action="ignore"):
        return TemperatureScaling(inverse_temperature(logits, labels))


def _vector(logits: np.ndarray, labels: np.ndarray) -> VectorScaling:
    with warnings.catch_warnings(action="ignore"):
        fitted = fit_linear(logits, labels, diagonal=True)
    return VectorScaling(fitted.weights, fitted.intercept)


OF_SCORES: dict[str, Callable[[Scored, Ends], Any]] = {
    "shift": _shift, "slope": _slope, "platt": _platt, "beta": _beta, "isotonic": _isotonic,
    "spline": _spline,
}  # fmt: skip
OF_LOGITS: dict[str, Callable[[np.ndarray, np.ndarray], Any]] = {
    "temperature": _temperature, "vector": _vector,
}  # fmt: skip
METHODS = (*OF_SCORES, *OF_LOGITS)
ADVISED = "advised"
_ELSEWHERE = {"logistic": "platt", "sigmoid": "platt", "temperature_scaling": "temperature",
              "vector_scaling": "vector", "isotonic_regression": "isotonic"}  # fmt: skip
NONE = "none"
"""The method of the map that changes nothing."""
INJECTIVE = {"shift", "slope", "platt", "beta", "temperature"}
_LARGEST = 1e12  # of any number of a map: outputs are finite for all logits of single precision
_MAPS: dict[str, Any] = {
    NONE: Unchanged, "shift": Line, "slope": Line, "platt": Line, "beta": BetaMap,
    "isotonic": Interpolated, "spline": SplineMap, "temperature": TemperatureScaling,
    "vector": VectorScaling,
}  # fmt: skip


def validate_method(name: Any) -> None:
    """Raise InputError unless a name is one of METHODS or "advised"."""
    if name in _ELSEWHERE:
        raise InputError(f"unknown method {name!r}: here it is called {_ELSEWHERE[name]}")
    looked_up("method", name, dict.fromkeys((ADVISED, *METHODS)))


def parameters_of(fitted: Any) -> dict[str, Any]:
    """Return the parameters of a map as numbers and lists of numbers."""
    return {
        name: value.tolist() if isinstance(value, np.ndarray) else value
        for name, value in fitted._asdict().items()
    }


def map_of(method: Any, parameters: Any) -> Any:
    """Return the map of a method's name and parameters; InputError where it cannot be one."""
    if not isinstance(method, str):
        raise InputError("its method is not a text")
    kind = looked_up("method", method, _MAPS)
    if not isinstance(parameters, dict) or {*parameters} != {*kind._fields}:
        raise InputError(f"the parameters of {method} are {', '.join(kind._fields) or 'none'}")
    values = {}
    for name, value in parameters.items():
        is_array = kind.__annotations__[name] is np.ndarray
        numbers = value if is_array else [value]
        if not isinstance(numbers, list) or not 1 <= len(numbers) <= _MOST_NUMBERS:
            raise InputError(f"its {name} is not a list of numbers")
        if kind.__annotations__[name] is bool:
            if not isinstance(value, bool):
                raise InputError(f"its {name} is neither true nor false")
        elif not all(map(is_finite, numbers)):
            raise InputError(f"its {name} holds what is not a finite number")
        values[name] = np.array(numbers, dtype=np.float64) if is_array else value
    fitted = kind(**values)
    if not (_is_of(method, fitted) and _is_possible(fitted)):
        raise InputError(f"its numbers are not those of a map of {method}")
    return fitted


def is_finite(value: Any) -> bool:
    """Return whether a value is a number of a map."""
    return type(value) in (int, float) and abs(value) <= _LARGEST and math.isfinite(value)


def _is_of(method: str, fitted: Any) -> bool:
    """Return whether a line has the one parameter of its method."""
    return (method != "shift" or fitted.slope == 1.0) and (
        method != "slope" or fitted.intercept == 0.0
    )


def _is_possible(fitted: Any) -> bool:
    """Return whether finite numbers are those of a map, whose outputs are probabilities."""
    match fitted:
        case Line():
            return 0.0 < fitted.least < fitted.greatest < 1.0
        case BetaMap():
            is_inside = 0.0 < fitted.least < fitted.greatest < 1.0
            return is_inside and min(fitted.a, fitted.b) >= 0.0
        case Interpolated():
            return _are_knots(*fitted) and bool(
                np.all((fitted.values >= 0.0) & (fitted.values <= 1.0))
                and np.all(np.diff(fitted.values) >= 0.0)
            )
        case SplineMap():
            return _are_knots(fitted.scores, fitted.slopes)
        case TemperatureScaling():
            return BOUNDS[0] <= fitted.inverse <= BOUNDS[1]
        case VectorScaling():
            return fitted.weights.size == fitted.intercept.size >= 2
    return True


def _are_knots(scores: np.ndarray, values: np.ndarray) -> bool:
    is_ascending = bool(np.all(np.diff(scores) > 0.0))
    return scores.size == values.size and is_ascending and 0.0 <= scores[0] <= scores[-1] <= 1.0
