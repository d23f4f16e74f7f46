# Validation, wildcard constraints and named input functions. Reading the rules changes no file.
import atexit
import json
import os
import re
import sys
from pathlib import Path

HERE = Path(workflow.basedir)
sys.path.insert(0, str(HERE / "scripts"))

from calbias.errors import InputError
from calbias.estimation.registry import estimator_file
from calbias.io.table_schema import columns_of
from calbias.pipeline import config as configuration
from calbias.pipeline.catalogue import available_figures, available_tables
from calbias.pipeline.failures import show_errors
from calbias.pipeline.figure_catalogue import figures
from calbias.pipeline.paths import code, program, published, resource
from calbias.pipeline.settings import job_environment, read_settings

os.environ.update(job_environment())
try:
    # --configfile is laid over the file that the Snakefile names
    files = [*workflow.configfiles, *workflow.overwrite_configfiles]
    config, MODELS, EXPERIMENTS, OUTPUTS, notes = read_settings(config, files)
except InputError as error:
    sys.exit(f"error: {error}")
if workflow.is_main_process:
    print(*notes, sep="\n", file=sys.stderr)


envvars:
    "PATH",


onerror:
    # the cause is the last thing on the screen, below Snakemake's own closing lines
    if workflow.is_main_process:
        atexit.register(show_errors, log)


REAL, SCORES = OUTPUTS.logits, OUTPUTS.scores
WITH_LOGITS = [
    model for model in MODELS if model in REAL or model in OUTPUTS.surrogates
]
MODELS_OF = {
    name: experiment["models"]
    for name, experiment in EXPERIMENTS.items()
    if "models" in experiment
}
OWN_ESTIMATORS = [config["estimator_dir"]] if config["estimator_dir"] else []
MEASURED = [model for model in MODELS if model in REAL or model in SCORES]
FIGURES = available_figures(EXPERIMENTS, bool(WITH_LOGITS), bool(MEASURED))
TABLES = available_tables(EXPERIMENTS, bool(WITH_LOGITS), bool(MEASURED))
MODEL_FIGURES = [f"results/figures/models/{model}.png" for model in (*REAL, *SCORES)]


wildcard_constraints:
    model="|".join(map(re.escape, MODELS)),
    experiment="|".join(map(re.escape, EXPERIMENTS)),
    estimator=r"\w+",
    shard=r"\d+",
    table="[a-z_0-9]+",


def estimator_path(estimator):
    """The file that defines an estimator, by its name."""
    return os.path.relpath(
        estimator_file(estimator, configuration.estimator_folders(config))
    )


def top_labels(model):
    """A model's best top labels: from genuine scores where these are, else from its logits."""
    folder = "scores" if model in SCORES else "top_labels"
    return f"results/{folder}/{model}.parquet"


def fitted_top_labels(wildcards):
    """The top labels that fits use: from logits, real or surrogate, if the model has any."""
    folder = "top_labels" if wildcards.model in WITH_LOGITS else "scores"
    return f"results/{folder}/{wildcards.model}.parquet"


def of_experiment(key):
    """A params or input function: one key of the wildcard's experiment."""
    return lambda wildcards: EXPERIMENTS[wildcards.experiment].get(key, [])


def shards(experiment):
    """The replicate files of an experiment: every estimator, every shard."""
    return [
        f"results/replicates/{experiment}/{estimator}/{shard}-of-{config['shards']}.parquet"
        for estimator in EXPERIMENTS[experiment]["estimators"]
        for shard in range(config["shards"])
    ]


def table(name):
    """The path of a result table by its name; ``models`` is the models table."""
    return config["models"] if name == "models" else f"results/tables/{name}.csv"


def tabled(name):
    """A result table as an output that the report shows."""
    caption = "../report/table.rst"
    return report(
        table(name), caption=caption, category="3. Tables", labels={"table": name}
    )


def fits_of_experiment(kind, published_table):
    """Fit tables to look a model up in: fresh fits where the config wants them, else published."""

    def files(wildcards):
        models = MODELS_OF.get(wildcards.experiment, [])
        fresh = {
            "published": [],
            "refitted": models,
            "real_or_published": [
                model for model in models if model not in OUTPUTS.surrogates
            ],
        }[config["fits"]]
        return [f"results/fits/{kind}/{model}.parquet" for model in fresh] + [
            published(published_table)
        ]

    return files


def given(tables):
    """Options that name the tables a script reads: those that this configuration makes."""
    return [f"--table={name}={table(name)}" for name in tables]


def folder_of(name):
    """A params function: the folder of the input of that name."""
    return lambda wildcards, input: os.path.dirname(input[name][0])


def results():
    """All results and all intermediates: whichever is missing is made."""
    return [
        *(file for experiment in EXPERIMENTS for file in shards(experiment)),
        *(f"results/logits/{model}.npz" for model in WITH_LOGITS),
        *(top_labels(model) for model in MODELS),
        *(f"results/recalibration/selections/{model}.parquet" for model in WITH_LOGITS),
        *(part for parts in JOINED.values() for part in parts),
        *(table(name) for name in TABLES),
        *(f"results/figures/{figure}.png" for figure in FIGURES),
        *MODEL_FIGURES,
        *(f"results/audit/{name}.html" for name in AUDITED),
        "results/ledger.html",
        "results/provenance.json",
    ]
