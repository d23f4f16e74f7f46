from pathlib import Path
from typing import Annotated

from evidence.studies.predicted_bias import predicted_bias
from pipeline.logits import read_scores
from pipeline.steps import AtLeast, Seed
from pipeline.tables import write_table


def predict_bias(
    *,
    scores: Path,
    manifest: Path | None = None,
    estimators: list[str],
    n_samples: list[Annotated[int, AtLeast(2)]],
    subsamples: Annotated[int, AtLeast(2)],
    refits: int,
    seed: Seed,
    output: Path,
) -> None:
    """Compare the bias by construction with the bias seen on subsamples of a model's own rows.

    scores: the model's top-label scores and hits
    manifest: manifest of the scores that ship
    estimators: estimators of the ℓp error
    n_samples: sizes of the subsamples
    subsamples: subsamples of each size
    refits: how many of them get a curve of their own
    seed: seed of all random streams
    output: table to write
    """
    top = read_scores(scores, manifest).folds["test"]
    model = scores.stem
    rows = predicted_bias(
        top, estimators, n_samples, subsamples, refits,
        seed=seed, name=model,
    )  # fmt: skip
    write_table(output, "predicted_bias", [{"model": model, **row} for row in rows])
