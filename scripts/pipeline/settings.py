"""For the rule files: the configuration and the models table, checked, and where files are."""

import os
import sys
import warnings
from pathlib import Path

from calbias.errors import InputError
from calbias.io.code_files import SCRIPTS
from pipeline import CHECKOUT
from pipeline.config import complete_config, validate_folder, with_file
from pipeline.door import shell_line
from pipeline.logit_availability import available_files, sources_in_words
from pipeline.models import models_path, read_models, with_models


def read_settings(config, files):
    """Return what Snakemake's ``config``, from these files, says; InputError in one line.

    The complete config, {model: row}, {experiment: settings}, Available, and lines to print.
    """
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
    return config, models, experiments, outputs, notes


def job_environment():
    """Return the variables of every job: this interpreter first, and one cache of kernels."""
    paths = [str(Path(sys.executable).parent), os.environ["PATH"]]
    defaults = {"NUMBA_CACHE_DIR": os.path.abspath("results/kernels"), "OMP_NUM_THREADS": "1"}
    return {"PATH": os.pathsep.join(paths)} | {
        name: os.environ.get(name, value) for name, value in defaults.items()
    }


def step(name, /, **fields):
    """Return the shell line of a step's rule; ``fields`` as in ``pipeline.door.shell_line``."""
    run = os.path.relpath(SCRIPTS / "run.py")
    return f"python {run} {shell_line(name, **fields)} 2>&1 | tee {{log:q}}"


def resource(name):
    """Return the path of a file in ``resources``."""
    return os.path.relpath(CHECKOUT / "resources" / name)


def published(table):
    """Return the path of a table of the paper."""
    return resource(f"published/roelofs2022_{table}.csv")
