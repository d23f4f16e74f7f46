"""The models table: which models there are, and which of them an experiment simulates."""

import csv
import re
from pathlib import Path

from calbias.errors import InputError, did_you_mean

MODEL_COLUMNS = ("model", "group", "n_classes", "file")
LONGEST_NAME = 100  # of a model: with suffixes, and beside temporary names, it is a file's


def read_models(path):
    """Return {model: row as a dict of strings} of a models table, in its order.

    Raises InputError naming the line for a missing column, an empty or repeated name, a number of
    classes below 2, no group, more cells than columns, or a name that cannot be a file's.
    """
    models = {}
    for number, row in enumerate(_rows(path), start=2):
        place, name = f"{path}, line {number}", row["model"] or ""
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name):
            raise InputError(
                f"{place}: model {name!r}: use letters, digits, dots, dashes and underscores"
            )
        if len(name) > LONGEST_NAME:
            raise InputError(
                f"{place}: model {name[:20]}… has {len(name)} characters: files are called like it,"
                f" use at most {LONGEST_NAME}"
            )
        if name in models:
            raise InputError(f"{place}: model {name} is there already: give it another name")
        if not re.fullmatch("[0-9]{1,9}", row["n_classes"] or "") or int(row["n_classes"]) < 2:
            raise InputError(f"{place}: n_classes of {name} must be a whole number from 2")
        if not row["group"] or None in row:
            wrong = "too many cells" if None in row else "no group"
            raise InputError(f"{place}: {name} has {wrong}: write {','.join(MODEL_COLUMNS)}")
        if set("{}") & set(row["file"] or ""):
            raise InputError(
                f"{place}: file {row['file']!r} of {name} has braces, by which Snakemake marks "
                f"wildcards: rename the file"
            )
        models[name] = {**row, "file": row["file"] or ""}
    if not models:
        raise InputError(f"{path}: the table lists no model; add a line below its header")
    return models


def _rows(path):
    """Return the rows of a models table as dicts of its cells; InputError if it is none."""
    if not Path(path).is_file():
        raise InputError(f"{path}: there is no such models table; set models in the config")
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file)
            names, rows = reader.fieldnames or (), list(reader)
    except UnicodeDecodeError:
        raise InputError(f"{path}: not in UTF-8; save it as such") from None
    except csv.Error as error:
        raise InputError(f"{path}: no readable CSV table: {error}; write it again") from None
    missing = [name for name in MODEL_COLUMNS if name not in names]
    if missing:
        raise InputError(
            f"{path}: column {missing[0]} is missing; columns: {', '.join(MODEL_COLUMNS)}"
        )
    return rows


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
