from pathlib import Path
from typing import Annotated

import pandas as pd

from evidence.runner import Row
from evidence.studies.power import (
    NULL_REPLICATES,
    VERDICT,
    cluster_rows,
    detection_rows,
    power_rows,
    power_scenarios,
)
from pipeline.steps import AtLeast, Seed
from pipeline.tables import write_table


def measure_power(
    *,
    tests: list[str],
    slow_tests: list[str],
    n_samples: list[Annotated[int, AtLeast(2)]],
    replicates: Annotated[int, AtLeast(20)],
    null_replicates: int = NULL_REPLICATES,
    seed: Seed,
    output_power: Path,
    output_detection: Path,
) -> None:
    """Measure size and power of tests of calibration, and the least miscalibration they detect.

    tests: tests; redraw_X is the redraw test of X
    slow_tests: tests left out at the largest size
    n_samples: sample sizes
    replicates: data sets of each cell
    null_replicates: data sets of a calibrated cell
    seed: seed of all random streams
    output_power: table test_power to write
    output_detection: table test_detection to write
    """
    sizes, scenarios = sorted(n_samples), power_scenarios()
    power: list[Row] = []
    detection = []
    counts = replicates, seed, null_replicates
    for names, some in ((tests, sizes), (slow_tests, sizes[:-1])):
        if names and some:
            power += power_rows(names, scenarios, some, *counts)
            detection.append(detection_rows(names, some, *counts))
    if VERDICT in tests:
        power += cluster_rows(replicates, seed)
    write_table(output_power, "test_power", power)
    write_table(output_detection, "test_detection", pd.concat(detection))
