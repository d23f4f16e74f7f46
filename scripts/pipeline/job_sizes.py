"""How many jobs simulate an experiment, and the memory that a job asks for.

Time is what the jobs of the default configuration used; memory, in MB, about twice the peaks
measured with ``/usr/bin/time -v``. workflow/profiles/README.md has both.
"""

import math
from pathlib import Path

from calbias.errors import InputError
from calbias.estimation.registry import bin_numbers, known_estimators
from pipeline.config import powers
from pipeline.estimators import estimator_folders
from pipeline.models import Config

SECONDS_OF_A_SCORE, SECONDS_OF_AN_ESTIMATE = 5e-9, 1e-6
LONGEST = 300  # seconds that a job draws for
LARGEST = 10_000_000  # estimates that a job holds: 8 such jobs fit into 32 GB
MOST_SIMULATION_JOBS = 20_000  # the dry run of more takes minutes


def with_shards(experiments: Config, config: Config) -> Config:
    """Return the experiments with ``shards``, {estimator: number of jobs}, by size or as given.

    InputError for more jobs than Snakemake can schedule.
    """
    existing = known_estimators(estimator_folders(config))
    sized = {}
    for name, experiment in experiments.items():
        shards = {
            each: config.get("shards") or shards_by_size(experiment, existing[each])
            for each in experiment["estimators"]
        }
        sized[name] = {**experiment, "shards": shards}
    jobs = sum(sum(experiment["shards"].values()) for experiment in sized.values())
    if jobs > MOST_SIMULATION_JOBS:
        key, remedy = ("shards", "") if "shards" in config else ("replicates", ", or shards")
        raise InputError(
            f"config: {key}: {config[key]} make {jobs} simulation jobs, and more than "
            f"{MOST_SIMULATION_JOBS} keep Snakemake busy for minutes before the first starts; "
            f"write fewer{remedy}"
        )
    return sized


def shards_by_size(experiment: Config, file: Path) -> int:
    """Return the number of jobs that keeps each below LONGEST and LARGEST."""
    parts = max(estimates(experiment, file) / LARGEST, seconds(experiment, file) / LONGEST)
    return min(math.ceil(parts), experiment["replicates"])


def seconds(experiment: Config, file: Path) -> float:
    """Return the CPU seconds of an estimator's simulation; starting a job takes 0.7 s more."""
    scores = n_scenarios(experiment) * sum(experiment["n_samples"]) * experiment["replicates"]
    return SECONDS_OF_A_SCORE * scores + SECONDS_OF_AN_ESTIMATE * estimates(experiment, file)


def n_scenarios(experiment: Config) -> int:
    """Return the number of an experiment's scenarios."""
    curves = len(powers(experiment)) + sum(len(experiment.get(k, [])) for k in ("curves", "glms"))
    return len(experiment.get("models", [])) + len(experiment.get("scores", [])) * curves


def estimates(experiment: Config, file: Path | None = None) -> int:
    """Return how many estimates the estimator of a file makes in an experiment; at most, of any.

    An estimator that chooses its bins, or has none, makes one of each data set.
    """
    n_bins = bin_numbers(file, experiment["n_bins"]) if file else experiment["n_bins"]
    cells = n_scenarios(experiment) * len(experiment["n_samples"]) * len(n_bins)
    return cells * experiment["replicates"]


def estimates_of_all(*experiments: Config) -> int:
    """Return how many estimates all estimators together make in these experiments, at most."""
    return sum(estimates(each) * len(each["estimators"]) for each in experiments)


def to_simulate(n_estimates: float) -> int:
    """Return the MB of a job that draws this many: twice 300 and 150 per million."""
    return 600 + round(300e-6 * n_estimates)


def to_summarise(*experiments: Config) -> int:
    """Return the MB of a job that reads one cell at a time, of all files of an estimator.

    Twice 200, 2.5 per file, and 80 per million replicates of a cell.
    """
    replicates = max(experiment["replicates"] for experiment in experiments)
    files = max(number for experiment in experiments for number in experiment["shards"].values())
    return 400 + 5 * files + round(160e-6 * replicates)


def to_correlate(experiment: Config) -> int:
    """Return the MB of a job that reads all estimates of a scenario and sample size at a time."""
    columns = len(experiment["estimators"]) * len(experiment["n_bins"])
    return to_summarise(experiment) + round(32e-6 * columns * experiment["replicates"])


def to_batch(*experiments: Config) -> int:
    """Return the MB of a job that reads one cell at a time, and keeps 20 000 replicates of some."""
    return 800 + to_summarise(*experiments)
