"""For the rule files: the configuration and the models table, checked, and where files are."""

import os
import re
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml
from snakemake.utils import update_config

from calbias.errors import InputError
from pipeline import CHECKOUT, guests
from pipeline.config import complete_config, read_schema, validate_folder, with_file
from pipeline.job_sizes import with_shards
from pipeline.logit_availability import Available, available_files, sources_in_words, unused_files
from pipeline.models import Config, Models, models_path, read_models, with_models
from pipeline.step_command import shell_line
from pipeline.table_schema import read_yaml

_NUMBER = re.compile(r"[-+.\d]+(e[-+]?\d+)?$")


def read_settings(
    config: Config, files: Sequence[str]
) -> tuple[Config, Models, Config, Available, list[str]]:
    """Return what Snakemake's ``config``, from these files, says; InputError in one line.

    The complete config, {model: row}, {experiment: settings}, Available, and lines to print.
    """
    published = CHECKOUT / "resources/published"
    try:
        with warnings.catch_warnings(record=True, action="always") as caught:
            for folder in config.get("guests", ()):
                guests.join(folder)
            config = complete_config(_over_the_default(config), read_schema())
        config["models"] = models_path(config["models"], CHECKOUT)
        models = read_models(config["models"])
        experiments = with_models(config["experiments"], models, published)
        experiments = with_shards(experiments, config)
        outputs = available_files(config, models, CHECKOUT / "resources")
        unused = unused_files(config, models, CHECKOUT / "resources")
        validate_folder(Path("."), CHECKOUT / "Snakefile")
    except InputError as error:
        raise InputError(with_file(error, files, config)) from None
    warned = [*(str(note.message) for note in caught), *unused]
    notes = [*(f"warning: {words}" for words in warned), sources_in_words(outputs, models)]
    return config, models, experiments, outputs, notes


def _over_the_default(config: Config) -> Config:
    """Return the default configuration overridden by ``config``, whole or in part.

    Snakemake reads the default itself, except where the workflow is a module of another one.
    """
    complete = read_yaml(CHECKOUT / "config/config.yaml")
    update_config(complete, _as_yaml(config))
    return complete


def _as_yaml(config: Config) -> Config:
    """Return a config whose nested numbers are numbers: Snakemake leaves --config audit={norm: 1}.

    A nested key without a value is None. Texts of the first level are read by Snakemake itself.
    """
    return {
        key: _nested(value) if isinstance(value, dict | list) else value
        for key, value in config.items()
    }


def _nested(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _nested(part) if part != "" else None for key, part in value.items()}
    if isinstance(value, list):
        return [_nested(part) for part in value]
    is_number = isinstance(value, str) and _NUMBER.match(value)
    return yaml.safe_load(value) if is_number else value


def step(name: str, /, **fields: Any) -> str:
    """Return the shell line of a step's rule; ``fields`` as in ``step_command.shell_line``."""
    return f"{{params.run}} {shell_line(name, **fields)} > {{log:q}} 2>&1"


def resource_path(name: str) -> str:
    """Return the path of a file in ``resources``."""
    return os.path.relpath(CHECKOUT / "resources" / name)
