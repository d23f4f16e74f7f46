# Validation, wildcard constraints and named input functions. Reading the rules changes no file.
import json
import os
import re
from functools import cache, partial

from snakemake.logging import logger

from calbias.errors import InputError
from calbias.estimation.registry import FOLDER, estimator_file
from pipeline.table_schema import columns_of
from pipeline.kept_digests import save
from pipeline.catalogue import available_figures, available_tables, caption_file, validate
from pipeline import job_sizes as sizes
from pipeline.config import PAGE_EXPERIMENTS, powers, read_schema
from pipeline.guests import MAIN
from pipeline.estimators import estimator_folders
from pipeline.failures import show_failures
from pipeline.provenance import checkout
from pipeline.logit_availability import DEFAULT_LOGITS_DIR
from pipeline.manifest import read_manifest
from pipeline.models import published_models, rows_of, selected_rows
from pipeline.job_params import job_params
from pipeline.run_notes import RunNotes
from pipeline.sources import EXPECTED
from pipeline.screen import install
from pipeline.rule_helpers import read_settings, resource_path, step

try:
    # --configfile is laid over the file that the Snakefile names
    files = [*workflow.configfiles, *workflow.overwrite_configfiles]
    config, MODELS, EXPERIMENTS, OUTPUTS, notes = read_settings(config, files)
    validate()
except InputError as error:
    sys.exit(f"error: {error}")
if workflow.is_main_process:  # not in the jobs that it starts
    print(*notes, sep="\n", file=sys.stderr)
    install(workflow.output_settings)
    logger.addHandler(RunNotes(config, partial(checkout, HERE)))


OWN_KEYS = {*read_schema(MAIN)["properties"]} - {"guests"}  # of the configuration
REAL, SCORES = OUTPUTS.logits, OUTPUTS.scores
# Real logits of the paper's models are also fitted under the softmax that the paper used.
PUBLISHED_FILES = read_manifest(HERE / "resources/published/nn_calibration_logits_manifest.csv")
PAPERS_MODELS = published_models(HERE / "resources/published")
AS_PUBLISHED = [name for name in REAL if name in PAPERS_MODELS and config["softmax"] == "exact"]
MEASURED = [model for model in MODELS if model in {*REAL, *SCORES}]
OWN_SCORED = MEASURED if config["fits"] == "own_scores" else ()
# Other networks whose outputs ship, and what the manifest says of them.
OUTPUT_FILES = {
    entry["name"]: entry
    for entry in json.loads((HERE / "resources/manifest.json").read_text(encoding="utf-8"))
    if entry["file"].startswith("outputs/")
}
OTHERS = [*OUTPUT_FILES] if config["replication"] == "all" else config["replication"]
if unknown := sorted({*OTHERS} - {*OUTPUT_FILES}):
    sys.exit(f"error: config: replication: no file {unknown[0]}.npz in resources/outputs")
# Table 1 needs both folds.
RECALIBRATED = [
    *REAL,
    *(name for name in OTHERS if "validation" in OUTPUT_FILES[name]["folds"] and name not in REAL),
]
NEEDS = {"both_folds": RECALIBRATED, "outputs": MEASURED, "logits": [*REAL, *OTHERS]}
LACKING = [need for need, names in NEEDS.items() if not names]
PAGES = config["estimator"]  # {page: {estimator: file}}
ADDED = {name: path for of_page in PAGES.values() for name, path in of_page.items()}
OWN = [name for name in MODELS if name not in PAPERS_MODELS]  # models that a user adds
FIGURES = available_figures(EXPERIMENTS, LACKING)
TABLES = available_tables(EXPERIMENTS, LACKING)
TABLES += ["beta_fits_float32_2020", "glm_fits_float32_2020"] if AS_PUBLISHED else []
if config["fits"] == "own_scores" and MEASURED:
    TABLES.append("own_score_fits")
AUDITS = [name for name in TABLES if name.startswith("audit_")]
if not OWN:
    TABLES = [name for name in TABLES if name not in AUDITS]


def given(name, *folders, rule=None, of=rules, reads=None, **values):
    """The params of a rule that runs a step, as ``pipeline.job_params`` makes them.

    ``rule`` is the rule's name where it is not the step's, ``of`` the workflow's rules; or ``reads``
    are the inputs of a rule without a name of its own.
    """
    named = rule or name
    inputs = (lambda: getattr(of, named).input) if reads is None else (lambda: reads)
    return job_params(name, inputs, *folders, **values)


