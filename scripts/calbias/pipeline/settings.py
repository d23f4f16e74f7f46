"""Everything that the configuration and the models table say, checked, for the rule files."""

import os
import sys
import warnings
from pathlib import Path
from typing import NamedTuple

from calbias.errors import InputError
from calbias.io.code_files import SCRIPTS
from calbias.pipeline.config import complete_config, validate_folder, with_file
from calbias.pipeline.logit_availability import Available, available_files, sources_in_words
from calbias.pipeline.models import models_path, read_models, with_models

CHECKOUT = SCRIPTS.parent


class Settings(NamedTuple):
    """The complete config, {model: row}, {experiment: settings}, Available, lines to print."""

    config: dict
    models: dict
    experiments: dict
    outputs: Available
    notes: list


def read_settings(config, files):
    """Return the Settings of Snakemake's ``config``, from these files; InputError in one line."""
    published = CHECKOUT / "resources/published"
    try:
        with warnings.catch_warnings(record=True, action="always") as caught:
            config = complete_config(config, CHECKOUT / "workflow/schemas/config.schema.yaml")
        config["models"] = models_path(config["models"], CHECKOUT)
        models = read_models(config["models"])
        experiments = with_models(config["experiments"], models, published)
        outputs = available_files(config, models, CHECKOUT / "resources")
        validate_folder(".", CHECKOUT / "Snakefile")
    except InputError as error:
        raise InputError(with_file(error, files, config)) from None
    notes = [*(f"warning: {note.message}" for note in caught), sources_in_words(outputs, models)]
    return Settings(config, models, experiments, outputs, notes)


def job_environment(folder="results"):
    """Return the variables of every job: this interpreter first, and one cache of kernels."""
    paths = [str(Path(sys.executable).parent), os.environ["PATH"]]
    defaults = {
        "NUMBA_CACHE_DIR": str(Path(folder, "kernels").absolute()),
        "OMP_NUM_THREADS": "1",
    }
    return {"PATH": os.pathsep.join(paths)} | {
        name: os.environ.get(name, value) for name, value in defaults.items()
    }
