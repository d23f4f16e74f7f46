"""Integrate the true calibration error of every scenario numerically (paper Eq. 1)."""

from calbias.truth.true_error import true_calibration_error
from pipeline.scenarios.tables import read_scenarios
from pipeline.script import NORM, OUTPUT, option, script
from pipeline.tables.files import write_table


@script(option("--scenarios", "scenario tables", many=True), NORM, OUTPUT)
def main(options):
    scenarios = {scenario for path in options.scenarios for scenario, _ in read_scenarios(path)}
    norm = options.norm
    rows = [
        (s.name, s.alpha, s.beta, *s.curve, norm, 100 * true_calibration_error(s, norm=norm))
        for s in sorted(scenarios)
    ]
    write_table(options.output, "true_calibration_error", rows)


if __name__ == "__main__":
    main()
