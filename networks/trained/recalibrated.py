"""The true error of networks after recalibration methods that need all logits.

Methods are fitted on a network's validation fold; the truth is measured on the fresh rows of the
build folder. ``python -m trained.recalibrated --build FOLDER --output networks/resources NAME ...``
writes the rows of these networks into ``recalibrated.csv``.
"""

import argparse
import sys
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from calbias.recalibration.softmax_regression import LinearCalibration
from reproduction.recalibration.registry import load_method
from trained.ship import write_checksums, write_rows
from trained.truth import equal_mass_bins, gap_truth

ONE_VS_REST = ("histogram_binning", "histogram_binning_em", "isotonic_regression")
"""Their scores take 10⁴ to 10⁵ values with a jagged curve: the true error depends on the bins."""
METHODS = (
    "uncalibrated",
    "temperature_scaling",
    "vector_scaling",
    "matrix_scaling",
    "spline",
    "platt_scaling_top_label",
    "histogram_binning_top_label",
    "isotonic_regression_top_label",
    *ONE_VS_REST,
)
MOST_ATOMS = 5000
L1_BINS = 30  # few, or wrong signs pull it down


class TopLabels(NamedTuple):
    """Scores and hits of rows, (n,) each."""

    scores: np.ndarray
    hits: np.ndarray


def applied(method: Any, logits: np.ndarray, labels: np.ndarray) -> TopLabels:
    """Return the scores and hits of a fitted method, in pieces that fit the memory."""
    scores, hits = [], []
    for start in range(0, len(logits), 50_000):
        rows = logits[start : start + 50_000]
        right = labels[start : start + 50_000]
        values = np.asarray(method.predict(rows), float)
        if values.ndim == 1:
            scores.append(values)
            hits.append(rows.argmax(1) == right)
            continue
        powers = np.exp(values - values.max(1, keepdims=True))
        scores.append(1 / powers.sum(1))
        hits.append(values.argmax(1) == right)
    return TopLabels(np.concatenate(scores), np.concatenate(hits).astype(np.uint8))


def bins_of(top: TopLabels, n_bins: int) -> np.ndarray:
    """Return each row's bin: its score where distinct ones are few, else one of equal mass."""
    distinct = np.unique(top.scores)
    if len(distinct) <= MOST_ATOMS:
        return np.searchsorted(distinct, top.scores)
    return equal_mass_bins(top.scores, n_bins)


def l1_in_bins(gaps: np.ndarray, bins: np.ndarray) -> float:
    """Return the l1 error: a bin's sign is that of one half of its rows, its amount the other's."""
    order = np.argsort(bins, kind="stable")
    sums, counts = np.zeros((2, 2, bins.max() + 1))
    for half in range(2):
        rows = order[half::2]
        sums[half] = np.bincount(bins[rows], gaps[rows], minlength=bins.max() + 1)
        counts[half] = np.bincount(bins[rows], minlength=bins.max() + 1)
    both = (counts > 0).all(0)
    means = sums[:, both] / counts[:, both]
    crossed = (np.sign(means) * means[::-1]).mean(0)
    return float(np.average(crossed, weights=counts[:, both].sum(0)))


def measured_truth(top: TopLabels, n_bins: int) -> tuple[float, float]:
    """Return l2 and its standard error: by distinct scores where they are few, else in bins."""
    few = len(np.unique(top.scores)) <= MOST_ATOMS
    bins = bins_of(top, n_bins) if few else None
    return gap_truth(top.scores, top.scores - top.hits, n_bins, bins)


def measure(name: str, build: Path) -> list[dict[str, Any]]:
    """Return the rows of one network, one for each method."""
    folds, fresh = (np.load(build / name / file) for file in ("folds.npz", "fresh_logits.npz"))
    logits, labels = fresh["logits"].astype(float), fresh["labels"].astype(int)
    validation = folds["validation_logits"].astype(float), folds["validation_labels"].astype(int)
    truths: list[dict[str, Any]] = []
    for method in METHODS:
        with warnings.catch_warnings(), np.errstate(divide="ignore"):
            warnings.simplefilter("ignore")
            fitted = load_method(method)(*validation)
            top = applied(fitted, logits, labels)
        truth, error = measured_truth(top, 100)
        finer = measured_truth(top, 2000)[0]
        truths.append(
            {
                "name": name,
                "method": method,
                "l1_percent": round(
                    100 * l1_in_bins(top.scores - top.hits, bins_of(top, L1_BINS)), 4
                ),
                "l2_percent": round(100 * truth, 4),
                "l2_se_percent": round(100 * error, 4),
                "l2_in_2000_bins_percent": round(100 * finer, 4),
                "is_defined": method not in ONE_VS_REST,
                "accuracy_percent": round(100 * float(top.hits.mean()), 4),
                "n_distinct_scores": len(np.unique(top.scores)),
                "weights_variation": _variation(fitted) if method == "vector_scaling" else "",
            }
        )
    return truths


def _variation(fitted: LinearCalibration) -> float:
    """Return the standard deviation over the mean of the entries of a vector."""
    return round(float(fitted.weights.std(ddof=1) / fitted.weights.mean()), 4)


def main(argv: list[str] | None = None) -> int:
    """Measure the networks that the command line names; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="+")
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args(argv)
    rows = [row for name in options.names for row in measure(name, options.build)]
    write_rows(options.output / "recalibrated.csv", rows)
    write_checksums(options.output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
