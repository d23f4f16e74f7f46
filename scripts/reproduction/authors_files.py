"""The files of results that the authors' public code downloads: their fits and their biases.

Their form is what that code writes (docs/authors_code.md): ``beta_fit_data.p`` and
``glm_fit_data.p`` are pickles {"data": {model: ...}}, ``calibration_results.json`` has an entry for
each simulated cell, ``eece_sece_data.p`` has the two columns of Table 4.

Of a pickle only dicts, lists, numbers and texts are read. Every class and function that it names is
replaced by ``_Nothing``, which takes any arguments and does nothing: no code of the file's choice
runs, and a table of pandas in it is not read. ``pickles.scan`` bounds the memory before.
"""

import json
import pickle
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from calbias.errors import InputError
from calbias.io.files import validate_file_exists, validate_no_placeholder
from calbias.truth.curves import GLM_NAMES, Curve, split_glm_name
from calbias.truth.scenarios import Scenario
from pipeline.paper import MODELS, N_BINS, NORM
from pipeline.pickles import scan
from pipeline.table_schema import columns_of

FILES = ("beta_fit_data.p", "glm_fit_data.p", "calibration_results.json", "eece_sece_data.p")
BETA, GLM, BIASES, ECE_BIN = FILES
Row = dict[str, Any]
_TABLE_4 = {"eece_L2": "ece_bin_percent", "sece_L2": "mean_simulated_ece_bin_percent"}
_FAMILIES = ("sweep", "debias", "bin")
_MORE = """
    EMPTY_DICT DICT SETITEM SETITEMS FLOAT BINFLOAT LONG4 STRING EMPTY_SET ADDITEMS FROZENSET
    NEWOBJ NEWOBJ_EX POP POP_MARK DUP
"""
_MOST_INSTRUCTIONS = 1_000_000


def contents(path: Path) -> Any:
    """Return the plain values in a file; InputError if they are not a dict."""
    if path.suffix == ".json":
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
        except (UnicodeDecodeError, json.JSONDecodeError) as error:
            raise InputError(
                f"{path}: not JSON ({error}); delete it and download it again"
            ) from None
    else:
        values = read_plain_pickle(path)
        values = values.get("data") if isinstance(values, dict) else values
    if not isinstance(values, dict):
        raise InputError(f"{path}: it holds no dict of results; delete it and download it again")
    return values


def recorded_rows(beta: Path, glm: Path, biases: Path, ece_bin: Path) -> list[Row]:
    """Return the rows of table ``authors_recorded``: the numbers of the four files."""
    rows = [*fit_rows(beta, glm), *ece_bin_rows(ece_bin)]
    return [*rows, *bias_rows(biases, best_scenarios(pd.DataFrame(rows)))]


def _row(
    model: str,
    quantity: str,
    value: float,
    error: float = np.nan,
    case: str = "",
    n_samples: int | None = None,
) -> Row:
    values = (model, case, n_samples, quantity, value, error)
    return dict(zip(columns_of("authors_recorded"), values, strict=True))


def fit_rows(beta_path: Path, glm_path: Path) -> Iterator[Row]:
    """Yield a row for each coefficient of the Beta distribution and of each GLM of a model."""
    betas, glms = contents(beta_path), contents(glm_path)
    for model in MODELS:
        parameters = _numbers(beta_path, betas, (model,), ("a", "b"))
        yield _row(model, "alpha", parameters["a"])
        yield _row(model, "beta", parameters["b"])
        for glm in GLM_NAMES:
            for number in ("AIC", *split_glm_name(glm)[2].split("_")):
                value, error = (
                    _numbers(glm_path, glms, (model, glm, number, x), ("value",))["value"]
                    for x in ("mean", "std")
                )
                yield _row(model, number.lower(), value, error, glm)


