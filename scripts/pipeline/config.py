"""The configuration: checked against its schema, completed with defaults, in one-line errors."""

import difflib
import os
import re
import sys
import warnings
from collections.abc import Sequence
from functools import reduce
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError, best_match

from calbias.errors import InputError, did_you_mean
from calbias.estimation.registry import estimator_file, known_estimators, validate_unusable
from calbias.io.python_files import literal
from pipeline.catalogue import paper_experiments
from pipeline.estimators import added_estimators, estimator_folders
from pipeline.guests import Workflow, workflows
from pipeline.models import Config
from pipeline.scenario_names import validate_scenarios
from pipeline.table_schema import read_yaml

_NOTHING = object()
_MOST_VALUES = 100_000
PAGE_EXPERIMENTS = ("realistic", "perfect", "detection", "detection_null")
"""What an estimator's own page rests on."""


def read_schema(*selected: Workflow) -> Config:
    """Return the schema of all keys of workflows, by default of all."""
    papers, *more = (
        read_yaml(path)
        for workflow in selected or workflows()
        if (path := workflow.schemas / "config.schema.yaml").is_file()
    )
    return reduce(lambda schema, other: _with_keys(schema, other["properties"]), more, papers)


def _with_keys(schema: Config, keys: Config) -> Config:
    if repeated := sorted({*keys} & {*schema["properties"]}):
        raise InputError(f"config: guests: key {repeated[0]} is there already; rename yours")
    return {**schema, "properties": schema["properties"] | keys}


def complete_config(config: Config, schema: Config) -> Config:
    """Return a copy of ``config`` with the schema's defaults filled in, per experiment too.

    An estimator that is not defined for the norm is left out, with a warning. InputError, one line
    with the key's place, what is wrong and the remedy, for anything that no run could use.
    """
    _validate_size(config)
    error = best_match(Draft202012Validator(schema).iter_errors(config))
    if error:
        raise InputError(f"config: {_explain(error)}")
    _validate_finite(config)
    complete = _with_defaults(config, schema)
    folders = estimator_folders(complete)
    if not all(folder.is_dir() for folder in folders):
        raise InputError(
            f"config: estimator_dir: there is no folder {folders[-1]}; correct the path"
        )
    complete["experiments"] = _without_the_empty(complete["experiments"])
    for name, experiment in complete["experiments"].items():
        experiment = _with_defaults(experiment, schema["$defs"]["experiment"])
        experiment.setdefault("replicates", complete["replicates"])
        experiment.setdefault("estimators", complete["estimators"])
        complete["experiments"][name] = experiment
        scores, curves, glms = (experiment.get(key, ()) for key in ("scores", "curves", "glms"))
        validate_scenarios(name, scores, curves, powers(experiment), glms)
    _set_estimators(complete, folders)
    _validate_null(complete["experiments"])
    complete["estimator"] = _pages(complete, schema["properties"]["norm"]["default"])
    _validate_shards(complete)
    return complete


def _set_estimators(config: Config, folders: Sequence[Path]) -> None:
    """Check the lists of estimators; leave those out, with a warning, that need another norm."""
    norm = config["norm"]
    _norms("estimators", config["estimators"], folders)
    for name, experiment in config["experiments"].items():
        section = f"experiments.{name}.estimators"
        norms = _norms(section, experiment["estimators"], folders)
        others = {
            name: allowed[0] for name, allowed in norms.items() if allowed and norm not in allowed
        }
        words = f"{', '.join(others)}: defined for norm {next(iter(others.values()), 0):g} only"
        experiment["estimators"] = [name for name in norms if name not in others]
        if not experiment["estimators"]:
            raise InputError(
                f"config: {section}: {words}, and norm is {norm:g}: list another one, "
                "or change norm"
            )
        if others:
            warnings.warn(f"{section}: left out where norm is {norm:g}: {words}", stacklevel=2)


