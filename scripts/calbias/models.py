"""The models table: which models there are, and which of them an experiment simulates."""

import csv
import re
from pathlib import Path

from calbias.errors import InputError, did_you_mean

MODEL_COLUMNS = ("model", "group", "n_classes", "file")


def read_models(path):
    """Return {model: row as a dict of strings} of a models table, in its order.

    Raises InputError naming the line for a missing column, an empty or repeated name, a number of
    classes below 2, no group, more cells than columns, or a name that cannot be a file's.
    """
    if not Path(path).is_file():
        raise InputError(f"{path}: there is no such models table; set models in the config")
    with open(path, newline="", encoding="utf-8-sig") as file:
        reader = csv.DictReader(file)
        missing = [name for name in MODEL_COLUMNS if name not in (reader.fieldnames or ())]
        if missing:
            raise InputError(
                f"{path}: column {missing[0]} is missing; columns: {', '.join(MODEL_COLUMNS)}"
            )
        rows = list(reader)
    models = {}
    for number, row in enumerate(rows, start=2):
        name = row["model"] or ""
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name):
            raise InputError(
                f"{path}, line {number}: model {name!r}: use letters, digits, dots, dashes and "
                f"underscores"
            )
        if name in models:
            raise InputError(
                f"{path}, line {number}: model {name} is there already: give it another name"
            )
        if not (row["n_classes"] or "").isdigit() or int(row["n_classes"]) < 2:
            raise InputError(
                f"{path}, line {number}: n_classes of {name} must be a whole number from 2"
            )
        if not row["group"] or None in row:
            wrong = "too many cells" if None in row else "no group"
            raise InputError(
                f"{path}, line {number}: {name} has {wrong}: write {','.join(MODEL_COLUMNS)}"
            )
        models[name] = {**row, "file": row["file"] or ""}
    if not models:
        raise InputError(f"{path}: the table lists no model; add a line below its header")
    return models


def with_models(experiments, models, published_dir):
    """Return the experiments with ``models`` resolved to names in the models table.

    The paper's own models may be missing from a user's table: they are left out, and an experiment
    of which nothing is left too. Raises InputError for any other name that is not in the table.
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


def published_models(published_dir):
    """Return the names of the models of Table 2, a set."""
    with open(Path(published_dir) / "roelofs2022_table2_beta_fits.csv", encoding="utf-8") as file:
        return {row["model"] for row in csv.DictReader(file)}
