"""The configuration: checked against its schema, completed with defaults, in one-line errors."""

import difflib
import sys
from pathlib import Path

import yaml
from jsonschema import Draft202012Validator

from calbias.errors import InputError, did_you_mean
from calbias.estimation.registry import FOLDER, estimator_file, literal, validate_unusable
from calbias.pipeline.catalogue import paper_experiments
from calbias.truth.names import validate_scenarios


def complete_config(config, schema_file):
    """Return a copy of ``config`` with the schema's defaults filled in.

    Every experiment gets its own ``n_bins``, ``replicates`` and ``estimators``. Raises InputError,
    one line with the key's place, what is wrong and the nearest valid name, for anything the
    schema refuses, for numbers that are not finite, for scenarios of one name, for estimators that
    no file defines or that cannot be run, and for a norm that one is not defined for.
    """
    with open(schema_file, encoding="utf-8") as file:
        schema = yaml.safe_load(file)
    errors = list(Draft202012Validator(schema).iter_errors(config))
    if errors:
        raise InputError(f"config: {_explain(_innermost(_first(errors)))}")
    _validate_not_finite(config)
    complete = _with_defaults(config, schema)
    folders = estimator_folders(complete)
    if not all(folder.is_dir() for folder in folders):
        raise InputError(f"config: estimator_dir: there is no folder {folders[-1]}; mend its name")
    complete["experiments"] = _without_the_empty(complete["experiments"])
    for name, experiment in complete["experiments"].items():
        experiment = _with_defaults(experiment, schema["$defs"]["experiment"])
        experiment.setdefault("replicates", complete["replicates"])
        experiment.setdefault("estimators", complete["estimators"])
        complete["experiments"][name] = experiment
        given = [experiment.get(key, ()) for key in ("scores", "curves")]
        validate_scenarios(name, *given, powers(experiment), experiment.get("glms", ()))
    for where, names in [("estimators", complete["estimators"])] + [
        (f"experiments.{name}.estimators", experiment["estimators"])
        for name, experiment in complete["experiments"].items()
    ]:
        for estimator in names:
            try:
                file = estimator_file(estimator, folders)
                validate_unusable(estimator, file)
                norms = literal(file, "NORMS", default=(complete["norm"],))
            except InputError as error:
                raise InputError(f"config: {where}: {error}") from None
            if complete["norm"] not in norms:
                raise InputError(
                    f"config: {where}: {estimator} is defined for norm {norms[0]} only, and norm "
                    f"is {complete['norm']}: leave it out, or change norm"
                )
    return complete


def _validate_not_finite(value, place=()):
    """Raise InputError for NaN, infinity and what no float64 holds: comparisons let NaN pass."""
    if isinstance(value, int | float) and not abs(value) <= sys.float_info.max:
        raise InputError(f"config: {'.'.join(map(str, place))}: must be a finite number; write one")
    inner = value.items() if isinstance(value, dict) else ()
    inner = enumerate(value) if isinstance(value, list) else inner
    for key, part in inner:
        _validate_not_finite(part, (*place, key))


def _without_the_empty(experiments):
    """Return the experiments that are not left out; InputError for a misspelt one to leave out."""
    known = paper_experiments()
    left_out = [name for name, experiment in experiments.items() if experiment is None]
    for name in left_out:
        nearest = difflib.get_close_matches(name, known, n=1)
        if nearest and name != nearest[0]:
            raise InputError(
                f"config: experiments.{name}: no such experiment. Did you mean {nearest[0]}?"
            )
    return {name: value for name, value in experiments.items() if name not in left_out}


def estimator_folders(config):
    """Return the folders that estimators are looked for in."""
    own = config.get("estimator_dir")
    return (FOLDER, Path(own)) if own else (FOLDER,)


def powers(experiment):
    """Return the exponents of an experiment's power curves, a list of floats."""
    wanted = experiment.get("powers", [])
    if isinstance(wanted, dict):
        step = (wanted["stop"] - wanted["start"]) / (wanted["count"] - 1)
        return [wanted["start"] + k * step for k in range(wanted["count"])]
    return [float(d) for d in wanted]


def _with_defaults(values, schema):
    defaults = {k: v["default"] for k, v in schema["properties"].items() if "default" in v}
    return {**defaults, **values}


def _first(errors):
    """Return the error to report: an unknown key before all others, then the outermost."""
    return min(
        errors, key=lambda error: (error.validator != "additionalProperties", len(error.path))
    )


def _innermost(error):
    """Return what is wrong within the one alternative of a choice whose type fits, if one does."""
    alternatives = {}
    for inner in error.context or ():
        alternatives.setdefault(inner.schema_path[0], []).append(inner)
    fitting = [
        errors
        for errors in alternatives.values()
        if not any(inner.validator == "type" and not inner.path for inner in errors)
    ]
    return _innermost(_first(fitting[0])) if len(fitting) == 1 else error


def _explain(error):
    place = ".".join(str(part) for part in error.absolute_path) or "top level"
    if error.validator == "additionalProperties":
        known = error.schema["properties"]
        unknown = next(key for key in error.instance if key not in known)
        return f"{place}: unknown key {unknown!r}. {did_you_mean(unknown, known)}"
    if error.validator in ("oneOf", "anyOf", "not"):
        meaning = error.schema.get("description", "see config/README.md")
        return f"{place}: {error.instance!r} does not fit: {meaning}"
    message = error.message.replace("\n", " ")
    if error.validator == "type" and error.validator_value == "boolean":
        message += f"; write True or False on the command line, as in --config {place}=True"
    meaning = error.schema.get("description")
    return f"{place}: {message}" + (f" ({meaning})" if meaning else "")
