"""The bias of each estimator on each network's laws, at the paper's seven sample sizes.

``python -m measured.bias --output FOLDER NAME ...`` writes one table for each network.
"""

import argparse
import csv
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from calbias.estimation.loading import load_estimator
from calbias.simulation import simulate_cells
from measured.laws import Law, laws_of, population_law
from measured.shipped import read_cells, read_network

ESTIMATORS = (
    "ece_bin_ew",
    "ece_bin_em",
    "ece_debias_ew",
    "ece_debias_em",
    "ece_sweep_ew",
    "ece_sweep_em",
    "kde",
)
SIZES = tuple(200 * 2**k for k in range(7))
DRAWN_ROWS = 4_000_000
MOST_REPLICATES, FEWEST_REPLICATES = 4000, 600
SEED = 58
N_BINS = 15


def replicates_at(n_samples: int) -> int:
    """Return the number of data sets: more where one data set varies more."""
    return int(np.clip(DRAWN_ROWS // n_samples, FEWEST_REPLICATES, MOST_REPLICATES))


def rows_of(name: str, laws: dict[str, Law], sizes: tuple[int, ...] = SIZES) -> Iterator[dict]:
    """Yield a row for each law, estimator and sample size; all laws share their uniforms."""
    estimators = {estimator: load_estimator(estimator) for estimator in ESTIMATORS}
    cells = [(estimator, N_BINS) for estimator in ESTIMATORS]
    for n in sizes:
        m = replicates_at(n)
        reference: dict[str, np.ndarray] = {}
        for label, law in laws.items():
            truth = law.true_error()
            results = simulate_cells(law.sampler(name, n, SEED), np.arange(m), estimators, cells, 2)
            for estimator, (values, used) in zip(ESTIMATORS, results, strict=True):
                errors = values - truth
                base = reference.setdefault(estimator, errors)
                yield {
                    "name": name,
                    "law": label,
                    "estimator": estimator,
                    "n_samples": n,
                    "n_replicates": m,
                    "truth_percent": _percent(truth),
                    "bias_percent": _percent(errors.mean()),
                    "bias_se_percent": _percent(errors.std(ddof=1) / m**0.5),
                    "sd_percent": _percent(errors.std(ddof=1)),
                    "shift_percent": _percent((errors - base).mean()),
                    "shift_se_percent": _percent((errors - base).std(ddof=1) / m**0.5),
                    "mean_n_bins": round(float(used.mean()), 2),
                }


def _percent(value: Any) -> float:
    return round(100 * float(value), 4)


def write_rows(path: Path, rows: list[dict[str, Any]]) -> None:
    """Write a CSV table."""
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def main(argv: list[str] | None = None) -> int:
    """Measure the networks that the command line names; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="+")
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--scaled", action="store_true", help="after temperature scaling")
    options = parser.parse_args(argv)
    options.output.mkdir(parents=True, exist_ok=True)
    for name in options.names:
        path = options.output / f"{name}.csv"
        if not path.exists():
            if options.scaled:
                laws = {"scaled": population_law(read_cells(name, "scaled"))}
            else:
                laws = laws_of(read_network(name))
            write_rows(path, list(rows_of(name, laws)))
            print(name, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
