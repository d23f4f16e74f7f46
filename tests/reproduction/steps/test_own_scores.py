"""A model's own scores as the law of the workflow: fit, scenarios, true errors, replicates."""

import numpy as np
import pandas as pd
import pytest
from checkout import ROOT
from command import FITS, made, run
from scipy.special import expit, log_expit
from scipy.stats import norm

import calbias
from calbias.engine.seeding import stream
from calbias.estimation.registry import estimator_file
from calbias.reading.top_label import TopLabel
from calbias.simulation import simulate_estimates
from pipeline.logits import Origin, write_top_labels
from pipeline.populations import own_log_odds, population_of, read_own_scores
from reproduction.replicates import read_replicates
from reproduction.steps.fit_own_scores import held_out_losses, redrawn_errors

MODEL = "resnet110_c10"


def wave(log_odds):
    """Return a curve that no GLM has."""
    return expit(0.7 * log_odds + 0.9 * np.sin(1.3 * log_odds))


def fold_of(curve, n_rows=10_000, seed=5):
    """Return the TopLabel of rows whose log odds are N(1, 1.5), with hits of a known curve."""
    rng = stream(seed, "own scores")
    x = rng.normal(1, 1.5, n_rows)
    hits = (rng.random(n_rows) < curve(x)).astype(np.uint8)
    return TopLabel(expit(x), log_expit(x), log_expit(-x), hits)


def true_error(curve):
    """Return the ℓ2 error of the curve on N(1, 1.5), by a fine sum."""
    t = np.linspace(-8, 10, 100_001)
    return np.average((expit(t) - curve(t)) ** 2, weights=norm.pdf(t, 1, 1.5)) ** 0.5


def fitted(folder, top, **options):
    """Run the step; return its row and the path of the population."""
    write_top_labels(folder / "top.parquet", {"test": top}, Origin(MODEL, "real_scores", "none"))
    paths = folder / "own_scores.parquet", folder / "own_score_fits.parquet"
    run("fit_own_scores", top_labels=folder / "top.parquet", **options,
        output_population=paths[0], output_fit=paths[1])  # fmt: skip
    return pd.read_parquet(paths[1]).iloc[0], paths[0]


@pytest.fixture(scope="module")
def waved(tmp_path_factory):
    return fitted(tmp_path_factory.mktemp("waved"), fold_of(wave))


def test_the_certificate_of_a_known_curve(waved):
    """The error of the true error holds it; the curve beats every GLM where none is true."""
    row, _ = waved
    assert abs(row["tce_percent"] - 100 * true_error(wave)) < 3 * row["tce_se_percent"]
    assert 0.1 < row["tce_se_percent"] < 0.6
    assert 4 < row["effective_parameters"] < 22
    assert row["aic"] == pytest.approx(2 * (row["nll"] + row["effective_parameters"]))
    assert row["aic"] < row["glm_aic"] - 20
    assert row["fit_p_value"] > 0.001
    assert row["n_samples"] * row["held_out_loss"] > row["nll"] + 2  # no row fits its own curve
    gain = row["glm_held_out_loss"] - row["held_out_loss"]
    assert gain > 2 * row["loss_difference_se"] > 0


def test_a_line_in_the_log_odds_takes_two_parameters_and_loses_to_no_glm():
    top = fold_of(lambda x: expit(0.6 * x))
    own = population_of("line", top)
    assert own.curve_fit.degrees_of_freedom < 3.5
    losses = held_out_losses("line", own_log_odds(top), top.hit, seed=1)
    difference = losses[0] - losses[1]
    assert abs(difference.mean()) < 4 * difference.std() / difference.size**0.5


@pytest.mark.slow
def test_the_error_of_the_true_error_is_that_of_other_folds():
    errors = [
        calbias.true_calibration_error(population_of("m", fold_of(wave, 3000, seed)), norm=2)
        for seed in range(60)
    ]
    redrawn = redrawn_errors(population_of("m", fold_of(wave, 3000)), 2.0, 60, 1)
    assert 0.7 < redrawn.std() / np.std(errors) < 1.4