def one_of(names):
    """A wildcard constraint: one of these names, or nothing at all where there are none."""
    return "|".join(map(re.escape, names)) or "(?!)"


wildcard_constraints:
    model=one_of(MODELS),
    experiment=one_of(EXPERIMENTS),
    estimator=r"\w+",
    shard=r"\d+",
    table="[a-z_0-9]+",


def resource(name):
    """A file in `resources`: of the repository, so it is local wherever the results are."""
    return local(resource_path(name))


def published(name):
    """A table of the paper."""
    return resource(f"published/roelofs2022_{name}.csv")


@cache
def estimator_path(name):
    """The file that defines an estimator; folders are searched once for each name."""
    path = ADDED.get(name) or estimator_file(name, estimator_folders(config))
    return Path(os.path.relpath(path))


def estimator_paths(*names):
    """The files that define estimators, by their names, each file once."""
    return sorted({str(estimator_path(name)) for name in names})


def folder_of(*names):
    """The folder of a user's estimators, for a step, if one of these estimators is in it."""
    folder = config["estimator_dir"]
    is_used = folder and any(
        Path(path).resolve().parent == Path(folder).resolve() for path in estimator_paths(*names)
    )
    return folder if is_used else []


def loaded(paths):
    """Files of code as inputs: their syntax counts (params.code), their time does not."""
    return [ancient(local(path)) for path in paths]


def checked(name):
    """The record that a user's estimator passed the checks; tests check those that ship."""
    if name not in ADDED or Path(ADDED[name]).resolve().parent == FOLDER.resolve():
        return []
    return [f"results/estimators/{Path(ADDED[name]).stem}/checked.txt"]


def page_estimators(wildcards):
    """The files of a page's estimators, as inputs."""
    return loaded(PAGES[wildcards.estimator].values())


def page_names(wildcards):
    """A params function: the files of a page's estimators, as NAME=PATH."""
    return [f"{name}={estimator_path(name)}" for name in PAGES[wildcards.estimator]]


def page_paths(wildcards):
    """Return the paths of a page's estimators."""
    return estimator_paths(*PAGES[wildcards.estimator])


def top_labels(model):
    """A model's top labels, of its logits or of scores alone."""
    return f"results/{'scores' if model in SCORES else 'top_labels'}/{model}.parquet"


def of_experiment(key, default=()):
    """A params function: one key of the wildcard's experiment."""
    return lambda wildcards: EXPERIMENTS[wildcards.experiment].get(key, default)


def joined(key):
    """A params function: the items of one key of the wildcard's experiment, joined by commas."""
    return lambda wildcards: [
        ",".join(map(str, item)) for item in EXPERIMENTS[wildcards.experiment].get(key, [])
    ]


# Data sets of a cell, as a share of `replicates`, for an estimator that the experiment does not list.
SHARE_ADDED = {"detection": 0.5, "detection_null": 2.5}


def n_replicates(experiment, estimator):
    """How many data sets of a cell an estimator gets."""
    number = EXPERIMENTS[experiment]["replicates"]
    if estimator in EXPERIMENTS[experiment]["estimators"] or experiment not in SHARE_ADDED:
        return number
    return min(number, max(2, round(SHARE_ADDED[experiment] * config["replicates"])))


def shards_of(experiment, estimator):
    """The replicate files of one estimator in an experiment."""
    of_experiment = EXPERIMENTS[experiment]
    added = {**of_experiment, "replicates": n_replicates(experiment, estimator)}
    number = (
        of_experiment["shards"].get(estimator)
        or config.get("shards")
        or sizes.shards_by_size(added, estimator_path(estimator))
    )
    return [
        f"results/replicates/{experiment}/{estimator}/{shard}-of-{number}.parquet"
        for shard in range(number)
    ]


def shards(experiment):
    """The replicate files of an experiment: every estimator, every shard."""
    return [
        file
        for estimator in EXPERIMENTS[experiment]["estimators"]
        for file in shards_of(experiment, estimator)
    ]


def page_files(*names):
    """The templates of a page, with those that all pages share."""
    shared = ("page.html.j2", "page.css", "page.js", "parts.html.j2")
    return [resource(f"../workflow/report/{name}") for name in (*shared, *names)]


def table(name):
    """The path of a result table by its name, of the models table, or of a table in resources."""
    if name.startswith("roelofs2022_"):
        return resource(f"published/{name}.csv")
    # fit times are measured by `snakemake results/tables/fit_times.csv`
    timing = resource("evidence/timing/fit_times.csv")
    recorded = {"models": local(config["models"]), "fit_times": timing}
    return recorded.get(name, f"results/tables/{name}.csv")