def _validate_null(experiments: Config) -> None:
    """Raise InputError unless the null has what the detection is tested by."""
    if not {"detection", "detection_null"} <= {*experiments}:
        return
    detection, null = experiments["detection"], experiments["detection_null"]
    for key in ("estimators", "n_samples"):
        missing = [item for item in detection[key] if item not in null[key]]
        if missing:
            raise InputError(
                f"config: experiments.detection_null.{key}: {missing[0]} is missing, which "
                "experiments.detection has: list it"
            )
    if len({*detection["n_bins"], *null["n_bins"]}) > 1:
        raise InputError(
            "config: experiments.detection.n_bins: give one number, the same as to detection_null"
        )


def _pages(config: Config, norm: float) -> dict[str, dict[str, str]]:
    """Return {page: {estimator: file}} of key ``estimator``; InputError where none can be made.

    ``norm`` is that of the other estimators' kept numbers.
    """
    pages = added_estimators(config)
    absent = [name for name in PAGE_EXPERIMENTS if name not in config["experiments"]]
    if pages and absent:
        raise InputError(
            f"config: estimator: the page needs experiment {absent[0]}, which is left out"
        )
    if pages and config["norm"] != norm:
        raise InputError(
            f"config: norm: {config['norm']:g}: an estimator's page compares it at norm {norm:g} "
            f"with the others; leave norm out"
        )
    if pages and config["fits"] == "own_scores":
        raise InputError(
            "config: fits: an estimator's page compares it on the paper's fits with the others; "
            "leave fits out"
        )
    if pages and config["score_precision"] != "exact":
        raise InputError(
            "config: score_precision: an estimator's page compares it on exact scores with the "
            "others; leave score_precision out"
        )
    return pages


def _norms(
    section: str, estimators: Sequence[str], folders: Sequence[Path]
) -> dict[str, tuple[float, ...]]:
    """Return {estimator: norms that it is defined for, () for all}; InputError for no such one."""
    norms = {}
    existing = known_estimators(folders)
    try:
        for estimator in estimators:
            file = existing.get(estimator) or estimator_file(estimator, folders)
            validate_unusable(estimator, file)
            norms[estimator] = literal(file, "NORMS", default=())
    except InputError as error:
        raise InputError(f"config: {section}: {error}") from None
    return norms


def _validate_shards(config: Config) -> None:
    """Raise InputError for more shards than replicates."""
    shards = config.get("shards", 1)
    for name, experiment in config["experiments"].items():
        if shards > experiment["replicates"]:
            raise InputError(
                f"config: shards: {shards} shards of the {experiment['replicates']} replicates of "
                f"experiment {name}: write at most one for each replicate"
            )


def with_file(error: InputError, files: Sequence[str], config: Config) -> str:
    """Return the message of an InputError with where its key's value is from.

    That is the last of ``files`` that has the key, or --config where ``config`` has another value.
    """
    message = str(error)
    match = re.match(r"config: ([\w.-]+)", message)
    if not match:
        return message
    keys = [] if message.startswith("config: top level") else match[1].split(".")
    if key := re.search(r"unknown key '([^']*)'", message):
        keys.append(key[1])
    for file in reversed(files):
        value = _value(read_yaml(Path(file)), keys)
        if value is not _NOTHING:
            as_given = isinstance(value, dict) or str(value) == str(_value(config, keys))
            source = os.path.relpath(file) if as_given else "--config"
            return f"{source}: {message.removeprefix('config: ')}"
    return message


def _value(tree: Any, keys: Sequence[str]) -> Any:
    """Return what a nested config has under ``keys``, or _NOTHING."""
    for key in keys:
        if isinstance(tree, list) and key.isdigit() and int(key) < len(tree):
            tree = tree[int(key)]
        elif isinstance(tree, dict) and key in tree:
            tree = tree[key]
        else:
            return _NOTHING
    return tree


def validate_folder(folder: Path, snakefile: Path) -> None:
    """Raise InputError if Snakemake cannot write in the folder where it runs."""
    if not os.access(folder, os.W_OK):
        raise InputError(
            f"{Path(folder).absolute()} cannot be written: run in a folder of your own, with "
            f"snakemake --snakefile {snakefile}"
        )


