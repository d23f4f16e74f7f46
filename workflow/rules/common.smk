# Configuration, wildcard constraints and named input functions. What they decide is in
# scripts/calbias; nothing is computed here.
import json
import os
import re
import sys
from pathlib import Path

HERE = Path(workflow.basedir)
sys.path.insert(0, str(HERE / "scripts"))

from calbias.pipeline import config as configuration
from calbias.pipeline import models as models_table
from calbias.pipeline import recovery
from calbias.pipeline import results_folder
from calbias.errors import InputError
from calbias.estimation.registry import estimator_file
from calbias.pipeline.figure_catalogue import figures
from calbias.io.code_files import code_files
from calbias.pipeline import logit_availability as sources
from calbias.pipeline.catalogue import available_figures, available_tables

# Jobs use the interpreter that runs Snakemake, and find compiled kernels in one place.
os.environ["PATH"] = os.pathsep.join(
    [str(Path(sys.executable).parent), os.environ["PATH"]]
)
os.environ.setdefault("NUMBA_CACHE_DIR", str(Path("results/kernels").absolute()))
os.environ.setdefault("OMP_NUM_THREADS", "1")

if not os.access(".", os.W_OK):
    sys.exit(
        f"error: {Path.cwd()} cannot be written: run in a folder of your own,"
        f" with snakemake --snakefile {HERE / 'Snakefile'}"
    )
if workflow.is_main_process and not recovery.is_dry_run(sys.argv):
    if folder := results_folder.cannot_be_written("results"):
        sys.exit(f"error: {folder} cannot be written: give yourself access, run again")

# A run that was killed, or a clock that was set back, must not stop or mislead the next run.
if workflow.is_main_process:
    if count := results_folder.date_back("results"):
        print(
            f"{count} results are dated in the future: their inputs' contents are compared."
        )
    recovery.resume(sys.argv, recovery.about_unfinished(".snakemake", sys.argv))


onerror:
    results_folder.outdate(workflow.dag, workflow.persistence)


try:
    config = configuration.complete_config(
        config, HERE / "workflow/schemas/config.schema.yaml"
    )
    if not Path(config["models"]).exists() and (HERE / config["models"]).exists():
        config["models"] = os.path.relpath(
            HERE / config["models"]
        )  # run outside the checkout
    MODELS = models_table.read_models(config["models"])
    EXPERIMENTS = models_table.with_models(
        config["experiments"], MODELS, HERE / "resources/published"
    )
    OUTPUTS = sources.available_files(config, MODELS, HERE / "resources")
except InputError as error:
    sys.exit(f"error: {error}")

if workflow.is_main_process:
    print(sources.sources_in_words(OUTPUTS, MODELS), file=sys.stderr)

REAL, SCORES = OUTPUTS.logits, OUTPUTS.scores
WITH_LOGITS = [
    model for model in MODELS if model in REAL or model in OUTPUTS.surrogates
]

# A file that is there is never downloaded anew, whatever changed: it is an input, not an output.
MISSING = {
    Path(file).name: model for model, file in REAL.items() if not Path(file).exists()
}
MODELS_OF = {
    name: experiment["models"]
    for name, experiment in EXPERIMENTS.items()
    if "models" in experiment
}
OWN_ESTIMATORS = [config["estimator_dir"]] if config["estimator_dir"] else []
FIGURES = available_figures(EXPERIMENTS, bool(WITH_LOGITS))
TABLES = available_tables(EXPERIMENTS, bool(WITH_LOGITS))
MODEL_FIGURES = [f"results/figures/models/{model}.png" for model in (*REAL, *SCORES)]


# On a cluster these run where Snakemake runs: seconds of work, or the only place with a network.
localrules:
    all,
    download_logits,
    join_tables,
    define_scenarios,
    compare_estimators,
    compare_ece_bin,
    summarise_chosen_bins,
    select_recalibration,
    compute_detection_limits,
    judge_claims,
    compare_published,
    write_ledger_page,


envvars:
    "PATH",


wildcard_constraints:
    model="|".join(map(re.escape, MODELS)),
    experiment="|".join(map(re.escape, EXPERIMENTS)),
    estimator=r"\w+",
    shard=r"\d+",
    table="[a-z_0-9]+",


def program(name):
    """The script of a rule, relative to where Snakemake runs."""
    return os.path.relpath(HERE / "scripts" / f"{name}.py")


def code(name, *more):
    """A script and every project file that it imports; declared, so that edits count."""
    return [
        os.path.relpath(path)
        for path in code_files(HERE / "scripts" / f"{name}.py", *more)
    ]


def resource(path):
    return os.path.relpath(HERE / "resources" / path)


def published(table):
    return resource(f"published/roelofs2022_{table}.csv")


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
        return [f"results/fits/{kind}/{model}.csv" for model in fresh] + [
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
    """What the default target asks for: replicates, tables and figures, each also where one is missing."""
    return [
        *(file for experiment in EXPERIMENTS for file in shards(experiment)),
        *(table(name) for name in TABLES),
        *(f"results/figures/{figure}.png" for figure in FIGURES),
        *MODEL_FIGURES,
        "results/ledger.html",
        "results/provenance.json",
    ]