KINDS = ("png", "pdf")  # of a figure: for screens, for papers
# what a figure reads of one experiment, where it shows one
OF_EXPERIMENT = {"bias": "bias", "scenarios": "scenarios", "true_calibration_error": "true_errors"}


def shown(entry):
    """The inputs of a figure: tables, or their rows of the one experiment that it shows."""
    parts = OF_EXPERIMENT if len(entry.experiments) == 1 else {}
    return [
        f"results/{parts[name]}/{entry.experiments[0]}.parquet" if name in parts else table(name)
        for name in entry.tables
    ]


def tabled(name):
    """A result table as an output that the report shows."""
    words = {"caption": f"{HERE}/workflow/report/table.rst", "category": "3. Tables"}
    return report(table(name), labels={"table": name}, **words)


def results():
    """All results of the papers and their intermediates: whichever is missing is made.

    With config key ``estimator``, the pages of these estimators alone.
    """
    if PAGES:
        return [file for page in PAGES for file in page_results(page)]
    return [
        *(file for name in EXPERIMENTS for file in shards(name)),
        *(f"results/true_errors/{name}.parquet" for name in EXPERIMENTS),
        *of_outputs(MEASURED),
        *(f"results/recalibration/selections/{model}.parquet" for model in RECALIBRATED),
        *(part for name in TABLES for part in JOINED.get(name, ())),
        *(table(name) for name in TABLES),
        *(f"results/figures/{figure}.{kind}" for figure in SHOWN for kind in KINDS),
        *(f"results/figures/{figure}.csv" for figure in FIGURES),
        *(f"results/audit/{name}.{kind}" for name in OWN for kind in ("html", "json")),
        "results/index.html",
        "results/ledger.html",
        "results/tables/README.csv",
        "results/provenance.json",
    ]


def of_outputs(measured):
    """What is read of the models' outputs, and measured of these and of the other networks'."""
    parts = ("", "bins/", "graphs/", "floors/")
    return [
        *(local(REAL[model]) for model in MISSING.values()),
        *(f"results/logits/{model}.npz" for model in REAL),
        *(top_labels(model) for model in MEASURED),
        *(f"results/measures/{part}{model}.parquet" for part in parts for model in measured),
        *(f"results/replication/{part}{other}.parquet" for part in parts for other in OTHERS),
    ]


def page_results(page):
    """All results of an estimator's page and their intermediates: whichever is missing is made."""
    files = ["index.html", "row.json", "judging.csv", "selection.csv", "cost.csv"]
    files += [f"{name}.csv" for name in PAGE_TABLES]
    files += [f"figures/{figure}.{kind}" for figure in PAGE_FIGURES for kind in KINDS]
    return [
        *(file for name in PAGES[page] for file in checked(name)),
        *(f"results/scenarios/{experiment}.parquet" for experiment in PAGE_EXPERIMENTS),
        *(x for each in PAGE_EXPERIMENTS for name in PAGES[page] for x in shards_of(each, name)),
        *(f"results/logits/{model}.npz" for model in RECALIBRATED if model in REAL),
        *(top_labels(model) for model in RECALIBRATED if model in REAL),
        *(f"results/estimators/{page}/{file}" for file in files),
    ]


PRINTED_FITS = published("table2_beta_fits"), published("table3_glm_fits")


def printed_fits(wildcards):
    """A params function: the printed rows of the wildcard's model."""
    return rows_of([wildcards.model], *PRINTED_FITS)


def printed_tables(experiment):
    """The tables that an experiment's models need: Table 3 where their curves are fitted."""
    settings = EXPERIMENTS[experiment]
    names = ["table2_beta_fits"] if settings.get("models") else []
    names += ["table3_glm_fits"] if settings.get("curve") == "fitted" else []
    return [published(name) for name in names]


def fits(kind, experiment):
    """The files with fits of an experiment's models: this run's, then the printed ones."""
    printed = [path for path in printed_tables(experiment) if path.endswith(f"{kind}.csv")]
    if not printed:
        return []
    return [
        *expand("results/fits/{kind}/{model}.parquet", kind=kind, model=FITTED[experiment]),
        *map(ancient, printed),  # of their rows, those in params.printed count
    ]


def own_scores(*experiments):
    """The scores of models that are simulated from their own, in these experiments."""
    models = {model for name in experiments for model in EXPERIMENTS[name].get("models", [])}
    return [f"results/fits/own_scores/{model}.parquet" for model in OWN_SCORED if model in models]