def _validate_finite(value: Any, keys: tuple[Any, ...] = ()) -> None:
    """Raise InputError for NaN, infinity and what no float64 holds: comparisons let NaN pass."""
    if isinstance(value, int | float) and not abs(value) <= sys.float_info.max:
        raise InputError(f"config: {'.'.join(map(str, keys))}: must be a finite number; write one")
    if isinstance(value, list):
        value = dict(enumerate(value))
    for key, part in value.items() if isinstance(value, dict) else ():
        _validate_finite(part, (*keys, key))


def _without_the_empty(experiments: Config) -> Config:
    """Return the experiments that are not left out; InputError for a misspelt one to leave out."""
    existing = paper_experiments()
    left_out = [name for name, experiment in experiments.items() if experiment is None]
    for name in left_out:
        nearest = difflib.get_close_matches(name, existing, n=1)
        if nearest and name != nearest[0]:
            raise InputError(
                f"config: experiments.{name}: no such experiment. Did you mean {nearest[0]}?"
            )
    return {name: value for name, value in experiments.items() if name not in left_out}


def powers(experiment: Config) -> list[float]:
    """Return the exponents of an experiment's power curves, a list of floats."""
    wanted = experiment.get("powers", [])
    if isinstance(wanted, dict):
        step = (wanted["stop"] - wanted["start"]) / (wanted["count"] - 1)
        return [wanted["start"] + k * step for k in range(wanted["count"])]
    return [float(d) for d in wanted]


def _with_defaults(values: Config, schema: Config) -> Config:
    """Return a mapping with the defaults of a schema, also of the mappings in it."""
    keys = schema["properties"]
    complete = {key: part["default"] for key, part in keys.items() if "default" in part} | values
    nested = {key: keys[key] for key in complete if "properties" in keys[key]}
    return complete | {key: _with_defaults(complete[key], part) for key, part in nested.items()}


_TYPES = {
    "array": "a list",
    "object": "a mapping",
    "integer": "a whole number",
    "number": "a number",
    "string": "a text",
    "boolean": "true or false",
}


def _validate_size(config: Config) -> None:
    """Raise InputError for a config that has itself inside, or by aliases too many values."""
    waiting: list[Any] = [config]
    n_values = 0
    while waiting:
        value = waiting.pop()
        n_values += 1
        if n_values > _MOST_VALUES:
            raise InputError(f"config: more than {_MOST_VALUES} values: does an alias hold itself?")
        if isinstance(value, dict):
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)


def _explain(error: ValidationError) -> str:
    """Return the place and the words for an error of the schema."""
    section = ".".join(str(part) for part in error.absolute_path) or "top level"
    meaning, value = error.schema.get("description"), f"{error.instance!r:.80}"
    properties = error.schema.get("properties", {})
    keys = error.instance if isinstance(error.instance, dict) and properties else ()
    unknown = next((key for key in keys if key not in properties), None)
    if error.validator in ("additionalProperties", "required") and unknown:
        return f"{section}: unknown key {unknown!r}. {did_you_mean(unknown, properties)}"
    if error.validator == "type":
        message = f"{value} must be {_TYPES[error.validator_value]}"
        if error.validator_value == "boolean":
            message += f"; on the command line write --config {section}=True or False"
    elif error.validator == "uniqueItems":
        repeated = next(item for item in error.instance if error.instance.count(item) > 1)
        message = f"{repeated!r} is listed twice; remove one"
    elif error.validator == "anyOf" and _is_unknown_experiment(section):
        experiments = paper_experiments()
        return (
            f"{section}: no such experiment. {did_you_mean(section.split('.')[1], experiments)} "
            "One of your own needs n_samples and models with a curve, or scores with curves"
        )
    elif error.validator in ("oneOf", "anyOf", "not", "pattern"):
        return f"{section}: {value} does not fit: {meaning or 'see config/README.md'}"
    else:
        message = error.message.replace("\n", " ")
    return f"{section}: {message}" + (f" ({meaning})" if meaning else "")


def _is_unknown_experiment(section: str) -> bool:
    """Return whether a key's place is that of an experiment that the papers do not have."""
    first, _, name = section.partition(".")
    return first == "experiments" and "." not in name and name not in paper_experiments()
