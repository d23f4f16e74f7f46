from pathlib import Path

from calbias.truth.true_error import true_calibration_error
from pipeline.scenarios import read_scenarios
from pipeline.tables import write_table


def compute_true_error(
    *,
    scenarios: list[Path],
    norm: float,
    output: Path,
) -> None:
    """Integrate the true calibration error of every scenario numerically (paper Eq. 1).

    scenarios: scenario tables
    norm: p of the ℓp error
    output: table to write
    """
    all_scenarios = {scenario for path in scenarios for scenario, _ in read_scenarios(path)}
    rows = [
        (s.name, s.alpha, s.beta, *s.curve, norm, 100 * true_calibration_error(s, norm=norm))
        for s in sorted(all_scenarios)
    ]
    write_table(output, "true_calibration_error", rows)
