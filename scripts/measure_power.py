"""Measure size and power of tests of calibration, and the least miscalibration that they detect."""

import pandas as pd

from evidence.studies.power import (
    NULL_REPLICATES,
    VERDICT,
    cluster_rows,
    detection_rows,
    power_rows,
    power_scenarios,
)
from pipeline.script import SEED, option, script
from pipeline.tables.files import write_table


@script(
    option("--tests", "tests; redraw_X is the redraw test of X", many=True),
    option("--slow-tests", "tests left out at the largest size", many=True, default=[]),
    option("--n-samples", "sample sizes", int, least=2, many=True),
    option("--replicates", "data sets of each cell", int, least=20),
    option("--null-replicates", "data sets of a calibrated cell", int, default=NULL_REPLICATES),
    SEED,
    option("--output-power", "table test_power to write"),
    option("--output-detection", "table test_detection to write"),
)
def main(options):
    sizes, scenarios = sorted(options.n_samples), power_scenarios()
    power, detection = [], []
    counts = options.replicates, options.seed, options.null_replicates
    for tests, some in ((options.tests, sizes), (options.slow_tests, sizes[:-1])):
        if tests and some:
            power += power_rows(tests, scenarios, some, *counts)
            detection.append(detection_rows(tests, some, *counts))
    if VERDICT in options.tests:
        power += cluster_rows(options.replicates, options.seed)
    write_table(options.output_power, "test_power", power)
    write_table(options.output_detection, "test_detection", pd.concat(detection))


if __name__ == "__main__":
    main()
