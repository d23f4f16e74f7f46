"""The law of a model's own scores: their population, and how well its smooth curve fits."""

from pathlib import Path
from typing import Annotated, Any

import numpy as np
from scipy.special import expit

from calbias.engine.seeding import stream
from calbias.errors import InputError
from calbias.reading.top_label import TopLabel
from calbias.truth.counted import CountedScenario
from calbias.truth.true_error import true_calibration_error
from pipeline.fits.glm import best_fit, fit_all
from pipeline.logits import read_top_labels
from pipeline.populations import own_log_odds, population_of, write_own_scores
from pipeline.steps import AtLeast, Seed
from pipeline.tables import write_table
from reproduction.goodness_of_fit import p_of_chances

FOLDS = 5
LARGEST_LOSS = 53 * np.log(2)  # of a curve that is 1 at a held-out miss


def fit_own_scores(
    *,
    top_labels: Path,
    norm: float,
    bootstrap: Annotated[int, AtLeast(2)],
    seed: Seed,
    output_population: Path,
    output_fit: Path,
) -> None:
    """Fit a smooth curve to a model's own scores, in place of a Beta distribution and a GLM.

    top_labels: the model's top-label table
    norm: p of the ℓp error
    bootstrap: sets of hits, drawn from the curve, behind the error of the true error
    seed: seed of all random streams
    output_population: scores and hits in cells to write
    output_fit: row of table own_score_fits to write
    """
    folds, origin = read_top_labels(top_labels)
    top = folds["test"]
    try:
        population = population_of(origin.model, top)
        row = fit_row(population, top, norm, bootstrap, seed)
    except InputError as error:
        raise InputError(f"{top_labels}, fold test: {error}") from error
    write_own_scores(output_population, population, origin.source)
    write_table(output_fit, "own_score_fits", [(origin.model, origin.source, *row)])


def fit_row(
    population: CountedScenario, top: TopLabel, norm: float, bootstrap: int, seed: int
) -> tuple[Any, ...]:
    """Return the row of table ``own_score_fits``, from n_samples on."""
    fit, log_odds = population.curve_fit, own_log_odds(top)
    chances = expit(population.logit_hit(log_odds))
    truth = 100 * true_calibration_error(population, norm=norm)
    redrawn = 100 * redrawn_errors(population, norm, bootstrap, seed)
    losses = held_out_losses(population.name, log_odds, top.hit, seed)
    difference = losses[0] - losses[1]
    numbers = (
        fit.degrees_of_freedom,
        fit.nll,
        fit.aic,
        best_fit(_glms(log_odds, top.hit)).aic,
        p_of_chances(log_odds, top.hit, chances, fit.degrees_of_freedom),
        *losses.mean(axis=1),
        difference.std(ddof=1) / difference.size**0.5,
        truth,
        redrawn.mean() - truth,
        redrawn.std(ddof=1),
    )
    return top.hit.size, *(float(f"{number:.10g}") for number in numbers)


def _glms(log_odds: np.ndarray, hits: np.ndarray) -> list[Any]:
    logs = -np.logaddexp(0, -log_odds), -np.logaddexp(0, log_odds)
    return fit_all(*logs, hits, use_statsmodels=False)


def redrawn_errors(
    population: CountedScenario, norm: float, bootstrap: int, seed: int
) -> np.ndarray:
    """Return the true errors (bootstrap,) of curves fitted to hits that the curve itself drew."""
    rng = stream(seed, "own scores", population.name, "bootstrap")
    rates = expit(population.logit_hit((population.cells + 0.5) * population.width))
    counts = population.n.astype(np.int64)
    errors = np.empty(bootstrap)
    for b in range(bootstrap):
        drawn = CountedScenario(
            population.name, population.cells, counts, rng.binomial(counts, rates), population.width
        )
        errors[b] = true_calibration_error(drawn, norm=norm)
    return errors


def held_out_losses(name: str, log_odds: np.ndarray, hits: np.ndarray, seed: int) -> np.ndarray:
    """Return −log likelihood (2, n) of each hit under curve and GLM, fitted to the other folds."""
    rng = stream(seed, "own scores", name, "folds")
    fold = rng.permutation(np.arange(hits.size) % FOLDS)
    losses = np.empty((2, hits.size))
    for number in range(FOLDS):
        held, others = fold == number, fold != number
        population = CountedScenario.from_log_odds(name, log_odds[others], hits[others])
        curve = best_fit(_glms(log_odds[others], hits[others])).curve
        logs = -np.logaddexp(0, -log_odds[held]), -np.logaddexp(0, log_odds[held])
        sign = np.where(hits[held] == 1, -1.0, 1.0)
        losses[0, held] = np.logaddexp(0, sign * population.logit_hit(log_odds[held]))
        losses[1, held] = -np.where(hits[held] == 1, curve.log_hit(*logs), curve.log_not_hit(*logs))
    return np.minimum(losses, LARGEST_LOSS)
