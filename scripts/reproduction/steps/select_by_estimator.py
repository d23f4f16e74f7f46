from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

from calbias.estimation.registry import estimator_file
from pipeline.logits import Logits, load_logits
from pipeline.steps import AtLeast, Seed, Softmax
from pipeline.tables import write_table
from reproduction.measures import draw_counts
from reproduction.selection import DEFAULT, METHODS, Selections
from reproduction.steps.recalibrate_model import outcomes

OTHERS = ("ece_bin_ew", "ece_sweep_em")
"""The estimators of Table 1."""


def select_by_estimator(
    *,
    logits: list[Path],
    estimators: dict[str, Path],
    softmax: Softmax,
    bootstrap: Annotated[int, AtLeast(2)],
    seed: Seed,
    output: Path,
) -> None:
    """Let each estimator select a recalibration method on the genuine networks, as in Table 1.

    logits: the models' logits, both folds (NPZ)
    estimators: files of the estimators, as NAME=PATH
    softmax: how scores are made
    bootstrap: resamples behind the selection frequencies
    seed: seed of all random streams
    output: table to write
    """
    files = {name: estimator_file(name) for name in OTHERS} | estimators
    rows = [
        row
        for path in logits
        for row in selection_rows(path.stem, load_logits(path), files, softmax, bootstrap, seed)
    ]
    write_table(output, "estimator_selection", rows)


def selection_rows(
    model: str,
    logits: Logits,
    estimators: Mapping[str, Path],
    softmax: str,
    n_resamples: int,
    seed: int,
) -> Iterator[dict[str, Any]]:
    """Yield a row for each estimator: the method that it selects, and the errors of the choices.

    An error is the TCE reference of a method on the test fold, that of Table 1.
    """
    judged = outcomes(logits.validation, logits.test, METHODS, softmax)
    tops = {method: outcome.top for method, outcome in judged.items()}
    counts = draw_counts(len(logits.test.labels), n_resamples, seed, model)
    selections = Selections(tops, counts, estimators)
    for row in selections.rows((DEFAULT,)):
        if row["measure"] in estimators:
            yield {
                "estimator": row["measure"],
                "model": model,
                "selected_method": row["selected_method"],
                "reference_method": row["reference_method"],
                "agrees": row["agrees"],
                "agreement_frequency": row["agreement_frequency"],
                "selected_tce_percent": 100 * selections.reference(row["selected_method"]),
                "least_tce_percent": 100 * selections.reference(row["reference_method"]),
            }
