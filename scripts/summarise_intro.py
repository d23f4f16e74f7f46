"""Summarise what Figure 1 shows: a reliability diagram and the distribution of ECE_bin."""

import argparse

from calbias.io.command_line import command
from calbias.io.tables import write_table
from calbias.simulation.gather import drawn_with, gather_shards
from calbias.summaries.intro import estimate_histogram, reliability_diagram
from calbias.truth.scenario_tables import read_scenarios


@command
def main(argv=None):
    """Write tables ``estimate_histogram`` and ``reliability_diagram``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scenarios", required=True, help="scenario table (CSV)")
    parser.add_argument("--replicates", nargs="+", required=True, help="replicate files")
    parser.add_argument("--n-samples", type=int, required=True, help="sample size of the diagram")
    parser.add_argument("--n-bins", type=int, required=True, help="its number of bins")
    parser.add_argument("--seed", type=int, required=True, help="seed of the random streams")
    parser.add_argument("--n-replicates", type=int, required=True, help="how many a cell has")
    parser.add_argument("--histogram", required=True, help="estimate_histogram to write (CSV)")
    parser.add_argument("--diagram", required=True, help="reliability_diagram to write (CSV)")
    options = parser.parse_args(argv)
    scenario, row = read_scenarios(options.scenarios)[0]
    expected = drawn_with(options.scenarios, options.seed, options.n_replicates)
    replicates = gather_shards(options.replicates, **expected)
    histogram = estimate_histogram(row["experiment"], replicates)
    write_table(options.histogram, "estimate_histogram", histogram)
    diagram = reliability_diagram(
        row["experiment"], scenario, options.n_samples, options.n_bins, options.seed
    )
    write_table(options.diagram, "reliability_diagram", diagram)


if __name__ == "__main__":
    main()