def _numbers(path: Path, values: Any, keys: tuple[str, ...], names: tuple[str, ...]) -> Any:
    """Return {name: number} at a place of nested dicts; InputError where it is not there."""
    for key in keys:
        values = values.get(key) if isinstance(values, dict) else None
    numbers = {name: values.get(name) if isinstance(values, dict) else None for name in names}
    for name, number in numbers.items():
        if not isinstance(number, int | float) or not np.isfinite(number):
            raise InputError(f"{path}: no number at {' › '.join((*keys, name))}")
    return numbers


def best_scenarios(recorded: pd.DataFrame) -> dict[str, Scenario]:
    """Return {model: Scenario} with the GLM of lowest AIC, from table ``authors_recorded``."""
    numbers = recorded.set_index(["model", "case", "quantity"])["value"].sort_index()
    scenarios = {}
    for model in recorded["model"].unique():
        alpha, beta = (numbers[model, "", x] for x in ("alpha", "beta"))
        glm = numbers[model, :, "aic"].idxmin()
        curve = Curve(glm, *(numbers.get((model, glm, x), 0.0) for x in ("b0", "b1")))
        scenarios[model] = Scenario(model, alpha, beta, curve)
    return scenarios


def bias_rows(path: Path, scenarios: Mapping[str, Scenario]) -> Iterator[Row]:
    """Yield a row for each recorded bias of these scenarios, in percent."""
    models: dict[tuple[Any, ...], str] = {
        (*scenario[1:3], *scenario.curve[1:]): name for name, scenario in scenarios.items()
    }
    for entry in contents(path).values():
        if not isinstance(entry, dict) or entry.get("norm") != NORM:
            continue
        parameters = tuple(entry.get(name) for name in ("alpha", "beta", "a", "b"))
        model, estimator = models.get(parameters), _estimator(str(entry.get("ce_type")))
        if model and estimator and entry.get("num_bins") == N_BINS:
            names = ("num_samples", "bias", "var")
            n, bias, error = _numbers(path, {"cell": entry}, ("cell",), names).values()
            yield _row(model, "bias_percent", bias, error, estimator, n)


def _estimator(name: str) -> str | None:
    """Return our name of an estimator of the authors' code, such as em_ece_sweep."""
    words = name.split("_")
    binning = next((word for word in words if word in ("em", "ew")), None)
    family = next((family for family in _FAMILIES if family in words), None)
    return f"ece_{family}_{binning}" if binning and family else None


def ece_bin_rows(path: Path) -> Iterator[Row]:
    """Yield the numbers of Table 4 before rounding, in percent.

    The file has columns, or an entry for each model.
    """
    values = contents(path)
    if isinstance(values.get("dataset"), list):
        columns = [values.get(name) for name in ("dataset", *_TABLE_4)]
        if not all(isinstance(x, list) and len(x) == len(columns[0]) for x in columns):
            raise InputError(f"{path}: its columns are of different lengths")
        values = {
            name: dict(zip(_TABLE_4, pair, strict=True))
            for name, *pair in zip(*columns, strict=True)
        }
    for model in MODELS:
        numbers = _numbers(path, values, (model,), tuple(_TABLE_4))
        for name, quantity in _TABLE_4.items():
            yield _row(model, quantity, numbers[name])


class _Nothing:
    """Stands for any class, function and object that is no plain value."""

    def __new__(cls, *_: Any, **__: Any) -> "_Nothing":
        return object.__new__(cls)

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def _ignore(self, *_: Any) -> "_Nothing":
        return self

    __call__ = __setstate__ = __setitem__ = append = extend = add = update = _ignore


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        return _Nothing


def read_plain_pickle(path: Path) -> Any:
    """Return the plain values of a pickle; InputError if it is damaged."""
    validate_file_exists(path)
    validate_no_placeholder(path)
    try:
        scan(path, _MORE, _MOST_INSTRUCTIONS)
        with open(path, "rb") as file:
            return _Unpickler(file, encoding="latin1").load()
    except OSError:
        raise
    except Exception as error:  # an unpickler can raise nearly anything on damaged bytes
        reason = str(error).partition("\n")[0]
        raise InputError(
            f"{path}: no readable pickle of plain values: {reason}; delete it and download it again"
        ) from None
