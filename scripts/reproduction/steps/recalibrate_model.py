"""A model's rows of table ``recalibration``, and its selections under every choice."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np

from calbias.errors import InputError
from calbias.estimation.registry import FOLDER, estimator_file
from calbias.reading.output_file import Fold
from calbias.reading.top_label import TopLabel, row_blocks, top_label, top_label_of_scores
from pipeline.logits import REAL_LOGITS, Logits, load_logits
from pipeline.manifest import verify_shipped
from pipeline.steps import AtLeast, Seed, Softmax
from pipeline.tables import write_table
from reproduction.measures import draw_counts
from reproduction.ranked import ranked_hits
from reproduction.recalibration.registry import load_method
from reproduction.reference_error import REFERENCES
from reproduction.selection import METHODS, VARIANTS, Selections, selected

Row = dict[str, Any]

ALL_METHODS = ("uncalibrated", *METHODS)
LOWEST_LOG_PROBABILITY = float(np.log(np.finfo(np.float64).eps))
"""The log probability that a label of probability 0 counts with: of 2^-52, as
scikit-learn's ``log_loss`` has it."""


def recalibrate_model(
    *,
    logits: Path,
    manifest: Path,
    estimator_dir: list[str],
    model: str,
    estimators: list[str],
    softmax: Softmax,
    bootstrap: Annotated[int, AtLeast(2)],
    seed: Seed,
    output_recalibration: Path,
    output_selections: Path,
) -> None:
    """Recalibrate a model: fit each method on the validation fold and judge it on the test fold.

    Methods: histogram binning, isotonic regression, temperature scaling. Measures: every estimator
    of calibration error, the KS error, accuracy and negative log-likelihood, with two TCE
    references.

    logits: the model's logits, both folds (NPZ)
    manifest: the shipped files (JSON)
    estimator_dir: folder of your own estimators
    model: the model's name
    estimators: measures besides the KS error (all)
    softmax: how scores are made
    bootstrap: resamples behind the selection frequencies
    seed: seed of all random streams
    output_recalibration: the model's rows of table recalibration to write
    output_selections: its selections under every choice, to write
    """
    folders: list[Path | str] = [FOLDER, *estimator_dir]
    files = {name: estimator_file(name, folders) for name in estimators}
    try:
        verify_shipped(logits, manifest)
        given = model, softmax, seed, bootstrap
        tables = recalibration_tables(load_logits(logits), *given, files or None)
    except InputError as error:
        named = str(error).startswith(str(logits))
        raise InputError(str(error) if named else f"{logits}: {error}") from error
    write_table(output_recalibration, "recalibration", tables[0])
    write_table(output_selections, list(tables[1][0]), tables[1])


def recalibration_tables(
    logits: Logits,
    model: str,
    softmax: str,
    seed: int,
    n_resamples: int,
    estimators: Mapping[str, Path] | None = None,
) -> tuple[list[Row], list[Row]]:
    """Return the tables (values, selections) of a model's Logits, each a list of dicts."""
    judged = outcomes(logits.validation, logits.test, VARIANTS, softmax)
    tops = {variant: outcome.top for variant, outcome in judged.items()}
    counts = draw_counts(len(logits.test.labels), n_resamples, seed, model)
    selections = Selections(tops, counts, estimators)
    origin = {"model": model, "source": REAL_LOGITS}
    return (
        [{**origin, **row} for row in _value_rows(judged, selections)],
        [{**origin, **row} for row in selections.rows()],
    )


def _value_rows(judged: Mapping[str, "Outcome"], selections: Selections) -> Iterator[Row]:
    values = {}
    for method in ALL_METHODS:
        top, nll = judged[method]
        measured = selections.measured(method)
        values[method] = {**measured, "accuracy": float(top.hit.mean()), "nll": nll}
    accuracy = {method: values[method]["accuracy"] for method in ALL_METHODS}
    for method in ALL_METHODS:
        scores = judged[method].top.score
        _, rows_of_score = np.unique(scores, return_counts=True)
        n_bins = selections.n_bins_used(method)
        for measure, value in values[method].items():
            sign = -1 if measure == "accuracy" else 1
            best = selected({m: sign * values[m][measure] for m in METHODS})
            for reference in REFERENCES:
                yield {
                    "method": method,
                    "measure": measure,
                    "value_percent": 100 * value,
                    "reference_tce_percent": 100 * selections.reference(method, reference),
                    "reference": reference,
                    "selected": method == best,
                    "n_distinct_scores": rows_of_score.size,
                    "largest_atom": float(rows_of_score.max() / scores.size),
                    "accuracy_change_percent": 100 * (accuracy[method] - accuracy["uncalibrated"]),
                    "n_bins_used": n_bins.get(measure, np.nan),
                }


class Outcome(NamedTuple):
    """The ``TopLabel`` of n samples, and the labels' mean negative log-likelihood or NaN."""

    top: TopLabel
    nll: float


def outcome_of(calibrator: Any, fold: Fold, softmax: str = "exact") -> Outcome:
    """Return the ``Outcome`` of a fitted method on a fold (logits, labels), in blocks of rows."""
    parts, nll = [], 0.0
    for rows in row_blocks(fold.logits):
        logits, labels = fold.logits[rows], fold.labels[rows]
        z = calibrator.predict(logits)
        if z.ndim == 1:
            parts.append(top_label_of_scores(z, ranked_hits(logits, labels)))
            nll = float("nan")
            continue
        top = top_label(z, labels, softmax)
        log_odds_of_label = z[np.arange(len(z)), labels].astype(np.float64) - z.max(axis=1)
        nll -= np.maximum(top.log_score + log_odds_of_label, LOWEST_LOG_PROBABILITY).sum()
        parts.append(top)
    joined = TopLabel(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))
    return Outcome(joined, float(nll / len(joined.hit)))


def outcomes(
    validation: Fold, test: Fold, methods: Iterable[str], softmax: str = "exact"
) -> dict[str, Outcome]:
    """Return {method: ``Outcome``}: each fitted on one fold and judged on the other."""
    return {
        method: outcome_of(load_method(method)(*validation), test, softmax) for method in methods
    }
