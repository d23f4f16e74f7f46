from pathlib import Path

from pipeline.detection_limits import detection_limits
from pipeline.scenarios.tables import read_scenarios
from pipeline.steps import Seed
from pipeline.tables.files import read_table, true_errors_of, write_table
from reproduction.replicates.gather import drawn_with, gather_shards
from reproduction.summaries.detection import detection_rows


def summarise_detection(
    *,
    scenarios: Path,
    true_errors: Path,
    replicates: list[Path],
    null_scenarios: Path,
    null_replicates: list[Path],
    n_replicates: int,
    null_n_replicates: int,
    seed: Seed,
    output_detection: Path,
    output_limits: Path,
) -> None:
    """Summarise type II errors: miss rates at a type I error of 5 % (paper §7.2, Fig 5).

    The second table has the TCE at which a miss rate falls to 10 % and to 5 %, interpolated.

    scenarios: scenarios of the power curves
    true_errors: table true_calibration_error
    replicates: replicates of the power curves
    null_scenarios: scenarios of the null
    null_replicates: replicates of the null
    n_replicates: how many a cell of the power curves has
    null_n_replicates: how many a cell of the null has
    seed: seed of all random streams
    output_detection: table detection to write
    output_limits: table detection_limits to write
    """
    curves = read_scenarios(scenarios)
    expected = drawn_with(scenarios, seed, n_replicates)
    expected_of_null = drawn_with(null_scenarios, seed, null_n_replicates)
    table = detection_rows(
        gather_shards(replicates, **expected),
        gather_shards(null_replicates, **expected_of_null),
        {scenario.name: scenario.curve.b1 for scenario, _ in curves},
        true_errors_of(read_table(true_errors), curves),
    )
    write_table(output_detection, "detection", table)
    write_table(output_limits, "detection_limits", detection_limits(table))
