"""The audit's promises on networks of known truth: coverage, size, power, error of the estimate.

``python -m measured.audits --output FOLDER NAME ...`` audits data sets of each network's
population, and of the same scores with calibrated hits.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import calbias
from measured.bias import write_rows
from measured.laws import laws_of
from measured.shipped import read_network

SIZES = (300, 3000)
DATA_SETS = {"population": 60, "calibrated": 40}  # ten networks: a standard error of 1 point
SEED = 59


def rows_of(name: str) -> Iterator[dict[str, Any]]:
    """Yield a row for each law and sample size; errors in percent."""
    laws = laws_of(read_network(name))
    for label, n_data_sets in DATA_SETS.items():
        truth = 100 * laws[label].true_error(1.0)
        for n in SIZES:
            audits = [
                calbias.audit(data.scores[0], np.rint(data.hits()[0]), seed=number)
                for number in range(n_data_sets)
                for data in laws[label].sampler(f"{name} audits", n, SEED).batches([number])
            ]
            low, high = 100 * np.array([audit.interval for audit in audits]).T
            errors = 100 * np.array([audit.error for audit in audits])
            yield {
                "name": name,
                "law": label,
                "n_samples": n,
                "n_data_sets": n_data_sets,
                "true_l1_percent": round(truth, 4),
                "covered": int(np.sum((low <= truth + 1e-9) & (truth <= high))),
                "mean_width_percent": round(float(np.mean(high - low)), 3),
                "below": int(np.sum(high < truth - 1e-9)),
                "miscalibrated": sum(bool(audit.miscalibrated) for audit in audits),
                "mean_error_percent": round(float(errors.mean()), 3),
                "rmse_percent": round(float(np.sqrt(np.mean((errors - truth) ** 2))), 3),
            }


def main(argv: list[str] | None = None) -> int:
    """Audit the networks that the command line names; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="+")
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args(argv)
    options.output.mkdir(parents=True, exist_ok=True)
    for name in options.names:
        if not (options.output / f"{name}.csv").exists():
            write_rows(options.output / f"{name}.csv", list(rows_of(name)))
            print(name, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
