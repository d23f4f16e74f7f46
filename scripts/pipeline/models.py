"""The models table, the models of an experiment, and their rows in the paper's Tables 2 and 3."""

import os
import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

from calbias.errors import InputError, did_you_mean
from pipeline.tables import read_rows

Config = dict[str, Any]  # as read from YAML
Models = dict[str, dict[str, str]]  # {model: its row of the models table}
Rows = list[dict[str, str]]

MODEL_COLUMNS = ("model", "group", "n_classes", "file")
LONGEST_NAME = 100  # of a model: with suffixes, also temporary ones, it is a file's


def models_path(path: str, checkout: Path) -> str:
    """Return the path of the models table: in the current folder, else in the checkout."""
    if not Path(path).exists() and (Path(checkout) / path).exists():
        return os.path.relpath(Path(checkout) / path)
    return os.path.normpath(path)


def read_models(path: Path | str) -> Models:
    """Return {model: row as a dict of strings} of a models table; InputError names the line."""
    models: Models = {}
    for line, row in read_rows(path, MODEL_COLUMNS):
        if fault := _fault(row, models):
            raise InputError(f"{path}, line {line}: {fault}")
        models[row["model"]] = row
    if not models:
        raise InputError(f"{path}: the table lists no model; add a line below its header")
    return models


def _fault(row: dict[str, str], existing: Collection[str]) -> str:
    """Return what is wrong with a row below the models ``existing``, and the remedy, or nothing."""
    name, file = row["model"], row["file"]
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name):
        return f"model {name!r}: use letters, digits, dots, dashes and underscores"
    if len(name) > LONGEST_NAME:
        start = f"model {name[:20]}… has {len(name)} characters"
        return f"{start}: files are called like it, use at most {LONGEST_NAME}"
    if name in existing:
        return f"model {name} is there already: give it another name"
    if not re.fullmatch("[0-9]{1,7}", row["n_classes"]) or int(row["n_classes"]) < 2:
        return f"n_classes of {name} must be a whole number from 2 to 9999999"
    if not row["group"]:
        return f"{name} has no group: write {','.join(MODEL_COLUMNS)}"
    if set("{}") & set(file):
        words = "by which Snakemake marks wildcards: rename the file"
        return f"file {file!r} of {name} has braces, {words}"
    return ""


def with_models(experiments: Config, models: Models, published_dir: Path) -> Config:
    """Return the experiments with ``models`` resolved to names in the models table.

    The paper's own that a user's table lacks are left out, and experiments with nothing left.
    """
    resolved = {}
    for name, experiment in experiments.items():
        if "models" in experiment:
            wanted = list(models) if experiment["models"] == "all" else experiment["models"]
            for model in wanted:
                if model not in models and model not in published_models(published_dir):
                    raise InputError(
                        f"config: experiments.{name}.models: unknown model {model!r}."
                        f" {did_you_mean(model, models)}"
                    )
            experiment = {**experiment, "models": [m for m in wanted if m in models]}
        if experiment.get("models") != []:
            resolved[name] = experiment
    return resolved


def published_models(published_dir: Path) -> set[str]:
    """Return the names of the models of Table 2, a set."""
    path = Path(published_dir) / "roelofs2022_table2_beta_fits.csv"
    return {row["model"] for _, row in read_rows(path, ["model"])}


def rows_of(models: Collection[str], *paths: str) -> dict[str, Rows]:
    """Return {name of a table: its rows of these models}, which a job reads of Tables 2 and 3.

    A rule has them as a param, and the tables as ``ancient`` inputs, whose time does not count: a
    digit that changes in another row reruns nothing.
    """
    return {
        Path(path).stem: [row for _, row in read_rows(path) if row["model"] in models]
        for path in paths
    }


def selected_rows(models: Collection[str], *paths: str) -> dict[str, Rows]:
    """Return the ``rows_of`` models, of their curves the one of lowest AIC, without the AIC.

    All rows of a table with a cell that is not a number: the step reports it.
    """
    tables = rows_of(models, *paths)
    for name, rows in tables.items():
        if rows and "aic" in rows[0]:
            try:
                tables[name] = _of_lowest_aic(rows)
            except ValueError:
                continue
    return tables


def _of_lowest_aic(rows: Rows) -> Rows:
    best: dict[str, dict[str, str]] = {}
    for row in rows:
        lowest = best.setdefault(row["model"], row)
        if float(row["aic"]) < float(lowest["aic"]):
            best[row["model"]] = row
    return [{name: cell for name, cell in row.items() if name != "aic"} for row in best.values()]
