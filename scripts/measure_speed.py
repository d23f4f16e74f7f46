"""Measure how fast the engine is, on one thread, paired and interleaved with its baselines."""

import argparse

from calbias.benchmark import memory
from calbias.benchmark.recalibration import recalibration_rows
from calbias.benchmark.workloads import call_rows, grid_rows, growth_rows
from calbias.io.command_line import command
from calbias.io.tables import read_table, write_table
from calbias.truth.fitted_scenarios import fitted_scenario
from calbias.truth.scenarios import Scenario


@command
def main(argv=None):
    """Write tables ``benchmark`` and ``benchmark_memory`` and print them."""
    options = _parse(argv)
    scenarios = []
    for model in read_table(options.beta_fits)["model"]:
        fit = fitted_scenario(model, "fitted", [options.beta_fits], [options.glm_fits])
        scenarios.append(Scenario(model, *fit.scores, fit.curve))
    rows = grid_rows(scenarios, options.replicates, options.rounds)
    rows += growth_rows(scenarios, options.replicates, options.rounds)
    rows += call_rows(scenarios[0], options.rounds)
    rows += recalibration_rows(options.rounds)
    peaks = memory.memory_rows()
    write_table(options.output, "benchmark", rows)
    write_table(options.memory, "benchmark_memory", peaks)
    print(f"Figure 4's grid at {options.replicates} instead of 1000 replicates; CPU seconds")
    print(f"{'work':26} {'baseline':24} {'seconds':>9} {'baseline':>9}  ratio (low to high)")
    for row in rows:
        print(
            f"{row['work']:26} {row['baseline']:24} {row['seconds']:9.4f} "
            f"{row['baseline_seconds']:9.4f}  {row['ratio_median']:.2f} "
            f"({row['ratio_low']:.2f} to {row['ratio_high']:.2f})"
        )
    for row in peaks:
        print(
            f"peak memory, {row['work']} of {row['n_samples']} scores × {row['n_replicates']} "
            f"replicates: {row['peak_mebibytes']:.0f} MiB"
        )


def _parse(argv):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--beta-fits", required=True, help="Table 2 (CSV)")
    parser.add_argument("--glm-fits", required=True, help="Table 3 (CSV)")
    parser.add_argument("--replicates", type=int, default=40, help="per cell of the grid (40)")
    parser.add_argument("--rounds", type=int, default=7, help="interleaved rounds (7)")
    parser.add_argument("--output", required=True, help="table benchmark to write (CSV)")
    parser.add_argument("--memory", required=True, help="table benchmark_memory to write (CSV)")
    return parser.parse_args(argv)


if __name__ == "__main__":
    main()
