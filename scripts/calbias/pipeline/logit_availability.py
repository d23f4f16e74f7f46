"""Which models have real logits, as Snakemake must know before any job starts."""

import os
from pathlib import Path

from calbias.errors import InputError
from calbias.logits.manifest import read_manifest, validate_no_placeholder, verify_size
from calbias.pipeline.models import published_models

DEFAULT_LOGITS_DIR = "resources/logits"


def real_logit_files(config, models, published_dir):
    """Return {model: path} of the models whose real logits are there or will be downloaded.

    A model's ``file`` is looked for in ``logits_dir``. Raises InputError if there is no such
    folder, for a file that is one itself or that its first bytes or its size give away (its content
    is looked at by its own job), and for a model that has neither a file nor published fits to draw
    a surrogate from.
    """
    folder = Path(config["logits_dir"])
    default = config["logits_dir"] == DEFAULT_LOGITS_DIR
    if not (default or config["download"] or folder.is_dir()):
        raise InputError(f"config: logits_dir: there is no folder {folder}; mend its name")
    manifest = read_manifest(Path(published_dir) / "nn_calibration_logits_manifest.csv")
    published = published_models(published_dir)
    real = {}
    for model, row in models.items():
        path = folder / row["file"]
        if row["file"] and os.path.isdir(path):  # False for a name too long to be one
            raise InputError(
                f"{config['models']}: model {model}: file {row['file']} is a folder ({path}); "
                f"name the file of its logits"
            )
        if row["file"] and os.path.isfile(path):
            if model in manifest:
                verify_size(path, manifest[model])
            else:
                validate_no_placeholder(path)
            real[model] = str(path)
        elif config["download"] and model in manifest and manifest[model].file == row["file"]:
            real[model] = str(path)
        elif model not in published:
            if row["file"]:
                wrong, mend = f"there is no file {path}", "put the file there or set logits_dir"
            else:
                wrong, mend = "its cell file is empty", f"name a file in {folder} there"
            raise InputError(
                f"{config['models']}: model {model}: {wrong}, and no published fit to draw a "
                f"surrogate from; {mend}"
            )
    return real


def sources_in_words(real, models):
    """Return a line that says how many models have real logits, by name, and how many none."""
    surrogates = len(models) - len(real)
    named = f"Real logits: {', '.join(real)}. " if real else "No real logits. "
    return named + f"Surrogates: {surrogates} of {len(models)} models."
