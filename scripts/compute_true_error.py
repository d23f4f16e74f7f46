"""Integrate the true calibration error of every scenario numerically (paper Eq. 1)."""

import argparse

from calbias.io.command_line import command
from calbias.io.tables import write_table
from calbias.truth.scenario_tables import read_scenarios
from calbias.truth.true_error import true_calibration_error


@command
def main(argv=None):
    """Write table ``true_calibration_error``: each scenario and curve once."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scenarios", nargs="+", required=True, help="scenario tables (CSV)")
    parser.add_argument("--norm", type=float, default=2.0, help="p of the ℓp error")
    parser.add_argument("--output", required=True, help="table to write (CSV)")
    options = parser.parse_args(argv)
    scenarios = {scenario for path in options.scenarios for scenario, _ in read_scenarios(path)}
    rows = [
        (
            s.name,
            s.alpha,
            s.beta,
            *s.curve,
            options.norm,
            100 * true_calibration_error(s, options.norm),
        )
        for s in sorted(scenarios)
    ]
    write_table(options.output, "true_calibration_error", rows)


if __name__ == "__main__":
    main()
