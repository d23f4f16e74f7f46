"""Which estimator comes nearest to the value on all rows, from a few rows of genuine data?

Rows of genuine scores, forecasts and language models' answers are drawn without replacement, at
most half of them, and every estimator of the ℓ2 error sees the same subsamples. The truth is not
known. Two references stand in for it:

- the debiased estimate (``ece_debias_em``) on all rows, which has little bias and, as the table
  says, a standard error; an estimator like it, or one that errs as it does, is favoured;
- the estimator's own value on all rows, which favours an estimator that is stable and wrong.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from calbias.engine.seeding import stream
from calbias.engine.sorted_batch import of_sorted_scores
from calbias.reading.top_label import TopLabel
from evidence.cells.samples import GenuineRows, by_score
from evidence.names import SWEEP
from evidence.runner import Method, Row, Values, run
from evidence.steps.predict_bias import estimates_of, reference_and_error
from evidence.steps.summarise_answers import benchmarks, read_answers
from pipeline.logits import read_scores
from pipeline.manifest import verify_shipped
from pipeline.steps import AtLeast, Seed
from pipeline.tables import write_table

ESTIMATORS = (
    "averaged_posterior", "ece_sweep_em", "ece_debias_em", "ece_bin_ew", "plugin_loess",
)  # fmt: skip
SIZES = {"scores": (500, 2000), "forecasts": (500, 2000), "answers": (100, 300)}
_LEAST = 1e-12  # of a mean square


def subsampled_rows(
    kind: str, name: str, top: TopLabel, subsamples: int, seed: int
) -> Iterator[Row]:
    """Yield the rows of table ``subsampled`` of one file: all its rows."""
    rows = by_score(top)
    methods = {estimator: Method("l2", estimates_of(estimator)) for estimator in ESTIMATORS}
    all_rows = of_sorted_scores(rows.score, rows.hit[None])
    full_estimates = {
        estimator: method.values(all_rows)[0] for estimator, method in methods.items()
    }
    reference = reference_and_error(rows, subsamples, stream(seed, "reference", name))
    sizes = (n for n in SIZES[kind] if 2 * n <= rows.hit.size)
    cell = GenuineRows(name, rows, ("subsampled", name, "{n}"))
    reduce = partial(_reduced, kind=kind, full_estimates=full_estimates, reference=reference)
    return run(((cell, n) for n in sizes), lambda *_: methods, subsamples, seed, reduce)


def _reduced(
    cell: GenuineRows,
    n: int,
    methods: Mapping[str, Method],
    values: Values,
    *,
    kind: str,
    full_estimates: Mapping[str, float],
    reference: tuple[float, float],
) -> Iterator[Row]:
    squares = {name: (estimates - reference[0]) ** 2 for name, estimates in values.items()}
    own_squares = {
        name: (estimates - full_estimates[name]) ** 2 for name, estimates in values.items()
    }
    for estimator, estimates in values.items():
        ratio, ratio_se = _ratio(squares[estimator], squares[SWEEP])
        own_ratio, own_ratio_se = _ratio(own_squares[estimator], own_squares[SWEEP])
        yield {
            "kind": kind,
            "data_set": cell.name,
            "n_rows": cell.rows.hit.size,
            "n_samples": n,
            "estimator": estimator,
            "n_subsamples": estimates.size,
            "reference_percent": 100 * reference[0],
            "reference_se_percent": 100 * reference[1],
            "own_reference_percent": 100 * full_estimates[estimator],
            "mean_estimate_percent": 100 * estimates.mean(),
            "rmse_percent": 100 * np.sqrt(squares[estimator].mean()),
            "ratio_to_sweep": ratio,
            "ratio_to_sweep_se": ratio_se,
            "own_ratio_to_sweep": own_ratio,
            "own_ratio_to_sweep_se": own_ratio_se,
        }


def _ratio(squares: NDArray, others: NDArray) -> tuple[float, float]:
    """Return the ratio of two root mean squares of the same subsamples, and its error."""
    one, other = max(squares.mean(), _LEAST), max(others.mean(), _LEAST)
    ratio = np.sqrt(one / other)
    spread = (squares / one - others / other).std(ddof=1)
    return ratio, ratio * spread / (2 * np.sqrt(squares.size))


def subsample_genuine(
    *,
    scores: list[Path],
    answers: list[Path],
    manifest: Path,
    answers_manifest: Path,
    subsamples: Annotated[int, AtLeast(2)],
    seed: Seed,
    output: Path,
) -> None:
    """Hold estimators on few rows of genuine data against the value on all rows of a file.

    scores: files of scores and of forecasts (Parquet)
    answers: files of language models' answers (Parquet)
    manifest: the files of scores and forecasts (JSON)
    answers_manifest: those of answers (JSON)
    subsamples: subsamples of each size
    seed: seed of all random streams
    output: table to write
    """
    files = [
        (path.parent.name, path.stem, read_scores(path, manifest)[0]["test"]) for path in scores
    ]
    for path in answers:
        verify_shipped(path, answers_manifest)
        tops = benchmarks(read_answers(path))
        files += [("answers", f"{path.stem}_{name}", top) for name, top in tops.items()]
    rows: list[dict[str, Any]] = []
    for kind, name, top in files:
        rows += subsampled_rows(kind, name, top, subsamples, seed)
    write_table(output, "subsampled", rows)
