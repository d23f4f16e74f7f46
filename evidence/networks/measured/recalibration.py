"""Table 1 with the truth: the true error after each method, and what each estimator would select.

Methods are fitted on a network's validation fold. The truth is measured on 500 000 fresh rows, and
estimators see folds drawn from these rows. ``python -m measured.recalibration --build FOLDER
--output FOLDER NAME ...`` writes two tables for each network.
"""

import argparse
import sys
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from trained.truth import equal_mass_bins, gap_truth

import calbias
from calbias.engine.seeding import stream
from calbias.recalibration.softmax_regression import LinearCalibration
from measured.bias import write_rows
from reproduction.recalibration.registry import load_method

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
CHOICES = {
    "top_label": (
        "temperature_scaling",
        "histogram_binning_top_label",
        "isotonic_regression_top_label",
    ),
    "smooth": METHODS[:6],
    "all_defined": METHODS[:8],
    "paper": ("temperature_scaling", "histogram_binning", "isotonic_regression"),
    "paper_em": ("temperature_scaling", "histogram_binning_em", "isotonic_regression"),
}
ESTIMATORS = ("ece_bin_ew", "ece_bin_em", "ece_debias_em", "ece_sweep_em")
SIZES = (1000, 2000, 5000, 10_000)
FOLDS = 25
MOST_ATOMS = 5000
L1_BINS = 30  # few, or wrong signs pull it down
SEED = 58


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


def measure(name: str, build: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the rows of both tables for one network."""
    folds, fresh = (np.load(build / name / file) for file in ("folds.npz", "fresh_logits.npz"))
    logits, labels = fresh["logits"].astype(float), fresh["labels"].astype(int)
    validation = folds["validation_logits"].astype(float), folds["validation_labels"].astype(int)
    outputs: dict[str, TopLabels] = {}
    truths: list[dict[str, Any]] = []
    for method in METHODS:
        with warnings.catch_warnings(), np.errstate(divide="ignore"):
            warnings.simplefilter("ignore")
            fitted = load_method(method)(*validation)
            top = applied(fitted, logits, labels)
        outputs[method] = top
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
    return truths, _selections(name, outputs, {row["method"]: row["l2_percent"] for row in truths})


def _variation(fitted: LinearCalibration) -> float:
    """Return the standard deviation over the mean of the entries of a vector."""
    return round(float(fitted.weights.std(ddof=1) / fitted.weights.mean()), 4)


def _selections(
    name: str, outputs: dict[str, TopLabels], truth: dict[str, float]
) -> list[dict[str, Any]]:
    """Return a row for each estimator, size and set of methods: what would be selected."""
    rng = stream(SEED, "recalibration", name)
    rows = []
    for n in SIZES:
        folds = [rng.integers(len(outputs[METHODS[0]].hits), size=n) for _ in range(FOLDS)]
        for estimator in ESTIMATORS:
            values, bins = (np.empty((FOLDS, len(METHODS))) for _ in range(2))
            for i, fold in enumerate(folds):
                for j, method in enumerate(METHODS):
                    top = outputs[method]
                    result = calbias.estimate(estimator, top.scores[fold], top.hits[fold], norm=2)
                    values[i, j], bins[i, j] = result.value, result.n_bins
            for label, methods in CHOICES.items():
                columns = [METHODS.index(method) for method in methods]
                true_values = np.array([truth[method] for method in methods])
                chosen = values[:, columns].argmin(1)
                rows.append(
                    {
                        "name": name,
                        "n_samples": n,
                        "estimator": estimator,
                        "choice": label,
                        "best_method": methods[int(true_values.argmin())],
                        "share_best": round(float(np.mean(chosen == true_values.argmin())), 4),
                        "share_worst": round(float(np.mean(chosen == true_values.argmax())), 4),
                        "regret_percent": round(
                            float(np.mean(true_values[chosen]) - true_values.min()), 4
                        ),
                        "mean_n_bins": round(float(bins[:, columns].mean()), 2),
                    }
                )
    return rows


def main(argv: list[str] | None = None) -> int:
    """Measure the networks that the command line names; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="+")
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args(argv)
    options.output.mkdir(parents=True, exist_ok=True)
    for name in options.names:
        path = options.output / f"{name}_selection.csv"
        if not path.exists():
            truths, selections = measure(name, options.build)
            write_rows(options.output / f"{name}_truth.csv", truths)
            write_rows(path, selections)
            print(name, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
