"""The ten-class networks after temperature scaling: populations near calibration, of known truth.

The temperature is fitted on the validation fold. The population is 500 000 fresh rows of the build
folder. ``python -m trained.scaled --build FOLDER --output networks/resources`` writes the sketches
``scaled.parquet`` and the table ``scaled.csv``.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

from reproduction.recalibration.temperature_scaling import temperature_scaling
from trained.populations import outputs_of, sketch
from trained.ship import named, write_checksums, write_joined, write_rows
from trained.tasks import Rows
from trained.truth import measure_truth, scores_of


def main(argv: list[str] | None = None) -> int:
    """Scale all ten-class networks of a build folder; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args(argv)
    rows, cells = [], []
    for path in sorted(options.build.glob("*/fresh_logits.npz")):
        name = path.parent.name
        if name.startswith("bayes") or not (path.parent / "summary.json").exists():
            continue
        fold, fresh = np.load(path.parent / "folds.npz"), np.load(path)
        labels = fold["validation_labels"].astype(int)
        method = temperature_scaling(fold["validation_logits"].astype(float), labels)
        logits = method.predict(fresh["logits"].astype(float)).astype(np.float32)
        outputs = outputs_of(logits, Rows(logits, fresh["labels"], None))
        cells.append(named(name, sketch(outputs.log_odds, outputs.hits)))
        truth = measure_truth(outputs.log_odds, outputs.hits)
        rows.append(
            {
                "name": name,
                "n_rows": len(outputs.hits),
                "temperature": round(1 / float(method.inverse), 4),
                "nll": round(float(outputs.losses.mean(dtype=np.float64)), 5),
                "gap_percent": round(
                    100 * float(scores_of(outputs.log_odds).mean() - outputs.hits.mean()), 4
                ),
                **{f"{key}_percent": round(100 * v, 4) for key, v in truth._asdict().items()},
            }
        )
    write_joined(options.output / "scaled.parquet", cells)
    write_rows(options.output / "scaled.csv", rows)
    write_checksums(options.output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
