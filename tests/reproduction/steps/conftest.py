"""A small chain of files, made once by the scripts themselves: scenarios, TCE, replicates."""

from types import SimpleNamespace

import numpy as np
import pytest
from checkout import PUBLISHED
from command import run

from calbias.estimation.registry import estimator_file
from calbias.reading.output_file import Fold
from calbias.reading.top_label import TopLabel
from pipeline.logits import Logits, Origin, save_logits, write_top_labels

MANIFEST = PUBLISHED / "nn_calibration_logits_manifest.csv"


@pytest.fixture(scope="session")
def made_up_logits():
    """A function that writes the logits of an overconfident network, both folds; their path."""

    def write(folder, n_validation, n_test, seed, model="resnet110_c10", n_classes=10):
        generator = np.random.default_rng(seed)
        made = []
        for n in (n_validation, n_test):
            logits = 2.5 * generator.standard_normal((n, n_classes))
            gumbel = generator.gumbel(size=logits.shape)
            made.append(Fold(logits.astype(np.float32), np.argmax(0.7 * logits + gumbel, axis=1)))
        save_logits(folder / f"{model}.npz", Logits(*made))
        return folder / f"{model}.npz"

    return write


@pytest.fixture(scope="session")
def folds():
    """Top labels of an overconfident model, whose first test scores are as the paper writes 1."""
    made = {}
    for seed, fold in enumerate(("validation", "test")):
        generator = np.random.default_rng(seed)
        score = generator.beta(3, 0.6, 400) * 0.99
        hit = (generator.random(400) < score**2).astype(np.uint8)
        if fold == "test":
            score[:100], hit[:100] = 1 - 1e-16, 1
        made[fold] = TopLabel(score, np.log(score), np.log1p(-score), hit)
    return made


@pytest.fixture
def top_labels(tmp_path, folds):
    """A function that writes these, or others, as the top labels of a model; returns the path."""

    def write(model="resnet110_c10", source="real_logits", softmax="exact", folds=folds):
        path = tmp_path / f"{model}.parquet"
        write_top_labels(path, folds, Origin(model, source, softmax))
        return path

    return write


@pytest.fixture(scope="session")
def chain(tmp_path_factory):
    """Paths of scenarios, true_errors and replicates of two power curves on uniform scores."""
    folder = tmp_path_factory.mktemp("chain")
    scenarios, true_errors = folder / "scenarios.csv", folder / "true_errors.csv"
    run("define_scenarios", experiment="mine", scores="1,1", powers=[1.5, 2], output=scenarios)
    run("compute_true_error", scenarios=scenarios, output=true_errors)
    replicates = {}
    for estimator in ("ece_bin_em", "ece_sweep_em"):
        replicates[estimator] = folder / estimator / "0-of-1.parquet"
        run("simulate_replicates", scenarios=scenarios, estimator=estimator,
            estimator_file=estimator_file(estimator), n_samples=[50, 100],
            n_bins=[2, 15], replicates=12, seed=1, output=replicates[estimator])  # fmt: skip
    return SimpleNamespace(
        folder=folder, scenarios=scenarios, true_errors=true_errors, replicates=replicates
    )
