"""A small chain of files, made once by the scripts themselves: scenarios, TCE, replicates."""

import contextlib
from types import SimpleNamespace

import pytest


def _run(script, *arguments):
    """Call ``main`` of a script, by its module, with its arguments as text."""
    script.main([str(argument) for argument in arguments])


@pytest.fixture
def refused(capsys):
    """A context that a script must leave with status 2 and one line of error with these words."""

    @contextlib.contextmanager
    def context(*words):
        with pytest.raises(SystemExit) as stopped:
            yield
        assert stopped.value.code == 2
        *usage, line = capsys.readouterr().err.splitlines()
        assert line.startswith("error: ") if not usage else usage[0].startswith("usage: ")
        assert [word for word in words if word not in line] == []

    return context


@pytest.fixture(scope="session")
def surrogate():
    """A function that draws the logits of a model; their path, and beside it top labels."""
    import draw_surrogate_logits

    def draw(folder, n_validation, n_test, seed, model="resnet110_c10", n_classes=10):
        logits = folder / f"{model}.npz"
        _run(draw_surrogate_logits, "--model", model, "--n-classes", n_classes,
            "--n-validation", n_validation, "--n-test", n_test, "--seed", seed,
            "--logits", logits, "--top-labels", logits.with_suffix(".parquet"))  # fmt: skip
        return logits

    return draw


@pytest.fixture(scope="session")
def chain(tmp_path_factory):
    """Paths of scenarios, true_errors and replicates of two power curves on uniform scores."""
    import compute_true_error
    import define_scenarios
    import simulate_replicates

    folder = tmp_path_factory.mktemp("chain")
    scenarios, true_errors = folder / "scenarios.csv", folder / "true_errors.csv"
    _run(define_scenarios, "--experiment", "mine", "--scores", "1,1", "--powers", 1.5, 2,
        "--output", scenarios)  # fmt: skip
    _run(compute_true_error, "--scenarios", scenarios, "--output", true_errors)
    replicates = {}
    for estimator in ("ece_bin_em", "ece_sweep_em"):
        replicates[estimator] = folder / estimator / "0-of-1.parquet"
        _run(simulate_replicates, "--scenarios", scenarios, "--estimator", estimator,
            "--n-samples", 50, 100, "--n-bins", 2, 15, "--replicates", 12, "--seed", 1,
            "--output", replicates[estimator])  # fmt: skip
    return SimpleNamespace(
        folder=folder, scenarios=scenarios, true_errors=true_errors, replicates=replicates
    )
