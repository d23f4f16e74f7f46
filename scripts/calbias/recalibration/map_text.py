"""The JSON text of a recalibration map: its entries, each checked when it is read."""

from __future__ import annotations

import json
from typing import Any

from calbias.defaults import FORMS, LOGITS, PROBABILITIES
from calbias.errors import InputError
from calbias.io import outputs
from calbias.recalibration.methods import NONE, OF_LOGITS, is_finite, map_of

GENERATOR = outputs.GENERATOR.format("recalibrate")
VERSION = 1
LARGEST_TEXT = 100_000_000
KEYS = ("generator", "calbias_map", "method", "parameters", "values", "top_label", "n_classes",
         "classes", "n", "gain", "gain_low", "gain_high", "score", "read_as")  # fmt: skip
_LONGEST_NAME, _MOST_CLASSES = 1000, 100_000


def checked_entries(text: str) -> tuple[dict[str, Any], Any]:
    """Return the entries of a map's JSON text, and the map; InputError where one is wrong."""
    if not isinstance(text, str) or len(text) > LARGEST_TEXT:
        raise InputError("a recalibration map is a JSON text of at most 100 MB")
    state = json.loads(text, parse_constant=_refuse_constant)
    if not isinstance(state, dict) or "calbias_map" not in state:
        raise InputError("no recalibration map: give what calbias recalibrate wrote")
    if state["calbias_map"] != VERSION or type(state["calbias_map"]) is not int:
        raise InputError(
            f"the map has version {state['calbias_map']!r:.20}, and this calbias reads version "
            f"{VERSION}: use the calbias that wrote it, or fit it again"
        )
    for key in ("score", "read_as"):  # an older map does not have them
        state.setdefault(key, None)
    if {*state} != {*KEYS}:
        raise InputError(f"the keys of a recalibration map are {', '.join(KEYS)}")
    fitted = map_of(state["method"], state["parameters"])
    gains = [state[name] for name in ("gain", "gain_low", "gain_high")]
    problem = _problem(state, fitted, gains)
    if problem:
        raise InputError(f"the recalibration map is damaged: {problem}; fit it again")
    return state, fitted


def _problem(state: dict[str, Any], fitted: Any, gains: list[Any]) -> str:
    """Return what is wrong with the entries of a map, or nothing."""
    method, k, classes = state["method"], state["n_classes"], state["classes"]
    if state["generator"] != GENERATOR:
        return "generator"
    if state["values"] not in (LOGITS, PROBABILITIES) or not isinstance(state["top_label"], bool):
        return "values or top_label"
    if not (k is None or (type(k) is int and 2 <= k <= _MOST_CLASSES)):
        return "n_classes"
    is_of_names = isinstance(classes, list) and all(map(_is_name, classes))
    if not is_of_names or len({*classes}) != len(classes) or len(classes) not in (0, k):
        return "classes"
    if state["score"] is not None and (k is not None or not _is_name(state["score"])):
        return "score"
    if state["read_as"] not in (None, *FORMS):
        return "read_as"
    if method in OF_LOGITS and (k is None or (k == 2 and not state["top_label"])):
        return f"{method} without classes"
    if method == "vector" and fitted.weights.size != k:
        return f"{fitted.weights.size} weights for {k} classes"
    if type(state["n"]) is not int or not 1 <= state["n"] < 2**62:
        return "n"
    most = 2 if method == "vector" else 1  # Brier scores over all classes are at most 2
    are_numbers = [is_finite(gain) for gain in gains]
    if method != NONE and (not all(are_numbers) or abs(gains[0]) > most):
        return "gain"
    are_ordered = all(are_numbers) and gains[1] <= gains[0] <= gains[2]
    return "" if are_ordered or (method == NONE and gains == [None] * 3) else "gain"


def _is_name(name: Any) -> bool:
    return isinstance(name, str) and 0 < len(name) <= _LONGEST_NAME


def _refuse_constant(text: str) -> Any:
    raise InputError(f"a recalibration map holds {text}, which is not a finite number")