def test_scenarios_truths_and_replicates_are_those_of_the_population(waved, tmp_path):
    """Shards draw the same; another population draws again; models without a file keep Table 2."""
    _, path = waved
    tables = {"models_table": ROOT / "config/models.csv", **FITS, "own_scores": path}
    own, _ = read_own_scores([path])[MODEL]
    for curve, law in (("fitted", own), ("identity", own.calibrated())):
        scenarios = tmp_path / f"{curve}.parquet"
        run("define_scenarios", experiment="x", models=[MODEL, "resnet110_c100"], curve=curve,
            **tables, output=scenarios)  # fmt: skip
        rows = pd.read_parquet(scenarios)
        assert rows["alpha"].isna().tolist() == [True, False]
        assert rows["source"].tolist() == ["real_scores", "published_fits"]
        name = "true_calibration_error"
        table = made(name, "compute_true_error", tmp_path, scenarios=scenarios, own_scores=path)
        truth = table.set_index("scenario").loc[MODEL, "tce_percent"]
        assert truth == pytest.approx(100 * calbias.true_calibration_error(law, norm=2))
        expected = simulate_estimates(law, 60, range(6), ["kde"], seed=1)["kde"][0]
        for shard in range(2):
            output = tmp_path / curve / f"{shard}.parquet"
            run("simulate_replicates", scenarios=scenarios, own_scores=path, estimator="kde",
                estimator_file=estimator_file("kde"), n_samples=60, replicates=6, shard=shard,
                shards=2, output=output)  # fmt: skip
            cells, *_ = read_replicates(output)
            [cell] = [cell for cell in cells if cell.scenario == MODEL]
            assert cells[cell].estimate.tolist() == expected[shard::2].tolist()
    assert truth == 0


def test_another_population_is_another_key(waved, tmp_path):
    _, path = waved
    _, other = fitted(tmp_path, fold_of(wave, seed=6))
    keys = []
    for number, own in enumerate((path, other, path)):
        scenarios = tmp_path / "scenarios.parquet"
        run("define_scenarios", experiment="x", models=MODEL, own_scores=own, **FITS,
            models_table=ROOT / "config/models.csv", output=scenarios)  # fmt: skip
        run("simulate_replicates", scenarios=scenarios, own_scores=own, estimator="kde",
            estimator_file=estimator_file("kde"), n_samples=20, replicates=2,
            output=tmp_path / f"{number}.parquet")  # fmt: skip
        keys.append([*read_replicates(tmp_path / f"{number}.parquet")[1].values()])
    assert keys[0] == keys[2] != keys[1]


def test_scores_of_zero_and_one_are_cells_at_the_ends():
    """A file of rounded scores: the paper's Beta refuses a score of 0."""
    rng = stream(1, "ends")
    scores = np.repeat([0.0, 0.3, 0.7, 1.0], 100)
    with np.errstate(divide="ignore"):
        top = TopLabel(scores, np.log(scores), np.log1p(-scores), rng.integers(0, 2, 400))
    own = population_of("ends", top)
    assert np.ptp(own.cells) * own.width == pytest.approx(2 * 53 * np.log(2), abs=0.02)
    assert 0.3 < calbias.true_calibration_error(own, norm=1) < 0.45


def test_a_table_without_a_column_and_a_model_without_a_file(waved, tmp_path, refused):
    _, path = waved
    run("define_scenarios", experiment="x", models=MODEL, own_scores=path, **FITS,
        models_table=ROOT / "config/models.csv", output=tmp_path / "s.parquet")  # fmt: skip
    pd.read_parquet(path).drop(columns="hits").to_parquet(tmp_path / "own.parquet")
    for own, words in (
        (tmp_path / "own.parquet", "own.parquet: no column hits"),
        ([], f"no file of the own scores of {MODEL}"),
    ):
        with refused(words):
            run("compute_true_error", scenarios=tmp_path / "s.parquet", own_scores=own,
                output=tmp_path / "x.csv")  # fmt: skip


MIXED = np.linspace(0.1, 0.9, 200)


@pytest.mark.parametrize(
    ("scores", "hits", "words"),
    [
        (MIXED[:50], [0, 1] * 25, "top.parquet, fold test: 50 rows: a curve of"),
        (MIXED, [0] * 195 + [1] * 5, "5 hits: a curve of a model's own scores needs 10; give more"),
        (MIXED, [1] * 200, "0 misses"),
        (np.full(200, 0.8), [0, 1] * 100, "all scores are equal"),
    ],
)
def test_rows_that_determine_no_curve_are_refused(tmp_path, refused, scores, hits, words):
    with refused(words):
        fitted(tmp_path, TopLabel(scores, np.log(scores), np.log1p(-scores), np.array(hits)))
