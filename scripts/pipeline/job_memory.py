"""Memory to ask for, in MB, where the configuration decides how much a job needs.

About twice the peaks measured with ``/usr/bin/time -v``; workflow/profiles/README.md has them.
"""

from pipeline.config import powers


def estimates(experiment):
    """Return how many estimates one estimator makes in an experiment, at most.

    An estimator that chooses its bins, or has none, makes fewer: a bin number is no cell for it.
    """
    curves = len(powers(experiment)) + sum(len(experiment.get(k, [])) for k in ("curves", "glms"))
    scenarios = len(experiment.get("models", [])) + len(experiment.get("scores", [])) * curves
    cells = scenarios * len(experiment["n_samples"]) * len(experiment["n_bins"])
    return cells * experiment["replicates"]


def estimates_of_all(*experiments):
    """Return how many estimates all estimators together make in these experiments, at most."""
    return sum(estimates(each) * len(each["estimators"]) for each in experiments)


def to_simulate(n_estimates):
    """Return the MB of a job that draws this many: twice 300 and 150 per million."""
    return 600 + round(300e-6 * n_estimates)


def to_summarise(n_estimates):
    """Return the MB of a job that reads this many at once: twice 250 and 95 per million."""
    return 500 + round(190e-6 * n_estimates)
